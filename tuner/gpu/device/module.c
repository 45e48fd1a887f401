#include "tuner/gpu/device/module.h"

#include "db/cubin_names.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/device/device_internal.h"

mt_status mt_module_load(mt_gpu *gpu, const char *path, mt_module *module, CUresult *code, mt_strbuf *why, mt_error *err)
{
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    mt_strbuf_clear(why);
    *module = (mt_module){0};
    mt_status st = mt_file_read(path, 0, &module->image, &module->bytes, err);
    if (st != MT_OK) return st;
    *code = gpu->cuda.cuModuleLoadDataEx(&module->code, module->image, 2, options, values);
    if (*code == CUDA_SUCCESS) return MT_OK;
    if (log[0]) mt_strbuf_add(why, log);
    module->code = NULL;
    mt_module_unload(gpu, module);
    return MT_OK;
}

void mt_module_unload(mt_gpu *gpu, mt_module *module)
{
    if (module->code) gpu->cuda.cuModuleUnload(module->code);
    mt_free(module->image);
    *module = (mt_module){0};
}

const char *mt_module_symbol(const mt_module *module, const char *name)
{
    return mt_cubin_symbol(module->image, module->bytes, name);
}

CUresult mt_module_function(mt_gpu *gpu, const mt_module *module, const char *name, CUfunction *function)
{
    return gpu->cuda.cuModuleGetFunction(function, module->code, mt_module_symbol(module, name));
}

CUresult mt_module_variable(mt_gpu *gpu, const mt_module *module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    return gpu->cuda.cuModuleGetGlobal(address, bytes, module->code, mt_module_symbol(module, name));
}
