/* Spaces made of the points that a recording holds. */
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

/* The file's order: the first knob slowest, as the walk would have met them. */
static int by_levels(const void *a, const void *b)
{
    const mt_point *x = a, *y = b;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++)
        if (x->level[i] != y->level[i]) return x->level[i] < y->level[i] ? -1 : 1;
    return 0;
}

/* The points sorted, each once; *count is how many those are. NULL: out of memory. */
static mt_point *sort_out(const mt_point *points, size_t *count)
{
    size_t kept = 0;
    mt_point *sorted = mt_alloc(*count, sizeof *sorted);
    if (!sorted) return NULL;
    if (*count) memcpy(sorted, points, *count * sizeof *sorted);
    if (*count) qsort(sorted, *count, sizeof *sorted, by_levels);
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || by_levels(&sorted[kept - 1], &sorted[i]) != 0) sorted[kept++] = sorted[i];
    *count = kept;
    return sorted;
}

/* What the file excludes by now is left out. */
static mt_status where_valid(mt_space *space, mt_walker *walker, const mt_point *point, bool *is_point, mt_error *err)
{
    const mt_check *culprit;
    walker->point = *point;
    mt_truth truth = mt_point_truth(space, walker, &culprit);
    if (truth == MT_TRUTH_FAILED) return mt_check_fail(culprit, walker, err);
    if (truth == MT_TRUTH_BROKEN && culprit) space->pruned[culprit->kind]++;
    *is_point = truth == MT_TRUTH_HOLDS;
    return MT_OK;
}

static mt_status take_points(mt_space *space, mt_walker *walker, const mt_point *sorted, size_t count, mt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool is_point = false;
        mt_status st = where_valid(space, walker, &sorted[i], &is_point, err);
        if (st != MT_OK) return st;
        if (is_point) mt_space_pack(space, &sorted[i], space->points + space->count++ * space->stride);
    }
    return MT_OK;
}

static mt_status fill(mt_space *space, mt_walker *walker, const mt_point *points, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    mt_point *sorted = sort_out(points, &count);
    space->points = mt_alloc(count, space->stride);
    space->capacity = count;
    if (!sorted || !space->points) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory for %zu points", count));
    MT_TRY(take_points(space, walker, sorted, count, err));
    uint64_t told = space->count;
    for (size_t i = 0; i < space->spec->constraint_count + space->spec->algorithm_count; i++) told += space->pruned[i];
    space->not_listed = space->raw_count > told ? space->raw_count - told : 0;
    space->is_enumerated = space->is_listed = true;
done:
    mt_free(sorted);
    return st;
}

/* A knob that the file gained since stands at its default. Where a `when` fails, a constraint before it may exclude the point: where_valid() finds out, or tells. */
static void complete(const mt_space *space, mt_walker *walker, mt_point *point)
{
    const mt_spec *spec = space->spec;
    int low, high;
    walker->point = *point;
    for (size_t i = 1; i < spec->param_count && mt_space_levels(space, walker, i, &low, &high) != MT_TRUTH_FAILED; i++)
        if (low != MT_INACTIVE && walker->point.level[i] == MT_INACTIVE) walker->point.level[i] = (int16_t)spec->params[i].default_level;
    *point = walker->point;
}

/* A shape that is refused has no points, as in the walk: whatever is recorded. */
static mt_status check_shape(mt_space *space, mt_walker *walker, size_t *count, mt_error *err)
{
    const mt_check *culprit;
    mt_truth truth = mt_checks_at(space, walker, -1, &culprit);
    if (truth == MT_TRUTH_FAILED) return mt_check_fail(culprit, walker, err);
    if (truth == MT_TRUTH_BROKEN) space->pruned[culprit->kind] = space->raw_count;
    if (truth == MT_TRUTH_BROKEN) *count = 0;
    return MT_OK;
}

static mt_status fill_recorded(mt_space *space, mt_point *points, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    mt_walker *walker = mt_walker_take(space);
    if (!walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    MT_TRY(check_shape(space, walker, &count, err));
    for (size_t i = 0; !space->spec->is_recorded && i < count; i++) complete(space, walker, &points[i]);
    MT_TRY(fill(space, walker, points, count, err));
done:
    mt_walker_give(space, walker);
    return st;
}

/* With `points = recorded` no `when` says which knobs a point has: each has those that it was recorded with. */
static void observe_activities(mt_space *space, const mt_point *points, size_t count)
{
    enum { NOT_SEEN = 255 };
    size_t params = space->spec->param_count;
    for (size_t i = 0; i < count; i++) space->activities[(size_t)points[i].level[0] * params] = NOT_SEEN; /* in the place of ALGO itself, which is always active */
    for (size_t i = 0; i < count; i++) {
        unsigned char *activities = space->activities + (size_t)points[i].level[0] * params;
        for (size_t p = 1; p < params; p++) {
            mt_activity here = points[i].level[p] == MT_INACTIVE ? MT_ACTIVE_NO : MT_ACTIVE_YES;
            if (activities[0] == NOT_SEEN) activities[p] = (unsigned char)here;
            else if (activities[p] != here) activities[p] = MT_ACTIVE_DEPENDS;
        }
        activities[0] = MT_ACTIVE_YES;
    }
}

mt_status mt_space_create_recorded(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_point *points, size_t count, mt_space **out, mt_error *err)
{
    mt_status st = mt_space_begin(spec, shape, facts, out, err);
    if (st == MT_OK && spec->is_recorded) observe_activities(*out, points, count);
    if (st == MT_OK) st = mt_space_count_raw(*out, err);
    if (st == MT_OK) st = fill_recorded(*out, points, count, err);
    if (st == MT_OK) return MT_OK;
    mt_space_free(*out);
    *out = NULL;
    return st;
}
