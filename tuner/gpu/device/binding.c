/* The arguments of launches: pointers, scalars, and tensor maps encoded for the buffers' addresses. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/launch.h"

enum { MAP_ALIGNMENT = 64 };

static CUtensorMapDataType map_type(mt_dtype dtype)
{
    switch (dtype) {
    case MT_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case MT_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case MT_F32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case MT_F64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case MT_I16: case MT_U16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case MT_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case MT_U32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case MT_I64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case MT_U64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

static CUtensorMapSwizzle map_swizzle(int bytes)
{
    switch (bytes) {
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    default: return CU_TENSOR_MAP_SWIZZLE_NONE;
    }
}

static CUtensorMapL2promotion map_l2(int bytes)
{
    switch (bytes) {
    case 64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case 128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case 256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    default: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    }
}

static CUresult encode(mt_gpu *gpu, const mt_arg *arg, const mt_plan_arg *plan, const mt_plan_map *map, CUdeviceptr base, CUtensorMap *out)
{
    const cuuint32_t steps[MT_TENSORMAP_RANK] = {1, 1, 1, 1, 1};
    cuuint64_t dims[MT_TENSORMAP_RANK], strides[MT_TENSORMAP_RANK - 1] = {0};
    for (uint32_t i = 0; i < map->rank; i++)
        dims[i] = map->dims[i];
    for (uint32_t i = 0; i + 1 < map->rank; i++)
        strides[i] = map->stride_bytes[i];
    return gpu->cuda.cuTensorMapEncodeTiled(out, map_type(plan->map_dtype), map->rank, (void *)(uintptr_t)(base + map->offset_bytes), dims, strides, map->box,
                                            steps, CU_TENSOR_MAP_INTERLEAVE_NONE, map_swizzle(map->swizzle_bytes), map_l2(arg->l2_promotion_bytes),
                                            arg->fill_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static bool has_maps(const mt_plan_arg *arg)
{
    return arg->kind == MT_ARG_TENSORMAP && arg->used;
}

static mt_status allocate(const mt_plan *plan, mt_binding *binding, mt_error *err)
{
    size_t maps = 0;
    for (size_t i = 0; i < plan->arg_count; i++)
        if (has_maps(&plan->args[i])) maps += plan->args[i].map_count;
    binding->count = plan->arg_count;
    binding->address = mt_alloc(plan->arg_count, sizeof *binding->address);
    binding->maps = mt_alloc(plan->arg_count, sizeof *binding->maps);
    binding->memory = mt_alloc(maps * sizeof(CUtensorMap) + MAP_ALIGNMENT, 1);
    if (!binding->address || !binding->maps || !binding->memory) return MT_FAIL(err, MT_ERR_NO_MEMORY, "arguments");
    uintptr_t next = ((uintptr_t)binding->memory + MAP_ALIGNMENT - 1) / MAP_ALIGNMENT * MAP_ALIGNMENT;
    for (size_t i = 0; i < plan->arg_count; i++) {
        if (!has_maps(&plan->args[i])) continue;
        binding->maps[i] = (CUtensorMap *)next;
        next += plan->args[i].map_count * sizeof(CUtensorMap);
    }
    return MT_OK;
}

mt_status mt_binding_make(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const CUdeviceptr *address, mt_binding *binding, CUresult *code,
                          mt_strbuf *why, mt_error *err)
{
    *binding = (mt_binding){0};
    *code = CUDA_SUCCESS;
    mt_status st = allocate(plan, binding, err);
    if (st != MT_OK) {
        mt_binding_free(binding);
        return st;
    }
    memcpy(binding->address, address, plan->arg_count * sizeof *address);
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        for (size_t k = 0; binding->maps[i] && k < plan->args[i].map_count; k++) {
            *code = encode(gpu, arg, &plan->args[i], &plan->args[i].maps[k], address[arg->of], &binding->maps[i][k]);
            if (*code == CUDA_SUCCESS) continue;
            mt_strbuf_addf(why, "the driver refuses tensor map %s", arg->name);
            if (plan->args[i].map_count > 1) mt_strbuf_addf(why, "[%zu]", k);
            mt_binding_free(binding);
            return MT_OK;
        }
    }
    return MT_OK;
}

void mt_binding_free(mt_binding *binding)
{
    MT_FREE_EACH(binding->address, binding->maps, binding->memory);
    *binding = (mt_binding){0};
}

CUresult mt_binding_launch(mt_gpu *gpu, const mt_binding *binding, const mt_plan *plan, const mt_ready *ready)
{
    void *parameters[256];
    const mt_launch *from = ready->plan->from;
    if (from->arg_count > sizeof parameters / sizeof parameters[0]) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < from->arg_count; i++) {
        size_t arg = from->args[i];
        switch (plan->args[arg].kind) {
        case MT_ARG_TENSOR: parameters[i] = &binding->address[arg]; break;
        case MT_ARG_TENSORMAP: parameters[i] = binding->maps[arg]; break;
        case MT_ARG_SCALAR: parameters[i] = (void *)plan->args[arg].scalar; break;
        }
    }
    return mt_ready_launch(gpu, ready, parameters);
}
