#include "tuner/gpu/device/constants.h"

#include "tuner/gpu/device/device_internal.h"

CUresult mt_constants_fill(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const mt_module *module, const mt_input_set *set, bool needs_all, mt_strbuf *why)
{
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        const uint64_t bytes = plan->args[i].tensor.bytes;
        CUdeviceptr variable = 0;
        size_t size = 0;
        if (!arg->constant) continue;
        code = mt_module_variable(gpu, module, arg->constant, &variable, &size);
        if (code == CUDA_ERROR_NOT_FOUND) {
            code = CUDA_SUCCESS;
            if (needs_all && !plan->args[i].used) mt_strbuf_addf(why, "no variable %s in the compiled source, and no launch takes %s", arg->constant, arg->name);
        } else if (code == CUDA_SUCCESS && size < bytes) {
            mt_strbuf_addf(why, "the variable %s has %zu bytes, %s needs %llu", arg->constant, size, arg->name, (unsigned long long)bytes);
        } else if (code == CUDA_SUCCESS) {
            code = gpu->cuda.cuMemcpyDtoDAsync(variable, set->inputs.items[i].data, bytes, gpu->stream);
        }
        if (code != CUDA_SUCCESS || why->length) break;
    }
    return code;
}
