#include "tuner/gpu/device/launch.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/gpu/device/device_internal.h"

enum { PORTABLE_CLUSTER = 8, SMEM_UNIT = 128 };

static uint32_t volume(const uint32_t size[3])
{
    return size[0] * size[1] * size[2];
}

static CUlaunchConfig config_of(mt_gpu *gpu, const mt_ready *ready)
{
    const mt_plan_launch *plan = ready->plan;
    return (CUlaunchConfig){.gridDimX = plan->grid[0], .gridDimY = plan->grid[1], .gridDimZ = plan->grid[2],
                            .blockDimX = plan->block[0], .blockDimY = plan->block[1], .blockDimZ = plan->block[2],
                            .sharedMemBytes = plan->smem_bytes, .hStream = gpu->stream,
                            .attrs = (CUlaunchAttribute *)ready->attributes, .numAttrs = ready->attribute_count};
}

static void set_attributes(mt_ready *ready)
{
    const mt_plan_launch *plan = ready->plan;
    CUlaunchAttribute *next = ready->attributes;
    if (plan->cluster[0]) {
        next->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        next->value.clusterDim.x = plan->cluster[0];
        next->value.clusterDim.y = plan->cluster[1];
        next++->value.clusterDim.z = plan->cluster[2];
    }
    if (plan->from && plan->from->cooperative) {
        next->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        next++->value.cooperative = 1;
    }
    if (plan->from && plan->from->programmatic) {
        next->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        next++->value.programmaticStreamSerializationAllowed = 1;
    }
    ready->attribute_count = (unsigned)(next - ready->attributes);
}

/* The driver reads as many bytes as the kernel declares from where we point: a list that does not fit would make it read elsewhere. */
static bool parameters_fit(mt_gpu *gpu, const mt_plan *plan, const mt_ready *ready, mt_strbuf *why)
{
    size_t offset, bytes, listed = ready->plan->from ? ready->plan->from->arg_count : 0, declared = 0;
    if (!gpu->cuda.cuFuncGetParamInfo || !ready->plan->from) return true;
    while (gpu->cuda.cuFuncGetParamInfo(ready->function, declared, &offset, &bytes) == CUDA_SUCCESS) {
        size_t wanted = declared < listed ? mt_plan_parameter_bytes(&plan->args[ready->plan->from->args[declared]]) : 0;
        if (declared < listed && wanted != bytes) {
            mt_strbuf_addf(why, "%s: parameter %zu has %zu bytes, the launch gives %zu", ready->plan->entry, declared + 1, bytes, wanted);
            return false;
        }
        declared++;
    }
    if (declared == listed) return true;
    mt_strbuf_addf(why, "%s has %zu parameters, the launch lists %zu", ready->plan->entry, declared, listed);
    return false;
}

/* The sizes that shared memory can be split off at (KiB; each GPU has those up to its own maximum), CUDA C++ Programming Guide, "Compute
 * Capabilities". The driver takes the next size above the percentage asked for. So a size is asked for by the largest percentage that does not
 * exceed it: asking for the bytes needed, rounded up to a percent, would often get the size above and cost L1. */
static const uint64_t split_kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

int32_t mt_carveout_percent(const mt_device_facts *facts, uint32_t blocks, uint64_t static_bytes, uint64_t dynamic_bytes)
{
    uint64_t block = static_bytes + dynamic_bytes + (uint64_t)facts->smem_reserved, total = (uint64_t)facts->smem_per_sm;
    block = (block + SMEM_UNIT - 1) / SMEM_UNIT * SMEM_UNIT;
    if (total == 0 || block * blocks >= total) return 100;
    for (size_t i = 0; i < sizeof split_kib / sizeof split_kib[0]; i++) {
        uint64_t size = split_kib[i] << 10;
        if (size >= total) break;
        if (size >= block * blocks) return (int32_t)(100 * size / total);
    }
    return 100;
}

static CUresult ask_blocks(mt_gpu *gpu, mt_ready *ready, int32_t carveout)
{
    int blocks = 0;
    CUresult code = gpu->cuda.cuFuncSetAttribute(ready->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout);
    if (code != CUDA_SUCCESS) return code;
    ready->carveout_percent = carveout;
    code = gpu->cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ready->function, (int)volume(ready->plan->block), ready->plan->smem_bytes);
    ready->blocks_per_sm = blocks > 0 ? (uint32_t)blocks : 0;
    return code;
}

/* The file's carve-out, or the smallest that keeps the occupancy that all of shared memory gives. */
static CUresult set_carveout(mt_gpu *gpu, mt_ready *ready)
{
    if (ready->plan->carveout_percent >= 0) return ask_blocks(gpu, ready, ready->plan->carveout_percent);
    CUresult code = ask_blocks(gpu, ready, 100);
    uint32_t most = ready->blocks_per_sm;
    int32_t percent = mt_carveout_percent(&gpu->facts, most, ready->static_smem_bytes, ready->plan->smem_bytes);
    while (code == CUDA_SUCCESS && percent < 100) {
        code = ask_blocks(gpu, ready, percent);
        if (ready->blocks_per_sm >= most) return code;
        percent++;
    }
    return code == CUDA_SUCCESS ? ask_blocks(gpu, ready, 100) : code;
}

/* The largest one-dimensional cluster below `size` of which one at least can be resident; 0 = none. */
static uint32_t largest_cluster(mt_gpu *gpu, const mt_ready *ready, uint32_t size)
{
    while (--size >= 1) {
        int active = 0;
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {size, 1, 1}};
        CUlaunchConfig config = config_of(gpu, ready);
        config.gridDimX = size;
        config.gridDimY = config.gridDimZ = 1;
        config.attrs = &attribute;
        config.numAttrs = 1;
        if (gpu->cuda.cuOccupancyMaxActiveClusters(&active, ready->function, &config) == CUDA_SUCCESS && active > 0) return size;
    }
    return 0;
}

static mt_refusal check_cluster(mt_gpu *gpu, mt_ready *ready, mt_strbuf *why)
{
    int active = 0;
    uint32_t size = volume(ready->plan->cluster);
    CUlaunchConfig config = config_of(gpu, ready);
    if (size == 0) return MT_REFUSAL_NONE;
    CUresult code = gpu->cuda.cuOccupancyMaxActiveClusters(&active, ready->function, &config);
    if (code == CUDA_SUCCESS && active > 0) {
        ready->active_clusters = (uint32_t)active;
        return MT_REFUSAL_NONE;
    }
    uint64_t smem = (uint64_t)ready->static_smem_bytes + ready->plan->smem_bytes;
    uint32_t fits = largest_cluster(gpu, ready, size);
    mt_strbuf_addf(why, "%s: no cluster of %u blocks with %u threads and %llu bytes of shared memory each can be resident", ready->plan->entry, size,
                   volume(ready->plan->block), (unsigned long long)smem);
    if (fits) mt_strbuf_addf(why, "; the largest cluster that fits has %u", fits);
    if (code != CUDA_SUCCESS) mt_strbuf_addf(why, " (%s)", mt_cuda_error_name(&gpu->cuda, code));
    return MT_REFUSAL_ILLEGAL;
}

static mt_refusal check_residency(mt_gpu *gpu, const mt_ready *ready, mt_strbuf *why)
{
    const mt_plan_launch *plan = ready->plan;
    if (ready->blocks_per_sm == 0) {
        mt_strbuf_addf(why, "%s: no block of %u threads with %u registers each and %llu bytes of shared memory fits on an SM%s", plan->entry,
                       volume(plan->block), ready->registers, (unsigned long long)ready->static_smem_bytes + plan->smem_bytes,
                       plan->carveout_percent >= 0 ? " with this carve-out" : "");
        return MT_REFUSAL_ILLEGAL;
    }
    if (ready->blocks_per_sm < plan->blocks_per_sm) {
        mt_strbuf_addf(why, "%s: counts on %u blocks per SM, %u fit (%u registers a thread, %u threads, %llu bytes of shared memory%s)", plan->entry, plan->blocks_per_sm,
                       ready->blocks_per_sm, ready->registers, volume(plan->block), (unsigned long long)ready->static_smem_bytes + plan->smem_bytes,
                       plan->carveout_percent >= 0 ? ", with this carve-out" : "");
        return MT_REFUSAL_ILLEGAL;
    }
    if (!plan->from || (!plan->from->cooperative && !plan->from->resident)) return MT_REFUSAL_NONE;
    uint64_t grid = (uint64_t)plan->grid[0] * plan->grid[1] * plan->grid[2];
    uint64_t resident = (uint64_t)ready->blocks_per_sm * (uint64_t)gpu->facts.sm_count;
    if (ready->active_clusters) resident = (uint64_t)ready->active_clusters * volume(plan->cluster);
    if (grid <= resident) return MT_REFUSAL_NONE;
    mt_strbuf_addf(why, "%s: a %s grid must be resident at once: %llu blocks, %llu fit", plan->entry, plan->from->cooperative ? "cooperative" : "persistent", (unsigned long long)grid, (unsigned long long)resident);
    return MT_REFUSAL_ILLEGAL;
}

static CUresult read_facts(mt_gpu *gpu, mt_ready *ready, int *max_threads)
{
    CUresult code = CUDA_SUCCESS;
    int registers = 0, shared = 0;
    MT_CU(gpu->cuda.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, ready->function));
    MT_CU(gpu->cuda.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, ready->function));
    MT_CU(gpu->cuda.cuFuncGetAttribute(max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, ready->function));
    ready->registers = (uint32_t)registers;
    ready->static_smem_bytes = (uint32_t)shared;
done:
    return code;
}

/* A driver from before clusters knows none of these attributes, and has no such code. */
static void read_cluster(mt_gpu *gpu, const mt_ready *ready, uint32_t cluster[3])
{
    static const CUfunction_attribute dims[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    for (int i = 0, value; i < 3; i++) cluster[i] = gpu->cuda.cuFuncGetAttribute(&value, dims[i], ready->function) == CUDA_SUCCESS && value > 0 ? (uint32_t)value : 0;
    if (!volume(cluster)) memset(cluster, 0, 3 * sizeof *cluster);
}

/* The driver's limit counts, which registers and launch bounds make; ours only says which of them it was. */
static mt_refusal check_block(mt_gpu *gpu, const mt_ready *ready, uint32_t max_threads, mt_strbuf *why)
{
    uint32_t threads = volume(ready->plan->block);
    mt_kernel_code code = {.registers = threads > max_threads ? ready->registers : 0, .static_smem_bytes = ready->static_smem_bytes, .most_threads = max_threads};
    read_cluster(gpu, ready, code.cluster);
    char *illegal = mt_plan_code_illegal(ready->plan, &code, &gpu->facts);
    if (illegal) mt_strbuf_add(why, illegal);
    mt_free(illegal);
    return why->length ? MT_REFUSAL_ILLEGAL : MT_REFUSAL_NONE;
}

static CUresult opt_in(mt_gpu *gpu, const mt_ready *ready)
{
    CUresult code = CUDA_SUCCESS;
    const mt_plan_launch *plan = ready->plan;
    if (plan->smem_bytes) MT_CU(gpu->cuda.cuFuncSetAttribute(ready->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)plan->smem_bytes));
    if (volume(plan->cluster) > PORTABLE_CLUSTER) MT_CU(gpu->cuda.cuFuncSetAttribute(ready->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
done:
    return code;
}

mt_refusal mt_ready_make(mt_gpu *gpu, const mt_module *module, const mt_plan *plan, const mt_plan_launch *launch, mt_ready *ready, CUresult *code, mt_strbuf *why)
{
    int max_threads = 0;
    *ready = (mt_ready){.plan = launch, .symbol = mt_module_symbol(module, launch->entry)};
    *code = mt_module_function(gpu, module, launch->entry, &ready->function);
    if (*code == CUDA_ERROR_NOT_FOUND) {
        mt_strbuf_addf(why, "no __global__ function %s in the compiled source", launch->entry);
        return MT_REFUSAL_LOAD;
    }
    if (*code == CUDA_SUCCESS && !parameters_fit(gpu, plan, ready, why)) return MT_REFUSAL_LOAD;
    if (*code == CUDA_SUCCESS) *code = read_facts(gpu, ready, &max_threads);
    if (*code != CUDA_SUCCESS) return MT_REFUSAL_DRIVER;
    mt_refusal refusal = check_block(gpu, ready, (uint32_t)max_threads, why);
    if (refusal != MT_REFUSAL_NONE) return refusal;
    set_attributes(ready);
    *code = opt_in(gpu, ready);
    if (*code == CUDA_SUCCESS) *code = set_carveout(gpu, ready);
    if (*code != CUDA_SUCCESS) return MT_REFUSAL_DRIVER;
    refusal = check_cluster(gpu, ready, why);
    return refusal != MT_REFUSAL_NONE ? refusal : check_residency(gpu, ready, why);
}

CUresult mt_ready_launch(mt_gpu *gpu, const mt_ready *ready, void **parameters)
{
    CUlaunchConfig config = config_of(gpu, ready);
    return gpu->cuda.cuLaunchKernelEx(&config, ready->function, parameters, NULL);
}
