"""Asks a tuning database which variant of a CUDA kernel to run, for a GPU and a shape. No dependency; no GPU needed.

    import tunelookup

    with tunelookup.open() as library:                      # the user's rows over those that came with msda-tune
        plan = library.prepare(tunelookup.Device.current(), "softmax", ["ROWS", "COLUMNS"])
        answer = plan.find([4096, 1024])
        print(answer.match.name, answer.knobs, answer.median_ns)
        for launch in answer.launches:
            print(launch.entry, launch.grid, launch.block)

docs/python.md is the tutorial, docs/lookup.md says what the answers mean."""
from .device import Device
from .errors import (ArgumentError, CubinDamagedError, CubinNotAllowedError, DeviceError, DriverTooOldError, Error, FileError, LimitError, NamesError, NewerSchemaError,
                     NoMemoryError, NotADatabaseError, NotFoundError, NotInClassError, NotWithinError, OlderSchemaError, SnapshotError, SQLiteTooOldError, UnknownKernelError, UntrustedError, ValueRangeError)
from .library import Answer, Answers, ArgKind, Argument, Dtype, Launch, Library, Match, Plan, Role, TensorMap, library_version

open = Library
__version__ = "0.1.0"

__all__ = ["Answer", "Answers", "ArgKind", "Argument", "ArgumentError", "CubinDamagedError", "CubinNotAllowedError", "Device", "DeviceError", "DriverTooOldError", "Dtype", "Error", "FileError",
           "Launch", "Library", "LimitError", "Match", "NamesError", "NewerSchemaError", "NoMemoryError", "NotADatabaseError", "NotFoundError", "NotInClassError", "NotWithinError", "OlderSchemaError", "Plan", "Role",
           "SQLiteTooOldError", "SnapshotError", "TensorMap", "UnknownKernelError", "UntrustedError", "ValueRangeError", "library_version", "open"]
