#include "tuner/search/ledger.h"

#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"

enum { DRAWS = 64 };

void mt_ledger_init(mt_ledger *ledger, const mt_space *space)
{
    *ledger = (mt_ledger){.space = space, .best = SIZE_MAX};
}

static size_t add(mt_ledger *ledger, mt_evaluation item)
{
    mt_evaluation *items = mt_grow(ledger->items, ledger->count, &ledger->capacity, sizeof *items);
    if (!items) return SIZE_MAX;
    ledger->items = items;
    if (!mt_index_map_put(&ledger->places, item.point, ledger->count)) return SIZE_MAX;
    items[ledger->count] = item;
    return ledger->count++;
}

bool mt_ledger_ask(mt_ledger *ledger, size_t point, double expected_ns)
{
    if (add(ledger, (mt_evaluation){point, expected_ns, true, expected_ns, NULL}) == SIZE_MAX) return false;
    ledger->pending_count++;
    return true;
}

size_t mt_ledger_tell(mt_ledger *ledger, size_t point, double time_ns)
{
    size_t place;
    if (!mt_index_map_get(&ledger->places, point, &place)) {
        place = add(ledger, (mt_evaluation){point, time_ns, false, NAN, NULL});
        if (place == SIZE_MAX) return SIZE_MAX;
    }
    mt_evaluation *item = &ledger->items[place];
    if (item->is_pending) ledger->pending_count--;
    item->is_pending = false;
    item->time_ns = time_ns;
    bool is_better = isfinite(time_ns) && (ledger->best == SIZE_MAX || ledger->best == place || time_ns < ledger->items[ledger->best].time_ns);
    if (is_better) ledger->best = place;
    return place;
}

bool mt_ledger_knows(const mt_ledger *ledger, size_t point)
{
    return mt_index_map_get(&ledger->places, point, NULL);
}

double mt_ledger_time(const mt_ledger *ledger, size_t point)
{
    size_t place;
    if (!mt_index_map_get(&ledger->places, point, &place) || ledger->items[place].is_pending) return NAN;
    return ledger->items[place].time_ns;
}

size_t mt_ledger_told(const mt_ledger *ledger)
{
    return ledger->count - ledger->pending_count;
}

bool mt_ledger_draw(mt_ledger *ledger, mt_rng *rng, size_t *point)
{
    for (int i = 0; i < DRAWS; i++) {
        if (!mt_space_sample(ledger->space, rng, point)) return false;
        if (!mt_ledger_knows(ledger, *point)) return true;
    }
    if (!mt_space_is_enumerated(ledger->space)) return false;
    /* Nearly all are known: what is left is found by looking. Known points stay known, so that all calls together look at each point once. */
    for (; ledger->scan < mt_space_count(ledger->space); ledger->scan++) {
        *point = ledger->scan;
        if (!mt_ledger_knows(ledger, *point)) return true;
    }
    return false;
}

size_t mt_ledger_elite(const mt_ledger *ledger, size_t *places, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const mt_evaluation *item = &ledger->items[i];
        if (item->is_pending || !isfinite(item->time_ns)) continue;
        if (count == capacity && (capacity == 0 || item->time_ns >= ledger->items[places[count - 1]].time_ns)) continue;
        size_t at = count < capacity ? count++ : count - 1;
        for (; at > 0 && ledger->items[places[at - 1]].time_ns > item->time_ns; at--) places[at] = places[at - 1];
        places[at] = i;
    }
    return count;
}

void mt_ledger_free(mt_ledger *ledger)
{
    mt_free(ledger->items);
    mt_index_map_free(&ledger->places);
    *ledger = (mt_ledger){0};
}
