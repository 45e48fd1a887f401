"""Multi-scale deformable attention, forward and backward, as operations of torch.library."""
from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Union

import torch
from torch import Tensor

import tunelookup

from .. import _problem
from . import _kernels
from ._reference import away_from_kinks, by_grid_sample, gradients_by_grid_sample

Numbers = Union[Tensor, Sequence[Sequence[int]], Sequence[int]]
_INPUTS = ("value", "loc", "attn")


class Table:
    """spatial_shapes and level_start_index on the host: one object for each pair that was seen, so that it is known by its identity."""

    def __init__(self, levels: tuple[tuple[int, int], ...], starts: tuple[int, ...]) -> None:
        self.levels, self.starts = levels, starts


class _Tables:
    """Reading a device tensor waits for the GPU, so it is done once per tensor, not once per call."""

    def __init__(self) -> None:
        self._made: dict[Any, Table] = {}
        self._known: dict[tuple[int, int], tuple[Any, int, Any, int, Table]] = {}

    def of_numbers(self, shapes: Sequence[int], starts: Sequence[int]) -> Table:
        """shapes: h0, w0, h1, w1, …"""
        key = (*shapes, None, *starts)
        table = self._made.get(key)
        return table or self._made.setdefault(key, Table(tuple(zip(shapes[::2], shapes[1::2])), tuple(starts)))

    def of(self, shapes: Any, starts: Any) -> Table:
        known = self._known.get((id(shapes), id(starts)))
        if known and known[0]() is shapes and known[2]() is starts and known[1] == shapes._version and known[3] == starts._version:
            return known[4]
        on_gpu = [tensor for tensor in (shapes, starts) if isinstance(tensor, Tensor) and tensor.is_cuda]
        if on_gpu and torch.cuda.is_current_stream_capturing():
            raise RuntimeError("spatial_shapes and level_start_index lie on the GPU and were not seen before this capture, or were made in inference mode: call once with these tensors before "
                               "it, or pass lists")
        table = self.of_numbers(_flat(shapes), _flat(starts))
        if len(on_gpu) == 2 and not any(tensor.is_inference() for tensor in on_gpu):  # inference tensors have no version, and a change would go unseen: they are read each time
            key = id(shapes), id(starts)

            def forget(_: object) -> None:
                self._known.pop(key, None)

            self._known[key] = weakref.ref(shapes, forget), shapes._version, weakref.ref(starts, forget), starts._version, table
        return table


def _flat(numbers: Any) -> list[int]:
    rows = numbers.tolist() if isinstance(numbers, Tensor) else numbers
    return [number for row in rows for number in (row if isinstance(row, (list, tuple)) else (row,))]


class MultiScaleDeformableAttention:
    """The op with a database of its own."""

    def __init__(self, database: str | os.PathLike[str] | None = None, kernel: str = "msda", user_cubins: bool = True, space: str | os.PathLike[str] | None = None,
                 library: str | None = None, backward: str = "msda_backward", backward_space: str | os.PathLike[str] | None = None, snapshot: str | None = None,
                 only_tuned: bool = False) -> None:
        """database: None = the user's over the shipped ones. kernel: "msda", or "msda@KEY" (`msda-tune key`). user_cubins: run code of the user's file, which is then trusted like
        a program. space: what was tuned, an .ini or the name of a space that came with the library ("msda"); variants without code for a shape are compiled from its source, and compared with
        grid_sample at their first call; only_tuned: for shapes that have a row of their own alone. backward, backward_space: the same for gradients. snapshot: a snapshot_id; SnapshotError where
        another one would answer."""
        self._made_with = database, kernel, user_cubins, space, library, backward, backward_space, snapshot, only_tuned
        self._library = tunelookup.Library(database, user_cubins=user_cubins, count_misses=True, snapshot=snapshot, library=library)
        self._forward = _kernels.Kernel(self._library, kernel, space, _INPUTS, ("out",), only_tuned=only_tuned)
        self._backward = _kernels.Kernel(self._library, backward, backward_space, (*_INPUTS, "grad_out"), ("grad_value", "grad_loc", "grad_attn"), only_tuned=only_tuned)
        self._tables = _Tables()
        self._number = next(_numbers)
        _ops[self._number] = weakref.ref(self)
        weakref.finalize(self, _ops.pop, self._number)

    def __deepcopy__(self, memo: object) -> MultiScaleDeformableAttention:
        return self  # so that modules that use it can be copied

    def __reduce__(self) -> tuple[Any, ...]:
        return MultiScaleDeformableAttention, self._made_with

    @property
    def snapshot_id(self) -> str:
        """Of its database: ranks whose ids are equal run the same kernels."""
        return self._library.snapshot_id

    def frozen(self) -> contextlib.AbstractContextManager[None]:
        """While this lasts, nothing is asked, compiled or loaded: a call that would need it is a RuntimeError. So it is in every capture of a CUDA graph, without asking."""
        return _kernels.frozen(self._forward, self._backward)

    def close(self) -> None:
        """Ends its database. Shapes that were seen go on."""
        self._library.close()

    def flush_misses(self, path: str | os.PathLike[str]) -> None:
        """Appends the shapes that found nothing to a file for `msda-tune --from-misses`."""
        self._library.flush_misses(path)

    def __call__(self, value: Tensor, spatial_shapes: Numbers, level_start_index: Numbers, sampling_locations: Tensor, attention_weights: Tensor, im2col_step: int | None = None, *,
                 queries: str = "auto", workload: str | None = None, fallback: bool = True) -> Tensor:
        """im2col_step is taken for compatibility. queries: "grid", "levels" or "free" (msda.ini); "auto": one per pixel are "levels", others "free". fallback False: RuntimeError
        instead of grid_sample."""
        return _call(self._number, value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries, workload, fallback)

    # ---- what serves a call ----

    def _entry(self, kernel: _kernels.Kernel, value: Tensor, table: Table, locations: Tensor, weights: Tensor, queries: str, workload: str, grad_dtype: str | None = None) -> Any:
        """(what runs it or None, why)."""
        key = (value.shape, locations.shape, weights.shape, table, value.dtype, locations.dtype, weights.dtype, value.get_device(), locations.get_device(), weights.get_device(), queries, workload,
               grad_dtype)
        found = kernel.ready.get(key)
        if found is None:
            found = kernel.ready[key] = self._settle(kernel, key, value, table, locations, weights, queries, workload, grad_dtype)
        return found

    @staticmethod
    def _settle(kernel: _kernels.Kernel, key: Any, value: Tensor, table: Table, locations: Tensor, weights: Tensor, queries: str, workload: str, grad_dtype: str | None) -> Any:
        _problem.check(tuple(value.shape), table.levels, table.starts, tuple(locations.shape), tuple(weights.shape))
        if not value.is_cuda or locations.device != value.device or weights.device != value.device:
            return None, "the tensors are not on one GPU"
        dtype, location_dtype = (_problem.dtype_of(tensor) for tensor in (value, locations))
        if not dtype or not location_dtype or weights.dtype != locations.dtype:
            return None, f"no kernel for {value.dtype} values, {locations.dtype} locations and {weights.dtype} weights"
        lie = _problem.guess_queries(value.shape[1], locations.shape[1]) if queries == "auto" else queries
        names, values = _problem.question(value.shape, table.levels, locations.shape, dtype, location_dtype, lie, workload, grad_dtype)
        return kernel.entry(key, value.device, lambda: (names, values), lambda: {"levels": torch.tensor(_problem.level_table(_problem.shape_of(names, values)), dtype=torch.int32, device=value.device)})

    def _backward_entry(self, value: Tensor, *rest: Any) -> Any:
        """(what runs the backward or None, why, its grad_dtype). grad_value in the values' type if there is such a kernel, else in f32."""
        why = ""
        for grad_dtype in dict.fromkeys((_problem.dtype_of(value), "f32")):
            tuned, why = self._entry(self._backward, value, *rest, grad_dtype=grad_dtype)
            if tuned:
                return tuned, why, grad_dtype
        return None, why, None

    def explain(self, value: Tensor, spatial_shapes: Numbers, level_start_index: Numbers, sampling_locations: Tensor, attention_weights: Tensor, queries: str = "auto",
                workload: str | None = None) -> str:
        """What serves such a call, and why."""
        tuned, why = self._entry(self._forward, value, self._tables.of(spatial_shapes, level_start_index), sampling_locations, attention_weights, queries, workload or "")
        return ("tuned kernel\n" if tuned else "grid_sample\n") + why

    def explain_gradients(self, value: Tensor, spatial_shapes: Numbers, level_start_index: Numbers, sampling_locations: Tensor, attention_weights: Tensor, queries: str = "auto",
                          workload: str | None = None) -> str:
        """What serves the backward of such a call, and why. None of the tensors needs to require gradients."""
        tuned, why, _ = self._backward_entry(value, self._tables.of(spatial_shapes, level_start_index), sampling_locations, attention_weights, queries, workload or "")
        return ("tuned kernel\n" if tuned else "grid_sample\n") + why

    # ---- the calls, without autograd ----

    def forward(self, value: Tensor, table: Table, locations: Tensor, weights: Tensor, queries: str, workload: str, fallback: bool) -> Tensor:
        tuned, why = self._entry(self._forward, value, table, locations, weights, queries, workload)
        if not tuned:
            if not fallback:
                raise RuntimeError("no tuned kernel: " + why)
            return by_grid_sample(value, table.levels, locations, weights)
        if not tuned.is_proved:
            probe, given = self._probe(tuned, value, table, locations, weights)
            if not self._forward.prove(tuned, [self._run_forward(tuned, *given)], [by_grid_sample(*probe)]):
                return self.forward(value, table, locations, weights, queries, workload, fallback)
        return self._run_forward(tuned, value, locations, weights)

    @staticmethod
    def _run_forward(tuned: _kernels.Tuned, value: Tensor, locations: Tensor, weights: Tensor) -> Tensor:
        n, _, heads, channels = value.shape
        out = value.new_empty((n, locations.shape[1], heads * channels))
        tuned.run((value, locations, weights), (out,))
        return out

    @staticmethod
    def _probe(tuned: _kernels.Tuned, value: Tensor, table: Table, locations: Tensor, weights: Tensor) -> Any:
        """Inputs to prove a kernel with: (as by_grid_sample takes them, as kernels do)."""
        tuned.refuse_capture()
        value, weights = _kernels.drawn(value, -1, 1), _kernels.drawn(weights, 0, 1)
        locations = away_from_kinks(table.levels, _kernels.drawn(locations, -0.05, 1.05))
        return (value, table.levels, locations, weights), (value, locations, weights)

    def backward(self, value: Tensor, table: Table, locations: Tensor, weights: Tensor, grad_out: Tensor, queries: str, workload: str) -> list[Tensor]:
        if grad_out.shape != (value.shape[0], locations.shape[1], value.shape[2] * value.shape[3]):
            raise ValueError(f"grad_out is {tuple(grad_out.shape)}, expected {(value.shape[0], locations.shape[1], value.shape[2] * value.shape[3])}")
        tuned, _, grad_dtype = self._backward_entry(value, table, locations, weights, queries, workload)
        if not tuned:
            return gradients_by_grid_sample(value, table.levels, locations, weights, grad_out)
        if not tuned.is_proved:
            (probe, given), grad = self._probe(tuned, value, table, locations, weights), _kernels.drawn(grad_out, -1, 1)
            if not self._backward.prove(tuned, self._run_backward(tuned, grad_dtype, *given, grad), gradients_by_grid_sample(*probe, grad)):
                return self.backward(value, table, locations, weights, grad_out, queries, workload)
        return self._run_backward(tuned, grad_dtype, value, locations, weights, grad_out)

    @staticmethod
    def _run_backward(tuned: _kernels.Tuned, grad_dtype: str, value: Tensor, locations: Tensor, weights: Tensor, grad_out: Tensor) -> list[Tensor]:
        grads = [value.new_empty(value.shape, dtype=torch.float32 if grad_dtype == "f32" else value.dtype), locations.new_empty(locations.shape), weights.new_empty(weights.shape)]
        tuned.run((value, locations, weights, grad_out.to(value.dtype)), grads)
        return [grads[0].to(value.dtype), grads[1], grads[2]]

    def gradients(self, value: Tensor, spatial_shapes: Numbers, level_start_index: Numbers, sampling_locations: Tensor, attention_weights: Tensor, grad_out: Tensor, queries: str = "auto",
                  workload: str | None = None) -> list[Tensor]:
        """[grad_value, grad_loc, grad_attn] without autograd, each in its tensor's type. By a kernel if there is one. Its sums into grad_value are atomic: the last bits differ from run to run."""
        return self.backward(value, self._tables.of(spatial_shapes, level_start_index), sampling_locations, attention_weights, grad_out, queries, workload or "")


_default_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def _made() -> MultiScaleDeformableAttention:
    try:
        return MultiScaleDeformableAttention(space="msda", backward_space="msda_backward", only_tuned=True)
    except FileNotFoundError:  # a library alone, without the shipped folder
        return MultiScaleDeformableAttention()


def default_op() -> MultiScaleDeformableAttention:
    """The one that ms_deform_attn and MSDeformAttn use: on the user's database over the shipped one, whose rows have no code, so that it is compiled from the shipped spaces."""
    with _default_lock:
        op = _made()
        _ops[0] = weakref.ref(op)
    return op


def _gone() -> MultiScaleDeformableAttention:
    raise RuntimeError("the MultiScaleDeformableAttention of this call is gone: keep it as long as what was compiled or exported with it")


_numbers = itertools.count(1)
_ops: dict[int, Callable[[], MultiScaleDeformableAttention | None]] = {0: default_op}  # by the number that an operation's call has


def ms_deform_attn(value: Tensor, spatial_shapes: Numbers, level_start_index: Numbers, sampling_locations: Tensor, attention_weights: Tensor, im2col_step: int | None = None, *, queries: str = "auto",
                   workload: str | None = None, fallback: bool = True) -> Tensor:
    """MultiScaleDeformableAttention() on the user's database."""
    return _call(0, value, spatial_shapes, level_start_index, sampling_locations, attention_weights, queries, workload, fallback)


def _call(number: int, value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, queries: str, workload: str | None, fallback: bool) -> Tensor:
    if isinstance(shapes, Tensor) and isinstance(starts, Tensor):
        return torch.ops.msda_tune.ms_deform_attn.default(value, shapes, starts, locations, weights, queries, workload or "", fallback, number)
    return torch.ops.msda_tune.ms_deform_attn_levels.default(value, _flat(shapes), _flat(starts), locations, weights, queries, workload or "", fallback, number)


# ---- torch.library. Levels are tensors, or integers (h0, w0, h1, w1, …; s0, s1, …), which nobody has to read from the GPU ----

def _forward(value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, queries: str = "auto", workload: str = "", fallback: bool = True, op: int = 0) -> Tensor:
    mine = _ops.get(op, _gone)() or _gone()
    table = mine._tables.of(shapes, starts) if isinstance(shapes, Tensor) else mine._tables.of_numbers(shapes, starts)
    return mine.forward(value, table, locations, weights, queries, workload, fallback)


def _fake_forward(value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, queries: str = "auto", workload: str = "", fallback: bool = True, op: int = 0) -> Tensor:
    _problem.check_ranks(value.shape, locations.shape, weights.shape)
    return value.new_empty((value.shape[0], locations.shape[1], value.shape[2] * value.shape[3]))


def _backward(value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, grad_out: Tensor, queries: str = "auto", workload: str = "", op: int = 0) -> tuple[Tensor, ...]:
    mine = _ops.get(op, _gone)() or _gone()
    table = mine._tables.of(shapes, starts) if isinstance(shapes, Tensor) else mine._tables.of_numbers(shapes, starts)
    return tuple(mine.backward(value, table, locations, weights, grad_out, queries, workload))


def _fake_backward(value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, grad_out: Tensor, queries: str = "auto", workload: str = "", op: int = 0) -> tuple[Tensor, ...]:
    return tuple(tensor.new_empty(tensor.shape) for tensor in (value, locations, weights))


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    value, shapes, starts, locations, weights, queries, workload, _, op = inputs
    are_tensors = isinstance(shapes, Tensor)
    ctx.save_for_backward(value, locations, weights, *((shapes, starts) if are_tensors else ()))
    ctx.levels, ctx.settings = None if are_tensors else (shapes, starts), (queries, workload, op)


def _second(ctx: Any, *_: Tensor) -> None:
    raise RuntimeError("ms_deform_attn has no second derivatives")


def _no_vmap(info: Any, in_dims: Any, *_: Any) -> None:
    raise RuntimeError("ms_deform_attn under vmap: it takes a batch itself, so fold the mapped dimension into the first one (value [N, S, M, D], locations [N, Lq, M, L, P, 2])")


def _register(library: Any, name: str, table: str) -> None:
    tables = f"Tensor value, {table} spatial_shapes, {table} level_start_index, Tensor sampling_locations, Tensor attention_weights"
    tags = (torch.Tag.pt2_compliant_tag,)
    library.define(f'{name}({tables}, str queries="auto", str workload="", bool fallback=True, int op=0) -> Tensor', tags=tags)
    library.define(f'{name}_backward({tables}, Tensor grad_out, str queries="auto", str workload="", int op=0) -> (Tensor, Tensor, Tensor)', tags=tags)
    forward, backward = (getattr(torch.ops.msda_tune, which).default for which in (name, name + "_backward"))
    for which, real, fake in ((name, _forward, _fake_forward), (name + "_backward", _backward, _fake_backward)):
        library.impl(which, real, "CompositeExplicitAutograd")
        torch.library.register_fake(f"msda_tune::{which}", fake, lib=library)
        torch.library.register_vmap(f"msda_tune::{which}", _no_vmap, lib=library)

    def gradients(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        value, locations, weights, *tensors = ctx.saved_tensors
        grads = backward(value, *(ctx.levels or tensors), locations, weights, grad, *ctx.settings)
        return grads[0], None, None, grads[1], grads[2], None, None, None, None

    def autocast(value: Tensor, shapes: Any, starts: Any, locations: Tensor, weights: Tensor, *settings: Any) -> Tensor:
        """Values in autocast's type, coordinates and weights in f32: in half precision a coordinate of a large image is wrong by pixels' parts."""
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)):
            return forward(_cast(value, torch.get_autocast_dtype("cuda")), shapes, starts, _cast(locations, torch.float32), _cast(weights, torch.float32), *settings)

    _kernels.register_autograd(library, name, _forward, gradients, _save)
    _kernels.register_autograd(library, name + "_backward", _backward, _second)
    library.impl(name, autocast, "AutocastCUDA")


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """As autocast does: f64 stays."""
    return tensor if tensor.dtype == torch.float64 else tensor.to(dtype)


_library = torch.library.Library("msda_tune", "FRAGMENT")
_register(_library, "ms_deform_attn", "Tensor")
_register(_library, "ms_deform_attn_levels", "SymInt[]")
