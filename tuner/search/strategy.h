/* Search strategies, by ask and tell: the session alone knows budget, database, retries and batch width, so that strategies stay pure.
 *
 * Contract: deterministic for (space, seed, the order of tells); asks each point at most once; no I/O; no clock. ask may return fewer
 * points than wanted, or none while told results are outstanding; none with nothing outstanding means finished, unless more is told. A resumed session asks anew and
 * tells stored results as they are asked for, so that determinism alone makes it go on where it was. Other points that it knows are told without having been asked, before the first ask or at any
 * time: a strategy must accept that and not ask them again. */
#pragma once

#include "tuner/search/features.h"
#include "tuner/search/shard.h"

typedef struct mt_search_setup {
    const mt_space *space; /* must outlive the state */
    uint64_t seed;
    size_t budget;         /* evaluations that the session means to spend (≥ 1) */
    const size_t *hints;   /* points that were good for near shapes or GPUs, best first; borrowed for `create`; a strategy may ignore them */
    size_t hint_count;
    mt_prior *prior;       /* NULL: none. It orders the first points and is the models' mean, as far as results bear it out; a strategy may ignore it */
    const void *prior_context; /* must outlive the state */
    mt_shard shard;        /* a strategy that splits asks points of it alone; the others need not look at it */
} mt_search_setup;

typedef struct mt_strategy {
    const char *name;    /* CLI name, stored in the database */
    const char *summary; /* one line for --help */
    bool splits;         /* keeps to the shard that it is given: all shards together ask what one search without shards would */
    mt_status (*create)(const mt_search_setup *setup, void **state, mt_error *err);
    size_t (*ask)(void *state, size_t *points, size_t capacity);
    void (*tell)(void *state, size_t point, double time_ns); /* INFINITY = failed; of one stopped as too slow: what was seen of it, slower than the best by a tenth at least */
    void (*destroy)(void *state);                            /* NULL is a no-op */
    double (*outlook)(void *state);                          /* by which share of the best's speed going on is expected to improve it: 0.01 = 1 %; NAN: too early to say. NULL: it has no model to know by */
    const char *(*arm_of)(const void *state, size_t point);  /* what in it proposed a point that it gave, a static text; NULL = it has one way only */
} mt_strategy;

const mt_strategy *mt_strategy_find(const char *name); /* or NULL */
size_t mt_strategy_count(void);
const mt_strategy *mt_strategy_at(size_t index);
/* A search whose outlook is less has nothing more to find that would pay. */
#define MT_FLAT_BELOW 0.005
/* What "auto" means for this space and budget: exhaustive when the budget covers it, else mixed. */
const mt_strategy *mt_strategy_auto(const mt_space *space, size_t budget);
