/* An environment holds the value of every name for one (spec, shape, device) and one point at a time: what expressions are evaluated in. */
#pragma once

#include "tuner/space/facts.h"
#include "tuner/space/points/point.h"

typedef struct mt_env mt_env; /* one thread at a time */

/* The spec and the shape must outlive the environment; facts are copied. No point is set: knobs are inactive. */
mt_status mt_env_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_env **env, mt_error *err);
void mt_env_free(mt_env *env); /* NULL is a no-op */
const mt_spec *mt_env_spec(const mt_env *env);
const mt_shape *mt_env_shape(const mt_env *env);
const mt_device_facts *mt_env_facts(const mt_env *env);

/* Sets the knobs and evaluates the lets. A let that reads something inactive becomes inactive; any other failure is an error with file:line. */
mt_status mt_env_set_point(mt_env *env, const mt_point *point, mt_error *err);
/* Sets the default point: the first algorithm, and every knob that is active beside the others at its default. No constraint is asked. */
mt_status mt_env_set_default(mt_env *env, mt_error *err);
/* Sets knob `param` alone (MT_INACTIVE allowed) without evaluating lets: for enumeration. */
void mt_env_set_knob(mt_env *env, size_t param, int level);

/* Evaluates to an integer (booleans are 0/1). *inactive (may be NULL) is set when the expression reads something inactive: then the
 * status is MT_OK and *value is 0. With inactive == NULL that is an error too. Errors read "file:line: expression: what". */
mt_status mt_env_int(const mt_env *env, const mt_expr *expr, int64_t *value, bool *inactive, mt_error *err);

/* Expands ${NAME} of knobs, shape values and lets. mt_free the result. */
mt_status mt_env_expand(const mt_env *env, const char *text, char **out, mt_error *err);

/* Model figures for the shape (no knobs); NAN where the file gives none. */
typedef struct mt_model {
    double flops, dram_bytes, moved_bytes, ops, floor_ns;
} mt_model;
mt_status mt_env_model(const mt_env *env, mt_model *model, mt_error *err);
/* What [model] time_ns says of the point that is set, at least 1; NAN where the file has none. MT_ERR_SPEC, "file:line: …", where it can't be computed, reads something inactive or is below 1. */
mt_status mt_env_time_ns(const mt_env *env, double *ns, mt_error *err);

/* The loop variable of a const environment: it belongs to whoever evaluates. */
void mt_env_put_loop(const mt_env *env, int64_t value);
/* The level a knob has now. */
int mt_env_level(const mt_env *env, size_t param);
