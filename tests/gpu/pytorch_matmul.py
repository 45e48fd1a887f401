"""msda_tune.torch.matmul on a GPU: off, on, in graphs, its gradients."""
import unittest.mock

import torch

import msda_tune.torch as tuned
from msda_tune.torch import _matmul


def expect(what, mine, wanted, limit=2e-3):
    error = ((mine.double() - wanted).norm() / wanted.norm()).item()
    print(f"{what}: error {error:.1e}")
    assert error < limit, what


def make(m, n, k, layout, dtype):
    a = torch.randn(m, k, device="cuda", dtype=dtype) if layout[0] == "R" else torch.randn(k, m, device="cuda", dtype=dtype).t()
    b = torch.randn(k, n, device="cuda", dtype=dtype) if layout[1] == "R" else torch.randn(n, k, device="cuda", dtype=dtype).t()
    return a, b


a, b = make(256, 256, 256, "RC", torch.float16)
with unittest.mock.patch.object(_matmul, "_made", None):  # off: nothing of it is touched
    assert torch.equal(tuned.matmul(a, b), torch.matmul(a, b))
served = 0
for in_graphs in (False, True):
    tuned.enable_matmul(in_graphs=in_graphs, space="gemm")
    for m, n, k in ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (4096, 4096, 4096), (24, 4096, 11008), (100, 136, 88), (33, 77, 20)):
        for layout, dtype in (("RC", torch.float16), ("RC", torch.bfloat16), ("CR", torch.float16)):
            a, b = make(m, n, k, layout, dtype)
            told = tuned.explain_matmul(a, b).splitlines()
            served += told[0] == "tuned kernel"
            print(f"{m}x{n}x{k} {layout} {dtype}, in_graphs={in_graphs}: {told[0]}: {told[-1]}")
            junk = torch.full((m, n), float("nan"), device="cuda", dtype=dtype)
            del junk
            expect("product", tuned.matmul(a, b), a.double() @ b.double(), 2e-3 if dtype == torch.float16 else 1e-2)
print(f"{served} products by tuned kernels")
# every kernel, not only those that were faster
with unittest.mock.patch.object(_matmul, "_microseconds", lambda *calls: [1.0, 2.0]):
    tuned.enable_matmul(space="gemm")
    for layout in ("RR", "RC", "CR", "CC"):
        a, b = make(1024, 1024, 1024, layout, torch.float16)
        told = tuned.explain_matmul(a, b)
        print(told.splitlines()[0], layout)
        for _ in range(2):
            expect(f"by a kernel, {layout}", tuned.matmul(a, b), a.double() @ b.double())
    x, w = torch.randn(4, 256, 1024, device="cuda", dtype=torch.float16, requires_grad=True), torch.randn(1024, 1024, device="cuda", dtype=torch.float16, requires_grad=True)
    out = tuned.matmul(x, w.t())
    grad = torch.randn_like(out)
    grads = torch.autograd.grad(out, (x, w), grad)
    expect("grad of the input", grads[0], grad.double() @ w.double())
    expect("grad of the weight", grads[1], (grad.double().flatten(0, 1).t() @ x.double().flatten(0, 1)))
    compiled = torch.compile(lambda x, w: tuned.matmul(x, w.t()).relu(), fullgraph=True)
    expect("compiled", compiled(x, w), (x.double() @ w.double().t()).relu())
    with torch.autocast("cuda", dtype=torch.float16):
        assert tuned.matmul(x.float(), w.float().t()).dtype == torch.float16
a, b = make(1024, 1024, 1024, "RC", torch.float16)
tuned.matmul(a, b)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    seen, unseen = tuned.matmul(a, b), tuned.matmul(a[:512], b)
a.normal_()
for out in (seen, unseen):
    out.fill_(float("nan"))
graph.replay()
expect("in a graph", seen, a.double() @ b.double())
expect("in a graph, not seen before", unseen, a[:512].double() @ b.double())
print("checked")
