/* What each of a predictor's variants costs: on the tuned shapes as the tuner stored it, on the asked one by the kernel's expressions (db/rule.h says what for). */
#include "db/lookup/lookup_cost.h"

#include <math.h>
#include <string.h>

typedef struct reading {
    uint32_t columns[MT_RULE_VARIANTS]; /* of the named variants, in their order */
    bool is_time;                       /* times of the cost model; else blocks */
    double sm_count, *costs;            /* costs [shape_count][variant_count] */
} reading;

/* ---- what is stored ---- */

/* "132 4096 0": of each of the named variants, 0 = not known. */
static bool read_costs(const reading *r, const char *text, size_t count, double *costs)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        if (!text || *text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9' && number < UINT64_C(1000000000000000000); text++) number = 10 * number + (uint64_t)(*text - '0');
        if (number) costs[r->columns[i]] = mt_rule_cost((double)number, r->is_time, r->sm_count);
        text += *text == ' ';
    }
    return *text == '\0';
}

static bool read_shapes(const reading *r, const mt_lookup_json *array, const mt_lookup_subject *subjects, uint32_t subject_count, const mt_rule *rule)
{
    uint32_t s = 0, last_shape = UINT32_MAX; /* both ascend, as a rule */
    const char *last = NULL;
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY) return false;
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        int64_t id = mt_lookup_json_int(at, "subject", -1);
        if (s == subject_count || subjects[s].id > id) s = 0;
        while (s < subject_count && subjects[s].id != id) s++;
        if (s == subject_count) continue; /* of a workload that was not asked for */
        const char *costs = mt_lookup_json_text(at, r->is_time ? "times" : "blocks");
        if (last && costs && subjects[s].shape == last_shape && strcmp(costs, last) == 0) continue; /* another workload of the same shape */
        if (!read_costs(r, costs, rule->variant_count, r->costs + subjects[s].shape * rule->variant_count)) return false;
        last = costs;
        last_shape = subjects[s].shape;
    }
    return true;
}

/* Which columns they are, each once; and the variants themselves. */
static tunelookup_status read_variants(mt_lookup_loader *loader, const mt_lookup_json *array, const int64_t *variants, mt_lookup_predictor *predictor, reading *r, bool *is_damaged)
{
    tunelookup_status st = TUNELOOKUP_OK;
    uint32_t count = (uint32_t)predictor->rule.variant_count, listed = 0;
    *is_damaged = !array || array->kind != MT_LOOKUP_JSON_ARRAY || array->count != count;
    for (const mt_lookup_json *at = *is_damaged ? NULL : array->first; at; at = at->next, listed++) {
        uint32_t column = 0;
        while (column < count && variants[column] != at->number) column++;
        *is_damaged = column == count || predictor->variants[column];
        if (*is_damaged) break;
        r->columns[listed] = column;
        LOOKUP_TRY(mt_lookup_variant_get(loader, at->number, &predictor->variants[column]));
        LOOKUP_TRY(mt_lookup_settle(loader->answers, (mt_lookup_variant *)(uintptr_t)predictor->variants[column]));
    }
done:
    return st;
}

/* A cost model that was written since then, changed or taken out: what is stored says nothing beside it. */
static bool is_of_model(const mt_lookup_json *object, const mt_lookup_model *model)
{
    return mt_lookup_json_int(object, "model", 0) == model->time_digest;
}

tunelookup_status mt_lookup_costs_read(mt_lookup_loader *loader, const mt_lookup_json *root, const int64_t *variants, const mt_lookup_subject *subjects, uint32_t subject_count, mt_lookup_predictor *predictor,
                                       bool *is_damaged)
{
    tunelookup_status st;
    const mt_lookup_json *object = mt_lookup_json_member(root, "cost"), *weight = mt_lookup_json_member(object, "weight"); /* 1 where costs decide */
    const mt_lookup_model *model = &loader->answers->model;
    mt_lookup_arena *arena = &loader->answers->arena;
    mt_rule *rule = &predictor->rule;
    size_t cells = rule->shape_count * rule->variant_count;
    reading r = { .is_time = model->time_ns != NULL, .sm_count = (double)mt_lookup_json_int(object, "sm_count", 0) };
    if (!object || !is_of_model(object, model)) return TUNELOOKUP_OK;
    r.costs = mt_lookup_arena_take(arena, cells, sizeof *r.costs);
    predictor->variants = mt_lookup_arena_take(arena, rule->variant_count, sizeof *predictor->variants);
    if (!r.costs || !predictor->variants) return mt_lookup_no_memory();
    for (size_t i = 0; i < cells; i++) r.costs[i] = NAN;
    st = read_variants(loader, mt_lookup_json_member(object, "variants"), variants, predictor, &r, is_damaged);
    if (st != TUNELOOKUP_OK) return st;
    if (!*is_damaged) *is_damaged = !weight || !(weight->real > 0 && weight->real <= 1) || !(r.sm_count >= 1) || !read_shapes(&r, mt_lookup_json_member(object, "shapes"), subjects, subject_count, rule);
    rule->cost = r.costs;
    rule->costs_decide = mt_lookup_json_bool(object, "decide");
    rule->cost_weight = *is_damaged ? 0 : weight->real;
    return TUNELOOKUP_OK;
}

/* ---- what is asked ---- */

/* Of all launches of one call; NAN where the expressions give none. The lets that grids read are computed. */
static double blocks_of(const mt_lookup_env *env)
{
    mt_lookup_launches list;
    double blocks = 0;
    if (mt_lookup_env_launches(env, &list) != MT_PROGRAM_OK) return NAN;
    for (uint32_t i = 0; i < list.count; i++) {
        const mt_lookup_model_list *grid = &list.items[i]->grid;
        double own = 1;
        for (uint32_t k = 0; k < grid->count && list.items[i]->phase == MT_LOOKUP_TIMED; k++) {
            int64_t size;
            if (mt_lookup_env_number(env, grid->items[k], &size) != MT_PROGRAM_OK) return NAN;
            own *= (double)size;
        }
        if (list.items[i]->phase == MT_LOOKUP_TIMED) blocks += own;
    }
    return blocks;
}

static double corrected(mt_lookup_env *env, double ns)
{
    const mt_trees *trees = env->answers->model.correction;
    if (!env->has_fixed_places) mt_trees_fill_places(trees, MT_LOOKUP_WITH_SHAPES, env->slots, ns, env->places);
    env->has_fixed_places = true;
    if (env->variant->places) {
        for (size_t i = 0; i < trees->name_count; i++)
            if (trees->names[i].kind == MT_LOOKUP_WITH_KNOBS) env->places[i] = env->variant->places[i];
    } else {
        mt_trees_fill_places(trees, MT_LOOKUP_WITH_KNOBS, env->slots, ns, env->places);
    }
    mt_trees_fill_places(trees, MT_LOOKUP_WITH_BOTH, env->slots, ns, env->places);
    return ns * mt_rule_exp2(mt_trees_sum(trees, env->places));
}

double mt_lookup_env_work(mt_lookup_env *env)
{
    const mt_program *time_ns = env->answers->model.time_ns;
    int64_t ns;
    if (!time_ns) return blocks_of(env);
    if (mt_lookup_env_number(env, time_ns, &ns) != MT_PROGRAM_OK || ns <= 0) return NAN;
    return env->answers->model.correction ? corrected(env, (double)ns) : (double)ns;
}
