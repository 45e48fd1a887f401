#include "tuner/search/walk.h"

#include <math.h>

#include "tuner/base/alloc.h"

mt_status mt_walk_create(size_t size, const mt_search_setup *setup, const char *name, void **state, mt_error *err)
{
    mt_walk *walk = *state = mt_alloc(1, size);
    if (!walk) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    mt_ledger_init(&walk->ledger, setup->space);
    mt_rng_seed(&walk->rng, setup->seed);
    return MT_OK;
}

void mt_walk_destroy(void *state)
{
    mt_walk *walk = state;
    if (!walk) return;
    mt_ledger_free(&walk->ledger);
    mt_free(walk);
}

size_t mt_walk_ask(void *state, bool (*next)(void *state, size_t *point), size_t *points, size_t capacity)
{
    mt_walk *walk = state;
    size_t given = 0;
    while (given < capacity && next(state, &points[given]) && mt_ledger_ask(&walk->ledger, points[given], NAN)) given++;
    return given;
}
