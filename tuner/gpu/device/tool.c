#include "tuner/gpu/device/tool.h"

#include <assert.h>
#include <stddef.h>

#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/verify_rules.h"

_Static_assert((int)MT_SUPPORT_F16 == (int)MT_F16 && (int)MT_SUPPORT_F64 == (int)MT_F64 && (int)MT_SUPPORT_U8 == (int)MT_U8 &&
                   (int)MT_SUPPORT_I32 == (int)MT_I32 && (int)MT_SUPPORT_U64 == (int)MT_U64 && MT_SUPPORT_F8E5M2 + 1 == MT_DTYPE_COUNT,
               "support.h numbers element types as dtype.h does");

CUresult mt_tool_launch(mt_gpu *gpu, CUfunction function, uint32_t blocks, uint32_t rows, uint32_t threads, void **parameters)
{
    const CUlaunchConfig config = {.gridDimX = blocks, .gridDimY = rows, .gridDimZ = 1, .blockDimX = threads, .blockDimY = 1, .blockDimZ = 1,
                                   .hStream = gpu->stream};
    return gpu->cuda.cuLaunchKernelEx(&config, function, parameters, NULL);
}

CUresult mt_tool_upload(mt_gpu *gpu, CUdeviceptr data, const void *from, uint64_t bytes)
{
    CUresult code = gpu->cuda.cuMemcpyHtoDAsync(data, from, bytes, gpu->stream);
    return code == CUDA_SUCCESS ? gpu->cuda.cuStreamSynchronize(gpu->stream) : code;
}

uint32_t mt_tool_blocks(const mt_gpu *gpu, uint64_t count)
{
    uint64_t needed = (count + MT_SUPPORT_THREADS - 1) / MT_SUPPORT_THREADS, most = 16 * (uint64_t)gpu->facts.sm_count;
    if (needed < 1) needed = 1;
    return (uint32_t)(needed < most ? needed : most);
}

static CUresult launch_over(mt_gpu *gpu, CUfunction function, uint64_t count, void **parameters)
{
    return mt_tool_launch(gpu, function, mt_tool_blocks(gpu, count), 1, MT_SUPPORT_THREADS, parameters);
}

CUresult mt_tool_fill_uniform(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, uint64_t seed, double low, double high)
{
    mt_u32 type = (mt_u32)dtype;
    void *parameters[] = {&data, &count, &type, &seed, &low, &high};
    return launch_over(gpu, gpu->tool.fill_uniform, count, parameters);
}

CUresult mt_tool_fill_normal(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, uint64_t seed, double mean, double deviation)
{
    mt_u32 type = (mt_u32)dtype;
    void *parameters[] = {&data, &count, &type, &seed, &mean, &deviation};
    return launch_over(gpu, gpu->tool.fill_normal, count, parameters);
}

CUresult mt_tool_fill_ramp(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, double first, double step)
{
    mt_u32 type = (mt_u32)dtype;
    void *parameters[] = {&data, &count, &type, &first, &step};
    return launch_over(gpu, gpu->tool.fill_ramp, count, parameters);
}

CUresult mt_tool_widen(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, CUdeviceptr out)
{
    mt_u32 type = (mt_u32)dtype;
    void *parameters[] = {&data, &count, &type, &out};
    return launch_over(gpu, gpu->tool.widen, count, parameters);
}

/* Bands are short: 8 blocks each. */
static const uint32_t band_blocks = 8;

CUresult mt_tool_guard_fill(mt_gpu *gpu, const mt_span_list *bands)
{
    void *parameters[] = {(void *)bands};
    if (bands->count == 0) return CUDA_SUCCESS;
    return mt_tool_launch(gpu, gpu->tool.guard_fill, band_blocks, (uint32_t)bands->count, MT_SUPPORT_THREADS, parameters);
}

CUresult mt_tool_guard_check(mt_gpu *gpu, const mt_span_list *bands)
{
    void *parameters[] = {(void *)bands, &gpu->report};
    if (bands->count == 0) return CUDA_SUCCESS;
    return mt_tool_launch(gpu, gpu->tool.guard_check, band_blocks, (uint32_t)bands->count, MT_SUPPORT_THREADS, parameters);
}

CUresult mt_tool_report_reset(mt_gpu *gpu)
{
    void *parameters[] = {&gpu->report};
    return mt_tool_launch(gpu, gpu->tool.report_reset, 1, 1, MT_SUPPORT_THREADS, parameters);
}

CUresult mt_tool_checksum(mt_gpu *gpu, const mt_span_list *spans)
{
    CUdeviceptr sums = gpu->report + offsetof(mt_report, checksum);
    void *parameters[] = {(void *)spans, &sums};
    uint64_t longest = 1;
    for (size_t i = 0; i < spans->count; i++)
        if (spans->item[i].bytes > longest) longest = spans->item[i].bytes;
    if (spans->count == 0) return CUDA_SUCCESS;
    return mt_tool_launch(gpu, gpu->tool.checksum, mt_tool_blocks(gpu, longest / 16 + 1), (uint32_t)spans->count, MT_SUPPORT_THREADS, parameters);
}

CUresult mt_tool_compare(mt_gpu *gpu, size_t slot, CUdeviceptr out, CUdeviceptr reference, uint64_t count, mt_dtype dtype, uint64_t poison)
{
    assert(slot < MT_SUPPORT_TENSORS);
    mt_u32 type = (mt_u32)dtype;
    CUdeviceptr result = gpu->report + offsetof(mt_report, compare) + slot * sizeof(mt_compare_result);
    void *parameters[] = {&out, &reference, &count, &type, &poison, &gpu->parts};
    void *finish_parameters[] = {&gpu->parts, &result};
    CUresult code = mt_tool_launch(gpu, gpu->tool.compare, MT_COMPARE_BLOCKS, 1, MT_COMPARE_THREADS, parameters);
    if (code != CUDA_SUCCESS) return code;
    return mt_tool_launch(gpu, gpu->tool.compare_finish, 1, 1, MT_COMPARE_THREADS, finish_parameters);
}

CUresult mt_tool_spread(mt_gpu *gpu, size_t slot, CUdeviceptr out, CUdeviceptr before, uint64_t count, mt_dtype dtype)
{
    assert(slot < MT_SUPPORT_TENSORS);
    mt_u32 type = (mt_u32)dtype;
    CUdeviceptr result = gpu->report + offsetof(mt_report, spread) + slot * sizeof(mt_compare_result);
    void *parameters[] = {&out, &before, &count, &type, &gpu->parts};
    void *finish_parameters[] = {&gpu->parts, &result};
    CUresult code = mt_tool_launch(gpu, gpu->tool.spread, MT_COMPARE_BLOCKS, 1, MT_COMPARE_THREADS, parameters);
    if (code != CUDA_SUCCESS) return code;
    return mt_tool_launch(gpu, gpu->tool.compare_finish, 1, 1, MT_COMPARE_THREADS, finish_parameters);
}

CUresult mt_tool_diff(mt_gpu *gpu, size_t slot, CUdeviceptr a, CUdeviceptr b, uint64_t count, size_t element_bytes)
{
    assert(slot < 2 * MT_SUPPORT_TENSORS); /* as diff_count */
    mt_u32 bytes = (mt_u32)element_bytes;
    CUdeviceptr differing = gpu->report + offsetof(mt_report, diff_count) + slot * sizeof(mt_u64);
    CUdeviceptr first = gpu->report + offsetof(mt_report, diff_first) + slot * sizeof(mt_u64);
    void *parameters[] = {&a, &b, &count, &bytes, &differing, &first};
    return launch_over(gpu, gpu->tool.diff, count * element_bytes / 16 + 1, parameters);
}

CUresult mt_tool_report_read(mt_gpu *gpu)
{
    CUresult code = gpu->cuda.cuMemcpyDtoHAsync(gpu->report_host, gpu->report, sizeof(mt_report), gpu->stream);
    return code == CUDA_SUCCESS ? gpu->cuda.cuStreamSynchronize(gpu->stream) : code;
}

CUresult mt_tool_poison(mt_gpu *gpu, CUdeviceptr data, uint64_t bytes, mt_dtype dtype, unsigned pass)
{
    uint64_t bits = mt_verify_poison_bits(dtype, pass);
    switch (mt_dtype_bytes(dtype)) {
    case 1: return gpu->cuda.cuMemsetD8Async(data, (unsigned char)bits, bytes, gpu->stream);
    case 2: return gpu->cuda.cuMemsetD16Async(data, (unsigned short)bits, bytes / 2, gpu->stream);
    default: return gpu->cuda.cuMemsetD32Async(data, (unsigned)bits, bytes / 4, gpu->stream);
    }
}
