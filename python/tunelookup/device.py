"""The GPU that is asked for: what this machine's driver says, or what devices.ini knows of a model."""
from __future__ import annotations

import configparser
import ctypes
import dataclasses
import re
import sys
from pathlib import Path

from . import _c, _driver
from .errors import DeviceError


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU's facts, as expressions of search spaces see them. 0 = not known: a row whose expressions need it is then not returned."""

    name: str                 #: as cuDeviceGetName says it, e.g. "NVIDIA H200"
    cc: int                   #: compute capability, 10 · major + minor
    sm_count: int = 0
    smem_optin: int = 0       #: bytes of shared memory that a block may opt in to
    smem_per_sm: int = 0      #: bytes
    smem_reserved: int = 0    #: bytes reserved per block
    regs_per_sm: int = 0
    threads_per_sm: int = 0
    blocks_per_sm: int = 0
    max_cluster: int = 0      #: blocks, opt-in included; 1 = no clusters
    l2_bytes: int = 0
    mem_bytes: int = 0
    clock_mhz: int = 0
    driver_version: int = 0   #: cuDriverGetVersion, e.g. 13000; 0 = code is not checked against it

    @classmethod
    def current(cls, ordinal: int | None = None) -> Device:
        """The GPU `ordinal` of this machine, by the driver (libcuda). Without a number: torch's current device, where torch has started CUDA; else the device of the thread's current
        context, whoever made it (cuda-python, CuPy, …); else the first. DeviceError where there is no driver or no GPU."""
        try:
            torch = sys.modules.get("torch")
            if ordinal is None and torch is not None and torch.cuda.is_initialized():
                ordinal = torch.cuda.current_device()
            facts = _driver.describe(_driver.current_ordinal() if ordinal is None else ordinal)
        except (OSError, RuntimeError) as problem:
            raise DeviceError(f"no usable GPU here: {problem}; a lookup for a known model takes Device.named(\"h200\")") from problem
        values = {field.name: getattr(facts, field.name) for field in dataclasses.fields(cls)}
        return cls(**{**values, "name": facts.name.decode(errors="replace")})

    @classmethod
    def named(cls, name: str) -> Device:
        """A known model by the name of its section in devices.ini, one of its aliases, or the driver's name for it: "h200", "NVIDIA H200". No driver is asked, and driver_version is 0."""
        ini = _known()
        sections = {section.split(None, 1)[1]: ini[section] for section in ini.sections() if section.startswith("device ")}
        for model, facts in sections.items():
            names = [model, facts["name"], *facts.get("aliases", "").split(",")]
            if _plain(name) in map(_plain, names):
                merged = {**ini[f"limits {facts['cc']}"], **facts}
                return cls(facts["name"], **{field.name: int(merged[field.name]) for field in dataclasses.fields(cls)[1:] if field.name in merged})
        raise DeviceError(f"{name!r} is no known GPU; known are {', '.join(sections)}")

    def as_c(self) -> _c.Device:
        """The structure that tunelookup_prepare takes."""
        return _c.Device(**{**dataclasses.asdict(self), "name": _c.text_of("device: name", self.name), "struct_size": ctypes.sizeof(_c.Device)})


def _plain(name: str) -> str:
    """"RTX 5090" and "rtx-5090" are rtx5090."""
    return re.sub(r"[\s_-]+", "", name.lower())


def _known() -> configparser.ConfigParser:
    """devices.ini of the shipped folder that belongs to the library."""
    places = [prefix / "share/msda-tune-shipped/devices.ini" for prefix in _c.prefixes_of_library()]
    for place in places:
        if place.is_file():
            ini = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
            ini.read_string(place.read_text(encoding="utf-8"), str(place))
            return ini
    raise DeviceError(f"no devices.ini: looked for {', '.join(map(str, places)) or 'share/msda-tune-shipped beside the library'}")
