"""ctypes mirror of include/tunelookup.h: structures, constants, and the calls as they are. Needs no torch and no GPU; tests/integration/test_python.sh compares its layout with the C
compiler's. The typed API stands on it (__init__.py)."""
import ctypes
import ctypes.util
import functools
import os
import pathlib
import sys

from .errors import error_of

OK, NOT_FOUND, NOT_WITHIN, NOT_IN_CLASS = 0, 3, 18, 19
RECORDED, USER_CUBINS, COUNT_MISSES, PINNED, ERRORS = 1, 2, 4, 8, 16
NONE, EXACT, NEAREST, ARCHITECTURE, DEFAULT = range(5)
TENSOR, TENSORMAP, SCALAR, STRUCT = range(4)
IN, OUT, INOUT, SCRATCH = range(4)
MAX_VALUES = 40


class Device(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p)] + [
        (name, ctypes.c_int64) for name in (
            "cc", "sm_count", "smem_optin", "smem_per_sm", "smem_reserved", "regs_per_sm", "threads_per_sm", "blocks_per_sm", "max_cluster", "l2_bytes",
            "mem_bytes", "clock_mhz", "driver_version")]


class Result(ctypes.Structure):
    _fields_ = [
        ("match", ctypes.c_int), ("launch_count", ctypes.c_int32), ("arg_count", ctypes.c_int32), ("validated", ctypes.c_int32), ("median_ns", ctypes.c_double),
        ("low_ns", ctypes.c_double), ("high_ns", ctypes.c_double), ("expected_slowdown", ctypes.c_double), ("slowdown_bound", ctypes.c_double),
        ("norm_error", ctypes.c_double),
        ("variant", ctypes.c_char_p), ("kernel_key", ctypes.c_char_p), ("recorded", ctypes.c_int32), ("error_shapes", ctypes.c_int32), ("answers_", ctypes.c_void_p),
        ("row_", ctypes.c_uint32), ("reserved_", ctypes.c_uint32 * 3), ("max_error_", ctypes.c_double), ("values_", ctypes.c_int64 * MAX_VALUES)]


class LaunchInfo(ctypes.Structure):
    _fields_ = [
        ("entry", ctypes.c_char_p), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3), ("smem_bytes", ctypes.c_uint32),
        ("carveout_percent", ctypes.c_int32), ("cooperative", ctypes.c_int32), ("programmatic", ctypes.c_int32), ("is_prepare", ctypes.c_int32),
        ("arg_count", ctypes.c_int32), ("args", ctypes.c_int32 * 32), ("is_finish", ctypes.c_int32), ("repeat", ctypes.c_int32), ("reserved_", ctypes.c_int32 * 6)]


class ArgInfo(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int), ("name", ctypes.c_char_p), ("is_used", ctypes.c_int32), ("dtype", ctypes.c_int), ("role", ctypes.c_int), ("rank", ctypes.c_int32),
        ("dims", ctypes.c_int64 * 8), ("bytes", ctypes.c_uint64), ("zero_before_each", ctypes.c_int32), ("tensor", ctypes.c_int32), ("map_count", ctypes.c_int32),
        ("scalar", ctypes.c_ubyte * 8), ("member_count", ctypes.c_int32), ("reserved_", ctypes.c_int32 * 7)]


class TensormapInfo(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int), ("rank", ctypes.c_uint32), ("offset_bytes", ctypes.c_uint64), ("dims", ctypes.c_uint64 * 5), ("stride_bytes", ctypes.c_uint64 * 4),
        ("box", ctypes.c_uint32 * 5), ("swizzle_bytes", ctypes.c_int32), ("fill_nan", ctypes.c_int32), ("l2_promotion_bytes", ctypes.c_int32),
        ("reserved_", ctypes.c_int32 * 8)]


# name in C -> structure; what the layout test goes through
STRUCTURES = {
    "tunelookup_device": Device, "tunelookup_result": Result, "tunelookup_launch_info": LaunchInfo, "tunelookup_arg_info": ArgInfo,
    "tunelookup_tensormap_info": TensormapInfo}


PACKAGE = pathlib.Path(__file__).resolve().parent


def prefixes():
    """Where an installation may lie: inside the wheel, then the tree that this package was installed into (PREFIX/lib/python3/dist-packages/tunelookup)."""
    return [PACKAGE / "prefix", *([PACKAGE.parents[3]] if PACKAGE.parents[1].name.startswith("python") else [])]


def _candidates():
    """Names for the loader, best first. The shipped rows are found by the library from where it lies itself: PREFIX/share/msda-tune-shipped."""
    if os.environ.get("TUNELOOKUP_LIBRARY"):
        return [os.environ["TUNELOOKUP_LIBRARY"]]
    found = [str(path) for prefix in prefixes() for pattern in ("lib*/libtunelookup.so.1", "lib*/*/libtunelookup.so.1") for path in sorted(prefix.glob(pattern))]
    return found + [ctypes.util.find_library("tunelookup") or "libtunelookup.so.1"]


def _open(name):
    """The library; where only its SQLite is missing, with the one that came with this Python."""
    try:
        return ctypes.CDLL(name)
    except OSError as problem:
        if "sqlite3" not in str(problem):
            raise
    for prefix in (sys.prefix, sys.base_prefix):
        for candidate in sorted(pathlib.Path(prefix, "lib").glob("libsqlite3.so*")):
            ctypes.CDLL(str(candidate), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(name)
    return ctypes.CDLL(name)


def _declare(lib):
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    lib.tunelookup_strerror.restype = lib.tunelookup_detail.restype = lib.tunelookup_version.restype = text
    lib.tunelookup_symbol.restype = text
    lib.tunelookup_explain.restype = ctypes.c_size_t
    lib.tunelookup_close.restype = lib.tunelookup_release.restype = None
    for name, *arguments in (
            ("version", pointer), ("open", text, ctypes.c_uint, pointer), ("open_pinned", text, ctypes.c_uint, text, pointer), ("prepare", pointer, ctypes.POINTER(Device), text, ctypes.POINTER(text), ctypes.c_size_t, pointer),
            ("find", pointer, pointer, pointer), ("find_within", pointer, pointer, ctypes.c_double, pointer), ("launch", pointer, ctypes.c_int, pointer), ("arg", pointer, ctypes.c_int, pointer),
            ("tensormap", pointer, ctypes.c_int, ctypes.c_int, pointer), ("member", pointer, ctypes.c_int, ctypes.c_int, pointer, pointer), ("cubin", pointer, pointer, pointer), ("symbol", pointer, ctypes.c_size_t, text), ("explain", pointer, text, ctypes.c_size_t),
            ("refresh", pointer), ("snapshot_id", pointer, text), ("flush_misses", pointer, text), ("release", pointer), ("close", pointer)):
        getattr(lib, "tunelookup_" + name).argtypes = arguments
    return lib


@functools.lru_cache(maxsize=None)
def load(path=None):
    """libtunelookup: `path`, $TUNELOOKUP_LIBRARY, inside the wheel, the install prefix, the system's; the first that is there. OSError names all that were tried."""
    tried = []
    for name in [path] if path else _candidates():
        try:
            return _declare(_open(name))
        except (OSError, AttributeError) as problem:  # not there; older than this package
            tried.append(str(problem))
    raise OSError("no libtunelookup: set TUNELOOKUP_LIBRARY to libtunelookup.so.1; tried: " + "; ".join(tried))


def prefixes_of_library():
    """Where the loaded library's neighbours may lie: two folders above it, or three where it is in lib/<triplet>."""
    load()
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = [pathlib.Path(line.rstrip("\n").split(None, 5)[5]) for line in maps if "/libtunelookup.so" in line]
    return [folder for path in paths[:1] for folder in path.parents[1:3]]


def text_of(what, value):
    """As C reads it: whole."""
    text = os.fsencode(value)
    if not text or b"\0" in text:
        raise error_of(what, 1, f"{value!r} is {'empty' if not text else 'cut by a NUL'}; expected a text without NULs")
    return text


class Library:
    """A database opened by libtunelookup. Plans, results and cubins are valid until close()."""

    def __init__(self, database=None, flags=0, library=None, snapshot=None):
        self._lib = load(library)
        self._db = ctypes.c_void_p()
        path, db = None if database is None else text_of("open", database), ctypes.byref(self._db)
        self._check("open", self._lib.tunelookup_open(path, flags, db) if snapshot is None else self._lib.tunelookup_open_pinned(path, flags, text_of("open", snapshot), db))

    def _check(self, what, status):
        if status != OK:
            detail = self._lib.tunelookup_detail() or self._lib.tunelookup_strerror(status)
            raise error_of(what, status, detail.decode(errors="replace"))

    def prepare(self, device, kernel, names):
        plan = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(names))(*[text_of("prepare: name", name) for name in names])
        self._check("prepare", self._lib.tunelookup_prepare(self._db, ctypes.byref(device), text_of("prepare: kernel", kernel), array, len(names), ctypes.byref(plan)))
        return plan

    def find(self, plan, values):
        result = Result()
        self._check("find", self._lib.tunelookup_find(plan, (ctypes.c_int64 * len(values))(*values), ctypes.byref(result)))
        return result

    def launches(self, result):
        infos = [LaunchInfo() for _ in range(result.launch_count)]
        for i, info in enumerate(infos):
            self._check("launch", self._lib.tunelookup_launch(ctypes.byref(result), i, ctypes.byref(info)))
        return infos

    def args(self, result):
        infos = [ArgInfo() for _ in range(result.arg_count)]
        for i, info in enumerate(infos):
            self._check("arg", self._lib.tunelookup_arg(ctypes.byref(result), i, ctypes.byref(info)))
        return infos

    def tensormaps(self, result, index, count):
        infos = [TensormapInfo() for _ in range(count)]
        for i, info in enumerate(infos):
            self._check("tensormap", self._lib.tunelookup_tensormap(ctypes.byref(result), index, i, ctypes.byref(info)))
        return infos

    def members(self, result, index, count):
        """Of a struct: which argument each member is, and its offset in bytes."""
        arg, offset, found = ctypes.c_int32(), ctypes.c_uint64(), []
        for i in range(count):
            self._check("member", self._lib.tunelookup_member(ctypes.byref(result), index, i, ctypes.byref(arg), ctypes.byref(offset)))
            found.append((arg.value, offset.value))
        return found

    def cubin(self, result):
        """Address and size of the winner's code."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._check("cubin", self._lib.tunelookup_cubin(ctypes.byref(result), ctypes.byref(data), ctypes.byref(size)))
        return data.value, size.value

    def symbol(self, cubin, name):
        return self._lib.tunelookup_symbol(cubin, len(cubin), name.encode()).decode()

    def explain(self, result):
        text = ctypes.create_string_buffer(8192)
        self._lib.tunelookup_explain(ctypes.byref(result), text, len(text))
        return text.value.decode(errors="replace")

    def refresh(self):
        self._check("refresh", self._lib.tunelookup_refresh(self._db))

    def snapshot_id(self):
        text = ctypes.create_string_buffer(33)
        self._check("snapshot_id", self._lib.tunelookup_snapshot_id(self._db, text))
        return text.value.decode()

    def flush_misses(self, path):
        self._check("flush_misses", self._lib.tunelookup_flush_misses(self._db, text_of("flush_misses", path)))

    def release(self, plan):
        self._lib.tunelookup_release(plan)

    def close(self):
        self._lib.tunelookup_close(self._db)
        self._db = ctypes.c_void_p()
