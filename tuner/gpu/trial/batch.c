/* Batches: one CUDA graph of many launches, each over its own copy of the buffers, so that a kernel of a few microseconds is timed in bulk
 * and still finds cold caches. */
#include "tuner/gpu/trial/batch.h"

#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/gpu/device/device_internal.h"

struct mt_batch {
    mt_binding *sets;   /* set_count − 1: set 0 is the trial's own */
    uint32_t set_count, launches;
    CUgraphExec graph;
};

enum { SET_ALIGNMENT = 256 };

static uint64_t padded(uint64_t bytes)
{
    return (bytes + SET_ALIGNMENT - 1) / SET_ALIGNMENT * SET_ALIGNMENT;
}

uint64_t mt_batch_set_bytes(const mt_gpu_trial *trial)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < trial->plan.arg_count; i++)
        if (mt_trial_uses(trial, i)) bytes += padded(mt_trial_buffer(trial, i)->bytes);
    return bytes;
}

/* The copies' memory is kept from variant to variant and only ever grows. */
static CUresult reserve(mt_gpu *gpu, uint64_t bytes)
{
    if (gpu->copies_bytes >= bytes) return CUDA_SUCCESS;
    if (gpu->copies) gpu->cuda.cuMemFree(gpu->copies);
    gpu->copies = 0;
    gpu->copies_bytes = 0;
    CUresult code = gpu->cuda.cuMemAlloc(&gpu->copies, bytes);
    if (code == CUDA_SUCCESS) gpu->copies_bytes = bytes;
    return code;
}

/* What the trial's buffers hold now, prepared layouts included. */
static CUresult copy_set(mt_gpu_trial *trial, CUdeviceptr memory, CUdeviceptr *address)
{
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        if (!mt_trial_uses(trial, i)) continue;
        const mt_buffer *source = mt_trial_buffer(trial, i);
        MT_CU(trial->gpu->cuda.cuMemcpyDtoDAsync(memory, source->data, source->bytes, trial->gpu->stream));
        address[i] = memory;
        memory += padded(source->bytes);
    }
done:
    return code;
}

static mt_status make_sets(mt_gpu_trial *trial, mt_batch *batch, CUresult *code, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf why = {0};
    mt_gpu *gpu = trial->gpu;
    uint64_t set_bytes = mt_batch_set_bytes(trial);
    CUdeviceptr *address = mt_alloc(trial->plan.arg_count, sizeof *address);
    batch->sets = mt_alloc(batch->set_count, sizeof *batch->sets);
    if (!address || !batch->sets) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "copies of buffers"));
    *code = reserve(gpu, (batch->set_count - 1) * set_bytes);
    for (uint32_t k = 0; k + 1 < batch->set_count && *code == CUDA_SUCCESS; k++) {
        *code = copy_set(trial, gpu->copies + k * set_bytes, address);
        if (*code == CUDA_SUCCESS) MT_TRY(mt_binding_make(gpu, trial->spec, &trial->plan, address, &batch->sets[k], code, &why, err));
    }
done:
    mt_free(address);
    mt_strbuf_free(&why);
    return st;
}

/* Recorded from the stream, so that clusters, cooperative and programmatic launches come out as they are launched. */
static CUresult capture(mt_gpu_trial *trial, mt_batch *batch)
{
    CUgraph graph = NULL;
    mt_gpu *gpu = trial->gpu;
    CUresult code = gpu->cuda.cuStreamBeginCapture(gpu->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (code != CUDA_SUCCESS) return code;
    for (uint32_t i = 0; i < batch->launches && code == CUDA_SUCCESS; i++) {
        uint32_t set = i % batch->set_count;
        code = mt_trial_run(trial, set == 0 ? &trial->binding : &batch->sets[set - 1]);
    }
    CUresult end = gpu->cuda.cuStreamEndCapture(gpu->stream, &graph); /* always: it ends the capture */
    if (code == CUDA_SUCCESS) code = end;
    if (code == CUDA_SUCCESS) code = gpu->cuda.cuGraphInstantiateWithFlags(&batch->graph, graph, 0);
    if (code == CUDA_SUCCESS) code = gpu->cuda.cuGraphUpload(batch->graph, gpu->stream);
    if (graph) gpu->cuda.cuGraphDestroy(graph);
    return code;
}

mt_status mt_batch_create(mt_gpu_trial *trial, uint32_t sets, uint32_t launches, mt_batch **out, mt_error *err)
{
    mt_status st = MT_OK;
    CUresult code = CUDA_SUCCESS;
    mt_batch *batch = mt_alloc(1, sizeof *batch);
    if (!batch) return MT_FAIL(err, MT_ERR_NO_MEMORY, "batch");
    batch->set_count = sets;
    batch->launches = launches;
    MT_TRY(make_sets(trial, batch, &code, err));
    if (code == CUDA_SUCCESS) code = capture(trial, batch);
    if (mt_cuda_is_sticky(code)) {
        mt_trial_fault(trial, code, "preparing a batch");
    } else if (code != CUDA_SUCCESS) {
        mt_log_info("no CUDA graph for %s (%s): timed launch by launch", mt_trial_entry(trial), mt_cuda_error_name(&trial->gpu->cuda, code));
    } else {
        *out = batch;
        batch = NULL;
    }
done:
    mt_batch_free(trial->gpu, batch);
    return st;
}

void mt_batch_free(mt_gpu *gpu, mt_batch *batch)
{
    if (!batch) return;
    if (batch->graph) gpu->cuda.cuGraphExecDestroy(batch->graph);
    for (uint32_t i = 0; batch->sets && i < batch->set_count; i++)
        mt_binding_free(&batch->sets[i]);
    mt_free(batch->sets);
    mt_free(batch);
}

CUresult mt_batch_launch(mt_gpu *gpu, const mt_batch *batch)
{
    return gpu->cuda.cuGraphLaunch(batch->graph, gpu->stream);
}

uint32_t mt_batch_size(const mt_batch *batch)
{
    return batch->launches;
}
