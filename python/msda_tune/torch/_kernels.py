"""Kernels of a database as calls on torch's tensors: found, loaded and proved once for each shape, then launched."""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tunelookup import Device, Error, Library, Match
from tunelookup import _c, _driver

from .. import _compile_variant, _problem

try:  # what torch.cuda's functions of that kind call, without an object for the stream
    from torch._C import _cuda_getCurrentRawStream as raw_stream, _cuda_getDevice as current_device
except ImportError:
    current_device = torch.cuda.current_device

    def raw_stream(device: int) -> int:
        return torch.cuda.current_stream(device).cuda_stream

Function = Callable[..., Any]
_modules: dict[tuple[int, bytes], Any] = {}  # of this process, by device and the code's hash. They are never unloaded: a captured graph may still launch what is in them
_loading = threading.Lock()


def _module_of(ordinal: int, code: bytes) -> Any:
    """The code as a module in the current context; loaded once, whoever asks."""
    key = ordinal, hashlib.sha256(code).digest()
    if key not in _modules:
        _modules[key] = _driver.load_module(code)
    return _modules[key]


class _Call:
    """The parameters of one call's launches. Who takes it has it alone until the launches are made; then the driver has read them."""

    def __init__(self, tuned: Tuned) -> None:
        args, maps = tuned.args, {i: len(infos) for i, infos in tuned.maps.items()}
        self.addresses = (ctypes.c_uint64 * len(args))()
        for i, tensor in tuned.fixed:
            self.addresses[i] = tensor.data_ptr()
        scalars = [(ctypes.c_ubyte * 8)(*arg.scalar) for arg in args]
        room = ctypes.create_string_buffer(sum(maps.values()) * _driver.MAP_BYTES + _driver.MAP_ALIGN)
        at = -(-ctypes.addressof(room) // _driver.MAP_ALIGN) * _driver.MAP_ALIGN
        places = []
        for i, arg in enumerate(args):
            places.append(at if i in maps else ctypes.addressof(scalars[i]) if arg.kind == _c.SCALAR else ctypes.addressof(self.addresses) + 8 * i)
            at += maps.get(i, 0) * _driver.MAP_BYTES
        structs = {i: ctypes.create_string_buffer(args[i].bytes) for i in tuned.structs}  # the driver copies them from wherever they lie
        for i, struct in structs.items():
            places[i] = ctypes.addressof(struct)
        sizes = {_c.TENSOR: lambda arg: 8, _c.TENSORMAP: lambda arg: arg.map_count * _driver.MAP_BYTES}
        self.copies = [(places[i] + offset, places[member], sizes.get(args[member].kind, lambda arg: arg.bytes)(args[member]))
                       for i, members in tuned.structs.items() for member, offset in members]
        self.maps = [[i, places[i], 0] for i in maps]  # argument, its place, the address that it was encoded for
        self.launches, kept = [], [scalars, room, structs]
        for config, function, indices in tuned.launches:
            mine = _driver.LaunchConfig.from_buffer_copy(config)
            parameters = (ctypes.c_void_p * len(indices))(*[places[i] for i in indices])
            self.launches.append((mine, ctypes.c_void_p(ctypes.addressof(mine)), function, ctypes.c_void_p(ctypes.addressof(parameters))))
            kept.append(parameters)
        self._kept = kept


class Tuned:
    """One answer of the lookup, loaded: everything but addresses and the stream is settled. is_proved: the tuner validated this very code on this shape."""

    def __init__(self, library: _c.Library, result: _c.Result, module: Any, is_proved: bool, device: int, made: Mapping[str, Tensor], inputs: Sequence[str], outputs: Sequence[str],
                 scalars: Mapping[str, bytes]) -> None:
        """made: inputs that the problem alone decides; inputs, outputs: names of those that a call gives, in this order; scalars: what some are instead of the space's."""
        self.is_proved, self.device = is_proved, device
        self.args = library.args(result)
        self._context, self._launch = _driver.current_context(), _driver.launcher()
        names = [arg.name.decode() for arg in self.args]
        used = [i for i, arg in enumerate(self.args) if arg.kind == _c.TENSOR and arg.is_used]
        _problem.check_inputs([names[i] for i in used if self.args[i].role in (_c.IN, _c.INOUT)], made, inputs)
        given = (*inputs, *outputs)
        if missing := [name for name in given if name not in names]:
            raise ValueError(f"the kernel has no argument {', '.join(missing)}, but {', '.join(names)}")
        self._inputs, self._outputs = ([names.index(name) for name in which] for which in (inputs, outputs))
        self._zeroed = [outputs.index(names[i]) for i in used if self.args[i].zero_before_each and names[i] in outputs]
        self._scratch = [(i, max(self.args[i].bytes, 16), self.args[i].zero_before_each) for i in used if names[i] not in given and names[i] not in made]
        self.fixed = [(i, made[names[i]]) for i in used if names[i] in made]
        for i, name in enumerate(names):
            if name in scalars:
                self.args[i].scalar[:len(scalars[name])] = list(scalars[name])
        self.maps = {i: library.tensormaps(result, i, arg.map_count) for i, arg in enumerate(self.args) if arg.kind == _c.TENSORMAP and arg.is_used}
        self.structs = {i: library.members(result, i, arg.member_count) for i, arg in enumerate(self.args) if arg.kind == _c.STRUCT and arg.is_used}
        self.launches, self._attributes = [], []
        for info in library.launches(result):
            config, attributes = _driver.make_config(info)
            self._attributes.append(attributes)  # which config points to
            self.launches.append((config, _driver.load_function(module, info), list(info.args[:info.arg_count])))
        self._has_more = bool(self._zeroed or self._scratch)
        self._idle: list[_Call] = []

    def refuse_capture(self) -> None:
        """What is not proved is compared at its first call, which waits for the GPU."""
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("this shape's code was not proved before the capture: call once with it before")

    def run(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Launches on the current stream of the tensors' device. Inputs that are not contiguous, or not aligned to 16 bytes, are copied; outputs are fresh ones. What is neither given
        nor made is scratch of this call; the caching allocator keeps its memory in stream order."""
        device = self.device
        if current_device() != device:
            with torch.cuda.device(device):
                return self.run(inputs, outputs)
        if not self.is_proved:
            self.refuse_capture()
        try:
            call = self._idle.pop()
        except IndexError:
            call = _Call(self)
        addresses, kept = call.addresses, []
        for i, tensor in zip(self._inputs, inputs):
            address = tensor.data_ptr()
            if address & 15 or not tensor.is_contiguous():
                kept.append(tensor.clone(memory_format=torch.contiguous_format))
                address = kept[-1].data_ptr()
            addresses[i] = address
        for i, tensor in zip(self._outputs, outputs):
            addresses[i] = tensor.data_ptr()
        if self._has_more:
            self._fill(addresses, outputs, kept)
        for known in call.maps:
            i, place, encoded_for = known
            address = addresses[self.args[i].tensor]
            if address != encoded_for:
                _driver.set_current_context(self._context)  # a thread of autograd's may have none
                for k, info in enumerate(self.maps[i]):
                    _driver.encode_map(info, address, place + k * _driver.MAP_BYTES)
                known[2] = address
        for to, at, size in call.copies:  # structs, those in others first
            ctypes.memmove(to, at, size)
        stream, launch = raw_stream(device), self._launch
        for config, at, function, parameters in call.launches:
            config.hStream = stream
            code = launch(at, function, parameters, None)
            if code == _driver.INVALID_CONTEXT:  # a thread that has not called CUDA yet
                _driver.set_current_context(self._context)
                code = launch(at, function, parameters, None)
            if code:
                _driver.check(code, "cuLaunchKernelEx")
        self._idle.append(call)

    def _fill(self, addresses: Any, outputs: Sequence[Tensor], kept: list[Tensor]) -> None:
        for k in self._zeroed:
            outputs[k].zero_()
        for i, size, is_zeroed in self._scratch:
            kept.append((torch.zeros if is_zeroed else torch.empty)(size, dtype=torch.uint8, device=outputs[0].device))
            addresses[i] = kept[-1].data_ptr()


class Kernel:
    """One kernel of the database and what is loaded of it. `ready`: {key of a call: what serves it (None: not this kernel), and why}."""

    def __init__(self, library: Library, name: str, space: str | os.PathLike[str] | None, inputs: Sequence[str], outputs: Sequence[str], scalars: Mapping[str, bytes] = {},
                 only_tuned: bool = False) -> None:
        """only_tuned: nothing is compiled for shapes that were not tuned themselves."""
        self._library, self.name, self._given, self._only_tuned = library, name, (inputs, outputs, scalars), only_tuned
        self._space = _compile_variant.Space(space) if space else None
        self._plans: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()
        self.ready: dict[Hashable, tuple[Tuned | None, str]] = {}
        self.frozen = 0

    def _find(self, ordinal: int, names: Sequence[str], values: Sequence[int]) -> Any:
        key = (ordinal, *names)
        if key not in self._plans:
            self._plans[key] = self._library.prepare(Device.current(ordinal), self.name, names)
        return self._plans[key].find(values)

    def _code(self, ordinal: int, answer: Any, names: Sequence[str], values: Sequence[int]) -> tuple[bytes, bool]:
        """(code, whether it is what the tuner validated), or Error."""
        try:
            return answer.cubin(), answer.match == Match.EXACT
        except Error:  # none, or of another shape
            if not self._space or self._only_tuned and answer.match != Match.EXACT:
                raise
            return _compile_variant.compile_variant(self._space, answer.variant, _problem.shape_of(names, values), Device.current(ordinal).cc), False

    def _load(self, ordinal: int, names: Sequence[str], values: Sequence[int], made: Callable[[], Mapping[str, Tensor]]) -> tuple[Tuned | None, str]:
        try:
            answer = self._find(ordinal, names, values)
            why = answer.explain()
            if not answer:
                return None, why
            code, is_proved = self._code(ordinal, answer, names, values)
            with _loading:
                module = _module_of(ordinal, code)
            return Tuned(self._library._calls(), answer._result, module, is_proved, ordinal, made(), *self._given), why
        except (Error, RuntimeError, OSError, ValueError) as trouble:
            return None, str(trouble)

    def entry(self, key: Hashable, device: torch.device, question: Callable[[], tuple[Sequence[str], Sequence[int]]],
              made: Callable[[], Mapping[str, Tensor]] = dict) -> tuple[Tuned | None, str]:
        """What serves such a call. All that asks the database, compiles and loads is behind this one door, which is shut while a graph is captured, and while `frozen`."""
        if key in self.ready:
            return self.ready[key]
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("this shape was not seen before the capture: call once with it before, so that its code is loaded")
        if self.frozen:
            raise RuntimeError(f"{self.name}: this shape was not seen before it was frozen")
        with self._lock, torch.cuda.device(device):
            torch.cuda.current_stream().query()  # makes torch's context the current one
            if key not in self.ready:
                self.ready[key] = self._load(device.index, *question(), made)
        return self.ready[key]

    def prove(self, tuned: Tuned, mine: Sequence[Tensor], wanted: Sequence[Tensor]) -> bool:
        """Code that the tuner never saw on this shape: once, and waiting for the GPU, its outputs of `drawn` inputs are compared with PyTorch's. Where they differ, it serves no more."""
        errors = [((a.float() - b.float()).norm() / b.float().norm()).item() for a, b in zip(mine, wanted)]
        tuned.is_proved = all(error < 1e-2 for error in errors)  # NaN is not; max() would pass over it
        if not tuned.is_proved:
            warnings.warn(f"{self.name}: a tuned kernel is wrong for this shape (errors {', '.join(f'{error:.2g}' for error in errors)}); PyTorch's own serves")
            for key, (entry, _) in self.ready.items():
                if entry is tuned:
                    self.ready[key] = None, "wrong for this shape"
        return tuned.is_proved


def drawn(like: Tensor, low: float, high: float) -> Tensor:
    """Numbers to prove a kernel with, by a generator of their own: a caller's may be zero or infinite when training begins, which proves nothing."""
    return torch.empty_like(like).uniform_(low, high, generator=torch.Generator(like.device).manual_seed(like.numel()))


@contextlib.contextmanager
def frozen(*kernels: Kernel) -> Iterator[None]:
    """Meanwhile they load nothing: RuntimeError instead."""
    for kernel in kernels:
        kernel.frozen += 1
    try:
        yield
    finally:
        for kernel in kernels:
            kernel.frozen -= 1


# ---- torch.library ----

def register_autograd(library: Any, name: str, real: Function, backward: Function, setup_context: Function | None = None) -> None:
    """As torch.library does it; but where a call needs no gradients, and nothing of torch comes between it and the GPU's kernel (no mode, no transform, no tracing), that is called without a second
    dispatch, which would cost more than all that is done here."""
    keep: dict[str, Function] = {}

    class Keeping:
        @staticmethod
        def impl(op_name: str, kernel: Function, key: str, *, with_keyset: bool) -> None:
            keep["kernel"] = kernel
            library.impl(op_name, kernel, key, with_keyset=with_keyset)

    torch.library.register_autograd(f"{library.ns}::{name}", backward, setup_context=setup_context, lib=Keeping)
    if not hasattr(torch._C.DispatchKeySet, "raw_repr"):
        return
    careful, after = keep["kernel"], torch._C._after_ADInplaceOrView_keyset
    is_grad_enabled, any_requires_grad = torch.is_grad_enabled, torch._C._any_requires_grad
    last: dict[int, bool] = {}  # by the keys of a call: whether the GPU's kernel is all that is left

    def quick(keyset: Any, *args: Any) -> Any:
        raw = keyset.raw_repr()
        is_last = last.get(raw)
        if is_last is None:
            is_last = last[raw] = (keyset & after).highestPriorityTypeId() == torch._C.DispatchKey.CUDA
        if is_last and not (is_grad_enabled() and any_requires_grad(*args)):
            return real(*args)
        return careful(keyset, *args)

    library.impl(name, quick, "AutogradCUDA", with_keyset=True)
