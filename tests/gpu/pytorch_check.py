"""msda_tune.torch on a GPU against torch.nn.functional.grid_sample. Usage: pytorch_check.py EXAMPLE_FOLDER DATABASE MISSES SHAPE…
MSDA_SPACE: the search space to compile from what has no code in the database."""
import os
import sys
import types
import warnings

sys.path.insert(0, sys.argv[1])
import torch

from bench import make
from msda_tune.torch import MultiScaleDeformableAttention, by_grid_sample

space = os.environ.get("MSDA_SPACE")
op = MultiScaleDeformableAttention(sys.argv[2], space=space)


def error_of(out, value, levels, locations, weights):
    wanted = by_grid_sample(value.float(), levels, locations, weights)
    return ((out.float() - wanted).norm() / wanted.norm()).item()


def expect(what, error, limit=2e-3):
    print(f"{what}: error {error:.2e}")
    assert error < limit, what


def check_shape(name):
    value, levels, starts, locations, weights, queries = make(name)
    told = op.explain(value, levels, starts, locations, weights, queries)
    print(told)
    assert told.startswith("tuned kernel"), name
    call = dict(queries=queries, fallback=False)
    shapes, firsts = torch.tensor(levels), torch.tensor(starts)
    expect(f"{name}, lists", error_of(op(value, levels, starts, locations, weights, **call), value, levels, locations, weights))
    expect(f"{name}, CPU tensors", error_of(op(value, shapes, firsts, locations, weights, 64, **call), value, levels, locations, weights))
    on_gpu = (shapes.cuda(), firsts.cuda())
    expect(f"{name}, GPU tensors", error_of(op(value, *on_gpu, locations, weights, **call), value, levels, locations, weights))
    # tensors without a version, which must not be remembered
    with torch.inference_mode():
        fresh = (shapes.cuda(), firsts.cuda())
        expect(f"{name}, inference mode", error_of(op(value, *fresh, locations, weights, **call), value, levels, locations, weights))
        before = op._tables.of(*fresh).levels
        fresh[0].add_(1)
        assert op._tables.of(*fresh).levels == tuple((height + 1, width + 1) for height, width in before)
    # not contiguous, and not aligned to 16 bytes
    strided = torch.empty(*value.shape[:3], 2 * value.shape[3], dtype=value.dtype, device="cuda")[..., ::2].copy_(value)
    shifted = torch.empty(weights.numel() + 1, device="cuda")[1:].view_as(weights).copy_(weights)
    expect(f"{name}, strided", error_of(op(strided, levels, starts, locations, shifted, **call), value, levels, locations, weights))
    # another stream, behind work that takes a while: the inputs are written there
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros_like(value)
        torch.cuda._sleep(20_000_000)
        late.copy_(value)
        out = op(late, *on_gpu, locations, weights, **call)
    stream.synchronize()
    expect(f"{name}, another stream", error_of(out, value, levels, locations, weights))
    # a graph, replayed with other inputs
    graph, static = torch.cuda.CUDAGraph(), [t.clone() for t in (value, locations, weights)]
    with torch.cuda.graph(graph):
        captured = op(static[0], *on_gpu, static[1], static[2], **call)
    for seed in (1, 2):
        again = make(name, seed=seed)
        for mine, new in zip(static, (again[0], again[3], again[4])):
            mine.copy_(new)
        graph.replay()
        expect(f"{name}, graph replay {seed}", error_of(captured, again[0], levels, again[3], again[4]))
    return value, levels, starts, locations, weights


for shape in sys.argv[4:]:
    last = check_shape(shape)

value, levels, starts, locations, weights = last
# nobody tuned this one: grid_sample, and no kernel when that is refused; with a space what the lookup advises, compiled here
few = (locations[:, :5].contiguous(), weights[:, :5].contiguous())
told = op.explain(value, levels, starts, *few)
print(told)
for _ in range(2):  # the first call of compiled code is compared, the second one is not
    expect("an unknown shape", error_of(op(value, levels, starts, *few), value, levels, *few))
if not space:  # without a space there is no code for it, whatever the lookup knows
    assert told.startswith("grid_sample")
    try:
        op(value, levels, starts, *few, fallback=False)
        raise AssertionError("answered from nowhere")
    except RuntimeError as error:
        assert "no tuned kernel" in str(error)
# a shape that is first seen while a graph is captured
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        op(value, levels, starts, locations[:, :3].contiguous(), weights[:, :3].contiguous())
    raise AssertionError("loaded during a capture")
except RuntimeError as error:
    assert "before the capture" in str(error), error
# gradients
wants = value.float().requires_grad_()
op(wants, levels, starts, locations, weights).sum().backward()
assert wants.grad.abs().sum() > 0
try:
    op(value, levels, [s + 1 for s in starts], locations, weights)
    raise AssertionError("inconsistent level_start_index")
except ValueError as error:
    assert "level_start_index" in str(error)
# an output of NaN behind a right one proves nothing
right, wrong = torch.ones(4), torch.full((4,), float("nan"))
suspect, wanted = types.SimpleNamespace(is_proved=False), [right, right]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert not op._forward.prove(suspect, [right, wrong], wanted) and not suspect.is_proved
assert len(caught) == 1 and "nan" in str(caught[0].message)
assert op._forward.prove(suspect, [right, right], wanted) and suspect.is_proved
op.flush_misses(sys.argv[3])
print("checked")
