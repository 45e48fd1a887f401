/* How likely a point is to work at all: a forest of its own, for the time when failures no longer count as slow. */
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

#define LEAST 0.03 /* nothing is ruled out for good */

bool mt_model_search_believes_failures(const mt_model_search *search)
{
    return search->since_better > MT_SLOW_AFTER;
}

bool mt_model_search_fit_validity(mt_model_search *search)
{
    const mt_ledger *ledger = &search->ledger;
    if (search->failure_count == 0 || !mt_model_search_believes_failures(search)) return false;
    if (search->validity.tree_count > 0 && ledger->count - search->validity_count <= ledger->count / MT_FOREST_AGE) return true;
    double *works = mt_alloc(ledger->count, sizeof *works);
    if (!works) return false;
    for (size_t i = 0; i < ledger->count; i++) works[i] = !isinf(ledger->items[i].time_ns); /* pending: yes */
    search->validity_count = ledger->count;
    bool is_done = mt_forest_fit(&search->validity, search->rows, search->features.count, works, ledger->count, search->has_gp ? search->gp.lacks_order : NULL, search->has_gp ? search->gp.is_unused : NULL, &search->rng);
    mt_free(works);
    return is_done;
}

double mt_model_search_log_validity(const mt_model_search *search, const float *row)
{
    double share, deviation;
    mt_forest_predict(&search->validity, row, &share, &deviation);
    return log(fmin(share + LEAST, 1));
}
