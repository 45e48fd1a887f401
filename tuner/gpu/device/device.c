#include "tuner/gpu/device/device.h"

#include "tuner/gpu/device/device_internal.h"

mt_status mt_gpu_fail(const mt_gpu *gpu, CUresult code, mt_error *err, const char *what)
{
    const char *text = NULL;
    if (gpu->cuda.cuGetErrorString(code, &text) != CUDA_SUCCESS || !text) text = "no description";
    return MT_FAIL(err, MT_ERR_GPU, "%s: %s (%s)", what, mt_cuda_error_name(&gpu->cuda, code), text);
}

void mt_gpu_enter(mt_gpu *gpu, mt_stage stage)
{
    if (gpu->stage == stage) return;
    gpu->stage = stage;
    if (gpu->stage_callback) gpu->stage_callback(gpu->stage_context, stage);
}

int mt_gpu_count(const mt_gpu *gpu)
{
    return gpu->count;
}

const char *mt_gpu_bus_id(const mt_gpu *gpu)
{
    return gpu->bus_id;
}

int mt_gpu_foreign_processes(mt_gpu *gpu)
{
    return mt_nvml_foreign_processes(&gpu->nvml);
}

int mt_gpu_busy_percent(mt_gpu *gpu)
{
    return mt_nvml_busy_percent(&gpu->nvml);
}

int mt_gpu_others_percent(mt_gpu *gpu, int64_t ours)
{
    return mt_nvml_others_percent(&gpu->nvml, ours);
}

mt_energy_source mt_gpu_energy_source(mt_gpu *gpu)
{
    double reading;
    if (mt_nvml_energy(&gpu->nvml, MT_ENERGY_COUNTER, &reading)) return MT_ENERGY_COUNTER;
    return mt_nvml_energy(&gpu->nvml, MT_ENERGY_POWER, &reading) ? MT_ENERGY_POWER : MT_ENERGY_NONE;
}
