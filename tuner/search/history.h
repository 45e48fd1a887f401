/* What a strategy has asked and been told: the part that all of them share. Memory follows the number of points, never the size of the space. */
#ifndef MT_SEARCH_HISTORY_H
#define MT_SEARCH_HISTORY_H

#include "tuner/search/index_map.h"
#include "tuner/space/space.h"

typedef struct mt_evaluation {
    size_t point;
    double cost_ns;  /* INFINITY = failed; while pending: what is expected, NAN = nothing is */
    bool is_pending; /* asked, not told */
} mt_evaluation;

typedef struct mt_history {
    const mt_space *space;
    mt_evaluation *items; /* in the order in which they became known */
    size_t count, capacity, pending_count;
    mt_index_map places; /* point → place in items */
    size_t best;         /* place of the best told success; SIZE_MAX: none yet */
    size_t scan;         /* where the search for the last unknown points goes on */
} mt_history;

void mt_history_init(mt_history *history, const mt_space *space);
/* Marks a point as asked. False when memory ran out: then the point must not be asked. */
bool mt_history_ask(mt_history *history, size_t point, double expected_ns);
/* Takes a result, asked or not. Returns its place, or SIZE_MAX when memory ran out (the session's own record still keeps a point from running twice). */
size_t mt_history_tell(mt_history *history, size_t point, double cost_ns);
bool mt_history_knows(const mt_history *history, size_t point);
size_t mt_history_told(const mt_history *history);
/* A uniform draw of a point that was neither asked nor told. False: none is left, or, in a space that is not enumerated, none was found. */
bool mt_history_draw(mt_history *history, mt_rng *rng, size_t *point);
/* Places of the best told successes, best first, ties in order of arrival. Returns how many were written (≤ capacity). */
size_t mt_history_elite(const mt_history *history, size_t *places, size_t capacity);
void mt_history_free(mt_history *history);

#endif
