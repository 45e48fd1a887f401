#include "tuner/gpu/device/timer.h"

#include "tuner/base/stats.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"

static const uint64_t hold_limit_ns = 2000000000;

/* Flushing needs twice L2; without a known size, 256 MiB is above any L2 there is. */
static uint64_t flush_size(const mt_device_facts *facts)
{
    uint64_t bytes = facts->l2_bytes > 0 ? 2 * (uint64_t)facts->l2_bytes : (uint64_t)256 << 20;
    return (bytes + 255) / 256 * 256;
}

CUresult mt_timer_open(mt_gpu *gpu)
{
    CUresult code = CUDA_SUCCESS;
    const mt_cuda_api *cu = &gpu->cuda;
    mt_timer *timer = &gpu->timer;
    size_t stamp_bytes = sizeof(mt_stamp) * 2 * MT_TIMER_CHUNK * MT_STAMP_CAPACITY;
    for (; timer->event_count < MT_TIMER_CHUNK; timer->event_count++) {
        MT_CU(cu->cuEventCreate(&timer->start[timer->event_count], CU_EVENT_DEFAULT));
        code = cu->cuEventCreate(&timer->stop[timer->event_count], CU_EVENT_DEFAULT);
        if (code != CUDA_SUCCESS) {
            cu->cuEventDestroy(timer->start[timer->event_count]);
            goto done;
        }
    }
    timer->flush_bytes = flush_size(&gpu->facts);
    MT_CU(cu->cuMemAlloc(&timer->flush, timer->flush_bytes));
    MT_CU(cu->cuMemAlloc(&timer->sink, 256));
    MT_CU(cu->cuMemAlloc(&timer->stamps, stamp_bytes));
    MT_CU(cu->cuMemsetD8Async(timer->stamps, 0, stamp_bytes, gpu->stream));
    MT_CU(cu->cuMemHostAlloc((void **)&timer->stamps_host, stamp_bytes, 0));
    MT_CU(cu->cuMemHostAlloc((void **)&timer->flags, sizeof *timer->flags, CU_MEMHOSTALLOC_DEVICEMAP));
    *timer->flags = (mt_hold_flags){0};
    MT_CU(cu->cuMemHostGetDevicePointer(&timer->flags_device, timer->flags, 0));
done:
    return code;
}

void mt_timer_close(mt_gpu *gpu)
{
    mt_timer *timer = &gpu->timer;
    for (size_t i = 0; i < timer->event_count; i++) {
        gpu->cuda.cuEventDestroy(timer->start[i]);
        gpu->cuda.cuEventDestroy(timer->stop[i]);
    }
    if (timer->flush) gpu->cuda.cuMemFree(timer->flush);
    if (timer->sink) gpu->cuda.cuMemFree(timer->sink);
    if (timer->stamps) gpu->cuda.cuMemFree(timer->stamps);
    if (timer->stamps_host) gpu->cuda.cuMemFreeHost(timer->stamps_host);
    if (timer->flags) gpu->cuda.cuMemFreeHost((void *)timer->flags);
    *timer = (mt_timer){0};
}

CUresult mt_timer_flush(mt_gpu *gpu)
{
    uint64_t count = gpu->timer.flush_bytes / 16, value = gpu->timer.stamp_ticket;
    void *write_parameters[] = {&gpu->timer.flush, &count, &value};
    void *read_parameters[] = {&gpu->timer.flush, &count, &gpu->timer.sink};
    uint32_t blocks = mt_tool_blocks(gpu, count);
    CUresult code = mt_tool_launch(gpu, gpu->tool.flush_write, blocks, 1, MT_SUPPORT_THREADS, write_parameters);
    return code == CUDA_SUCCESS ? mt_tool_launch(gpu, gpu->tool.flush_read, blocks, 1, MT_SUPPORT_THREADS, read_parameters) : code;
}

/* Tickets only rise, so that a hold can never be released by what an earlier one left in the flag. */
CUresult mt_timer_hold(mt_gpu *gpu)
{
    mt_timer *timer = &gpu->timer;
    CUdeviceptr released = timer->flags_device + offsetof(mt_hold_flags, released), late = timer->flags_device + offsetof(mt_hold_flags, late);
    uint32_t ticket = ++timer->ticket;
    uint64_t limit_ns = hold_limit_ns;
    void *parameters[] = {&released, &ticket, &limit_ns, &late};
    return mt_tool_launch(gpu, gpu->tool.hold, 1, 1, 1, parameters);
}

void mt_timer_release(mt_gpu *gpu)
{
    gpu->timer.flags->released = gpu->timer.ticket;
}

bool mt_timer_was_late(const mt_gpu *gpu)
{
    return gpu->timer.flags->late == gpu->timer.ticket;
}

/* One block per SM: on an idle GPU each lands on its own. */
static CUresult stamp(mt_gpu *gpu, size_t row, uint64_t ticket)
{
    CUdeviceptr stamps = gpu->timer.stamps + row * MT_STAMP_CAPACITY * sizeof(mt_stamp);
    uint32_t capacity = MT_STAMP_CAPACITY;
    void *parameters[] = {&stamps, &capacity, &ticket};
    return mt_tool_launch(gpu, gpu->tool.clock_stamp, (uint32_t)gpu->facts.sm_count, 1, 1, parameters);
}

CUresult mt_timer_begin(mt_gpu *gpu, size_t slot)
{
    if (slot == 0) gpu->timer.stamp_ticket++;
    CUresult code = stamp(gpu, 2 * slot, gpu->timer.stamp_ticket);
    return code == CUDA_SUCCESS ? gpu->cuda.cuEventRecord(gpu->timer.start[slot], gpu->stream) : code;
}

CUresult mt_timer_end(mt_gpu *gpu, size_t slot)
{
    CUresult code = gpu->cuda.cuEventRecord(gpu->timer.stop[slot], gpu->stream);
    return code == CUDA_SUCCESS ? stamp(gpu, 2 * slot + 1, gpu->timer.stamp_ticket) : code;
}

CUresult mt_timer_collect(mt_gpu *gpu, size_t count, double *ns, double *mhz)
{
    CUresult code = CUDA_SUCCESS;
    mt_timer *timer = &gpu->timer;
    double work[MT_STAMP_CAPACITY];
    MT_CU(gpu->cuda.cuMemcpyDtoHAsync(timer->stamps_host, timer->stamps, 2 * count * MT_STAMP_CAPACITY * sizeof(mt_stamp), gpu->stream));
    MT_CU(gpu->cuda.cuStreamSynchronize(gpu->stream));
    for (size_t i = 0; i < count; i++) {
        float ms = 0;
        MT_CU(gpu->cuda.cuEventElapsedTime(&ms, timer->start[i], timer->stop[i]));
        ns[i] = (double)ms * 1e6;
        const mt_stamp *before = timer->stamps_host + 2 * i * MT_STAMP_CAPACITY;
        mhz[i] = mt_stamp_mhz(before, before + MT_STAMP_CAPACITY, MT_STAMP_CAPACITY, timer->stamp_ticket, timer->stamp_ticket, work);
    }
done:
    return code;
}

double mt_stamp_mhz(const mt_stamp *before, const mt_stamp *after, size_t rows, uint64_t ticket_before, uint64_t ticket_after, double *work)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (before[i].ticket != ticket_before || after[i].ticket != ticket_after) continue;
        if (after[i].time_ns <= before[i].time_ns || after[i].clock <= before[i].clock) continue;
        work[count++] = 1000.0 * (double)(after[i].clock - before[i].clock) / (double)(after[i].time_ns - before[i].time_ns);
    }
    if (count == 0) return 0;
    mt_stats_sort(work, count);
    return mt_stats_median(work, count);
}
