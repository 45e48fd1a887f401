/* The hardware's rules, checked before anything is compiled. Sources: CUDA C++ Programming Guide (technical specifications, clusters),
 * driver API (cuTensorMapEncodeTiled, cuLaunchKernelEx). Rules that only the compiled kernel can tell (registers, static shared
 * memory) are below; resident clusters are the device worker's. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/strbuf.h"
#include "tuner/space/launch/plan.h"

static const uint64_t threads_limit = 1024;
static const uint64_t box_limit = 256;
static const uint64_t alignment = 16;                 /* bytes: of the address, the strides and the inner box */
static const uint64_t dim_limit = UINT64_C(1) << 32;
static const uint64_t stride_limit = UINT64_C(1) << 40;

static char *rule(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *rule(const char *format, ...)
{
    mt_strbuf text = { 0 };
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    return mt_strbuf_take(&text);
}

static uint64_t product(const uint32_t dims[3])
{
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* ---- blocks and clusters ---- */

static char *check_block(const mt_plan_launch *launch, const char *title)
{
    uint64_t threads = product(launch->block);
    if (threads <= threads_limit) return NULL;
    return rule("%s block %" PRIu32 "×%" PRIu32 "×%" PRIu32 " has %" PRIu64 " threads: the limit is %" PRIu64, title, launch->block[0],
                launch->block[1], launch->block[2], threads, threads_limit);
}

/* The largest divisor of `whole` that is at most `limit`. */
static uint32_t largest_divisor(uint32_t whole, uint64_t limit)
{
    for (uint32_t candidate = (uint32_t)at_most(limit, whole); candidate > 1; candidate--) {
        if (whole % candidate == 0) return candidate;
    }
    return 1;
}

static char *check_cluster(const mt_plan_launch *launch, const uint32_t cluster[3], const mt_device_facts *facts, const char *title)
{
    uint64_t blocks = product(cluster);
    if (cluster[0] == 0) return NULL;
    if (facts->max_cluster <= 1) {
        return rule("%s cluster of %" PRIu64 " blocks: this GPU has no thread-block clusters (device.max_cluster is 1, they need compute "
                    "capability 9.0)", title, blocks);
    }
    if (blocks > (uint64_t)facts->max_cluster) {
        return rule("%s cluster %" PRIu32 "×%" PRIu32 "×%" PRIu32 " has %" PRIu64 " blocks: device.max_cluster is %" PRId64
                    ", the largest that fits", title, cluster[0], cluster[1], cluster[2], blocks, facts->max_cluster);
    }
    for (size_t i = 0; i < 3; i++) {
        if (launch->grid[i] % cluster[i] == 0) continue;
        return rule("%s cluster.%c %" PRIu32 " does not divide grid.%c %" PRIu32 ": the largest up to it that does is %" PRIu32, title,
                    "xyz"[i], cluster[i], "xyz"[i], launch->grid[i], largest_divisor(launch->grid[i], cluster[i]));
    }
    return NULL;
}

static char *check_shared_memory(const mt_plan_launch *launch, const mt_device_facts *facts, const char *title)
{
    if (launch->smem_bytes <= (uint64_t)facts->smem_optin) return NULL;
    return rule("%s dynamic shared memory %" PRIu32 " bytes: the limit is %" PRId64 " (device.smem_optin)", title, launch->smem_bytes,
                facts->smem_optin);
}

/* Blocks that fit on an SM by threads and dynamic shared memory alone. Registers may lower it further; the occupancy calculator will tell. */
static uint64_t most_per_sm(const mt_plan_launch *launch, const mt_device_facts *facts)
{
    uint64_t threads = (product(launch->block) + 31) / 32 * 32;
    uint64_t bytes = (uint64_t)launch->smem_bytes + (uint64_t)facts->smem_reserved;
    uint64_t per_sm = at_most((uint64_t)facts->blocks_per_sm, (uint64_t)facts->threads_per_sm / threads);
    return bytes ? at_most(per_sm, (uint64_t)facts->smem_per_sm / bytes) : per_sm;
}

static char *check_blocks_per_sm(const mt_plan_launch *launch, const mt_device_facts *facts, const char *title)
{
    uint64_t most = most_per_sm(launch, facts);
    if (launch->blocks_per_sm <= most) return NULL;
    return rule("%s counts on %" PRIu32 " blocks per SM: at most %" PRIu64 " of %" PRIu64 " threads and %" PRIu32 " bytes of dynamic shared memory fit", title,
                launch->blocks_per_sm, most, product(launch->block), launch->smem_bytes);
}

/* Blocks that wait for each other need every block resident, or the grid hangs. */
static char *check_resident(const mt_plan_launch *launch, const mt_device_facts *facts, const char *title)
{
    if (!launch->from->cooperative && !launch->from->resident) return NULL;
    uint64_t per_sm = most_per_sm(launch, facts), resident = per_sm * (uint64_t)facts->sm_count, blocks = product(launch->grid);
    if (blocks <= resident) return NULL;
    return rule("%s %s grid of %" PRIu64 " blocks: at most %" PRIu64 " can be resident (%" PRIu64
                " per SM, device.sm_count is %" PRId64 ")", title, launch->from->cooperative ? "cooperative" : "resident", blocks, resident, per_sm, facts->sm_count);
}

uint64_t mt_plan_parameter_bytes(const mt_plan_arg *arg)
{
    switch (arg->kind) {
    case MT_ARG_TENSOR: return 8;
    case MT_ARG_TENSORMAP: return 128 * arg->map_count;
    case MT_ARG_SCALAR: return mt_dtype_bytes(arg->scalar_dtype);
    case MT_ARG_STRUCT: return arg->struct_bytes;
    }
    return 0;
}

uint64_t mt_plan_parameter_align(const mt_plan_arg *arg)
{
    return arg->kind == MT_ARG_TENSORMAP ? 64 : arg->kind == MT_ARG_STRUCT ? arg->struct_align : mt_plan_parameter_bytes(arg);
}

/* 4 KiB before CUDA 12.1; an unknown driver is taken for a new one. */
static char *check_parameters(const mt_plan *plan, const mt_plan_launch *launch, const mt_device_facts *facts, const char *title)
{
    uint64_t limit = facts->driver_version && facts->driver_version < 12010 ? 4096 : 32764, bytes = 0;
    for (size_t i = 0; i < launch->from->arg_count; i++) {
        const mt_plan_arg *arg = &plan->args[launch->from->args[i]];
        uint64_t size = mt_plan_parameter_bytes(arg);
        uint64_t align = mt_plan_parameter_align(arg);
        bytes = (bytes + align - 1) / align * align + size;
    }
    if (bytes <= limit) return NULL;
    return rule("%s parameters of %s take %" PRIu64 " bytes: the limit is %" PRIu64, title, launch->entry, bytes, limit);
}

static char *check_launch(const mt_env *env, const mt_plan *plan, const mt_plan_launch *launch)
{
    const mt_device_facts *facts = mt_env_facts(env);
    const mt_launch *from = launch->from;
    char title[160], *broken = NULL;
    snprintf(title, sizeof title, "[%s %s%s%d]", mt_launch_phase_names[from->phase], from->algorithm ? from->algorithm : "", from->algorithm ? " " : "", from->number);
    if (!broken) broken = check_block(launch, title);
    if (!broken) broken = check_shared_memory(launch, facts, title);
    if (!broken) broken = check_cluster(launch, launch->cluster, facts, title);
    if (!broken) broken = check_blocks_per_sm(launch, facts, title);
    if (!broken) broken = check_resident(launch, facts, title);
    if (!broken) broken = check_parameters(plan, launch, facts, title);
    return broken;
}

/* ---- tensor maps ---- */

static char *check_inner_box(const mt_plan_map *map, uint64_t element_bytes, const char *title)
{
    uint64_t inner = map->box[0] * element_bytes;
    if (inner % alignment != 0) {
        return rule("%s TMA box: inner dimension %" PRIu64 " bytes, must be a multiple of %" PRIu64, title, inner, alignment);
    }
    if (map->swizzle_bytes && inner > (uint64_t)map->swizzle_bytes) {
        return rule("%s TMA box: %dB swizzle needs an inner box of at most %d bytes, it is %" PRIu64, title, map->swizzle_bytes, map->swizzle_bytes, inner);
    }
    return NULL;
}

static char *check_lengths(const mt_plan_map *map, const char *title)
{
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->box[i] > box_limit) {
            return rule("%s TMA box: dimension %" PRIu32 " has %" PRIu32 " elements, the limit is %" PRIu64, title, i, map->box[i], box_limit);
        }
        if (map->dims[i] > dim_limit) {
            return rule("%s TMA: dimension %" PRIu32 " has %" PRIu64 " elements, the limit is 2^32", title, i, map->dims[i]);
        }
    }
    for (uint32_t i = 0; i + 1 < map->rank; i++) {
        if (map->stride_bytes[i] % alignment != 0) {
            return rule("%s TMA: stride of dimension %" PRIu32 " is %" PRIu64 " bytes, must be a multiple of %" PRIu64, title, i + 1,
                        map->stride_bytes[i], alignment);
        }
        if (map->stride_bytes[i] >= stride_limit) {
            return rule("%s TMA: stride of dimension %" PRIu32 " is %" PRIu64 " bytes, must be below 2^40", title, i + 1, map->stride_bytes[i]);
        }
    }
    return NULL;
}

static char *check_box_fits(const mt_plan_map *map, uint64_t element_bytes, const mt_device_facts *facts, const char *title)
{
    uint64_t bytes = element_bytes;
    for (uint32_t i = 0; i < map->rank; i++) bytes *= map->box[i]; /* at most 8 · 256^5 */
    if (bytes <= (uint64_t)facts->smem_optin) return NULL;
    return rule("%s TMA box: %" PRIu64 " bytes do not fit shared memory, the limit is %" PRId64 " (device.smem_optin)", title, bytes,
                facts->smem_optin);
}

static char *check_map(const mt_arg *arg, const mt_plan_arg *planned, size_t index, const mt_device_facts *facts)
{
    const mt_plan_map *map = &planned->maps[index];
    uint64_t element_bytes = mt_dtype_bytes(planned->map_dtype);
    char title[160], *broken = NULL;
    if (arg->is_array) {
        snprintf(title, sizeof title, "[arg %s] map %zu", arg->name, index);
    } else {
        snprintf(title, sizeof title, "[arg %s]", arg->name);
    }
    if (map->offset_bytes % alignment != 0) {
        return rule("%s TMA: the offset is %" PRIu64 " bytes, must be a multiple of %" PRIu64, title, map->offset_bytes, alignment);
    }
    broken = check_lengths(map, title);
    if (!broken) broken = check_inner_box(map, element_bytes, title);
    if (!broken) broken = check_box_fits(map, element_bytes, facts, title);
    return broken;
}

static char *check_tensormap(const mt_arg *arg, const mt_plan_arg *planned, const mt_device_facts *facts)
{
    if (facts->cc < 90) {
        return rule("[arg %s] tensor maps need compute capability 9.0, this GPU has %" PRId64 ".%" PRId64, arg->name, facts->cc / 10,
                    facts->cc % 10);
    }
    if (arg->fill_nan && (!mt_dtype_is_float(planned->map_dtype) || mt_dtype_bytes(planned->map_dtype) == 1)) { /* fp8 are bytes to a map */
        return rule("[arg %s] fill = nan needs a floating dtype of 16 bits or more, it is %s", arg->name, mt_dtype_name(planned->map_dtype));
    }
    for (size_t i = 0; i < planned->map_count; i++) {
        char *broken = check_map(arg, planned, i, facts);
        if (broken) return broken;
    }
    return NULL;
}

char *mt_plan_illegal(const mt_env *env, const mt_plan *plan)
{
    const mt_spec *spec = mt_env_spec(env);
    char *broken = NULL;
    for (size_t i = 0; !broken && i < plan->arg_count; i++) {
        if (plan->args[i].used && plan->args[i].kind == MT_ARG_TENSORMAP) broken = check_tensormap(&spec->args[i], &plan->args[i],
                                                                                                   mt_env_facts(env));
    }
    for (size_t i = 0; !broken && i < plan->launch_count; i++) broken = check_launch(env, plan, &plan->launches[i]);
    return broken;
}

/* ---- compiled code ---- */

/* Registers are given out by warp, and to all parts of an SM alike (cuda_occupancy.h). Facts that are 0, as a recording's GPU may have them, are not known. */
static uint64_t most_threads_by_registers(uint32_t registers, const mt_device_facts *facts)
{
    enum { WARP = 32, UNIT = 256 };
    uint64_t parts = facts->cc == 60 ? 2 : 4, of_a_warp = ((uint64_t)registers * WARP + UNIT - 1) / UNIT * UNIT;
    return of_a_warp && facts->regs_per_sm ? (uint64_t)facts->regs_per_sm / of_a_warp / parts * parts * WARP : threads_limit;
}

/* What the source fixes, the .ini may say too. */
static char *check_code_cluster(const mt_plan_launch *launch, const uint32_t cluster[3], const mt_device_facts *facts)
{
    char title[160];
    bool differs = launch->cluster[0] && memcmp(launch->cluster, cluster, sizeof launch->cluster) != 0;
    if (cluster[0] && differs)
        return rule("%s: cluster %" PRIu32 "×%" PRIu32 "×%" PRIu32 ": its __cluster_dims__ say %" PRIu32 "×%" PRIu32 "×%" PRIu32, launch->entry, launch->cluster[0], launch->cluster[1], launch->cluster[2], cluster[0],
                    cluster[1], cluster[2]);
    snprintf(title, sizeof title, "%s: of its __cluster_dims__", launch->entry);
    return check_cluster(launch, cluster, facts, title);
}

char *mt_plan_code_illegal(const mt_plan_launch *launch, const mt_kernel_code *code, const mt_device_facts *facts)
{
    uint64_t threads = product(launch->block), most = most_threads_by_registers(code->registers, facts);
    if (threads > most)
        return rule("%s: a block of %" PRIu64 " threads with %" PRIu32 " registers each: the %" PRId64 " registers of an SM allow %" PRIu64 " threads", launch->entry, threads, code->registers, facts->regs_per_sm, most);
    if (code->most_threads && threads > code->most_threads)
        return rule("%s: a block of %" PRIu64 " threads: its launch bounds allow %" PRIu32, launch->entry, threads, code->most_threads);
    if (facts->smem_optin && (uint64_t)code->static_smem_bytes + launch->smem_bytes > (uint64_t)facts->smem_optin)
        return rule("%s: %" PRIu32 " bytes of static and %" PRIu32 " of dynamic shared memory: the limit is %" PRId64 " in all (device.smem_optin)", launch->entry, code->static_smem_bytes, launch->smem_bytes, facts->smem_optin);
    return check_code_cluster(launch, code->cluster, facts);
}
