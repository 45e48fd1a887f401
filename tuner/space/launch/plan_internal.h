/* Between plan.c (launches) and plan_arg.c (arguments). */
#pragma once

#include "tuner/space/launch/plan.h"

typedef struct mt_planner {
    const mt_env *env;
    const mt_spec *spec;
    mt_plan *plan;
    char *illegal; /* the rule that the numbers break */
    mt_error *err;
} mt_planner;

/* Notes the broken rule. Returns a status that unwinds to the caller of the plan, who turns it into "illegal". */
mt_status mt_planner_refuse(mt_planner *planner, const char *format, ...) __attribute__((format(printf, 2, 3)));
mt_status mt_planner_int(mt_planner *planner, const mt_expr *expr, int64_t *value);
/* Fills plan->args[arg], whose `kind` is set. */
mt_status mt_planner_arg(mt_planner *planner, size_t arg);
