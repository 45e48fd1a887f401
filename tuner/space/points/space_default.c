/* Default points, and why one, or a point that somebody names, is not valid. */
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/points/space_internal.h"

/* The variant's point with every active knob at its default, in the walker. */
static mt_status default_point(const mt_space *space, size_t variant, mt_walker *walker, mt_error *err)
{
    const mt_spec *spec = space->spec;
    walker->point.level[0] = (int16_t)variant;
    for (size_t i = 1; i < spec->param_count; i++) {
        int low, high;
        if (mt_space_levels(space, walker, i, &low, &high) == MT_TRUTH_FAILED) return mt_check_fail(&space->whens[i], walker, err);
        bool is_open = low == MT_INACTIVE && !spec->params[i].has_default; /* recorded points that have it and others that have not: the file says whether the default has */
        if (high != MT_INACTIVE && !is_open) walker->point.level[i] = (int16_t)spec->params[i].default_level;
    }
    return MT_OK;
}

/* The expression stands in front of the point, which may be long. */
static mt_status fail_by(const mt_space *space, const mt_check *check, const char *which, const mt_point *point, mt_error *err)
{
    const mt_spec *spec = space->spec;
    bool is_constraint = check->kind < spec->constraint_count;
    const char *name = is_constraint ? spec->constraints[check->kind].name : spec->algorithms[check->kind - spec->constraint_count].name;
    const char *why = is_constraint ? spec->constraints[check->kind].why : "";
    char *text = mt_point_text(spec, point);
    char what[1024];
    if (check->knobs == 0) {
        snprintf(what, sizeof what, "the shape %s", space->shape->name);
    } else {
        snprintf(what, sizeof what, "%s %s of shape %s", which, text ? text : "?", space->shape->name);
    }
    mt_place place = mt_spec_place(spec, check->expr->line);
    mt_status st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s:%d: [%s %s] %s%s%s%s excludes %s on %s", place.path, place.line, is_constraint ? "constraint" : "algorithm", name,
                           check->expr->source, *why ? " (" : "", why, *why ? ")" : "", what, space->facts.name);
    mt_free(text);
    return st;
}

/* The condition that excludes the walker's point: shape-only ones first, as in the walk. */
static mt_status explain(const mt_space *space, mt_walker *walker, const char *which, mt_error *err)
{
    const mt_check *culprit;
    switch (mt_point_truth(space, walker, &culprit)) {
    case MT_TRUTH_FAILED: return mt_check_fail(culprit, walker, err);
    case MT_TRUTH_BROKEN: return fail_by(space, culprit, which, &walker->point, err); /* its knobs are as active as they should be: a condition it is */
    default: return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: %s of shape %s is not %s", space->spec->path, which, space->shape->name, space->is_listed ? "recorded" : "valid");
    }
}

static mt_status find_default(const mt_space *space, size_t variant, const char *which, size_t *index, mt_error *err)
{
    mt_walker *walker = mt_walker_take(space);
    if (!walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    mt_status st = default_point(space, variant, walker, err);
    if (st == MT_OK && !mt_space_find(space, &walker->point, index)) st = explain(space, walker, which, err);
    mt_walker_give(space, walker);
    return st;
}

mt_status mt_space_default(const mt_space *space, size_t *index, mt_error *err)
{
    return find_default(space, 0, "the default point", index, err);
}

mt_status mt_space_default_may_run(const mt_space *space, mt_error *err)
{
    const mt_check *culprit;
    mt_walker *walker = mt_walker_take(space);
    if (!walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    mt_status st = default_point(space, 0, walker, err);
    mt_truth truth = st == MT_OK ? mt_point_truth(space, walker, &culprit) : MT_TRUTH_HOLDS;
    if (truth == MT_TRUTH_FAILED) st = mt_check_fail(culprit, walker, err);
    if (truth == MT_TRUTH_BROKEN) st = fail_by(space, culprit, "the default point", &walker->point, err);
    mt_walker_give(space, walker);
    return st;
}

mt_status mt_space_variant_default(const mt_space *space, const char *name, size_t *index, mt_error *err)
{
    const mt_param *algo = &space->spec->params[0];
    for (size_t i = 0; i < algo->value_count; i++) {
        if (strcmp(algo->strings[i], name) != 0) continue;
        char which[128];
        snprintf(which, sizeof which, "variant %.90s's default point", name);
        return find_default(space, i, which, index, err);
    }
    const char *near = mt_text_nearest(name, (const char *const *)algo->strings, algo->value_count);
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s has no variant `%s`%s%s%s", space->spec->name, name, near ? ", did you mean `" : "",
                   near ? near : "", near ? "`?" : "");
}

/* Names of knobs, joined: "BLOCK, VEC". */
static void add_name(mt_strbuf *names, const char *name)
{
    mt_strbuf_addf(names, "%s%s", names->length ? ", " : "", name);
}

/* Which knobs the walker's point lacks, and which it has too many; behind a missing one the others are judged as if it stood at its default. Changes the point. */
static mt_status compare_knobs(const mt_space *space, mt_walker *walker, mt_strbuf *missing, mt_strbuf *idle, mt_error *err)
{
    const mt_spec *spec = space->spec;
    for (size_t i = 1; i < spec->param_count; i++) {
        int low, high;
        int16_t *level = &walker->point.level[i];
        if (mt_space_levels(space, walker, i, &low, &high) == MT_TRUTH_FAILED) return mt_check_fail(&space->whens[i], walker, err);
        if (high == MT_INACTIVE && *level != MT_INACTIVE) {
            add_name(idle, spec->params[i].name);
            *level = MT_INACTIVE;
        } else if (low != MT_INACTIVE && *level == MT_INACTIVE) {
            add_name(missing, spec->params[i].name);
            *level = (int16_t)spec->params[i].default_level;
        }
    }
    return MT_OK;
}

mt_status mt_space_explain(const mt_space *space, const mt_point *point, mt_error *err)
{
    mt_walker *walker = mt_walker_take(space);
    mt_strbuf missing = {0}, idle = {0};
    if (!walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    walker->point = *point;
    mt_status st = compare_knobs(space, walker, &missing, &idle, err);
    walker->point = *point;
    if (st == MT_OK && (missing.length || idle.length))
        st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s%s%s%s%s", missing.length ? "the variant lacks " : "", mt_strbuf_text(&missing), missing.length && idle.length ? "; " : "", mt_strbuf_text(&idle),
                     idle.length ? ": not active beside the other knobs" : "");
    else if (st == MT_OK) st = explain(space, walker, "the variant", err);
    mt_walker_give(space, walker);
    mt_strbuf_free(&missing);
    mt_strbuf_free(&idle);
    return st;
}

bool mt_space_excluded_by(const mt_space *space, const mt_point *point, const char **name, const char **why)
{
    const mt_check *culprit = NULL;
    bool is_exact;
    mt_walker *walker = mt_walker_take(space);
    if (!walker) return false;
    walker->point = *point;
    bool is_excluded = mt_point_truth(space, walker, &culprit) == MT_TRUTH_BROKEN && culprit;
    if (is_excluded) mt_space_pruned(space, culprit->kind, name, why, &is_exact);
    mt_walker_give(space, walker);
    return is_excluded;
}
