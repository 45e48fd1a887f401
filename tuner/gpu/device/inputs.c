/* One input's contents: from a file, a distribution, or a generator of the kernel family's own. */
#include <string.h>

#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"
#include "tuner/space/spec/npy.h"

const char *mt_input_path(const mt_subject_request *request, const char *arg)
{
    for (size_t i = 0; i < request->input_count; i++)
        if (strcmp(request->inputs[i].arg, arg) == 0) return request->inputs[i].path;
    return NULL;
}

static mt_status from_file(mt_gpu *gpu, const char *path, const char *name, const mt_plan_tensor *tensor, CUdeviceptr data, mt_error *err)
{
    mt_status st = MT_OK;
    mt_npy_file file = {0};
    MT_TRY(mt_npy_open(path, &file, err));
    MT_TRY(mt_npy_expect(&file.npy, path, name, tensor->dtype, tensor->dims, tensor->rank, err));
    MT_TRY_CU(mt_tool_upload(gpu, data, file.data, tensor->bytes), "copying an input file");
done:
    mt_npy_close(&file);
    return st;
}

/* init_x(T *data, unsigned long long count, unsigned long long seed), with a grid-stride loop. */
static mt_status from_generator(mt_gpu *gpu, const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t seed, CUdeviceptr data, mt_error *err)
{
    mt_status st = MT_OK;
    CUfunction function = NULL;
    uint64_t count = tensor->elements, blocks = (count + 255) / 256;
    void *parameters[] = {&data, &count, &seed};
    if (!gpu->subject.support.code) return MT_FAIL(err, MT_ERR_GPU, "%s: init = kernel(%s), but no support module was compiled", arg->name, arg->init_kernel);
    CUresult code = mt_module_function(gpu, &gpu->subject.support, arg->init_kernel, &function);
    if (code == CUDA_ERROR_NOT_FOUND)
        return MT_FAIL(err, MT_ERR_SPEC, "%s: init = kernel(%s): expected a __global__ function of that name in the source", arg->name, arg->init_kernel);
    MT_TRY_CU(code, arg->init_kernel);
    MT_TRY_CU(mt_tool_launch(gpu, function, blocks < 65535 ? (uint32_t)blocks : 65535, 1, 256, parameters), arg->init_kernel);
    MT_TRY_CU(gpu->cuda.cuStreamSynchronize(gpu->stream), arg->init_kernel);
done:
    return st;
}

mt_status mt_input_make(mt_gpu *gpu, const mt_subject_request *request, size_t index, const mt_plan_tensor *tensor, uint64_t seed, CUdeviceptr data, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_arg *arg = &request->spec->args[index];
    const char *path = mt_input_path(request, arg->name);
    uint64_t own_seed = mt_plan_seed(seed, index);
    if (path) return from_file(gpu, path, arg->name, tensor, data, err);
    switch (arg->init) {
    case MT_INIT_ZEROS:
        MT_TRY_CU(gpu->cuda.cuMemsetD8Async(data, 0, tensor->bytes, gpu->stream), arg->name);
        break;
    case MT_INIT_UNIFORM:
        MT_TRY_CU(mt_tool_fill_uniform(gpu, data, tensor->elements, tensor->dtype, own_seed, tensor->init_a, tensor->init_b), arg->name);
        break;
    case MT_INIT_NORMAL:
        MT_TRY_CU(mt_tool_fill_normal(gpu, data, tensor->elements, tensor->dtype, own_seed, tensor->init_a, tensor->init_b), arg->name);
        break;
    case MT_INIT_RAMP:
        MT_TRY_CU(mt_tool_fill_ramp(gpu, data, tensor->elements, tensor->dtype, tensor->init_a, tensor->init_b), arg->name);
        break;
    case MT_INIT_KERNEL:
        MT_TRY(from_generator(gpu, arg, tensor, seed, data, err));
        break;
    case MT_INIT_FILE:
        MT_TRY(from_file(gpu, arg->init_file, arg->name, tensor, data, err));
        break;
    }
done:
    return st;
}
