/* Loading the tool's own kernels into the context, with what they write into. */
#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"

void mt_tool_unload(mt_gpu *gpu)
{
    mt_timer_close(gpu);
    if (gpu->report) gpu->cuda.cuMemFree(gpu->report);
    if (gpu->parts) gpu->cuda.cuMemFree(gpu->parts);
    if (gpu->report_host) gpu->cuda.cuMemFreeHost(gpu->report_host);
    mt_module_unload(gpu, &gpu->tool.module);
    gpu->report = gpu->parts = 0;
    gpu->report_host = NULL;
    gpu->tool = (mt_tool){0};
}

static mt_status get_tool_kernels(mt_gpu *gpu, mt_error *err)
{
    mt_status st = MT_OK;
#define GET_KERNEL(name) MT_TRY_CU(mt_module_function(gpu, &gpu->tool.module, "mt_" #name, &gpu->tool.name), "mt_" #name);
    MT_TOOL_MAP(GET_KERNEL)
#undef GET_KERNEL
done:
    return st;
}

mt_status mt_gpu_load_tool(mt_gpu *gpu, const char *cubin_path, mt_error *err)
{
    mt_status st = MT_OK;
    CUresult code = CUDA_SUCCESS;
    mt_strbuf why = {0};
    int64_t start_ns = mt_clock_now_ns();
    if (gpu->tool.module.code) return MT_OK;
    MT_TRY(mt_module_load(gpu, cubin_path, &gpu->tool.module, &code, &why, err));
    MT_TRY_CU(code, "the tool's own kernels");
    MT_TRY(get_tool_kernels(gpu, err));
    MT_TRY_CU(gpu->cuda.cuMemAlloc(&gpu->report, sizeof(mt_report)), "report");
    MT_TRY_CU(gpu->cuda.cuMemAlloc(&gpu->parts, MT_COMPARE_BLOCKS * sizeof(mt_compare_result)), "report");
    MT_TRY_CU(gpu->cuda.cuMemHostAlloc((void **)&gpu->report_host, sizeof(mt_report), 0), "report");
    MT_TRY_CU(mt_timer_open(gpu), "what timing needs");
    mt_times_note("tool", start_ns, NULL);
done:
    if (st != MT_OK) mt_tool_unload(gpu);
    mt_strbuf_free(&why);
    return st;
}
