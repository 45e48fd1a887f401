#include "tuner/search/search_base.h"

#include <math.h>

#include "tuner/base/alloc.h"

mt_status mt_search_base_create(size_t size, const mt_search_setup *setup, const char *name, void **state, mt_error *err)
{
    mt_search_base *base = *state = mt_alloc(1, size);
    if (!base) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    mt_ledger_init(&base->ledger, setup->space);
    mt_rng_seed(&base->rng, setup->seed);
    return MT_OK;
}

void mt_search_base_destroy(void *state)
{
    mt_search_base *base = state;
    if (!base) return;
    mt_ledger_free(&base->ledger);
    mt_free(base);
}

size_t mt_search_base_ask(void *state, bool (*next)(void *state, size_t *point), size_t *points, size_t capacity)
{
    mt_search_base *base = state;
    size_t given = 0;
    while (given < capacity && next(state, &points[given]) && mt_ledger_ask(&base->ledger, points[given], NAN)) given++;
    return given;
}
