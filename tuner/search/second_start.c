/* A second local search, away from the best: the landscape may have another valley. */
#include <math.h>
#include <stdint.h>

#include "tuner/search/arms.h"

#define HOPELESS 2 /* times the best: where no second start begins */
enum { LEAST_APART = 3, TRIES = 10, STARTS_TRIED = 4 };

static const mt_point *point_of(const mt_model_search *search, size_t place)
{
    return &search->points[place];
}

/* Whether two points differ in half of the knobs, three at least, or in the algorithm. */
static bool are_apart(const mt_model_search *search, const mt_point *a, const mt_point *b)
{
    size_t count = 0, params = mt_space_spec(search->ledger.space)->param_count;
    size_t apart = (params - 1) / 2 > LEAST_APART ? (params - 1) / 2 : LEAST_APART;
    if (a->level[0] != b->level[0]) return true;
    for (size_t i = 1; i < params && count < apart; i++) count += a->level[i] != b->level[i];
    return count >= apart;
}

static size_t used_count(const mt_model_search *search)
{
    return search->second_starts_used_count < MT_SECOND_STARTS_KEPT ? search->second_starts_used_count : MT_SECOND_STARTS_KEPT;
}

static void retire(mt_model_search *search)
{
    mt_space_at(search->ledger.space, search->second_start, &search->second_starts_used[search->second_starts_used_count++ % MT_SECOND_STARTS_KEPT]);
    search->second_start = SIZE_MAX;
    search->second_start_tries = 0;
}

/* How many second starts were of that algorithm; the best of all counts as one. */
static size_t starts_of_kind(const mt_model_search *search, int kind)
{
    size_t count = point_of(search, search->ledger.best)->level[0] == kind, used = used_count(search);
    for (size_t k = 0; k < used; k++) count += search->second_starts_used[k].level[0] == kind;
    return count;
}

static bool is_away(const mt_model_search *search, const mt_point *point)
{
    bool is = are_apart(search, point, point_of(search, search->ledger.best));
    for (size_t k = 0, used = used_count(search); is && k < used; k++) is = are_apart(search, point, &search->second_starts_used[k]);
    return is;
}

/* The best point that lies away from the best of all and from the second starts before, of the algorithm that had the fewest second starts: its best known point may be the
 * slowest only because nothing was tried there. */
static bool find_start(mt_model_search *search)
{
    const mt_ledger *ledger = &search->ledger;
    size_t chosen = SIZE_MAX, least = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const mt_evaluation *item = &ledger->items[i];
        if (item->is_pending || !isfinite(item->time_ns) || item->time_ns > HOPELESS * ledger->items[ledger->best].time_ns) continue;
        size_t same = starts_of_kind(search, point_of(search, i)->level[0]);
        if (chosen != SIZE_MAX && (same > least || (same == least && item->time_ns >= ledger->items[chosen].time_ns))) continue;
        if (is_away(search, point_of(search, i))) chosen = i, least = same;
    }
    if (chosen == SIZE_MAX) return false;
    search->second_start = ledger->items[chosen].point;
    return true;
}

/* Moves the second start downhill through what is known. */
static void settle(mt_model_search *search)
{
    size_t place;
    for (bool has_moved = true; has_moved;) {
        const struct mt_neighbours *neighbours = mt_arms_neighbours_of(search, search->second_start);
        has_moved = false;
        if (!neighbours || !mt_index_map_get(&search->ledger.places, search->second_start, &place)) return;
        double least = search->ledger.items[place].time_ns;
        for (size_t i = 0; i < neighbours->count; i++) {
            if (!mt_index_map_get(&search->ledger.places, neighbours->items[i], &place)) continue;
            const mt_evaluation *item = &search->ledger.items[place];
            if (item->is_pending || !(item->time_ns < least)) continue;
            least = item->time_ns;
            search->second_start = item->point;
            search->second_start_tries = 0;
            has_moved = true;
        }
    }
}

bool mt_propose_second_start(mt_model_search *search, mt_proposal *out)
{
    for (int i = 0; i < STARTS_TRIED; i++) {
        size_t count;
        if (search->ledger.best == SIZE_MAX || (search->second_start == SIZE_MAX && !find_start(search))) return false;
        settle(search);
        mt_arms_clear_candidates(&count);
        mt_arms_add_neighbours(search, &count, search->second_start);
        bool is_merged = search->second_start == search->ledger.items[search->ledger.best].point;
        if (count > 0 && !is_merged && search->second_start_tries < TRIES) {
            search->second_start_tries++;
            return mt_arms_fit_forest(search) && mt_arms_choose_by_forest(search, count, true, out);
        }
        retire(search);
    }
    return false;
}
