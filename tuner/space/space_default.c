/* Default points, and why one is not valid. */
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/space_internal.h"
#include "tuner/space/spec_internal.h"

/* The variant's point with every active knob at its default; it is set in the scene. */
static mt_status default_point(mt_scene *scene, size_t variant, mt_point *point, mt_error *err)
{
    const mt_spec *spec = mt_scene_spec(scene);
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    point->level[0] = (int16_t)variant;
    mt_scene_set_knob(scene, 0, (int)variant);
    for (size_t i = 1; i < spec->param_count; i++) {
        bool is_active;
        mt_status st = mt_space_is_active(scene, i, &is_active, err);
        if (st != MT_OK) return st;
        if (!is_active) continue;
        point->level[i] = (int16_t)spec->params[i].default_level;
        mt_scene_set_knob(scene, i, point->level[i]);
    }
    return MT_OK;
}

static mt_status fail_by(const mt_space *space, const mt_check *check, const mt_point *point, mt_error *err)
{
    const mt_spec *spec = space->spec;
    bool is_constraint = check->kind < spec->constraint_count;
    const char *name = is_constraint ? spec->constraints[check->kind].name : spec->variants[check->kind - spec->constraint_count].name;
    const char *why = is_constraint ? spec->constraints[check->kind].why : "";
    char *text = mt_point_text(spec, point);
    char what[1024];
    if (check->knobs == 0) {
        snprintf(what, sizeof what, "the shape %s", space->shape->name);
    } else {
        snprintf(what, sizeof what, "the default point %s of shape %s", text ? text : "?", space->shape->name);
    }
    mt_status st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s:%d: [%s %s] excludes %s on %s: %s%s%s", spec->path, check->expr->line,
                           is_constraint ? "constraint" : "variant",
                           name, what, space->facts.name, why, *why ? ": " : "", check->expr->source);
    mt_free(text);
    return st;
}

/* The condition that excludes the point set in the scene: shape-only ones first, as in the walk. */
static mt_status explain(const mt_space *space, const mt_scene *scene, const mt_point *point, mt_error *err)
{
    mt_status st = MT_OK;
    mt_check *checks = NULL;
    size_t count = 0;
    MT_TRY(mt_checks_make(space->spec, &checks, &count, err));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            int64_t holds;
            bool inactive;
            if ((checks[i].knobs == 0) != (pass == 0)) continue;
            if (checks[i].variant >= 0 && checks[i].variant != point->level[0]) continue;
            MT_TRY(mt_scene_int(scene, checks[i].expr, &holds, &inactive, err));
            if (holds || inactive) continue;
            st = fail_by(space, &checks[i], point, err);
            goto done;
        }
    }
    st = MT_FAIL(err, MT_ERR_NOT_FOUND, space->is_listed ? "%s: the default point of shape %s is not recorded" : "%s: the default point of shape %s is not valid", space->spec->path, space->shape->name);
done:
    mt_checks_free(checks, count);
    return st;
}

static mt_status find_default(const mt_space *space, size_t variant, size_t *index, mt_error *err)
{
    mt_status st = MT_OK;
    mt_scene *scene = NULL;
    mt_point point;
    MT_TRY(mt_scene_create(space->spec, space->shape, &space->facts, &scene, err));
    MT_TRY(default_point(scene, variant, &point, err));
    if (!mt_space_find(space, &point, index)) st = explain(space, scene, &point, err);
done:
    mt_scene_free(scene);
    return st;
}

mt_status mt_space_default(const mt_space *space, size_t *index, mt_error *err)
{
    return find_default(space, 0, index, err);
}

mt_status mt_space_variant_default(const mt_space *space, const char *name, size_t *index, mt_error *err)
{
    const mt_param *algo = &space->spec->params[0];
    for (size_t i = 0; i < algo->value_count; i++) {
        if (strcmp(algo->strings[i], name) == 0) return find_default(space, i, index, err);
    }
    const char *near = mt_text_nearest(name, (const char *const *)algo->strings, algo->value_count);
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s has no variant `%s`%s%s%s", space->spec->name, name, near ? ", did you mean `" : "",
                   near ? near : "", near ? "`?" : "");
}
