/* The environment's inside, for the enumerator. */
#pragma once

#include "tuner/space/points/env.h"

/* Makes the let's slot hold its value for the knobs as they are, or be undefined. A failure is remembered and told to whoever reads it. */
void mt_env_touch_let(const mt_env *env, size_t let);
/* Which expression failed, and where in it: the one evaluated or a let that it reads. */
typedef struct mt_expr_fault {
    const mt_expr *expr;
    size_t token;
} mt_expr_fault;
/* Evaluates; *fault is set when the status is not OK. */
mt_program_status mt_env_run(const mt_env *env, const mt_expr *expr, mt_value *value, mt_expr_fault *fault);
/* The same when all lets that expr reads were touched: the enumerator's way, which looks up no names. */
mt_program_status mt_env_run_ready(const mt_env *env, const mt_expr *expr, mt_value *value, mt_expr_fault *fault);
/* "path:line: column 7: expression: what (shape …, at ALGO=…)", MT_ERR_SPEC. `at`: NULL: the point that is set. */
mt_status mt_env_fail(const mt_env *env, const mt_expr_fault *fault, mt_program_status status, const mt_point *at, mt_error *err);
