#include "tuner/cli/check/cover.h"

#include <stdlib.h>

#include "tuner/base/alloc.h"

/* Greedy picking looks at this many points, evenly spaced or drawn; what they miss is looked for value by value. */
enum { CANDIDATES = 4096 };
#define SAMPLE_SEED UINT64_C(0xC07E2)

typedef struct cover {
    const mt_space *space;
    const mt_spec *spec;
    size_t offset[MT_MAX_PARAMS + 1]; /* of a knob's first value among all values */
    bool *covered;                    /* [variant][value of knob] */
    size_t *points, count, capacity;
} cover;

static bool *cell(const cover *c, const mt_point *point, size_t param)
{
    size_t variant = (size_t)point->level[0];
    return &c->covered[variant * c->offset[c->spec->param_count] + c->offset[param] + (size_t)point->level[param]];
}

static size_t gain(const cover *c, const mt_point *point)
{
    size_t new_cells = 0;
    for (size_t i = 0; i < c->spec->param_count; i++)
        if (point->level[i] != MT_INACTIVE) new_cells += !*cell(c, point, i);
    return new_cells;
}

static mt_status pick(cover *c, size_t index, mt_error *err)
{
    mt_point point;
    size_t *added = MT_APPEND(c->points, c->count, c->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory choosing a covering sample");
    *added = index;
    mt_space_at(c->space, index, &point);
    for (size_t i = 0; i < c->spec->param_count; i++)
        if (point.level[i] != MT_INACTIVE) *cell(c, &point, i) = true;
    return MT_OK;
}

/* candidates[CANDIDATES]; returns how many there are. */
static size_t choose_candidates(const mt_space *space, size_t *candidates)
{
    size_t total = mt_space_count(space), count = total < CANDIDATES ? total : CANDIDATES;
    mt_rng rng;
    mt_rng_seed(&rng, SAMPLE_SEED);
    for (size_t i = 0; i < count; i++) {
        if (mt_space_is_enumerated(space)) candidates[i] = (size_t)((double)i * (double)total / (double)count);
        else if (!mt_space_sample(space, &rng, &candidates[i])) return i;
    }
    return count;
}

static mt_status pick_greedily(cover *c, mt_error *err)
{
    size_t candidates[CANDIDATES], count = choose_candidates(c->space, candidates);
    for (;;) {
        size_t best = 0, best_gain = 0;
        for (size_t i = 0; i < count; i++) {
            mt_point point;
            mt_space_at(c->space, candidates[i], &point);
            size_t here = gain(c, &point);
            if (here > best_gain) {
                best = candidates[i];
                best_gain = here;
            }
        }
        if (!best_gain) return MT_OK;
        mt_status st = pick(c, best, err);
        if (st != MT_OK) return st;
    }
}

/* Enumerated: one pass over all points. */
static mt_status pick_rest(cover *c, mt_error *err)
{
    for (size_t index = 0; index < mt_space_count(c->space); index++) {
        mt_point point;
        mt_space_at(c->space, index, &point);
        if (!gain(c, &point)) continue;
        mt_status st = pick(c, index, err);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}

/* Sampled: a search for each value still missing. */
static mt_status pick_missing(cover *c, mt_error *err)
{
    mt_point wanted;
    for (size_t variant = 0; variant < c->spec->algorithm_count; variant++) {
        wanted.level[0] = (int16_t)variant;
        for (size_t param = 0; param < c->spec->param_count; param++) {
            size_t index, levels = param ? c->spec->params[param].value_count : 1;
            for (size_t level = 0; level < levels; level++) {
                if (param) wanted.level[param] = (int16_t)level;
                if (*cell(c, &wanted, param) || !mt_space_first_with(c->space, variant, param, wanted.level[param], &index)) continue;
                mt_status st = pick(c, index, err);
                if (st != MT_OK) return st;
            }
        }
    }
    return MT_OK;
}

static int compare_indices(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

mt_status mt_cover_sample(const mt_space *space, size_t **points, size_t *count, mt_error *err)
{
    cover c = {.space = space, .spec = mt_space_spec(space)};
    mt_status st = MT_OK;
    for (size_t i = 0; i < c.spec->param_count; i++) c.offset[i + 1] = c.offset[i] + c.spec->params[i].value_count;
    c.covered = mt_alloc(c.spec->algorithm_count * c.offset[c.spec->param_count], sizeof *c.covered);
    if (!c.covered) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory choosing a covering sample");
    MT_TRY(pick_greedily(&c, err));
    MT_TRY(mt_space_is_enumerated(space) ? pick_rest(&c, err) : pick_missing(&c, err));
    if (c.count) qsort(c.points, c.count, sizeof *c.points, compare_indices);
    *points = c.points;
    *count = c.count;
    c.points = NULL;
done:
    mt_free(c.points);
    mt_free(c.covered);
    return st;
}
