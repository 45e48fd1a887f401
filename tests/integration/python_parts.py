"""The parts of python/ below its typed face. Usage: python_parts.py layout | device_program | device DRIVER | problem | compile SPACE | lookup DATABASE (JSON of `msda-tune lookup` on stdin)"""
import ctypes
import json
import sys

from msda_tune import _compile_variant as compile_variant
from msda_tune import _problem as problem
from tunelookup import _c as tunelookup
from tunelookup import _driver as cuda_driver
from tunelookup import Error


def layout(with_cuda):
    """A C program that prints what differs from the mirrors."""
    print("#include <stddef.h>\n#include <stdio.h>\n#include <tunelookup.h>")
    if with_cuda:
        print("#include <cuda.h>")
    print("static int bad;\n#define SAME(what, is, wanted) do { if ((long)(is) != (wanted)) { printf(\"%s is %ld, and %ld in Python\\n\", what, (long)(is), (long)(wanted)); "
          "bad = 1; } } while (0)\nint main(void)\n{")
    structures = {**tunelookup.STRUCTURES, **(cuda_driver.STRUCTURES if with_cuda else {})}
    for name, structure in structures.items():
        print(f'SAME("sizeof {name}", sizeof({name}), {ctypes.sizeof(structure)});')
        for field, *_ in structure._fields_:
            descriptor = getattr(structure, field)
            print(f'SAME("offset of {name}.{field}", offsetof({name}, {field}), {descriptor.offset});')
            print(f'SAME("size of {name}.{field}", sizeof((({name} *)0)->{field}), {descriptor.size});')
    for name, value in {"TUNELOOKUP_MAX_VALUES": tunelookup.MAX_VALUES, "TUNELOOKUP_USER_CUBINS": tunelookup.USER_CUBINS, "TUNELOOKUP_COUNT_MISSES": tunelookup.COUNT_MISSES,
                        "TUNELOOKUP_RECORDED": tunelookup.RECORDED, "TUNELOOKUP_MATCH_EXACT": tunelookup.EXACT, "TUNELOOKUP_MATCH_DEFAULT": tunelookup.DEFAULT,
                        "TUNELOOKUP_IN": tunelookup.IN, "TUNELOOKUP_INOUT": tunelookup.INOUT, "TUNELOOKUP_SCRATCH": tunelookup.SCRATCH, "TUNELOOKUP_ARG_TENSORMAP": tunelookup.TENSORMAP, "TUNELOOKUP_ARG_SCALAR": tunelookup.SCALAR, "TUNELOOKUP_ARG_STRUCT": tunelookup.STRUCT, "TUNELOOKUP_ERR_NOT_FOUND": tunelookup.NOT_FOUND,
                        **(cuda_driver.CONSTANTS if with_cuda else {})}.items():
        print(f'SAME("{name}", {name}, {value});')
    print("return bad;\n}")


class FakeDriver:
    """libcuda as ctypes shows it, from a library that has cuGetProcAddress alone."""

    def __init__(self, path):
        self._get = ctypes.CDLL(path).cuGetProcAddress_v2

    def __getattr__(self, name):
        address = ctypes.c_void_p()
        assert self._get(name.removesuffix("_v2").encode(), ctypes.byref(address), 13000, ctypes.c_uint64(0), None) == 0, name
        return ctypes.CFUNCTYPE(ctypes.c_int)(address.value)


def print_device(driver):
    """What describe() makes of the driver's answers, a line each."""
    cuda_driver._driver = lambda: FakeDriver(driver)
    device = cuda_driver.describe(0)
    for field, _ in tunelookup.Device._fields_:
        value = getattr(device, field)
        print(field, value.decode() if field == "name" else value)


def device_program():
    """A C program that prints the same by tunelookup_cuda_device."""
    print("""#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#define FUNCTIONS(X) X(cuInit) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceTotalMem) X(cuDriverGetVersion) X(cuDeviceGetAttribute) X(cuTensorMapEncodeTiled) X(cuFuncSetAttribute) X(cuLaunchKernelEx)
#define DECLARE(name) __typeof__(name) *name;
static struct { FUNCTIONS(DECLARE) } driver;
#define TUNELOOKUP_CU(name) (driver.name)
#include <tunelookup_cuda.h>
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    CUresult (*get)(const char *, void **, int, cuuint64_t, void *);
    char name[TUNELOOKUP_CUDA_NAME];
    tunelookup_device d;
    CUdevice device;
    if (!library) return 1;
    *(void **)(void *)&get = dlsym(library, "cuGetProcAddress_v2");
#define LOAD(name) if (get(#name, (void **)(void *)&driver.name, 13000, 0, NULL) != CUDA_SUCCESS) return 2;
    FUNCTIONS(LOAD)
    if (driver.cuInit(0) || driver.cuDeviceGet(&device, 0) || tunelookup_cuda_device(device, name, &d)) return 3;
    printf("struct_size %u\\nname %s\\n", (unsigned)d.struct_size, d.name);""")
    for field, _ in tunelookup.Device._fields_[2:]:
        print(f'    printf("{field} %lld\\n", (long long)d.{field});')
    print("    return 0;\n}")


def refused(part, *args):
    try:
        problem.check(*args)
    except ValueError as error:
        assert part in str(error), error
        return
    raise AssertionError(f"not refused: {args}")


def check_problem():
    levels, starts = [(4, 6), (2, 3)], [0, 24]
    value, locations, weights = (2, 30, 8, 32), (2, 7, 8, 2, 4, 2), (2, 7, 8, 2, 4)
    problem.check(value, levels, starts, locations, weights)
    problem.check(value, [[4, 6], [2, 3]], starts, locations, weights)
    refused("level_start_index", value, levels, [0, 25], locations, weights)
    refused("level_start_index", value, levels, [24, 0], locations, weights)
    refused("level_start_index", value, levels, [0], locations, weights)
    refused("pixels", (2, 31, 8, 32), levels, starts, locations, weights)
    refused("spatial_shapes", value, [(4, 6), (0, 3)], [0, 24], locations, weights)
    refused("sampling_locations", value, levels, starts, (2, 7, 8, 3, 4, 2), (2, 7, 8, 3, 4))
    refused("sampling_locations", value, levels, starts, (2, 7, 8, 2, 4, 3), weights)
    refused("attention_weights", value, levels, starts, locations, (2, 7, 8, 2, 3))
    refused("dimensions", value[:3], levels, starts, locations, weights)
    assert problem.level_table({"H": [4, 2], "W": [6, 3], "START": [0, 24], "N": 1}) == [[4, 6, 0], [2, 3, 24]]
    problem.check_inputs(["value", "loc", "attn", "levels"], {"levels": None})
    try:
        problem.check_inputs(["value", "levels", "other"], {"levels": None})
        raise AssertionError("an input that nobody fills was taken")
    except ValueError as error:
        assert "other" in str(error) and "levels," not in str(error).split(":")[0], error
    problem.check_inputs(["value", "grad_out"], {}, ("value", "grad_out"))
    asked, _ = problem.question(value, levels, locations, "f16", "f32", "free", grad_dtype="f32")
    assert "grad_dtype=f32" in asked and "grad_dtype=f32" not in problem.question(value, levels, locations, "f16", "f32", "free")[0]
    assert problem.guess_queries(30, 30) == "levels" and problem.guess_queries(30, 7) == "free"


def check_compile(space_path):
    """The macros that docs/search_space_format.md promises, and, where there is an NVRTC, code with the variant's entry."""
    space = compile_variant.Space(space_path)
    assert space.knobs["ALGO"] == ["direct", "coarse_smem", "smem_cluster", "baseline"] and space.knobs["STAGING"] == ["cooperative", "bulk", "tma"], space.knobs
    levels = [(7, 13), (4, 7), (1, 3)]
    names, values = problem.question((2, 122, 2, 16), levels, (2, 37, 2, 3, 3, 2), "f16", "f32", "free", "local4")
    shape = problem.shape_of(names, values)
    assert shape == {"N": 2, "M": 2, "D": 16, "P": 3, "Lq": 37, "H": [7, 4, 1], "W": [13, 7, 3], "S": 122, "START": [0, 91, 119], "dtype": "f16", "loc_dtype": "f32",
                     "attn": "weights", "queries": "free"}, shape
    variant = "ALGO=direct;BLEND=f32;BORDER=clamp;CARVEOUT=exact;CORNERS=plain;EXCHANGE=smem;HEADS=1;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;MIN_BLOCKS=2;PREFETCH=off;PREP=2;SCHEDULE=grid;STORE_HINT=streaming;THREADS=512;TRIM=off;UNROLL=2;VALUE_HINT=fetch_256;VEC=8"
    options = compile_variant.macros(space, variant, shape)
    for wanted in ("-DALGO=ALGO_direct", "-DALGO_baseline=4", "-DTHREADS=512", "-DSHAPE_H=7,4,1", "-DSHAPE_H_LEN=3", "-DSHAPE_W_2=3", "-DSHAPE_dtype=SHAPE_dtype_f16", "-DSHAPE_dtype_f16=1"):
        assert wanted in options, (wanted, options)
    try:
        compile_variant._nvrtc()
    except OSError as error:
        print(f"not compiled: {error}")
        return
    for text, entry in ((variant, b"msda_direct"), ("ALGO=baseline;THREADS=256", b"msda_baseline")):
        cubin = compile_variant.compile_variant(space, text, shape, 90)
        assert cubin[:4] == b"\x7fELF" and entry in cubin
    try:
        compile_variant.compile_variant(space, "ALGO=direct;THREADS=512", shape, 90)
        raise AssertionError("compiled without its knobs")
    except RuntimeError as error:
        assert "compiling" in str(error)


def check_lookup(database):
    """The same answer as the tool's, launch by launch and argument by argument."""
    told = json.load(sys.stdin)
    levels = [(92, 160), (46, 80), (23, 40), (12, 20)]
    names, values = problem.question((48, 19560, 1, 32), levels, (48, 15422, 1, 4, 8, 2), "f16", "f32", "grid")
    device = tunelookup.Device(
        struct_size=ctypes.sizeof(tunelookup.Device), name=b"NVIDIA H100 80GB HBM3", cc=90, sm_count=132, smem_optin=232448, smem_per_sm=233472, smem_reserved=1024,
        regs_per_sm=65536, threads_per_sm=2048, blocks_per_sm=32, max_cluster=16, l2_bytes=52428800, mem_bytes=85520809984, clock_mhz=1980, driver_version=13000)
    library = tunelookup.Library(database, tunelookup.USER_CUBINS)
    result = library.find(library.prepare(device, "msda", names), values)
    assert result.match == tunelookup.EXACT and result.validated == 1 and result.median_ns == 387000, library.explain(result)
    assert result.variant.decode() == told["variant"], (result.variant, told["variant"])
    launches, args = library.launches(result), library.args(result)
    assert len(launches) == len(told["launches"])
    for mine, its in zip(launches, told["launches"]):
        assert [mine.entry.decode(), list(mine.grid), list(mine.block), mine.smem_bytes] == [its["entry"], its["grid"], its["block"], its["smem_bytes"]], its
        config, attributes = cuda_driver.make_config(mine)
        assert [config.gridDimX, config.blockDimX, config.sharedMemBytes] == [its["grid"][0], its["block"][0], its["smem_bytes"]]
        assert config.numAttrs == bool(mine.cluster[0]) and (not config.numAttrs or list(attributes[0].value[:3]) == list(mine.cluster))
    by_name = {arg.name.decode(): arg for arg in args}
    assert list(by_name["value"].dims[:4]) == [48, 19560, 1, 32] and by_name["value"].bytes == 48 * 19560 * 32 * 2
    assert list(by_name["out"].dims[:3]) == [48, 15422, 32]
    used = [i for i, arg in enumerate(args) if arg.kind == tunelookup.TENSORMAP and arg.is_used]
    assert len(used) == ("STAGING=tma" in told["variant"])
    for i in used:
        maps = library.tensormaps(result, i, args[i].map_count)
        assert [tuple(m.dims[1:3]) for m in maps] == [(width, height) for height, width in levels]
        assert maps[1].offset_bytes == 92 * 160 * 32 * 2 and maps[0].rank == 4
    try:
        library.cubin(result)
        raise AssertionError("code from nowhere")
    except Error as error:
        assert error.status == tunelookup.NOT_FOUND
    library.close()
    try:
        tunelookup.Library("/nowhere/at/all.sqlite")
        raise AssertionError("a database from nowhere")
    except Error as error:
        assert "/nowhere" in str(error)


if __name__ == "__main__":
    if sys.argv[1] == "layout":
        layout(len(sys.argv) > 2)
    elif sys.argv[1] == "device":
        print_device(sys.argv[2])
    elif sys.argv[1] == "device_program":
        device_program()
    elif sys.argv[1] == "problem":
        check_problem()
    elif sys.argv[1] == "compile":
        check_compile(sys.argv[2])
    else:
        check_lookup(sys.argv[2])
