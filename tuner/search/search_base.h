/* What annealing, the genetic algorithm and local search share: a ledger, draws, and one unknown point after the other. */
#pragma once

#include "tuner/search/ledger.h"
#include "tuner/search/strategy.h"

typedef struct mt_search_base { /* the first member of such a strategy's state */
    mt_ledger ledger;
    mt_rng rng;
} mt_search_base;

/* A zeroed state of `size` bytes that begins with its base; NO_MEMORY naming the strategy. */
mt_status mt_search_base_create(size_t size, const mt_search_setup *setup, const char *name, void **state, mt_error *err);
void mt_search_base_destroy(void *state); /* as mt_strategy.destroy */
/* As mt_strategy.ask: what `next` finds until it finds nothing. */
size_t mt_search_base_ask(void *state, bool (*next)(void *state, size_t *point), size_t *points, size_t capacity);
