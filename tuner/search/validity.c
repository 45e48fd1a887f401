/* How likely a point is to work at all: a forest of its own, for the time when failures no longer count as slow. */
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/search/arms.h"

#define LEAST 0.03 /* nothing is ruled out for good */
#define CHANCE_PRIOR 2 /* log of the odds that failures have a pattern */
enum { NEAREST = 3, MOST_COMPARED = 512 };

bool mt_model_search_believes_failures(const mt_model_search *search)
{
    return search->since_better > MT_SLOW_AFTER || mt_model_search_fails_by_chance(search);
}

bool mt_model_search_fails_by_chance(const mt_model_search *search)
{
    return search->failure_pattern < -CHANCE_PRIOR;
}

/* How many of the NEAREST results that are nearest to a point are failures; `count` of them there are. */
static size_t failures_near(const mt_model_search *search, size_t place, size_t *count)
{
    const mt_ledger *ledger = &search->ledger;
    size_t width = search->features.count, failures = 0, step = ledger->count / MOST_COMPARED + 1;
    double nearest[NEAREST];
    bool fails[NEAREST];
    *count = 0;
    for (size_t i = 0; i < ledger->count; i += step) {
        if (i == place || ledger->items[i].is_pending) continue;
        double distance = mt_arms_distance(search, search->rows + i * width, search->rows + place * width);
        size_t at = *count < NEAREST ? (*count)++ : NEAREST;
        if (at == NEAREST && !(distance < nearest[--at])) continue;
        for (; at > 0 && nearest[at - 1] > distance; at--) nearest[at] = nearest[at - 1], fails[at] = fails[at - 1];
        nearest[at] = distance;
        fails[at] = isinf(ledger->items[i].time_ns);
    }
    for (size_t i = 0; i < *count; i++) failures += fails[i];
    return failures;
}

void mt_model_search_judge_failures(mt_model_search *search, size_t point, bool works)
{
    const mt_ledger *ledger = &search->ledger;
    size_t count, place = ledger->count;
    if (search->failure_count == 0 || !isnan(mt_ledger_time(ledger, point))) return; /* told again, it is no news */
    mt_index_map_get(&ledger->places, point, &place);
    double share = ((double)search->failure_count + 1) / ((double)mt_ledger_told(ledger) + 2), near = (double)failures_near(search, place, &count);
    near = (near + share) / ((double)count + 1);
    search->failure_pattern += works ? log((1 - near) / (1 - share)) : log(near / share);
}

bool mt_model_search_fit_validity(mt_model_search *search)
{
    const mt_ledger *ledger = &search->ledger;
    if (search->failure_count == 0 || !mt_model_search_believes_failures(search) || mt_model_search_fails_by_chance(search)) return false;
    if (search->validity.tree_count > 0 && ledger->count - search->validity_count <= ledger->count / MT_FOREST_AGE) return true;
    double *works = mt_alloc(ledger->count, sizeof *works);
    if (!works) return false;
    for (size_t i = 0; i < ledger->count; i++) works[i] = !isinf(ledger->items[i].time_ns); /* pending: yes */
    search->validity_count = ledger->count;
    bool is_done = mt_forest_fit(&search->validity, search->rows, search->features.count, works, ledger->count, search->has_gp ? search->gp.lacks_order : NULL, &search->rng);
    mt_free(works);
    return is_done;
}

double mt_model_search_log_validity(const mt_model_search *search, const float *row)
{
    double share, deviation;
    mt_forest_predict(&search->validity, row, &share, &deviation);
    return log(fmin(share + LEAST, 1));
}
