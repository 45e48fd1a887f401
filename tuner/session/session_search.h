/* A strategy behind a queue: ask and tell run on libuv's thread pool, so that fitting a model never delays the loop that serves the workers' deadlines.
 *
 * What is told while an ask is under way waits, in the order in which it came, and is handed over before the next ask. A strategy so sees one thread at a time, and the
 * same history whenever results come in the same order. Lives on one loop; only that loop's thread calls these functions. */
#pragma once

#include <uv.h>

#include "tuner/search/strategy.h"

typedef struct mt_search mt_search;

typedef enum mt_search_answer {
    MT_SEARCH_POINT,
    MT_SEARCH_BUSY,   /* the strategy is thinking: ask again when `woken` was called */
    MT_SEARCH_DRY     /* nothing to ask for now: not before more was told; nothing under way: finished */
} mt_search_answer;

/* `woken`: from the loop, whenever the strategy has finished thinking. The strategy's own `create` runs here and now. */
mt_status mt_search_create(uv_loop_t *loop, const mt_strategy *strategy, const mt_search_setup *setup, void (*woken)(void *context), void *context, mt_search **search, mt_error *err);
mt_status mt_search_tell(mt_search *search, size_t point, double time_ns, mt_error *err);
/* The next point, and what in the strategy proposed it (a static text; unchanged where there is no point); `wanted` > 0: how many more are to be evaluated. */
mt_search_answer mt_search_next(mt_search *search, size_t wanted, size_t *point, const char **arm);
bool mt_search_is_busy(const mt_search *search);
double mt_search_outlook(const mt_search *search);     /* as the strategy saw it when it was asked last; NAN: not known */
int64_t mt_search_spent_ns(const mt_search *search); /* in the strategy */
void mt_search_destroy(mt_search *search);           /* waits for the strategy; NULL is a no-op */
