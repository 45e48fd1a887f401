/* Opening a GPU and its context, and closing it with all that it holds. */
#include <stdlib.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"

static const mt_cuda_api *driver; /* whose functions tunelookup_cuda.h calls: those of the GPU that is being opened */
#define TUNELOOKUP_CU(name) (driver->name)
#include "include/tunelookup_cuda.h"

/* The same call as in a program that looks results up: facts that differ would be another GPU. */
static mt_status read_facts(mt_gpu *gpu, mt_error *err)
{
    mt_status st = MT_OK;
    tunelookup_device told;
    mt_device_facts *facts = &gpu->facts;
    _Static_assert(sizeof facts->name == TUNELOOKUP_CUDA_NAME, "the name's room");
    driver = &gpu->cuda;
    MT_TRY_CU(tunelookup_cuda_device(gpu->device, facts->name, &told), "facts of the device");
    MT_TRY_CU(gpu->cuda.cuDeviceGetPCIBusId(gpu->bus_id, (int)sizeof gpu->bus_id, gpu->device), "PCI bus id");
#define TAKE(field, meaning) facts->field = told.field;
    MT_FACTS_MAP(TAKE)
#undef TAKE
    facts->driver_version = told.driver_version;
done:
    return st;
}

/* cuInit's own errors mean that there is no GPU to be had here. */
static mt_status find_device(mt_gpu *gpu, int ordinal, mt_error *err)
{
    mt_status st = MT_OK;
    int count = 0;
    int64_t start_ns = mt_clock_now_ns();
    CUresult code = gpu->cuda.cuInit(0);
    mt_times_note("cuInit", start_ns, NULL);
    if (code == CUDA_SUCCESS) code = gpu->cuda.cuDeviceGetCount(&count);
    if (code == CUDA_SUCCESS && count == 0) code = CUDA_ERROR_NO_DEVICE;
    if (code != CUDA_SUCCESS) return MT_FAIL(err, MT_ERR_NO_GPU, "the NVIDIA driver is there but has no usable GPU: %s", mt_cuda_error_name(&gpu->cuda, code));
    if (ordinal < 0 || ordinal >= count) return MT_FAIL(err, MT_ERR_NO_GPU, "GPU %d: expected a number from 0 to %d", ordinal, count - 1);
    gpu->count = count;
    MT_TRY_CU(gpu->cuda.cuDeviceGet(&gpu->device, ordinal), "device");
done:
    return st;
}

mt_status mt_gpu_open(int ordinal, mt_gpu **out, mt_device_facts *facts, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = mt_alloc(1, sizeof *gpu);
    if (!gpu) return MT_FAIL(err, MT_ERR_NO_MEMORY, "GPU");
    gpu->stage = MT_STAGE_DONE;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* a lazy load would wait for the stream that a hold keeps standing */
    MT_TRY(mt_cuda_open(&gpu->cuda, err));
    MT_TRY(find_device(gpu, ordinal, err));
    MT_TRY(read_facts(gpu, err));
    int64_t start_ns = mt_clock_now_ns();
    mt_nvml_open(&gpu->nvml, gpu->bus_id);
    mt_times_note("nvml", start_ns, NULL);
    *facts = gpu->facts;
    *out = gpu;
    gpu = NULL;
done:
    mt_gpu_close(gpu);
    return st;
}

mt_status mt_gpu_make_context(mt_gpu *gpu, mt_error *err)
{
    mt_status st = MT_OK;
    CUcontext context = NULL;
    int64_t start_ns = mt_clock_now_ns();
    if (gpu->stream) return MT_OK;
    if (!gpu->has_context) MT_TRY_CU(gpu->cuda.cuDevicePrimaryCtxRetain(&context, gpu->device), "context");
    gpu->has_context = true;
    if (context) MT_TRY_CU(gpu->cuda.cuCtxSetCurrent(context), "context");
    MT_TRY_CU(gpu->cuda.cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING), "stream");
    mt_times_note("context", start_ns, NULL);
done:
    return st;
}

void mt_gpu_close(mt_gpu *gpu)
{
    if (!gpu) return;
    mt_subject_free(gpu, &gpu->subject);
    mt_buffers_free(gpu, &gpu->scratch);
    mt_tool_unload(gpu);
    if (gpu->baseline) gpu->free_baseline(gpu);
    if (gpu->copies) gpu->cuda.cuMemFree(gpu->copies);
    if (gpu->stream) gpu->cuda.cuStreamDestroy(gpu->stream);
    if (gpu->has_context) gpu->cuda.cuDevicePrimaryCtxRelease(gpu->device);
    mt_nvml_close(&gpu->nvml);
    mt_cuda_close(&gpu->cuda);
    mt_strbuf_free(&gpu->launch_json);
    mt_free(gpu);
}
