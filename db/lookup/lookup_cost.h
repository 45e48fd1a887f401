/* What a variant costs (db/rule.h): the cost model and its correction, or blocks. */
#pragma once

#include "db/lookup/lookup.h"

/* The cost model's correction (lookup_trees.c); one that was learned on another architecture is none. False = damaged, or out of memory. */
bool mt_lookup_trees_read(const mt_lookup_model_reader *reader, const mt_lookup_json *object);
/* Its member `cost`, if it has one, → rule->cost, cost_weight and the predictor's variants (lookup_cost.c). `variants`: ids; `subjects`: of the shapes. */
typedef struct mt_lookup_subject { int64_t id; uint32_t shape; } mt_lookup_subject;
tunelookup_status mt_lookup_costs_read(mt_lookup_loader *loader, const mt_lookup_json *root, const int64_t *variants, const mt_lookup_subject *subjects, uint32_t subject_count, mt_lookup_predictor *predictor,
                                       bool *is_damaged);
/* Costs of the listed variants of the predictor for these values, as mt_rule_set_costs takes them. */
void mt_lookup_costs_of(const mt_lookup_answers *answers, const mt_lookup_predictor *predictor, const int64_t *values, const bool is_listed[MT_RULE_VARIANTS], double costs[MT_RULE_VARIANTS]);
/* Which lets costs need; once, when the model is loaded. */
void mt_lookup_cost_lets(const mt_lookup_model *model);
/* The time that the cost model says of the environment's variant, in nanoseconds, or without a model how many blocks it launches; NAN where the expressions give none. The lets that costs read
 * are computed (lookup_cost.c). */
double mt_lookup_env_work(mt_lookup_env *env);
