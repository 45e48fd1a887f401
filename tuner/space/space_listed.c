/* A space made of a list of points: what a recording holds. */
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/space_internal.h"

/* The file's order: the first knob slowest, as the walk would have met them. */
static int by_levels(const void *a, const void *b)
{
    const mt_point *x = a, *y = b;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++)
        if (x->level[i] != y->level[i]) return x->level[i] < y->level[i] ? -1 : 1;
    return 0;
}

static uint64_t combinations(const mt_spec *spec)
{
    uint64_t product = 1;
    for (size_t i = 0; i < spec->param_count; i++)
        if (__builtin_mul_overflow(product, spec->params[i].value_count, &product)) return UINT64_MAX;
    return product;
}

static mt_status take_points(mt_space *space, const mt_point *points, size_t count, mt_error *err)
{
    mt_point *sorted = mt_alloc(count, sizeof *sorted);
    space->points = mt_alloc(count, space->stride);
    if (!sorted || !space->points) {
        mt_free(sorted);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory for %zu points", count);
    }
    if (count) memcpy(sorted, points, count * sizeof *sorted);
    if (count) qsort(sorted, count, sizeof *sorted, by_levels);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_levels(&sorted[i - 1], &sorted[i]) != 0) mt_space_pack(space, &sorted[i], space->points + space->count++ * space->stride);
    space->capacity = count;
    mt_free(sorted);
    return MT_OK;
}

mt_status mt_space_create_listed(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_point *points, size_t count, mt_space **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_space *space = NULL;
    *out = NULL;
    MT_TRY(mt_space_begin(spec, shape, facts, &space, err));
    MT_TRY(take_points(space, points, count, err));
    space->is_enumerated = true;
    space->is_listed = true;
    space->raw_count = combinations(spec);
    space->not_listed = space->raw_count - space->count;
    *out = space;
    space = NULL;
done:
    mt_space_free(space);
    return st;
}
