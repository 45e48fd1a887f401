/* The optional CUDA side of libtunelookup: describes a device, encodes tensor maps, puts parameters together, launches. Header-only; needs the caller's cuda.h (12.0 or
 * newer). C99, C++11.
 *
 *     char name[TUNELOOKUP_CUDA_NAME];  tunelookup_device device;
 *     tunelookup_cuda_device(cu_device, name, &device);                                once per GPU: what tunelookup_prepare asks for
 *     tunelookup_cuda_params params = { 0 };
 *     params.tensors[0] = value;  …                                                    device addresses, by argument index
 *     tunelookup_cuda_pack(&result, &params);                                          once per shape: encodes maps, copies scalars
 *     tunelookup_cuda_setup(function, &launch);                                        once per function: shared memory, carve-out, cluster opt-ins
 *     tunelookup_cuda_launch(&result, i, function, &params, stream);                   per launch
 *
 * Functions return CUDA_SUCCESS, the driver's error, or CUDA_ERROR_INVALID_VALUE when the lookup itself failed (tunelookup_detail() then says why). All driver calls
 * go through TUNELOOKUP_CU(name), so that a program which loads libcuda with dlopen can define it, e.g. as  (driver.name) , for cuDeviceGetName, cuDeviceGetAttribute,
 * cuDeviceTotalMem, cuDriverGetVersion, cuTensorMapEncodeTiled, cuFuncSetAttribute and cuLaunchKernelEx. */
#ifndef TUNELOOKUP_CUDA_H
#define TUNELOOKUP_CUDA_H

#include <cuda.h>
#include <string.h>

#include "tunelookup.h"

#ifndef TUNELOOKUP_CU
#define TUNELOOKUP_CU(name) name
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { TUNELOOKUP_CUDA_ARGS = 128, TUNELOOKUP_CUDA_MAPS = 64, TUNELOOKUP_CUDA_STRUCTS = 4096, TUNELOOKUP_CUDA_ALIGN = 256 /* the most that a struct asks for */ };

/* Device addresses in, kernel parameters out. Set it to zero, then tensors[]. parameters[] point into the struct: do not move it once it is packed. */
typedef struct tunelookup_cuda_params {
    CUdeviceptr tensors[TUNELOOKUP_CUDA_ARGS];             /* the caller sets these, by argument index */
    void *parameters[TUNELOOKUP_CUDA_ARGS];                /* where each argument's bytes are; NULL = not used */
    unsigned char scalars[TUNELOOKUP_CUDA_ARGS][8];
    unsigned char maps[(TUNELOOKUP_CUDA_MAPS + 1) * 128];  /* of all tensor-map arguments, one after the other from the first multiple of 128 bytes on, as CUDA 13 aligns the type */
    unsigned char structs[TUNELOOKUP_CUDA_STRUCTS + TUNELOOKUP_CUDA_ALIGN]; /* likewise of all structs, each from a multiple of 256 bytes on */
} tunelookup_cuda_params;

/* ---- the device ---- */

enum { TUNELOOKUP_CUDA_NAME = 256 }; /* bytes of a device's name, its NUL included */

/* The facts that are attributes of the driver as they stand: member of tunelookup_device, attribute. */
#define TUNELOOKUP_CUDA_FACTS(X)                                                \
    X(sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                       \
    X(smem_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)        \
    X(smem_per_sm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)    \
    X(smem_reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)      \
    X(regs_per_sm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)        \
    X(threads_per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)       \
    X(blocks_per_sm, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)         \
    X(l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)

/* One attribute, unless an earlier call failed. */
static inline CUresult tunelookup_cuda_attribute(CUresult code, CUdevice device, CUdevice_attribute which, int64_t *value)
{
    int number = 0;
    if (code == CUDA_SUCCESS) code = TUNELOOKUP_CU(cuDeviceGetAttribute)(&number, which, device);
    *value = number;
    return code;
}

/* By compute capability: the driver tells the largest cluster of a kernel, and there is none yet. The non-portable 16 works on the data-centre parts (9.0, 10.x), with the
 * opt-in that tunelookup_cuda_setup makes. */
static inline int64_t tunelookup_cuda_max_cluster(int64_t cc)
{
    return cc < 90 ? 1 : cc < 120 ? 16 : 8;
}

/* Fills *facts, every member, with what the driver says of the device. name: the caller's TUNELOOKUP_CUDA_NAME bytes for the device's name; facts->name points there, so it must
 * live as long as *facts is used (tunelookup_prepare copies it). Needs cuInit, but no context; keeps nothing, so that any threads may call it at once.
 * Returns CUDA_SUCCESS, or the first error of the driver; *facts is all zero then, which tunelookup_prepare refuses. */
static inline CUresult tunelookup_cuda_device(CUdevice device, char name[TUNELOOKUP_CUDA_NAME], tunelookup_device *facts)
{
    int64_t major = 0, minor = 0, khz = 0;
    size_t bytes = 0;
    int version = 0;
    CUresult code = TUNELOOKUP_CU(cuDeviceGetName)(name, TUNELOOKUP_CUDA_NAME, device);
    memset(facts, 0, sizeof *facts);
    code = tunelookup_cuda_attribute(code, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    code = tunelookup_cuda_attribute(code, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    code = tunelookup_cuda_attribute(code, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &khz);
#define TUNELOOKUP_CUDA_READ(member, which) code = tunelookup_cuda_attribute(code, device, which, &facts->member);
    TUNELOOKUP_CUDA_FACTS(TUNELOOKUP_CUDA_READ)
#undef TUNELOOKUP_CUDA_READ
    if (code == CUDA_SUCCESS) code = TUNELOOKUP_CU(cuDeviceTotalMem)(&bytes, device);
    if (code == CUDA_SUCCESS) code = TUNELOOKUP_CU(cuDriverGetVersion)(&version);
    facts->struct_size = sizeof *facts;
    facts->name = name;
    facts->cc = 10 * major + minor;
    facts->max_cluster = tunelookup_cuda_max_cluster(facts->cc);
    facts->mem_bytes = (int64_t)bytes;
    facts->clock_mhz = khz / 1000;
    facts->driver_version = version;
    if (code != CUDA_SUCCESS) memset(facts, 0, sizeof *facts);
    return code;
}

/* ---- tensor maps ---- */

static inline CUtensorMapDataType tunelookup_cuda_dtype(tunelookup_dtype dtype)
{
    switch (dtype) {
    case TUNELOOKUP_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case TUNELOOKUP_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case TUNELOOKUP_F32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case TUNELOOKUP_F64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case TUNELOOKUP_I16: case TUNELOOKUP_U16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case TUNELOOKUP_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case TUNELOOKUP_U32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case TUNELOOKUP_I64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case TUNELOOKUP_U64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8; /* i8, u8, fp8 */
    }
}

static inline CUtensorMapSwizzle tunelookup_cuda_swizzle(int bytes)
{
    return bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
}

static inline CUtensorMapL2promotion tunelookup_cuda_l2(int bytes)
{
    return bytes == 256 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 64 ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

/* map must lie on a multiple of 64 bytes. tensor: address of the tensor, to which the map's own offset is added. */
static inline CUresult tunelookup_cuda_encode(const tunelookup_tensormap_info *info, CUdeviceptr tensor, CUtensorMap *map)
{
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    for (uint32_t i = 0; i < info->rank && i < 5; i++) {
        dims[i] = info->dims[i];
        box[i] = info->box[i];
        steps[i] = 1;
        if (i > 0) strides[i - 1] = info->stride_bytes[i - 1];
    }
    return TUNELOOKUP_CU(cuTensorMapEncodeTiled)(map, tunelookup_cuda_dtype(info->dtype), info->rank, (void *)(uintptr_t)(tensor + info->offset_bytes), dims, strides, box,
                                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, tunelookup_cuda_swizzle(info->swizzle_bytes),
                                                 tunelookup_cuda_l2(info->l2_promotion_bytes),
                                                 info->fill_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* ---- parameters ---- */

/* Map number `index`. cuda.h aligns CUtensorMap in C11 and C++11 only, so it is done by hand. */
static inline CUtensorMap *tunelookup_cuda_map(tunelookup_cuda_params *params, int index)
{
    uintptr_t first = ((uintptr_t)params->maps + 127) / 128 * 128;
    return (CUtensorMap *)(first + (uintptr_t)index * 128);
}

/* The maps of one argument, from map number *used on. */
static inline CUresult tunelookup_cuda_pack_maps(const tunelookup_result *result, int index, const tunelookup_arg_info *arg, tunelookup_cuda_params *params, int *used)
{
    params->parameters[index] = tunelookup_cuda_map(params, *used);
    for (int m = 0; m < arg->map_count; m++) {
        tunelookup_tensormap_info info;
        CUresult code;
        if (*used >= TUNELOOKUP_CUDA_MAPS || tunelookup_tensormap(result, index, m, &info) != TUNELOOKUP_OK) return CUDA_ERROR_INVALID_VALUE;
        code = tunelookup_cuda_encode(&info, params->tensors[arg->tensor], tunelookup_cuda_map(params, (*used)++));
        if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
}

/* A struct, put together of its members' bytes, which are packed; *used bytes of structs[] are taken. */
static inline CUresult tunelookup_cuda_pack_struct(const tunelookup_result *result, int index, const tunelookup_arg_info *arg, tunelookup_cuda_params *params, uint64_t *used)
{
    uintptr_t first = ((uintptr_t)params->structs + TUNELOOKUP_CUDA_ALIGN - 1) / TUNELOOKUP_CUDA_ALIGN * TUNELOOKUP_CUDA_ALIGN;
    unsigned char *bytes = (unsigned char *)(first + (uintptr_t)*used);
    if (arg->bytes > TUNELOOKUP_CUDA_STRUCTS - *used) return CUDA_ERROR_INVALID_VALUE;
    memset(bytes, 0, (size_t)arg->bytes);
    for (int m = 0; m < arg->member_count; m++) {
        tunelookup_arg_info member;
        int32_t from;
        uint64_t offset;
        if (tunelookup_member(result, index, m, &from, &offset) != TUNELOOKUP_OK || tunelookup_arg(result, from, &member) != TUNELOOKUP_OK) return CUDA_ERROR_INVALID_VALUE;
        uint64_t size = member.kind == TUNELOOKUP_ARG_TENSOR ? sizeof(CUdeviceptr) : member.kind == TUNELOOKUP_ARG_TENSORMAP ? 128 * (uint64_t)member.map_count : member.bytes;
        memcpy(bytes + offset, params->parameters[from], (size_t)size);
    }
    params->parameters[index] = bytes;
    *used += (arg->bytes + TUNELOOKUP_CUDA_ALIGN - 1) / TUNELOOKUP_CUDA_ALIGN * TUNELOOKUP_CUDA_ALIGN;
    return CUDA_SUCCESS;
}

/* Fills parameters[] for every used argument from tensors[]. Call again when an address or the result changes. */
static inline CUresult tunelookup_cuda_pack(const tunelookup_result *result, tunelookup_cuda_params *params)
{
    int maps = 0;
    uint64_t structs = 0;
    if (result->arg_count > TUNELOOKUP_CUDA_ARGS) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < result->arg_count; i++) {
        tunelookup_arg_info arg;
        CUresult code = CUDA_SUCCESS;
        if (tunelookup_arg(result, i, &arg) != TUNELOOKUP_OK) return CUDA_ERROR_INVALID_VALUE;
        params->parameters[i] = NULL;
        if (!arg.is_used) continue;
        memcpy(params->scalars[i], arg.scalar, 8);
        params->parameters[i] = arg.kind == TUNELOOKUP_ARG_TENSOR ? (void *)&params->tensors[i] : (void *)params->scalars[i];
        if (arg.kind == TUNELOOKUP_ARG_TENSORMAP) code = tunelookup_cuda_pack_maps(result, i, &arg, params, &maps);
        if (code != CUDA_SUCCESS) return code;
    }
    for (int i = 0; i < result->arg_count; i++) { /* when all others are there */
        tunelookup_arg_info arg;
        CUresult code = CUDA_SUCCESS;
        if (tunelookup_arg(result, i, &arg) != TUNELOOKUP_OK) return CUDA_ERROR_INVALID_VALUE;
        if (arg.is_used && arg.kind == TUNELOOKUP_ARG_STRUCT) code = tunelookup_cuda_pack_struct(result, i, &arg, params, &structs);
        if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
}

/* ---- launching ---- */

/* What the launch asks of its function beyond the defaults: dynamic shared memory above 48 KiB, the carve-out, clusters of more than 8 blocks. */
static inline CUresult tunelookup_cuda_setup(CUfunction function, const tunelookup_launch_info *launch)
{
    CUresult code = TUNELOOKUP_CU(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->smem_bytes);
    if (code == CUDA_SUCCESS && launch->carveout_percent >= 0) {
        code = TUNELOOKUP_CU(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, launch->carveout_percent);
    }
    if (code == CUDA_SUCCESS && launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 8) {
        code = TUNELOOKUP_CU(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
    return code;
}

/* Makes launch `index`, as many times as it says. params must be packed; function is the launch's entry, set up. Tensors with zero_before_each are the caller's to clear. */
static inline CUresult tunelookup_cuda_launch(const tunelookup_result *result, int index, CUfunction function, const tunelookup_cuda_params *params, CUstream stream)
{
    tunelookup_launch_info launch;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[3];
    void *parameters[32];
    unsigned count = 0;
    if (tunelookup_launch(result, index, &launch) != TUNELOOKUP_OK) return CUDA_ERROR_INVALID_VALUE;
    memset(attributes, 0, sizeof attributes);
    if (launch.cluster[0]) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count].value.clusterDim.x = launch.cluster[0];
        attributes[count].value.clusterDim.y = launch.cluster[1];
        attributes[count++].value.clusterDim.z = launch.cluster[2];
    }
    if (launch.cooperative) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[count++].value.cooperative = 1;
    }
    if (launch.programmatic) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[count++].value.programmaticStreamSerializationAllowed = 1;
    }
    for (int i = 0; i < launch.arg_count; i++) parameters[i] = params->parameters[launch.args[i]];
    memset(&config, 0, sizeof config);
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0];
    config.blockDimY = launch.block[1];
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.smem_bytes;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    CUresult code;
    int made = 0;
    do code = TUNELOOKUP_CU(cuLaunchKernelEx)(&config, function, parameters, NULL);
    while (code == CUDA_SUCCESS && ++made < launch.repeat);
    return code;
}

#ifdef __cplusplus
}
#endif

#endif
