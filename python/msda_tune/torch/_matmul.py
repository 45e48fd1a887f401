"""torch.matmul by the kernels of family gemm, where they are faster on this GPU."""
from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tunelookup

from .. import _problem
from . import _kernels

ROUNDS, CALLS, MARGIN = 5, 20, 0.02  # what a shape is timed with at its first call; by how much a kernel must be faster
_SCALARS = {"alpha": struct.pack("f", 1.0), "beta_value": struct.pack("f", 0.0)}  # the space has others, to be compared with


class _Gemm:
    """Kernel gemm of the user's database over the shipped one."""

    def __init__(self, space: str | os.PathLike[str] | None = None) -> None:
        library = tunelookup.Library(user_cubins=True, count_misses=True)
        self._kernel = _kernels.Kernel(library, "gemm", space, ("a", "b", "c"), ("d",), _SCALARS)

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        lies = _letter(a) + _letter(b)
        key = a.shape, b.shape, a.dtype, a.get_device(), lies
        found = self._kernel.ready.get(key)
        if found is None:
            if a.is_cuda and torch.cuda.is_current_stream_capturing():
                return torch.matmul(a, b)  # nothing is loaded or timed meanwhile
            found = self._kernel.ready[key] = self._settle(key, a, b, lies)
        tuned, _ = found
        return torch.matmul(a, b) if not tuned else self._run(tuned, a, b)

    @staticmethod
    def _run(tuned: _kernels.Tuned, a: Tensor, b: Tensor) -> Tensor:
        out = a.new_empty((a.shape[0], b.shape[1]))
        tuned.run((a if a.is_contiguous() else a.t(), b if b.is_contiguous() else b.t(), out), (out,))  # C is not read
        return out

    def _settle(self, key: Any, a: Tensor, b: Tensor, lies: str) -> tuple[_kernels.Tuned | None, str]:
        (m, k), n = a.shape, b.shape[1]
        dtype = _problem.dtype_of(a)
        if not a.is_cuda or b.device != a.device or b.dtype != a.dtype or dtype not in ("f16", "bf16"):
            return None, f"no kernel for {a.dtype} on {a.device} times {b.dtype} on {b.device}"
        rows = k if lies[0] == "R" else m, n if lies[1] == "R" else k, n  # the kernels want them padded to 8
        if "?" in lies or any(row % 8 for row in rows) or not all((m, k, n)):
            return None, f"strides of {tuple(a.stride())} and {tuple(b.stride())}, rows of {rows}"
        names = ["M", "N", "K", f"dtype={dtype}", f"layout={lies}", "accumulate=f32", "beta=zero"]
        tuned, why = self._kernel.entry(key, a.device, lambda: (names, [m, n, k]))
        if tuned:
            probe = _kernels.drawn(a, -1, 1), _kernels.drawn(b, -1, 1)
            if not self._kernel.prove(tuned, [self._run(tuned, *probe)], [torch.matmul(*probe)]):
                return None, "wrong for this shape"
            mine, theirs = _microseconds(lambda: torch.ops.msda_tune.matmul.default(a, b), lambda: torch.matmul(a, b))  # it is served by the kernel for now
            why += f"\n{mine:.2f} us, torch.matmul {theirs:.2f} us"
            if mine > theirs * (1 - MARGIN):
                tuned = None
        return tuned, why

    def explain(self, a: Tensor, b: Tensor) -> str:
        self(a, b)
        tuned, why = self._kernel.ready[a.shape, b.shape, a.dtype, a.get_device(), _letter(a) + _letter(b)]
        return ("tuned kernel\n" if tuned else "torch.matmul\n") + why


def _letter(matrix: Tensor) -> str:
    """How it lies: R row-major, C column-major, ? otherwise."""
    return "R" if matrix.is_contiguous() else "C" if matrix.t().is_contiguous() else "?"


def _replay(call: Callable[[], Tensor]) -> Callable[[], object]:
    """The same by a graph of CALLS calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    return graph.replay


def _repeat(call: Callable[[], Tensor]) -> Callable[[], object]:
    return lambda: [call() for _ in range(CALLS)]


def _microseconds(*calls: Callable[[], Tensor]) -> list[float]:
    """Of one call each, in turn: the best of some rounds."""
    runs, best = [(_replay if _in_graphs else _repeat)(call) for call in calls], [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, run in enumerate(runs):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            run()
            end.record()
            end.synchronize()
            best[i] = min(best[i], begin.elapsed_time(end) * 1e3 / CALLS)
    return best


_gemm: _Gemm | None = None
_is_on = _in_graphs = False


def enable_matmul(on: bool = True, *, in_graphs: bool = False, space: str | os.PathLike[str] | None = None) -> None:
    """Whether `matmul` may use tuned kernels. Off at the start. in_graphs: the two are timed as a CUDA graph replays them, without what a launch from Python costs; for those who capture.
    space: what was tuned, an .ini or "gemm", to compile from it what has no code in the database. What was timed before is forgotten."""
    global _gemm, _is_on, _in_graphs
    _gemm, _is_on, _in_graphs = _Gemm(space) if on else None, on, in_graphs


def _made() -> _Gemm:
    global _gemm
    if _gemm is None:
        _gemm = _Gemm()
    return _gemm


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """torch.matmul. Where enable_matmul() was called, a product of f16 or bf16 matrices whose shape was tuned is timed at its first call, once by the database's kernel and once by torch.matmul, and the
    faster one serves from then on. input may have more dimensions (a linear layer's), other has two."""
    if not _is_on or other.dim() != 2 or input.dim() < 2:
        return torch.matmul(input, other)
    rows = input if input.dim() == 2 else input.reshape(-1, input.shape[-1])
    out = torch.ops.msda_tune.matmul.default(rows, other)
    return out if input.dim() == 2 else out.view(*input.shape[:-1], other.shape[1])


def explain_matmul(input: Tensor, other: Tensor) -> str:
    """What serves such a product, and why."""
    return _made().explain(input.reshape(-1, input.shape[-1]), other)


def _real(a: Tensor, b: Tensor) -> Tensor:
    return (_gemm or _made())(a, b)


def _fake(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.dim() == 2 and b.dim() == 2 and a.shape[1] == b.shape[0], lambda: f"{tuple(a.shape)} times {tuple(b.shape)}")
    return a.new_empty((a.shape[0], b.shape[1]))


def _save(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    a, b = ctx.saved_tensors
    op = torch.ops.msda_tune.matmul.default
    return op(grad, b.t()), op(a.t(), grad)


def _autocast(a: Tensor, b: Tensor) -> Tensor:
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)):
        dtype = torch.get_autocast_dtype("cuda")
        return torch.ops.msda_tune.matmul.default(a.to(dtype), b.to(dtype))


_library = torch.library.Library("msda_tune", "FRAGMENT")
_library.define("matmul(Tensor a, Tensor b) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.impl("matmul", _real, "CompositeExplicitAutograd")
_library.impl("matmul", _autocast, "AutocastCUDA")
torch.library.register_fake("msda_tune::matmul", _fake, lib=_library)
_kernels.register_autograd(_library, "matmul", _real, _gradients, _save)
