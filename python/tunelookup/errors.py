"""What can go wrong: one class for each status of tunelookup.h, with the library's own text."""
from __future__ import annotations

from typing import ClassVar


class Error(Exception):
    """A call of libtunelookup failed. `status` is its tunelookup_status; the text is the library's: the file, the name, what was expected."""

    status: int = 0
    by_status: ClassVar[dict[int, type[Error]]] = {}

    def __init_subclass__(cls, status: int = 0) -> None:
        cls.status = status
        if status:
            Error.by_status[status] = cls


class ArgumentError(Error, ValueError, status=1):
    """A bad argument: a device without a name, a result without a match, as many values as the plan has not."""


class NoMemoryError(Error, MemoryError, status=2):
    """Out of memory."""


class NotFoundError(Error, LookupError, status=3):
    """No database file, no such knob, or no code stored."""


class FileError(Error, OSError, status=4):
    """A file can't be read or written, or changed meanwhile."""


class NotADatabaseError(Error, status=5):
    """Not a tuning database, or damaged."""


class NewerSchemaError(Error, status=6):
    """Written by a newer msda-tune."""


class UntrustedError(Error, PermissionError, status=7):
    """Others may write the file, or it belongs to somebody else (docs/security.md)."""


class SQLiteTooOldError(Error, status=8):
    """The system's SQLite is older than 3.26."""


class UnknownKernelError(Error, LookupError, status=9):
    """The database has no such kernel, or not with that key."""


class NamesError(Error, ValueError, status=10):
    """The names are not the kernel's shape values; the text lists what is missing or unknown."""


class ValueRangeError(Error, ArithmeticError, status=11):
    """An expression of the search space can't be computed for these values."""


class CubinNotAllowedError(Error, PermissionError, status=12):
    """Code of the user's file needs user_cubins=True."""


class DriverTooOldError(Error, status=13):
    """The code needs a newer driver than the device's driver_version."""


class CubinDamagedError(Error, status=14):
    """The stored code is no image for this GPU, or its hash does not match."""


class LimitError(Error, status=15):
    """More names or knobs than this version of the library supports."""


class OlderSchemaError(Error, status=16):
    """Written by an older msda-tune; any command of today's that writes into the file updates it."""


class SnapshotError(Error, status=17):
    """A library that is pinned to one snapshot meets another one."""


class NotWithinError(Error, status=18):
    """No variant that may run is known to be within the limit of errors."""


class NotInClassError(Error, status=19):
    """No variant that may run is known to have the bits of the plan's class on this shape."""


class DeviceError(Error):
    """No such device: no driver, no GPU, or a name that is not in devices.ini."""


def error_of(what: str, status: int, text: str) -> Error:
    """The exception for a status that a call `what` gave."""
    error = Error.by_status.get(status, Error)(f"{what}: {text}")
    error.status = status
    return error
