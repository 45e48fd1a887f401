/* Launches of a result: which of the kernel's launches its variant makes for the asked shape, and their numbers. As tuner/space/launch/plan.c does it: a test compares the two. */
#include "db/lookup/lookup.h"

#include <string.h>

static const int64_t grid_limits[3] = { INT32_MAX, 65535, 65535 }; /* of every supported GPU */
static const int64_t block_limits[3] = { 1024, 1024, 64 };

/* ---- which ---- */

/* A variant's own launch replaces the general one with its number. */
static bool is_replaced(const mt_lookup_model *model, const mt_lookup_model_launch *general, int32_t algo)
{
    for (uint32_t i = 0; i < model->launch_count; i++) {
        const mt_lookup_model_launch *other = &model->launches[i];
        if (other->variant == algo && other->number == general->number && other->phase == general->phase) return true;
    }
    return false;
}

static mt_program_status is_wanted(const mt_lookup_env *env, const mt_lookup_model_launch *launch, bool *wanted)
{
    int64_t holds = 1;
    const mt_lookup_model *model = &env->answers->model;
    int32_t algo = env->variant->algo;
    *wanted = launch->variant < 0 ? !is_replaced(model, launch, algo) : launch->variant == algo;
    if (!*wanted || !launch->when) return MT_PROGRAM_OK;
    mt_program_status status = mt_lookup_env_number(env, launch->when, &holds);
    *wanted = status == MT_PROGRAM_OK && holds;
    return status == MT_PROGRAM_INACTIVE ? MT_PROGRAM_OK : status;
}

mt_program_status mt_lookup_env_launches(const mt_lookup_env *env, mt_lookup_launches *list)
{
    const mt_lookup_model *model = &env->answers->model;
    list->count = 0;
    for (uint32_t i = 0; i < model->launch_count; i++) {
        bool wanted;
        mt_program_status status = is_wanted(env, &model->launches[i], &wanted);
        if (status != MT_PROGRAM_OK) return status;
        if (!wanted) continue;
        if (list->count == MT_LOOKUP_LAUNCHES) return MT_PROGRAM_TOO_SMALL;
        list->items[list->count++] = &model->launches[i];
    }
    return MT_PROGRAM_OK;
}

/* ---- numbers ---- */

static mt_program_status three(const mt_lookup_env *env, const mt_lookup_model_list *list, const int64_t limits[3], uint32_t out[3], const char **rule)
{
    for (uint32_t i = 0; i < 3; i++) {
        int64_t value = 1;
        mt_program_status status = i < list->count ? mt_lookup_env_number(env, list->items[i], &value) : MT_PROGRAM_OK;
        if (status != MT_PROGRAM_OK) return status;
        if (value < 1 || value > limits[i]) {
            *rule = "a grid, block or cluster is empty or larger than the hardware allows";
            value = 0;
        }
        out[i] = (uint32_t)value;
    }
    return MT_PROGRAM_OK;
}

/* A cluster of one block is what every launch has: no attribute. */
static mt_program_status cluster_of(const mt_lookup_env *env, const mt_lookup_model_launch *from, tunelookup_launch_info *info, const char **rule)
{
    if (from->cluster.count == 0) return MT_PROGRAM_OK;
    mt_program_status status = three(env, &from->cluster, grid_limits, info->cluster, rule);
    if (info->cluster[0] == 1 && info->cluster[1] == 1 && info->cluster[2] == 1) memset(info->cluster, 0, sizeof info->cluster);
    return status;
}

static mt_program_status optional(const mt_lookup_env *env, const mt_program *program, int64_t limit, int64_t *value, const char **rule)
{
    if (!program) return MT_PROGRAM_OK;
    mt_program_status status = mt_lookup_env_number(env, program, value);
    if (status == MT_PROGRAM_OK && (*value < 0 || *value > limit)) *rule = "shared memory, carve-out, blocks per SM or repeat are out of range";
    return status;
}

mt_program_status mt_lookup_env_launch(const mt_lookup_env *env, const mt_lookup_model_launch *from, tunelookup_launch_info *info, const char **rule)
{
    mt_program_status st;
    int64_t smem = 0, carveout = -1, blocks_per_sm = 0, repeat = 1;
    *rule = NULL;
    *info = (tunelookup_launch_info){ .cooperative = from->cooperative, .programmatic = from->programmatic, .is_prepare = from->phase == MT_LOOKUP_PREPARE, .is_finish = from->phase == MT_LOOKUP_FINISH, .arg_count = from->arg_count };
    info->entry = from->entry ? from->entry : env->answers->model.variants[env->variant->algo].entry;
    memcpy(info->args, from->args, (size_t)from->arg_count * sizeof *from->args);
    if ((st = three(env, &from->grid, grid_limits, info->grid, rule)) != MT_PROGRAM_OK) return st;
    if ((st = three(env, &from->block, block_limits, info->block, rule)) != MT_PROGRAM_OK) return st;
    if ((st = cluster_of(env, from, info, rule)) != MT_PROGRAM_OK) return st;
    if ((st = optional(env, from->smem, INT32_MAX, &smem, rule)) != MT_PROGRAM_OK) return st;
    if ((st = optional(env, from->carveout, 100, &carveout, rule)) != MT_PROGRAM_OK) return st;
    if ((st = optional(env, from->blocks_per_sm, 64, &blocks_per_sm, rule)) != MT_PROGRAM_OK) return st;
    if ((st = optional(env, from->repeat, 1000000, &repeat, rule)) != MT_PROGRAM_OK) return st;
    if (repeat < 1) *rule = "a launch is repeated less than once";
    info->repeat = (int32_t)repeat;
    info->smem_bytes = (uint32_t)smem;
    info->carveout_percent = (int32_t)carveout;
    if (!*rule) *rule = mt_lookup_launch_rule(env, from, blocks_per_sm, info);
    return MT_PROGRAM_OK;
}

/* ---- results ---- */

tunelookup_status mt_lookup_result_env(const tunelookup_result *result, mt_lookup_env *env)
{
    const mt_lookup_answers *answers = result ? result->answers_ : NULL;
    mt_lookup_clear_detail();
    if (!answers || result->match == TUNELOOKUP_MATCH_NONE || result->row_ >= answers->row_total) {
        return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "the result has no match");
    }
    mt_lookup_env_fill(env, answers, answers->rows[result->row_]->variant, result->values_);
    return TUNELOOKUP_OK;
}

/* The same text once: as many are kept as there are entries with other values. Two threads may keep the same one. */
static const char *keep_text(tunelookup_db *db, const char *text)
{
    for (const mt_lookup_kept_text *at = atomic_load_explicit(&db->texts, memory_order_acquire); at; at = at->next)
        if (strcmp(at->text, text) == 0) return at->text;
    mt_lookup_kept_text *kept = mt_lookup_alloc(sizeof *kept + strlen(text) + 1);
    if (!kept) return NULL;
    strcpy(kept->text, text);
    kept->next = atomic_load(&db->texts);
    while (!atomic_compare_exchange_weak(&db->texts, &kept->next, kept)) continue;
    return kept->text;
}

/* ${NAME} in an entry, which only what a caller is given needs. */
static tunelookup_status expand_entry(const mt_lookup_env *env, tunelookup_launch_info *launch)
{
    char text[1024];
    if (!strstr(launch->entry, "${")) return TUNELOOKUP_OK;
    if (!mt_lookup_env_expand(env, launch->entry, text, sizeof text)) return mt_lookup_fail(TUNELOOKUP_ERR_VALUE, "entry %s: a name in it has no value", launch->entry);
    launch->entry = keep_text(env->answers->db, text);
    return launch->entry ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

/* Why this launch can't be computed: the first of its programs that fails. */
static tunelookup_status fail_value(const char *kind, int index, mt_program_status status, const char *rule)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_VALUE, "%s %d: %s", kind, index, rule ? rule : mt_program_strerror(status));
}

tunelookup_status tunelookup_launch(const tunelookup_result *result, int index, tunelookup_launch_info *launch)
{
    mt_lookup_env env;
    mt_lookup_launches list;
    const char *rule = NULL;
    if (!launch) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "launch is NULL");
    tunelookup_status st = mt_lookup_result_env(result, &env);
    if (st != TUNELOOKUP_OK) return st;
    mt_program_status status = mt_lookup_env_launches(&env, &list);
    if (status != MT_PROGRAM_OK) return fail_value("launch", index, status, NULL);
    if (index < 0 || (uint32_t)index >= list.count) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "launch %d of %u", index, (unsigned)list.count);
    status = mt_lookup_env_launch(&env, list.items[index], launch, &rule);
    if (status != MT_PROGRAM_OK || rule) return fail_value("launch", index, status, rule);
    if (launch->carveout_percent < 0 && index < MT_LOOKUP_CARVEOUTS) launch->carveout_percent = env.answers->rows[result->row_]->carveouts[index];
    return expand_entry(&env, launch);
}
