"""Compiles one variant of a search space for one shape with NVRTC, as msda-tune does: for rows that have no code, or code for another shape. Needs no torch.
docs/search_space_format.md tells which macros a kernel gets."""
import ctypes
import functools
import glob
import os
import pathlib
import re
import sys

from tunelookup import _c


def file_of(space):
    """A search space's file: a path, or the name of one that came with the library: "msda"."""
    if pathlib.Path(space).suffix:
        return pathlib.Path(space)
    places = [prefix / f"share/msda-tune-shipped/search_spaces/{space}.ini" for prefix in _c.prefixes_of_library()]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"no search space {space}: expected a path that ends in .ini, or a name in {' or '.join(str(place.parent) for place in places)}")


class Space:
    """What compiling needs of an .ini: the source, include folders, the words of string knobs."""

    def __init__(self, path):
        self.kernel, self.knobs = {}, {"ALGO": []}
        self._read(file_of(path).resolve())
        if "options" in self.kernel:
            raise ValueError(f"{path}: has NVRTC options, which msda_tune.torch does not read")

    def _read(self, path):
        text = path.read_text(encoding="utf-8-sig")
        text = re.sub(r"(?m)(^|[ \t]);.*$", "", text)
        text = re.sub(r"\\[ \t]*\r?\n", " ", text)
        section = None
        for line in text.splitlines():
            heading = re.fullmatch(r"\s*\[\s*(\w+)\s*([^\]]*?)\s*\]\s*", line)
            entry = re.fullmatch(r"\s*(\w+)\s*=\s*(.*?)\s*", line)
            if heading:
                section = heading.groups()
                if section[0] == "algorithm":
                    self.knobs["ALGO"].append(section[1])
            elif entry and section is None and entry[1] == "include": # another .ini, in front of the first section
                self._read(path.parent / entry[2])
            elif entry and section == ("kernel", ""):
                self.kernel[entry[1]] = entry[2]
            elif entry and section == ("params", ""): # NAME = VALUES [default VALUE] [when EXPRESSION] [doc "TEXT"]
                self.knobs[entry[1]] = [word.strip() for word in re.split(r"\s(?:default|when|doc)\s", entry[2])[0].split(",")]
            elif entry and section and section[0] == "param" and entry[1] == "values":
                self.knobs[section[1]] = [word.strip() for word in entry[2].split(",")]
            if heading and section == ("kernel", ""):
                self._folder = path.parent # where the paths of [kernel] begin

    @property
    def source(self):
        return self._folder / self.kernel["source"]

    @property
    def includes(self):
        return [self.source.parent] + [self._folder / word.strip() for word in self.kernel.get("include", "").split(",") if word.strip()]


def macros(space, variant, shape):
    """variant: "ALGO=direct;THREADS=512"; shape: {"N": 1, "H": [92, 46], "dtype": "f16"}."""
    options = []
    for pair in variant.split(";"):
        name, value = pair.split("=")
        if re.fullmatch(r"-?\d+", value):
            options.append(f"-D{name}={value}")
        else:
            options += [f"-D{name}={name}_{value}"] + [f"-D{name}_{word}={i + 1}" for i, word in enumerate(space.knobs[name])]
    for name, value in shape.items():
        if isinstance(value, str):
            options += [f"-DSHAPE_{name}=SHAPE_{name}_{value}", f"-DSHAPE_{name}_{value}=1"]
        elif isinstance(value, int):
            options.append(f"-DSHAPE_{name}={value}")
        else:
            options += [f"-DSHAPE_{name}={','.join(map(str, value))}", f"-DSHAPE_{name}_LEN={len(value)}"] + [f"-DSHAPE_{name}_{i}={v}" for i, v in enumerate(value)]
    return options


def _toolkit():
    return os.environ.get("CUDA_HOME", "/usr/local/cuda")


def _wheels(pattern):
    """Files of the nvidia wheels that torch brings."""
    return sorted(found for folder in sys.path for found in glob.glob(f"{folder}/nvidia/{pattern}"))


def _builtins(nvrtc):
    """NVRTC opens its builtins by their bare name: where its folder is not on the loader's path, they must be there before."""
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.realpath(nvrtc)), "libnvrtc-builtins.so.*[0-9]"))) if "/" in nvrtc else []:
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue


@functools.lru_cache(maxsize=None)
def _nvrtc():
    places = [os.environ.get("MSDA_TUNE_NVRTC", "")] + _wheels("*/lib/libnvrtc.so.*[0-9]") + [f"{_toolkit()}/lib64/libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    for place in filter(None, places):
        try:
            _builtins(place)
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise OSError("no libnvrtc: set MSDA_TUNE_NVRTC or CUDA_HOME")


def _headers():
    """Folders with cuda_fp16.h: the toolkit's or the wheels'."""
    return [folder for folder in [f"{_toolkit()}/include", *_wheels("*/include")] if os.path.exists(f"{folder}/cuda_fp16.h")][:1]


def compile_variant(space, variant, shape, cc):
    """The cubin's bytes."""
    lib, program, size = _nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    options = macros(space, variant, shape) + ["-std=c++17", f"--gpu-architecture=sm_{cc}{'a' if cc >= 90 else ''}"] + [f"-I{folder}" for folder in [*space.includes, *_headers()]]
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])

    def check(code, what):
        if code != 0:
            lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value + 1)
            lib.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{what} of {variant}: error {code}\n{log.value.decode(errors='replace')}")

    check(lib.nvrtcCreateProgram(ctypes.byref(program), space.source.read_bytes(), space.source.name.encode(), 0, None, None), "creating")
    try:
        check(lib.nvrtcCompileProgram(program, len(options), array), "compiling")
        check(lib.nvrtcGetCUBINSize(program, ctypes.byref(size)), "reading")
        cubin = ctypes.create_string_buffer(size.value)
        check(lib.nvrtcGetCUBIN(program, cubin), "reading")
        return cubin.raw
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))
