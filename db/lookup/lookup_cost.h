/* What a variant costs (db/rule.h): the cost model and its correction, or blocks; and whether it may run. For who asks that of many variants for one shape. */
#pragma once

#include "db/lookup/lookup.h"

/* The cost model's correction (lookup_trees.c); one that was learned on another architecture is none. False = damaged, or out of memory. */
bool mt_lookup_trees_read(const mt_lookup_model_reader *reader, const mt_lookup_json *object);
/* Its member `cost`, if it has one, → rule->cost, cost_weight and the predictor's variants (lookup_cost.c). `variants`: ids; `subjects`: of the shapes. */
typedef struct mt_lookup_subject { int64_t id; uint32_t shape; } mt_lookup_subject;
tunelookup_status mt_lookup_costs_read(mt_lookup_loader *loader, const mt_lookup_json *root, const int64_t *variants, const mt_lookup_subject *subjects, uint32_t subject_count, mt_lookup_predictor *predictor,
                                       bool *is_damaged);
/* The time that the cost model says of the environment's variant, in nanoseconds, or without a model how many blocks it launches; NAN where the expressions give none. The lets that costs read
 * are computed (lookup_cost.c). */
double mt_lookup_env_work(mt_lookup_env *env);

/* What the asked shape is for a rule. */
void mt_lookup_features_of(const mt_lookup_answers *answers, const int64_t *values, double out[MT_RULE_FEATURES]);

/* ---- what changes with what (lookup_changes.c) ---- */

/* Which lets costs and rules need, and what each expression changes with; once, when the model is loaded. */
void mt_lookup_changes_find(const mt_lookup_model *model);
/* What of a variant is the same for all shapes of the plan: once, when it is known which strings the plan is bound to. */
tunelookup_status mt_lookup_settle(mt_lookup_answers *answers, mt_lookup_variant *variant);

/* ---- a shape that is asked for (lookup_asked.c) ---- */

typedef struct mt_lookup_asked {
    mt_lookup_env env;
    bool is_refused;           /* by a constraint that reads no knob: no variant may run */
} mt_lookup_asked;
/* `values` must outlive it. */
void mt_lookup_asked_begin(mt_lookup_asked *asked, const mt_lookup_answers *answers, const int64_t *values);
/* Of a settled variant: log2 of what it costs, as mt_rule_set_costs takes it, NAN = not known; and as mt_lookup_may_run. */
double mt_lookup_asked_cost(mt_lookup_asked *asked, const mt_lookup_variant *variant);
bool mt_lookup_asked_may_run(mt_lookup_asked *asked, const mt_lookup_variant *variant, uint8_t *launches);
