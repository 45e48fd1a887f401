"""Tunes CUDA kernels from Python, by the program msda-tune.

    import msda_tune

    space = msda_tune.Space("vector_add", SOURCE, shape={"n": n}, knobs={"block_size_x": [64, 128, 256]}, args={"c": c, "a": a, "b": b, "n": numpy.int32(n)},
                            answer={"c": a + b}, grid="ceil_div(n, block_size_x)", block="block_size_x")
    best = msda_tune.tune(space)[0]
    print(best.knobs, best.best_us, "µs")

docs/python.md is the tutorial. msda_tune.torch (which needs torch) has tuned operations; tunelookup asks what was tuned."""
from .expressions import Untranslatable
from .space import Arg, Space, output, scalar, struct, tensor
from .tool import Interrupted, NoGPUError, NothingFoundError, ToolError, UsageError, run, tool
from .tuning import Begin, Evaluated, Event, Result, Results, Skipped, check, tune

__version__ = "0.1.0"

__all__ = ["Arg", "Begin", "Evaluated", "Event", "Interrupted", "NoGPUError", "NothingFoundError", "Result", "Results", "Skipped", "Space", "ToolError", "Untranslatable", "UsageError",
           "check", "output", "run", "scalar", "struct", "tensor", "tool", "tune"]
