/* What a strategy has asked and been told: the part that all of them share. Memory follows the number of points, never the size of the space. */
#pragma once

#include "tuner/search/index_map.h"
#include "tuner/space/points/space.h"

typedef struct mt_evaluation {
    size_t point;
    double time_ns;  /* INFINITY = failed; while pending: what is expected, NAN = nothing is */
    bool is_pending; /* asked, not told */
    double expected_ns; /* when it was asked; NAN: nothing was */
    const char *arm;    /* that proposed it, a static text; NULL: none did */
} mt_evaluation;

typedef struct mt_ledger {
    const mt_space *space;
    mt_evaluation *items; /* in the order in which they became known */
    size_t count, capacity, pending_count;
    mt_index_map places; /* point → place in items */
    size_t best;         /* place of the best told success; SIZE_MAX: none yet */
    size_t scan;         /* where the search for the last unknown points goes on */
} mt_ledger;

void mt_ledger_init(mt_ledger *ledger, const mt_space *space);
/* Marks a point as asked. False when memory ran out: then the point must not be asked. */
bool mt_ledger_ask(mt_ledger *ledger, size_t point, double expected_ns);
/* Takes a result, asked or not. Returns its place, or SIZE_MAX when memory ran out (the session's own record still keeps a point from running twice). */
size_t mt_ledger_tell(mt_ledger *ledger, size_t point, double time_ns);
bool mt_ledger_knows(const mt_ledger *ledger, size_t point);
double mt_ledger_time(const mt_ledger *ledger, size_t point); /* as told; NAN: not told yet */
size_t mt_ledger_told(const mt_ledger *ledger);
/* A uniform draw of a point that was neither asked nor told. False: none is left, or, in a space that is not enumerated, none was found. */
bool mt_ledger_draw(mt_ledger *ledger, mt_rng *rng, size_t *point);
/* Places of the best told successes, best first, ties in order of arrival. Returns how many were written (≤ capacity). */
size_t mt_ledger_elite(const mt_ledger *ledger, size_t *places, size_t capacity);
void mt_ledger_free(mt_ledger *ledger);
