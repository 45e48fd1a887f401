/* What a kernel's expressions change with: the numbers of the shape, the knobs, or both. The device and the strings are the plan's. A finder asks for one shape and many variants, and computes anew only what changes. */
#include "db/lookup/lookup_cost.h"

#include <string.h>

typedef enum reader { COSTS, RULES } reader;

static bool is_let(const mt_lookup_model *model, uint32_t slot)
{
    return slot >= model->let_slot && slot < model->let_slot + model->let_count;
}

static bool *mark_of(mt_lookup_model_let *let, reader by)
{
    return by == COSTS ? &let->is_in_costs : &let->is_in_rules;
}

static void mark_slot(const mt_lookup_model *model, uint32_t slot, reader by)
{
    if (is_let(model, slot)) *mark_of(&model->lets[slot - model->let_slot], by) = true;
}

static void mark_lets(const mt_lookup_model *model, const mt_program *program, reader by)
{
    for (size_t i = 0; program && i < mt_program_name_count(program); i++) mark_slot(model, mt_lookup_model_slot(model, mt_program_name(program, i)), by);
}

static uint8_t slot_changes_with(const mt_lookup_model *model, uint32_t slot)
{
    if (is_let(model, slot)) return model->lets[slot - model->let_slot].changes_with;
    if (slot < model->device_slot) return model->names[slot].kind == MT_LOOKUP_NAME_STRING ? 0 : MT_LOOKUP_WITH_SHAPES;
    return slot >= model->param_slot && slot < model->let_slot ? MT_LOOKUP_WITH_KNOBS : 0;
}

static uint8_t changes_with(const mt_lookup_model *model, const mt_program *program)
{
    uint8_t with = 0;
    for (size_t i = 0; program && i < mt_program_name_count(program); i++) with |= slot_changes_with(model, mt_lookup_model_slot(model, mt_program_name(program, i)));
    return with;
}

static void mark_roots(const mt_lookup_model *model)
{
    mark_lets(model, model->time_ns, COSTS);
    for (size_t i = 0; model->correction && i < model->correction->name_count; i++)
        if (*model->correction->names[i].name) mark_slot(model, model->correction->names[i].slot, COSTS);
    for (uint32_t i = 0; i < model->launch_count && !model->time_ns; i++) {
        mark_lets(model, model->launches[i].when, COSTS);
        for (uint32_t k = 0; k < model->launches[i].grid.count; k++) mark_lets(model, model->launches[i].grid.items[k], COSTS);
    }
    for (uint32_t i = 0; i < model->param_count; i++) mark_lets(model, model->params[i].when, RULES);
    for (uint32_t i = 0; i < model->variant_count; i++) mark_lets(model, model->variants[i].requires_program, RULES);
    for (uint32_t i = 0; i < model->constraint_count; i++) mark_lets(model, model->constraints[i].holds, RULES);
}

/* A let reads earlier ones only. */
void mt_lookup_changes_find(const mt_lookup_model *model)
{
    mark_roots(model);
    for (uint32_t i = model->let_count; i-- > 0;) {
        if (model->lets[i].is_in_costs) mark_lets(model, model->lets[i].value, COSTS);
        if (model->lets[i].is_in_rules) mark_lets(model, model->lets[i].value, RULES);
    }
    for (uint32_t i = 0; i < model->let_count; i++) model->lets[i].changes_with = changes_with(model, model->lets[i].value);
    for (uint32_t i = 0; i < model->param_count; i++) model->params[i].changes_with = changes_with(model, model->params[i].when);
    for (uint32_t i = 0; i < model->variant_count; i++) model->variants[i].changes_with = changes_with(model, model->variants[i].requires_program);
    for (uint32_t i = 0; i < model->constraint_count; i++) model->constraints[i].changes_with = changes_with(model, model->constraints[i].holds);
    for (size_t i = 0; model->correction && i < model->correction->name_count; i++) {
        mt_trees_name *name = (mt_trees_name *)(uintptr_t)&model->correction->names[i];
        name->kind = *name->name ? slot_changes_with(model, name->slot) : MT_LOOKUP_WITH_BOTH;
        if (!name->kind) name->kind = MT_LOOKUP_WITH_SHAPES;
    }
}

tunelookup_status mt_lookup_settle(mt_lookup_answers *answers, mt_lookup_variant *variant)
{
    static const int64_t no_shape[TUNELOOKUP_MAX_VALUES];
    const mt_lookup_model *model = &answers->model;
    mt_lookup_env env;
    uint32_t count = 0;
    if (variant->problem || variant->lets) return TUNELOOKUP_OK;
    mt_value *lets = mt_lookup_arena_take(&answers->arena, model->let_count + 1, sizeof *lets);
    uint8_t *places = model->correction ? mt_lookup_arena_take(&answers->arena, model->correction->name_count, 1) : NULL;
    if (!lets || (model->correction && !places)) return mt_lookup_no_memory();
    mt_lookup_env_begin(&env, answers, no_shape);
    mt_lookup_env_set_variant(&env, variant);
    for (uint32_t i = 0; i < model->let_count; i++) {
        const mt_lookup_model_let *let = &model->lets[i];
        if ((!let->is_in_costs && !let->is_in_rules) || let->changes_with & MT_LOOKUP_WITH_SHAPES) continue;
        mt_lookup_env_compute(&env, i);
        if (let->changes_with == MT_LOOKUP_WITH_KNOBS) lets[count++] = env.slots[model->let_slot + i];
    }
    if (places) mt_trees_fill_places(model->correction, MT_LOOKUP_WITH_KNOBS, env.slots, 0, places);
    variant->lets = lets;
    variant->places = places;
    variant->never_runs = mt_lookup_env_refusal_of(&env, MT_LOOKUP_WITH_KNOBS, NULL, 0) != NULL;
    return TUNELOOKUP_OK;
}
