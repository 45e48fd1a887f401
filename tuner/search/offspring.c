#include "tuner/search/offspring.h"

#include "tuner/base/alloc.h"

enum { TRIES = 20 };

bool mt_offspring(const mt_space *space, mt_rng *rng, size_t a, size_t b, double mutation, size_t *child)
{
    const mt_spec *spec = mt_space_spec(space);
    mt_point mother, father;
    mt_space_at(space, a, &mother);
    mt_space_at(space, b, &father);
    /* Knobs of another algorithm mean nothing here: only what both have is mixed then. */
    bool is_kindred = mother.level[0] == father.level[0];
    for (int i = 0; i < TRIES; i++) {
        mt_point point = mother;
        for (size_t k = 0; k < spec->param_count; k++) {
            bool is_shared = mother.level[k] != MT_INACTIVE && father.level[k] != MT_INACTIVE && k > 0;
            if ((is_kindred || is_shared) && mt_rng_below(rng, 2)) point.level[k] = father.level[k];
            if (point.level[k] != MT_INACTIVE && mt_rng_uniform(rng) < mutation) point.level[k] = (int16_t)mt_rng_below(rng, spec->params[k].value_count);
        }
        if (mt_space_find(space, &point, child)) return true;
    }
    return false;
}

bool mt_random_neighbour(const mt_space *space, mt_rng *rng, size_t point, size_t *neighbour)
{
    const mt_spec *spec = mt_space_spec(space);
    size_t capacity = 0;
    for (size_t i = 0; i < spec->param_count; i++) capacity += spec->params[i].value_count;
    size_t *all = mt_alloc(capacity, sizeof *all);
    size_t count = all ? mt_space_neighbours(space, point, all, capacity) : 0;
    if (count > 0) *neighbour = all[mt_rng_below(rng, count)];
    mt_free(all);
    return count > 0;
}
