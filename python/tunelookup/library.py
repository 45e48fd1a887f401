"""Libraries, plans and answers: the typed face of tunelookup.h."""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat, starmap
from typing import Any, NoReturn, overload

from . import _c
from .device import Device
from .errors import ArgumentError, error_of

Shape = Mapping[str, "int | str | Sequence[int]"]


class Match(enum.IntEnum):
    """Which step of the lookup answered, best first."""

    NONE = 0          #: nothing can be said; explain() tells why
    EXACT = 1         #: tuned for this GPU and this shape
    NEAREST = 2       #: tuned for this GPU, another shape
    ARCHITECTURE = 3  #: tuned for another GPU of the same architecture
    DEFAULT = 4       #: the kernel's default variant


class ArgKind(enum.IntEnum):
    TENSOR, TENSORMAP, SCALAR, STRUCT = range(4)


class Role(enum.IntEnum):
    IN, OUT, INOUT, SCRATCH = range(4)


class Dtype(enum.IntEnum):
    F16, BF16, F32, F64, I8, U8, I16, U16, I32, U32, I64, U64, F8E4M3, F8E5M2 = range(14)


@dataclasses.dataclass(frozen=True)
class Launch:
    """One kernel launch, evaluated for the asked shape and device. Launches are made in order; those with is_prepare once after the inputs change, those with is_finish where the outputs are read."""

    entry: str                 #: C or C++ name; `Result.symbol` says what it is called in the code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    smem_bytes: int            #: dynamic shared memory; above 48 KiB opt in
    carveout_percent: int | None
    cooperative: bool
    programmatic: bool
    is_prepare: bool
    is_finish: bool
    repeat: int                #: make it so many times, one after the other
    args: tuple[int, ...]      #: indices into Answer.args, in the order of the kernel's parameters


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """One tensor map, in the lengths that cuTensorMapEncodeTiled takes: elements, innermost first; strides in bytes."""

    dtype: Dtype
    offset_bytes: int
    dims: tuple[int, ...]
    stride_bytes: tuple[int, ...]
    box: tuple[int, ...]
    swizzle_bytes: int
    fill_nan: bool
    l2_promotion_bytes: int


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of the kernel."""

    kind: ArgKind
    name: str
    is_used: bool              #: False: no launch of this variant takes it
    dtype: Dtype
    role: Role
    dims: tuple[int, ...]      #: of a tensor: elements, outermost first
    nbytes: int                #: of a tensor: to allocate; of a scalar or struct: its size
    zero_before_each: bool     #: set the tensor to zero before every call
    tensor: int                #: of tensor maps: index of the tensor that they describe
    maps: tuple[TensorMap, ...]
    scalar: bytes              #: of a scalar: the parameter's bytes
    members: tuple[tuple[int, int], ...]  #: of a struct: an index into Answer.args, and how many bytes behind the beginning that argument's bytes stand


def is_list(value: object) -> bool:
    """A list of a shape, numpy's arrays too."""
    return hasattr(value, "__len__") and not isinstance(value, str) and getattr(value, "ndim", 1) != 0


def knobs_of(variant: str) -> dict[str, int | str]:
    """"ALGO=direct;CPB=8" → {"ALGO": "direct", "CPB": 8}."""
    pairs = (pair.split("=", 1) for pair in variant.split(";") if pair)
    return {name: int(text) if text.lstrip("-").isdigit() else text for name, text in pairs}


class Answer:
    """What the lookup says for one shape. Valid until its library or plan is closed; afterwards texts and code are refused with ValueError."""

    __slots__ = ("_plan", "_result")

    def __init__(self, plan: Plan, result: _c.Result) -> None:
        self._plan, self._result = plan, result

    def __repr__(self) -> str:
        return f"<Answer {self.match.name} {self.variant if self._plan.is_open else 'of a closed plan or library'!r}>"

    def __bool__(self) -> bool:
        """False where nothing can be said (Match.NONE)."""
        return self._result.match != 0

    @property
    def match(self) -> Match:
        return Match(self._result.match)

    @property
    def validated(self) -> bool:
        """The row was compared with the reference. Always, but for Match.DEFAULT."""
        return bool(self._result.validated)

    @property
    def recorded(self) -> bool:
        """The row was not measured here, but replayed from a recording."""
        return bool(self._result.recorded)

    @property
    def median_ns(self) -> float:
        """Nanoseconds, as measured for the row that matched, on its GPU and shape. NaN: not measured."""
        return self._result.median_ns

    @property
    def interval_ns(self) -> tuple[float, float]:
        """The median's 95 % interval, nanoseconds."""
        return self._result.low_ns, self._result.high_ns

    @property
    def expected_slowdown(self) -> float:
        """Factor against the best for the asked shape: 1.0 = none expected. NaN: unknown."""
        return self._result.expected_slowdown

    @property
    def slowdown_bound(self) -> float:
        """In nine of ten cases the slowdown is no greater. NaN: unknown."""
        return self._result.slowdown_bound

    @property
    def norm_error(self) -> float:
        """‖out − reference‖ / ‖reference‖ as validated. NaN: unknown."""
        return self._result.norm_error

    @property
    def error_shapes(self) -> int:
        """0: norm_error is of the asked shape, or unknown. n: it is the largest on n tuned shapes; on a shape like these it is greater in one of n + 1 cases."""
        return self._result.error_shapes

    @property
    def variant(self) -> str:
        """Every knob: "ALGO=direct;CPB=8"; "" where nothing matched."""
        self._plan._calls()
        return self._result.variant.decode()

    @property
    def kernel_key(self) -> str:
        """32 hex digits: the source that was tuned."""
        self._plan._calls()
        return self._result.kernel_key.decode()

    @property
    def knobs(self) -> dict[str, int | str]:
        """The variant's knobs; integers as int."""
        return knobs_of(self.variant)

    @property
    def launches(self) -> list[Launch]:
        """The launches to make, in order. ValueRangeError where an expression can't be computed."""
        return [
            Launch(info.entry.decode(), tuple(info.grid), tuple(info.block), tuple(info.cluster) if info.cluster[0] else None, info.smem_bytes,
                   info.carveout_percent if info.carveout_percent >= 0 else None, bool(info.cooperative), bool(info.programmatic), bool(info.is_prepare), bool(info.is_finish), info.repeat,
                   tuple(info.args[:info.arg_count]))
            for info in self._plan._calls().launches(self._result)]

    @property
    def args(self) -> list[Argument]:
        """The kernel's arguments. ValueRangeError where an expression can't be computed."""
        calls = self._plan._calls()
        return [
            Argument(ArgKind(info.kind), info.name.decode(), bool(info.is_used), Dtype(info.dtype), Role(info.role), tuple(info.dims[:info.rank]), info.bytes,
                     bool(info.zero_before_each), info.tensor,
                     tuple(_tensor_map(m) for m in calls.tensormaps(self._result, i, info.map_count)) if info.kind == _c.TENSORMAP and info.is_used else (),
                     bytes(info.scalar[:info.bytes]) if info.kind == _c.SCALAR else b"",
                     tuple(calls.members(self._result, i, info.member_count)) if info.kind == _c.STRUCT and info.is_used else ())
            for i, info in enumerate(calls.args(self._result))]

    def cubin(self) -> bytes:
        """The variant's code for cuModuleLoadData, checked (hash, image, architecture). NotFoundError where none is stored, CubinNotAllowedError for a user's file without user_cubins."""
        return ctypes.string_at(*self._plan._calls().cubin(self._result))

    def symbol(self, cubin: bytes, name: str) -> str:
        """What a launch's entry, or a variable, is called in that code: of C++ names another than in the source."""
        return self._plan._calls().symbol(cubin, name)

    def explain(self) -> str:
        """How it matched, on which row, and why not better: a few lines."""
        return self._plan._calls().explain(self._result)


def _tensor_map(info: _c.TensormapInfo) -> TensorMap:
    rank = info.rank
    return TensorMap(Dtype(info.dtype), info.offset_bytes, tuple(info.dims[:rank]), tuple(info.stride_bytes[:rank - 1]), tuple(info.box[:rank]), info.swizzle_bytes,
                     bool(info.fill_nan), info.l2_promotion_bytes)


class Answers(Sequence[Answer]):
    """What find_many says, in the order of the shapes."""

    def __init__(self, plan: Plan, results: Any) -> None:
        self._plan, self._results = plan, results

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> list[Answer]: ...

    def __getitem__(self, index: int | slice) -> Answer | list[Answer]:
        if isinstance(index, slice):
            return [Answer(self._plan, result) for result in self._results[index]]
        return Answer(self._plan, self._results[index])

    def __iter__(self) -> Iterator[Answer]:
        return map(Answer, repeat(self._plan), self._results)


class Plan:
    """A kernel, resolved for one device and one order of values (Library.prepare). Any number of threads may ask it at once."""

    def __init__(self, library: Library, pointer: ctypes.c_void_p, names: Sequence[str]) -> None:
        self.library = library
        self.names = tuple(name for name in names if "=" not in name)  #: what find's values are, in order
        self._pointer, self._find, self._find_within = pointer.value, library._calls()._lib.tunelookup_find, library._calls()._lib.tunelookup_find_within
        self._values = struct.Struct(f"={len(self.names)}q")
        self._dropping = weakref.finalize(self, library._dropped.append, self._pointer)
        self._dropping.atexit = False

    def __reduce__(self) -> NoReturn:
        raise TypeError("a plan can't be copied or pickled: prepare another one")

    @property
    def is_open(self) -> bool:
        return self._dropping.alive and self.library.is_open

    def _calls(self) -> _c.Library:
        if not self._dropping.alive:
            raise ValueError("the plan is closed")
        return self.library._calls()

    def close(self) -> None:
        """Gives its memory back, at the library's next call; it and its answers are refused from then on. A plan that nobody refers to any more is closed by itself."""
        self._dropping()

    def _refuse(self, values: Any, why: object) -> ArgumentError:
        error = error_of("find", 1, f"{values} ({why}); expected {len(self.names)} integers: {', '.join(self.names)}")
        assert isinstance(error, ArgumentError)
        return error

    def find(self, values: Sequence[int]) -> Answer:
        """The answer for one shape: its values in the order of `names`. About a microsecond. ArgumentError where they are not as many integers; of a plan with "class=VARIANT" among its names
        NotInClassError where no variant is known to have that one's bits (find_many: an answer with match NONE)."""
        result = _c.Result()
        self._calls()
        try:
            status = self._find(self._pointer, self._values.pack(*values), ctypes.addressof(result))
        except (struct.error, TypeError) as problem:
            raise self._refuse(values, problem) from None
        answer = Answer(self, result)
        if status == _c.NOT_IN_CLASS:
            raise error_of("find", status, answer.explain())
        return answer

    def find_within(self, values: Sequence[int], max_error: float) -> Answer:
        """The fastest variant whose validated error is at most max_error, of a library with errors=True. NotWithinError where none is known to be; ArgumentError for a limit that is negative or NaN."""
        result = _c.Result()
        self._calls()
        try:
            status = self._find_within(self._pointer, self._values.pack(*values), max_error, ctypes.addressof(result))
        except (struct.error, TypeError, ctypes.ArgumentError) as problem:
            raise self._refuse(values, problem) from None
        answer = Answer(self, result)
        if status == _c.NOT_WITHIN:
            raise error_of("find_within", status, answer.explain())
        if status != _c.OK:
            raise error_of("find_within", status, f"the limit is {max_error}, expected a number of at least 0, and a library that was opened with errors=True")
        return answer

    def find_many(self, shapes: Iterable[Sequence[int]]) -> Answers:
        """The answers for many shapes: rows of values, or a two-dimensional buffer of 64-bit integers (a numpy array), which is read in place. Less than a microsecond a shape."""
        values, count = self._rows(shapes)
        results = (_c.Result * count)()
        self._calls()
        source, target = ctypes.cast(values, ctypes.c_void_p).value or 0, ctypes.addressof(results)
        rows = range(source, source + count * self._values.size, self._values.size) if self.names else repeat(source, count)
        any(map(self._find, repeat(self._pointer), rows, range(target, target + count * ctypes.sizeof(_c.Result), ctypes.sizeof(_c.Result))))
        return Answers(self, results)

    def _rows(self, shapes: Any) -> tuple[Any, int]:
        """The values one after the other in memory, and how many rows they are."""
        width = len(self.names)
        try:
            view = memoryview(shapes)
        except TypeError:
            rows = list(shapes)
            try:
                return b"".join(starmap(self._values.pack, rows)), len(rows)
            except (struct.error, TypeError) as problem:
                raise self._refuse(f"{len(rows)} shapes", problem) from None
        if view.ndim != 2 or view.shape[1] != width or view.format not in ("q", "l") or view.itemsize != 8 or not view.c_contiguous:
            raise self._refuse(f"a buffer of {view.format!r}, {view.shape}", "not rows of 64-bit integers, one after the other")
        data = ctypes.c_int64 * (view.shape[0] * width)
        return (data.from_buffer_copy if view.readonly else data.from_buffer)(view), view.shape[0]


class Library:
    """Tuned rows of one database, or of the user's over the shipped ones. A context manager; close() comes last."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, recorded: bool = False, user_cubins: bool = False, count_misses: bool = False,
                 pinned: bool = False, errors: bool = False, snapshot: str | None = None, library: str | None = None) -> None:
        """path: a database; None: the user's ($MSDA_TUNE_DB, ~/.local/share/msda-tune/tuning.sqlite) over those that came with the library.
        recorded: answer from rows of recorded GPUs too. user_cubins: hand out code of every file, which is then trusted like a program. count_misses: see flush_misses.
        errors: read what Plan.find_within answers from, too.
        pinned: answer from what the files hold now, or not at all (SnapshotError), whatever is written into them later. snapshot: the same of this snapshot_id, that of another process say. library: the file of libtunelookup; usually found (docs/python.md)."""
        flags = _c.RECORDED * recorded | _c.USER_CUBINS * user_cubins | _c.COUNT_MISSES * count_misses | _c.PINNED * pinned | _c.ERRORS * errors
        opened = _c.Library(None if path is None else os.fspath(path), flags, library, snapshot)
        self._open: _c.Library | None = opened
        self._lock = threading.Lock()
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._dropped: list[int] = []  # pointers of plans that are no more, freed under the lock
        self._counts_misses = count_misses
        self._closing = weakref.finalize(self, opened.close)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a library can't be copied or pickled: open another one")

    @property
    def is_open(self) -> bool:
        return self._open is not None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[_c.Library]:
        """For calls that must not meet; plans that were dropped meanwhile are freed."""
        with self._lock:
            calls = self._calls()
            while self._dropped:
                calls.release(self._dropped.pop())
            yield calls

    def _calls(self) -> _c.Library:
        if self._open is None:
            raise ValueError("the library is closed")
        return self._open

    def close(self) -> None:
        """Ends it; plans and answers are refused from then on. Not while another thread asks. Twice is no error."""
        self._open = None
        self._closing()

    @property
    def snapshot_id(self) -> str:
        """32 hex digits of all that may answer: equal in every process, on every machine, whose files hold the same. FileError where a file changed since it was opened or refreshed."""
        with self._alone() as calls:
            return calls.snapshot_id()

    def prepare(self, device: Device, kernel: str, names: Sequence[str]) -> Plan:
        """Loads a kernel's rows for a device; some milliseconds. kernel: "msda", or "msda@KEY" for one state of its source. names: the order of find's values: "N", "H[0]" of a list,
        and bound settings that take no place there: "dtype=f16", "workload=local2". NamesError lists what is missing or unknown."""
        with self._alone() as calls:
            return Plan(self, calls.prepare(device.as_c(), kernel, names), names)

    def find(self, device: Device, kernel: str, shape: Shape, workload: str | None = None) -> Answer:
        """The answer for a shape by its names: {"N": 1, "H": [92, 46], "dtype": "f16"}. Plans are kept, so that only the first question of its kind prepares one."""
        names, values = [], []
        for name, value in shape.items():
            if isinstance(value, str):
                names.append(f"{name}={value}")
            elif is_list(value):
                names += [f"{name}[{i}]" for i in range(len(value))]
                values.extend(value)
            else:
                names.append(name)
                values.append(value)
        key = (device, kernel, *names, workload)
        if key not in self._plans:
            self._plans[key] = self.prepare(device, kernel, [*names, f"workload={workload}"] if workload else names)
        return self._plans[key].find(values)

    def refresh(self) -> None:
        """Reads the files again if they changed. Plans answer from the new rows from then on; answers stay valid. Of a pinned library nothing is read anew: SnapshotError where the files hold another
        snapshot by now."""
        with self._alone() as calls:
            calls.refresh()

    def flush_misses(self, path: str | os.PathLike[str]) -> None:
        """Appends the shapes without an exact row, with their counts, to a file of JSON lines for `msda-tune --from-misses`. Of a library opened with count_misses."""
        if not self._counts_misses:
            raise ValueError("flush_misses: nothing is counted; expected a library opened with count_misses=True")
        with self._alone() as calls:
            calls.flush_misses(os.fspath(path))


def library_version(library: str | None = None) -> str:
    """Version of libtunelookup: "1.0.0"."""
    return _c.load(library).tunelookup_version(None).decode()
