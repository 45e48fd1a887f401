"""Gradients of msda_tune.torch on a GPU: against grid_sample's in f64, and torch's gradcheck. Usage: pytorch_gradients.py EXAMPLE_FOLDER DATABASE SHAPE…
MSDA_SPACES: the forward's and the backward's search space, to compile from what has no code in the database."""
import os
import sys

sys.path.insert(0, sys.argv[1])
import torch
import torch.nn.functional as F

import bench
from msda_tune.torch import MultiScaleDeformableAttention

# One of msda.ini and msda_backward.ini that is f32 throughout, for gradcheck.
bench.SHAPES["odd_d13_f32"] = (1, 3, 13, 1, 23, [(7, 13), (5, 6), (2, 3)], "free")
spaces = os.environ.get("MSDA_SPACES", "").split()
op = MultiScaleDeformableAttention(sys.argv[2], space=spaces[0] if spaces else None, backward_space=spaces[1] if spaces else None)


def away_from_kinks(locations, levels, distance=0.02):
    """No coordinate nearer to a pixel's centre than `distance` pixels: there gradients jump, and roundings decide where."""
    sizes = torch.tensor([(width, height) for height, width in levels], device=locations.device, dtype=torch.float64)[:, None, :]
    at = locations.double() * sizes - 0.5
    share = (at - at.floor()).clamp(distance, 1 - distance)
    return ((at.floor() + share + 0.5) / sizes).to(locations.dtype)


def make(name, dtype=torch.float16):
    value, levels, starts, locations, weights, queries = bench.make(name, dtype=dtype)
    return value, levels, starts, away_from_kinks(locations, levels), weights, queries


def in_f64(value, levels, locations, weights, grad_out):
    """Written apart from the example's own by_grid_sample."""
    inputs = [t.detach().double().requires_grad_() for t in (value, locations, weights)]
    n, _, heads, channels = value.shape
    total, first = 0, 0
    for level, (height, width) in enumerate(levels):
        image = inputs[0][:, first:first + height * width].permute(0, 2, 3, 1).reshape(n * heads, channels, height, width)
        grid = (2 * inputs[1][:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        sampled = F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        total = total + (sampled * inputs[2][:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]).sum(-1)
        first += height * width
    out = total.view(n, heads * channels, -1).transpose(1, 2)
    return torch.autograd.grad(out, inputs, grad_out.double())


def expect(what, mine, wanted, limit=2e-3):
    for name, a, b in zip(("value", "loc", "attn"), mine, wanted):
        error = ((a.double() - b).norm() / b.norm()).item()
        print(f"{what}, gradient of {name}: error {error:.2e}")
        assert error < limit, (what, name)


def check_shape(name):
    value, levels, starts, locations, weights, queries = make(name)
    told = op.explain_gradients(value, levels, starts, locations, weights, queries)
    print(told)
    assert told.startswith("tuned kernel"), name
    inputs = [t.clone().requires_grad_() for t in (value, locations, weights)]
    grad_out = torch.randn(value.shape[0], locations.shape[1], value.shape[2] * value.shape[3], device="cuda", generator=torch.Generator("cuda").manual_seed(1)).to(value.dtype)
    wanted = in_f64(value, levels, locations, weights, grad_out)
    out = op(inputs[0], levels, starts, inputs[1], inputs[2], queries=queries, fallback=False)
    assert "msda_tune" in out.grad_fn.name(), out.grad_fn
    mine = torch.autograd.grad(out, inputs, grad_out)
    assert [g.dtype for g in mine] == [t.dtype for t in inputs]
    expect(name, mine, wanted)
    # only some are wanted; grad_out not contiguous
    inputs[1].requires_grad_(False)
    out = op(inputs[0], levels, starts, inputs[1], inputs[2], queries=queries, fallback=False)
    strided = torch.stack((grad_out, torch.zeros_like(grad_out)), -1)[..., 0]
    out.backward(strided)
    assert inputs[1].grad is None
    expect(f"{name}, strided", (inputs[0].grad, mine[1], inputs[2].grad), wanted)
    # another stream, behind work that takes a while
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros_like(grad_out)
        torch.cuda._sleep(20_000_000)
        late.copy_(grad_out)
        mine = op.gradients(value, levels, starts, locations, weights, late, queries)
    stream.synchronize()
    expect(f"{name}, another stream", mine, wanted)
    # twice: atomic additions in another order
    again = op.gradients(value, levels, starts, locations, weights, grad_out, queries)
    assert torch.equal(again[1], mine[1]) and torch.equal(again[2], mine[2])


def check_in_inference_mode():
    """Inputs without versions: the same forward, and gradients asked for by hand."""
    value, levels, starts, locations, weights, queries = make("odd")
    wanted = in_f64(value, levels, locations, weights, torch.ones(value.shape[0], locations.shape[1], value.shape[2] * value.shape[3], device="cuda"))
    with torch.inference_mode():
        table = (torch.tensor(levels).cuda(), torch.tensor(starts).cuda())
        out = op(value, *table, locations, weights, queries=queries)
        assert op.explain_gradients(value, *table, locations, weights, queries) == op.explain_gradients(value, levels, starts, locations, weights, queries)
    mine = op.gradients(value, levels, starts, locations, weights, torch.ones_like(out), queries)
    expect("inference mode", mine, wanted)


def check_by_differences():
    """torch's gradcheck: the op is linear in values and weights, and between kinks in each coordinate, so differences are exact but for f32's roundings."""
    value, levels, starts, locations, weights, queries = make("odd_d13_f32", torch.float32)

    def in_f32(value, locations, weights):
        return op(value.float(), levels, starts, locations.float(), weights.float(), queries=queries, fallback=False).double()

    inputs = [t.double() for t in (value, locations, weights)]
    for i, eps in enumerate((0.5, 0.01 / 13, 0.5)):
        mine = [t.clone().requires_grad_(k == i) for k, t in enumerate(inputs)]
        assert torch.autograd.gradcheck(in_f32, mine, eps=eps, atol=2e-3, rtol=2e-3, nondet_tol=1e-4)
    print("gradcheck: passed")


def check_without_a_kernel():
    value, levels, starts, locations, weights, queries = make("odd")
    value = value[..., :8].contiguous().requires_grad_()  # nobody tuned this
    if not spaces:
        assert op.explain_gradients(value, levels, starts, locations, weights, queries).startswith("grid_sample")
    op(value, levels, starts, locations, weights, queries=queries).float().sum().backward()
    wanted = in_f64(value, levels, locations, weights, torch.ones(2, 37, 16, device="cuda"))
    expect("an unknown shape", (value.grad,), wanted[:1])


for shape in sys.argv[3:]:
    check_shape(shape)
check_in_inference_mode()
check_by_differences()
check_without_a_kernel()
print("checked")
