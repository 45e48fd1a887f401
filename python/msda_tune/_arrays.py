"""Arrays as .npy files. An array is whatever has Python's buffer protocol (numpy, array.array, ctypes), so that numpy is not needed."""
from __future__ import annotations

import pathlib
import struct
import sys
from typing import Any

#: kind and bytes of an element → dtype of a search space
_DTYPES = {"f2": "f16", "f4": "f32", "f8": "f64", **{f"{kind}{size}": f"{kind}{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)}}
_KINDS = {**dict.fromkeys("efd", "f"), **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN?", "u")}


def view_of(array: Any) -> memoryview | None:
    """None where it is no array."""
    if isinstance(array, (str, bytes)):
        return None
    if hasattr(array, "mask") and hasattr(array, "filled"):
        raise TypeError("an array with a mask, which a kernel does not see; expected array.filled(…)")
    try:
        return memoryview(array)
    except TypeError:
        return None


def _kind_of(view: memoryview) -> str:
    letter = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>")
    kind = f"{_KINDS.get(letter, '?')}{view.itemsize}"
    if kind not in _DTYPES:
        raise TypeError(f"elements of format {view.format!r} and {view.itemsize} bytes; expected one of {', '.join(_DTYPES.values())}")
    return kind


def dtype_of(view: memoryview) -> str:
    """The search space's word for its elements: "f32"."""
    return _DTYPES[_kind_of(view)]


def scalar_of(view: memoryview) -> int | float:
    """The one element of an array without dimensions, as numpy's scalars are."""
    kind, data = _kind_of(view), view.tobytes()
    return struct.unpack({2: "e", 4: "f", 8: "d"}[view.itemsize], data)[0] if kind[0] == "f" else int.from_bytes(data, sys.byteorder, signed=kind[0] == "i")


def save(path: pathlib.Path, view: memoryview) -> None:
    """Writes it as numpy.save does, in C's order."""
    header = f"{{'descr': '{'<' if sys.byteorder == 'little' else '>'}{_kind_of(view)}', 'fortran_order': False, 'shape': {tuple(view.shape)}, }}"
    padded = header + " " * (-(10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode() + view.tobytes())
