/* One shape that is asked for, and its variants one after the other. Used by finders: no allocation, no lock. */
#include "db/lookup/lookup_cost.h"

#include <math.h>

enum { SM_COUNT = 1 }; /* in mt_lookup_fact_names */

/* What the shape alone decides is computed once. */
void mt_lookup_asked_begin(mt_lookup_asked *asked, const mt_lookup_answers *answers, const int64_t *values)
{
    const mt_lookup_model *model = &answers->model;
    mt_lookup_env_begin(&asked->env, answers, values);
    for (uint32_t i = 0; i < model->let_count; i++) {
        const mt_lookup_model_let *let = &model->lets[i];
        if ((let->is_in_costs || let->is_in_rules) && !(let->changes_with & MT_LOOKUP_WITH_KNOBS)) mt_lookup_env_compute(&asked->env, i);
    }
    asked->is_refused = mt_lookup_env_refusal_of(&asked->env, MT_LOOKUP_WITH_SHAPES, NULL, 0) != NULL;
}

/* The knobs, and the lets that read them: those of costs or those of rules. */
static void set_variant(mt_lookup_env *env, const mt_lookup_variant *variant, bool is_for_costs)
{
    const mt_lookup_model *model = &env->answers->model;
    const mt_value *settled = variant->lets;
    mt_lookup_env_set_variant(env, variant);
    for (uint32_t i = 0; i < model->let_count; i++) {
        const mt_lookup_model_let *let = &model->lets[i];
        if (!let->is_in_costs && !let->is_in_rules) continue;
        if (let->changes_with == MT_LOOKUP_WITH_KNOBS) env->slots[model->let_slot + i] = *settled++;
        else if (let->changes_with == MT_LOOKUP_WITH_BOTH && (is_for_costs ? let->is_in_costs : let->is_in_rules)) mt_lookup_env_compute(env, i);
    }
}

double mt_lookup_asked_cost(mt_lookup_asked *asked, const mt_lookup_variant *variant)
{
    const mt_lookup_model *model = &asked->env.answers->model;
    double sm_count = (double)model->facts[SM_COUNT];
    if (!(sm_count > 0) || variant->problem) return NAN;
    set_variant(&asked->env, variant, true);
    double work = mt_lookup_env_work(&asked->env);
    return work > 0 ? mt_rule_cost(work, model->time_ns != NULL, sm_count) : NAN;
}

/* What only launches and arguments read is computed last, since most variants that may not run break a rule before. */
bool mt_lookup_asked_may_run(mt_lookup_asked *asked, const mt_lookup_variant *variant, uint8_t *launches)
{
    const mt_lookup_model *model = &asked->env.answers->model;
    uint32_t count = 0;
    if (variant->problem || variant->never_runs || asked->is_refused) return false;
    set_variant(&asked->env, variant, false);
    if (mt_lookup_env_refusal_of(&asked->env, MT_LOOKUP_WITH_BOTH, NULL, 0)) return false;
    for (uint32_t i = 0; i < model->model_let; i++)
        if (!model->lets[i].is_in_rules) mt_lookup_env_compute(&asked->env, i);
    if (mt_lookup_env_illegal(&asked->env, &count)) return false;
    *launches = (uint8_t)count;
    return true;
}
