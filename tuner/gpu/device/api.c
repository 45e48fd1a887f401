#include "tuner/gpu/device/api.h"

#include <dlfcn.h>

#include "tuner/gpu/dynlib.h"

static mt_status get_function(PFN_cuGetProcAddress_v12000 get, const char *name, int version, bool required, void **function, mt_error *err)
{
    CUdriverProcAddressQueryResult found;
    CUresult code = get(name, function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if (code == CUDA_SUCCESS && *function) return MT_OK;
    *function = NULL; /* an older driver leaves it unset */
    if (!required) return MT_OK;
    return MT_FAIL(err, MT_ERR_NO_GPU, "the driver has no %s of CUDA %d.%d: a driver for CUDA 12.0 or newer is needed", name, version / 1000, version % 1000 / 10);
}

static mt_status get_all(mt_cuda_api *api, PFN_cuGetProcAddress_v12000 get, mt_error *err)
{
    mt_status st = MT_OK;
#define MT_CUDA_GET(name, version) MT_TRY(get_function(get, #name, version, true, (void **)&api->name, err));
    MT_CUDA_MAP(MT_CUDA_GET)
#undef MT_CUDA_GET
#define MT_CUDA_GET(name, version) MT_TRY(get_function(get, #name, version, false, (void **)&api->name, err));
    MT_CUDA_OPTIONAL_MAP(MT_CUDA_GET)
#undef MT_CUDA_GET
done:
    return st;
}

mt_status mt_cuda_open(mt_cuda_api *api, mt_error *err)
{
    static const char *const names[] = {"libcuda.so.1"};
    mt_status st = MT_OK;
    mt_strbuf tried = {0};
    *api = (mt_cuda_api){0};
    api->handle = mt_dynlib_open("MSDA_TUNE_LIBCUDA", names, 1, &tried);
    if (!api->handle) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_GPU, "no NVIDIA driver: cannot open %s", mt_strbuf_text(&tried)));
    PFN_cuGetProcAddress_v12000 get;
    *(void **)&get = dlsym(api->handle, "cuGetProcAddress_v2");
    if (!get) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_GPU, "the driver has no cuGetProcAddress_v2: a driver for CUDA 12.0 or newer is needed"));
    MT_TRY(get_all(api, get, err));
done:
    if (st != MT_OK) mt_cuda_close(api);
    mt_strbuf_free(&tried);
    return st;
}

void mt_cuda_close(mt_cuda_api *api)
{
    mt_dynlib_close(api->handle);
    *api = (mt_cuda_api){0};
}

const char *mt_cuda_error_name(const mt_cuda_api *api, CUresult code)
{
    const char *name = NULL;
    if (api->cuGetErrorName(code, &name) != CUDA_SUCCESS || !name) return "unknown CUDA error";
    return name;
}

bool mt_cuda_is_of_the_code(CUresult code)
{
    switch ((int)code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case 721: /* CUDA_ERROR_TENSOR_MEMORY_LEAK, newer than the oldest header that we build with */
        return true;
    default:
        return false;
    }
}

/* The driver's documentation says of each of these that the process must be relaunched, or (memory errors, unknown) that the
 * context's state can't be trusted. */
bool mt_cuda_is_sticky(CUresult code)
{
    switch ((int)code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case 226: /* CUDA_ERROR_CONTAINED, likewise */
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return mt_cuda_is_of_the_code(code) && code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
}
