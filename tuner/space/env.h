/* A scene holds the value of every name for one (spec, shape, device) and one point at a time: what expressions are evaluated in. */
#ifndef MT_SPACE_SCENE_H
#define MT_SPACE_SCENE_H

#include "tuner/space/facts.h"
#include "tuner/space/point.h"

typedef struct mt_scene mt_scene; /* one thread at a time */

/* The spec and the shape must outlive the scene; facts are copied. No point is set: knobs are inactive. */
mt_status mt_scene_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_scene **scene, mt_error *err);
void mt_scene_free(mt_scene *scene); /* NULL is a no-op */
const mt_spec *mt_scene_spec(const mt_scene *scene);
const mt_shape *mt_scene_shape(const mt_scene *scene);
const mt_device_facts *mt_scene_facts(const mt_scene *scene);

/* Sets the knobs and evaluates the lets. A let that reads something inactive becomes inactive; any other failure is an error with file:line. */
mt_status mt_scene_set_point(mt_scene *scene, const mt_point *point, mt_error *err);
/* Sets knob `param` alone (MT_INACTIVE allowed) without evaluating lets: for enumeration. */
void mt_scene_set_knob(mt_scene *scene, size_t param, int level);
/* The loop variable of arrays of tensor maps. */
void mt_scene_set_loop(mt_scene *scene, int64_t value);

/* Evaluates to an integer (booleans are 0/1). *inactive (may be NULL) is set when the expression reads something inactive: then the
 * status is MT_OK and *value is 0. With inactive == NULL that is an error too. Errors read "file:line: expression: what". */
mt_status mt_scene_int(const mt_scene *scene, const mt_expr *expr, int64_t *value, bool *inactive, mt_error *err);
/* Raw access for enumerators. */
mt_program_status mt_scene_eval(const mt_scene *scene, const mt_expr *expr, mt_value *value);

/* Expands ${NAME} of knobs, shape values and lets. mt_free the result. */
mt_status mt_scene_expand(const mt_scene *scene, const char *text, char **out, mt_error *err);

/* Model figures for the shape (no knobs); NAN where the file gives none. */
typedef struct mt_model {
    double flops, dram_bytes, moved_bytes, ops, floor_ns;
} mt_model;
mt_status mt_scene_model(const mt_scene *scene, mt_model *model, mt_error *err);

#endif
