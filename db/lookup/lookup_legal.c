/* May a variant's launches run on the prepared device at all? The rules of tuner/space/launch/plan_legal.c, as far as the caller gave the facts that they need. */
#include "db/lookup/lookup_struct.h"

enum { SMEM_OPTIN = 2, SMEM_PER_SM = 3, SMEM_RESERVED = 4, THREADS_PER_SM = 6, BLOCKS_PER_SM = 7, MAX_CLUSTER = 8, CC = 0, SM_COUNT = 1 }; /* in mt_lookup_fact_names */
enum { THREAD_LIMIT = 1024, BOX_LIMIT = 256, ALIGNMENT = 16 };

static uint64_t product(const uint32_t dims[3])
{
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* Blocks that fit on an SM by threads and dynamic shared memory; what registers leave is not stored. Many where the caller did not say enough. */
static uint64_t most_per_sm(const int64_t *facts, const tunelookup_launch_info *info)
{
    if (!facts[SMEM_PER_SM] || !facts[THREADS_PER_SM] || !facts[BLOCKS_PER_SM]) return UINT32_MAX;
    uint64_t threads = (product(info->block) + 31) / 32 * 32, bytes = (uint64_t)info->smem_bytes + (uint64_t)facts[SMEM_RESERVED];
    uint64_t per_sm = at_most((uint64_t)facts[BLOCKS_PER_SM], (uint64_t)facts[THREADS_PER_SM] / threads);
    return bytes ? at_most(per_sm, (uint64_t)facts[SMEM_PER_SM] / bytes) : per_sm;
}

/* Blocks that wait for each other need every block resident, or the grid hangs. */
static bool can_be_resident(const int64_t *facts, const tunelookup_launch_info *info)
{
    return !facts[SM_COUNT] || product(info->grid) <= most_per_sm(facts, info) * (uint64_t)facts[SM_COUNT];
}

const char *mt_lookup_launch_rule(const mt_lookup_env *env, const mt_lookup_model_launch *from, int64_t blocks_per_sm, const tunelookup_launch_info *info)
{
    const int64_t *facts = env->answers->model.facts;
    if (product(info->block) > THREAD_LIMIT) return "a block has more than 1024 threads";
    if (facts[SMEM_OPTIN] && info->smem_bytes > facts[SMEM_OPTIN]) return "dynamic shared memory is above device.smem_optin";
    if ((uint64_t)blocks_per_sm > most_per_sm(facts, info)) return "fewer blocks fit on an SM than a launch counts on";
    if (info->cooperative && !can_be_resident(facts, info)) return "a cooperative grid can't be resident";
    if (from->is_resident && !can_be_resident(facts, info)) return "a grid whose blocks wait for each other can't be resident";
    if (info->cluster[0] == 0) return NULL;
    if (facts[MAX_CLUSTER] && product(info->cluster) > (uint64_t)facts[MAX_CLUSTER]) return "a cluster is larger than device.max_cluster";
    for (int i = 0; i < 3; i++) {
        if (info->grid[i] % info->cluster[i] != 0) return "a cluster does not divide its grid";
    }
    return NULL;
}

/* What cuTensorMapEncodeTiled and the copies demand. */
const char *mt_lookup_map_rule(const mt_lookup_env *env, const tunelookup_tensormap_info *info)
{
    const int64_t *facts = env->answers->model.facts;
    uint64_t element_bytes = mt_lookup_dtype_bytes(info->dtype), inner = info->box[0] * element_bytes, box_bytes = element_bytes;
    if (facts[CC] < 90) return "tensor maps need compute capability 9.0";
    if (info->fill_nan && info->dtype > TUNELOOKUP_F64) return "filling with NaN needs a floating dtype";
    if (info->offset_bytes % ALIGNMENT) return "its offset is no multiple of 16 bytes";
    if (inner % ALIGNMENT) return "its box's inner dimension is no multiple of 16 bytes";
    if (info->swizzle_bytes && info->swizzle_bytes != 32 && info->swizzle_bytes != 64 && info->swizzle_bytes != 128) return "its swizzle is none of 0, 32, 64 and 128 bytes";
    if (info->swizzle_bytes && inner > (uint64_t)info->swizzle_bytes) return "its box is wider than the swizzle";
    for (uint32_t i = 0; i < info->rank; i++) {
        if (info->box[i] > BOX_LIMIT || info->dims[i] > UINT64_C(1) << 32) return "its box or a dimension is too large";
        if (i > 0 && (info->stride_bytes[i - 1] % ALIGNMENT || info->stride_bytes[i - 1] >= UINT64_C(1) << 40)) return "a stride is no multiple of 16 bytes or too large";
        box_bytes *= info->box[i];
    }
    return facts[SMEM_OPTIN] && box_bytes > (uint64_t)facts[SMEM_OPTIN] ? "its box does not fit shared memory" : NULL;
}

/* ---- a variant's launches and arguments ---- */

/* One used argument with all its maps. */
static const char *arg_problem(mt_lookup_env *env, const mt_lookup_model_arg *arg)
{
    const char *rule = NULL;
    tunelookup_arg_info info, tensor;
    tunelookup_tensormap_info map;
    if (mt_lookup_env_arg(env, arg, &info, &rule) != MT_PROGRAM_OK) return "an argument can't be computed here";
    if (arg->kind != TUNELOOKUP_ARG_TENSORMAP || rule) return rule;
    if (mt_lookup_env_arg(env, &env->answers->model.args[arg->tensor], &tensor, &rule) != MT_PROGRAM_OK) return "a tensor can't be computed here";
    for (int32_t i = 0; i < info.map_count && !rule; i++) {
        if (mt_lookup_env_map(env, arg, i, &tensor, &map, &rule) != MT_PROGRAM_OK) return "a tensor map can't be computed here";
    }
    return rule;
}

/* 4 KiB of parameters before CUDA 12.1. */
static bool parameters_fit(const mt_lookup_env *env, const mt_lookup_model_launch *launch)
{
    uint64_t total = 0;
    int64_t driver = env->answers->driver_version;
    for (int32_t i = 0; i < launch->arg_count; i++) {
        mt_lookup_size size;
        const char *rule = NULL;
        if (mt_lookup_env_size(env, &env->answers->model.args[launch->args[i]], &size, &rule) != MT_PROGRAM_OK || rule) return false;
        total = (total + size.align - 1) / size.align * size.align + size.bytes;
    }
    return total <= (driver && driver < 12010 ? 4096 : 32764);
}

const char *mt_lookup_env_illegal(mt_lookup_env *env, uint32_t *count)
{
    mt_lookup_launches list;
    bool used[MT_LOOKUP_ALL_ARGS];
    const mt_lookup_model *model = &env->answers->model;
    const char *rule = NULL;
    if (mt_lookup_env_launches(env, &list) != MT_PROGRAM_OK) return "which launches it makes can't be decided here";
    mt_lookup_env_used(env, &list, used);
    for (uint32_t i = 0; i < model->arg_count && !rule; i++) {
        bool exists = model->args[i].kind == TUNELOOKUP_ARG_TENSOR && model->args[i].role != TUNELOOKUP_SCRATCH; /* inputs and outputs exist for every variant */
        if (used[i] || exists) rule = arg_problem(env, &model->args[i]);
    }
    bool has_launch = false;
    for (uint32_t i = 0; i < list.count && !rule; i++) {
        tunelookup_launch_info launch;
        has_launch = has_launch || list.items[i]->phase == MT_LOOKUP_TIMED;
        if (mt_lookup_env_launch(env, list.items[i], &launch, &rule) != MT_PROGRAM_OK) return "a launch can't be computed here";
        if (!rule && !parameters_fit(env, list.items[i])) rule = "a launch has too many bytes of parameters";
    }
    *count = list.count;
    if (rule || has_launch) return rule;
    return model->launch_count ? "no launch of it remains here" : "its search space tells no launches: it came from another tool's results";
}
