"""The few calls of the CUDA driver that a launch needs, by ctypes: modules, function attributes, tensor maps, cuLaunchKernelEx. libcuda is loaded at the first use."""
import ctypes
import functools

from . import _c as tunelookup


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes")] + [
        ("hStream", ctypes.c_void_p), ("attrs", ctypes.POINTER(LaunchAttribute)), ("numAttrs", ctypes.c_uint)]


STRUCTURES = {"CUlaunchAttribute": LaunchAttribute, "CUlaunchConfig": LaunchConfig}

# enumerators of cuda.h; the layout test compares them
CONSTANTS = {
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 75, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": 76, "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT": 16,
    "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97, "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 81,
    "CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK": 111, "CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR": 82,
    "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR": 39, "CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR": 106, "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE": 38,
    "CU_DEVICE_ATTRIBUTE_CLOCK_RATE": 13,
    "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 8, "CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT": 9,
    "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED": 14,
    "CU_LAUNCH_ATTRIBUTE_COOPERATIVE": 2, "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": 4, "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION": 6,
    "CU_TENSOR_MAP_DATA_TYPE_FLOAT16": 6, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16": 9, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32": 7, "CU_TENSOR_MAP_DATA_TYPE_FLOAT64": 8,
    "CU_TENSOR_MAP_DATA_TYPE_UINT8": 0, "CU_TENSOR_MAP_DATA_TYPE_UINT16": 1, "CU_TENSOR_MAP_DATA_TYPE_INT32": 3, "CU_TENSOR_MAP_DATA_TYPE_UINT32": 2,
    "CU_TENSOR_MAP_DATA_TYPE_INT64": 5, "CU_TENSOR_MAP_DATA_TYPE_UINT64": 4,
    "CU_TENSOR_MAP_SWIZZLE_32B": 1, "CU_TENSOR_MAP_SWIZZLE_64B": 2, "CU_TENSOR_MAP_SWIZZLE_128B": 3,
    "CU_TENSOR_MAP_L2_PROMOTION_L2_64B": 1, "CU_TENSOR_MAP_L2_PROMOTION_L2_128B": 2, "CU_TENSOR_MAP_L2_PROMOTION_L2_256B": 3}
_MAP_DTYPES = ["FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64", "UINT8", "UINT8", "UINT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "UINT8", "UINT8"]  # by tunelookup_dtype
_SWIZZLES, _PROMOTIONS = {0: 0, 32: 1, 64: 2, 128: 3}, {0: 0, 64: 1, 128: 2, 256: 3}
MAP_BYTES, MAP_ALIGN = 128, 64
INVALID_CONTEXT = 201


@functools.lru_cache(maxsize=None)
def _driver():
    lib = ctypes.CDLL("libcuda.so.1")
    pointer = ctypes.c_void_p
    lib.cuModuleLoadData.argtypes = [ctypes.POINTER(pointer), pointer]
    lib.cuModuleGetFunction.argtypes = [ctypes.POINTER(pointer), pointer, ctypes.c_char_p]
    lib.cuCtxSetCurrent.argtypes = [pointer]
    lib.cuFuncSetAttribute.argtypes = [pointer, ctypes.c_int, ctypes.c_int]
    lib.cuLaunchKernelEx.argtypes = [pointer] * 4
    lib.cuTensorMapEncodeTiled.argtypes = [pointer, ctypes.c_int, ctypes.c_uint32, pointer, pointer, pointer, pointer, pointer] + [ctypes.c_int] * 4
    return lib


def check(code, what):
    if code != 0:
        name = ctypes.c_char_p()
        _driver().cuGetErrorName(code, ctypes.byref(name))
        raise RuntimeError(f"{what}: {name.value.decode() if name.value else code}")


def current_ordinal():
    """Of the device whose context is the thread's current one; 0 where there is none."""
    lib, device = _driver(), ctypes.c_int()
    check(lib.cuInit(0), "cuInit")
    return device.value if lib.cuCtxGetDevice(ctypes.byref(device)) == 0 else 0


def describe(ordinal):
    """The device as tunelookup_prepare wants it."""
    lib, device, size, version = _driver(), ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    check(lib.cuInit(0), "cuInit")
    check(lib.cuDeviceGet(ctypes.byref(device), ordinal), f"device {ordinal}")
    check(lib.cuDeviceGetName(name, len(name), device), "cuDeviceGetName")
    check(lib.cuDeviceTotalMem_v2(ctypes.byref(size), device), "cuDeviceTotalMem")
    check(lib.cuDriverGetVersion(ctypes.byref(version)), "cuDriverGetVersion")

    def attribute(which):
        value = ctypes.c_int()
        check(lib.cuDeviceGetAttribute(ctypes.byref(value), CONSTANTS["CU_DEVICE_ATTRIBUTE_" + which], device), which)
        return value.value

    cc = 10 * attribute("COMPUTE_CAPABILITY_MAJOR") + attribute("COMPUTE_CAPABILITY_MINOR")
    return tunelookup.Device(
        struct_size=ctypes.sizeof(tunelookup.Device), name=name.value, cc=cc, sm_count=attribute("MULTIPROCESSOR_COUNT"),
        smem_optin=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"), smem_per_sm=attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        smem_reserved=attribute("RESERVED_SHARED_MEMORY_PER_BLOCK"), regs_per_sm=attribute("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        threads_per_sm=attribute("MAX_THREADS_PER_MULTIPROCESSOR"), blocks_per_sm=attribute("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        max_cluster=1 if cc < 90 else 16 if cc < 120 else 8, l2_bytes=attribute("L2_CACHE_SIZE"), mem_bytes=size.value,
        clock_mhz=attribute("CLOCK_RATE") // 1000, driver_version=version.value)


def load_module(code):
    """A module in the current context. Not while a graph is being captured."""
    module = ctypes.c_void_p()
    check(_driver().cuModuleLoadData(ctypes.byref(module), code), "cuModuleLoadData")
    return module


def load_function(module, launch):
    """The launch's function with all that it asks for beyond the defaults."""
    lib, function = _driver(), ctypes.c_void_p()
    check(lib.cuModuleGetFunction(ctypes.byref(function), module, launch.entry), launch.entry.decode())
    wanted = [("MAX_DYNAMIC_SHARED_SIZE_BYTES", launch.smem_bytes)]
    if launch.carveout_percent >= 0:
        wanted.append(("PREFERRED_SHARED_MEMORY_CARVEOUT", launch.carveout_percent))
    if launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 8:
        wanted.append(("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1))
    for name, value in wanted:
        check(lib.cuFuncSetAttribute(function, CONSTANTS["CU_FUNC_ATTRIBUTE_" + name], value), f"{launch.entry.decode()}: {name}")
    return function


def encode_map(info, tensor_address, map_address):
    """Writes 128 bytes at map_address, which is a multiple of 64."""
    rank = info.rank
    dims = (ctypes.c_uint64 * 5)(*info.dims)
    strides = (ctypes.c_uint64 * 5)(*info.stride_bytes, 0)
    box, steps = (ctypes.c_uint32 * 5)(*info.box), (ctypes.c_uint32 * 5)(1, 1, 1, 1, 1)
    check(_driver().cuTensorMapEncodeTiled(
        map_address, CONSTANTS["CU_TENSOR_MAP_DATA_TYPE_" + _MAP_DTYPES[info.dtype]], rank, tensor_address + info.offset_bytes, dims, strides, box, steps, 0,
        _SWIZZLES[info.swizzle_bytes], _PROMOTIONS[info.l2_promotion_bytes], info.fill_nan), "cuTensorMapEncodeTiled")


def make_config(launch):
    """(config, attributes): the attributes must live as long as the config."""
    attributes, count = (LaunchAttribute * 3)(), 0
    if launch.cluster[0]:
        attributes[count].id = CONSTANTS["CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"]
        attributes[count].value[0:3] = list(launch.cluster)
        count += 1
    for wanted, name in ((launch.cooperative, "COOPERATIVE"), (launch.programmatic, "PROGRAMMATIC_STREAM_SERIALIZATION")):
        if wanted:
            attributes[count].id = CONSTANTS["CU_LAUNCH_ATTRIBUTE_" + name]
            attributes[count].value[0] = 1
            count += 1
    return LaunchConfig(*launch.grid, *launch.block, launch.smem_bytes, None, attributes, count), attributes


def launcher():
    """cuLaunchKernelEx(address of the config, function, array of the parameters' addresses, None): what the parameters hold is read before it returns."""
    return _driver().cuLaunchKernelEx


def current_context():
    """Of the thread; None where it has none."""
    context = ctypes.c_void_p()
    check(_driver().cuCtxGetCurrent(ctypes.byref(context)), "cuCtxGetCurrent")
    return context


def set_current_context(context):
    check(_driver().cuCtxSetCurrent(context), "cuCtxSetCurrent")
