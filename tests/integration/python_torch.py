"""msda_tune.torch as far as it goes without torch: what it asks the library for a call, on the scripted driver, and what it says where there is no code for the call. Usage: python_torch.py BUILD_FOLDER"""
import contextlib
import pathlib
import sys
import types

from python_parts import FakeDriver
from tunelookup import _driver

fake = pathlib.Path(sys.argv[1], "lib/libfake_cuda.so")
if not fake.exists():
    sys.exit(0)


class Tensor:
    """As much of a tensor as is looked at before anything is launched."""

    is_cuda, is_inference = True, staticmethod(lambda: False)

    def __init__(self, *shape, dtype="torch.float16"):
        self.shape, self.dtype = shape, dtype
        self.device = DEVICE


DEVICE = types.SimpleNamespace(index=0)
torch = types.ModuleType("torch")
torch.Tensor = Tensor
torch.tensor, torch.int32 = lambda rows, **_: rows, "torch.int32"
torch.nn = types.ModuleType("torch.nn")
torch.nn.functional = types.ModuleType("torch.nn.functional")
torch.autograd = types.SimpleNamespace(Function=object, function=types.SimpleNamespace(once_differentiable=lambda function: function))
torch.cuda = types.SimpleNamespace(is_current_stream_capturing=lambda: False, device=lambda _: contextlib.nullcontext(), current_stream=lambda: types.SimpleNamespace(query=lambda: True))
sys.modules.update({"torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional})
_driver._driver = lambda: FakeDriver(str(fake))

from msda_tune.torch import MultiScaleDeformableAttention  # noqa: E402  # it imports torch

op = MultiScaleDeformableAttention()
levels = [(100, 134), (50, 67), (25, 34), (13, 17)]
starts = [0, 13400, 16750, 17600]
locations, weights = Tensor(4, 300, 8, 4, 4, 2, dtype="torch.float32"), Tensor(4, 300, 8, 4, 4, dtype="torch.float32")


def why(value, *rest):
    first, *said = op.explain(value, levels, starts, *rest).splitlines()
    assert first == "grid_sample", first
    return "\n".join(said)


# known to the lookup, which ships no code for it
assert why(Tensor(4, 17821, 8, 32), locations, weights).startswith("cubin: "), why(Tensor(4, 17821, 8, 32), locations, weights)
assert "no kernel for torch.float64 values" in why(Tensor(4, 17821, 8, 32, dtype="torch.float64"), locations, weights)
assert "not on one GPU" in why(types.SimpleNamespace(shape=(4, 17821, 8, 32), is_cuda=False, device=None), locations, weights)
try:
    op.explain(Tensor(4, 17822, 8, 32), levels, starts, locations, weights)
    raise AssertionError("a value with a pixel too many")
except ValueError as error:
    assert "pixels" in str(error), error
# a shape that is first seen while a graph is captured
torch.cuda.is_current_stream_capturing = lambda: True
try:
    op.explain(Tensor(2, 17821, 8, 32), levels, starts, Tensor(2, 7, 8, 4, 4, 2, dtype="torch.float32"), Tensor(2, 7, 8, 4, 4, dtype="torch.float32"))
    raise AssertionError("loaded during a capture")
except RuntimeError as error:
    assert "before the capture" in str(error), error
print("checked")
