/* Launching the tool's own kernels (support.cu). All are asynchronous in the GPU's stream. */
#pragma once

#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"
#include "tuner/gpu/support.h"
#include "tuner/space/dtype.h"

/* Undoes mt_gpu_load_tool (device.h); nothing loaded is a no-op. */
void mt_tool_unload(mt_gpu *gpu);

/* A launch without attributes; parameters as for cuLaunchKernel. */
CUresult mt_tool_launch(mt_gpu *gpu, CUfunction function, uint32_t blocks, uint32_t rows, uint32_t threads, void **parameters);
/* Copies from pageable host memory and waits. */
CUresult mt_tool_upload(mt_gpu *gpu, CUdeviceptr data, const void *from, uint64_t bytes);
/* Blocks for `count` elements: enough to fill the GPU, no more, since the kernels stride. */
uint32_t mt_tool_blocks(const mt_gpu *gpu, uint64_t count);

CUresult mt_tool_fill_uniform(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, uint64_t seed, double low, double high);
CUresult mt_tool_fill_normal(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, uint64_t seed, double mean, double deviation);
/* first, first + step, …; integers begin again where their type ends. */
CUresult mt_tool_fill_ramp(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, double first, double step);
CUresult mt_tool_widen(mt_gpu *gpu, CUdeviceptr data, uint64_t count, mt_dtype dtype, CUdeviceptr out);

CUresult mt_tool_guard_fill(mt_gpu *gpu, const mt_span_list *bands);
/* The following write into gpu->report, which mt_tool_report_reset clears and mt_tool_report_read fetches (it waits for the stream). */
CUresult mt_tool_report_reset(mt_gpu *gpu);
CUresult mt_tool_guard_check(mt_gpu *gpu, const mt_span_list *bands);
CUresult mt_tool_checksum(mt_gpu *gpu, const mt_span_list *spans);
CUresult mt_tool_compare(mt_gpu *gpu, size_t slot, CUdeviceptr out, CUdeviceptr reference, uint64_t count, mt_dtype dtype, uint64_t poison);
/* How far `out` is from `before`, an output of the same type. */
CUresult mt_tool_spread(mt_gpu *gpu, size_t slot, CUdeviceptr out, CUdeviceptr before, uint64_t count, mt_dtype dtype);
CUresult mt_tool_diff(mt_gpu *gpu, size_t slot, CUdeviceptr a, CUdeviceptr b, uint64_t count, size_t element_bytes);
CUresult mt_tool_report_read(mt_gpu *gpu);

/* Fills data with a value that an output must not keep: floats a NaN whose payload no hardware makes, integers a fixed byte. pass 0 or 1 give
 * different ones. mt_verify_poison_bits (verify_rules.h) gives one element's bits. */
CUresult mt_tool_poison(mt_gpu *gpu, CUdeviceptr data, uint64_t bytes, mt_dtype dtype, unsigned pass);
