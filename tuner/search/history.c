#include "tuner/search/history.h"

#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"

enum { DRAWS = 64 };

void mt_history_init(mt_history *history, const mt_space *space)
{
    *history = (mt_history){.space = space, .best = SIZE_MAX};
}

static size_t add(mt_history *history, mt_evaluation item)
{
    mt_evaluation *items = mt_grow(history->items, history->count, &history->capacity, sizeof *items);
    if (!items) return SIZE_MAX;
    history->items = items;
    if (!mt_index_map_put(&history->places, item.point, history->count)) return SIZE_MAX;
    items[history->count] = item;
    return history->count++;
}

bool mt_history_ask(mt_history *history, size_t point, double expected_ns)
{
    if (add(history, (mt_evaluation){point, expected_ns, true}) == SIZE_MAX) return false;
    history->pending_count++;
    return true;
}

size_t mt_history_tell(mt_history *history, size_t point, double cost_ns)
{
    size_t place;
    if (!mt_index_map_get(&history->places, point, &place)) {
        place = add(history, (mt_evaluation){point, cost_ns, false});
        if (place == SIZE_MAX) return SIZE_MAX;
    }
    mt_evaluation *item = &history->items[place];
    if (item->is_pending) history->pending_count--;
    item->is_pending = false;
    item->cost_ns = cost_ns;
    bool is_better = isfinite(cost_ns) && (history->best == SIZE_MAX || history->best == place || cost_ns < history->items[history->best].cost_ns);
    if (is_better) history->best = place;
    return place;
}

bool mt_history_knows(const mt_history *history, size_t point)
{
    return mt_index_map_get(&history->places, point, NULL);
}

size_t mt_history_told(const mt_history *history)
{
    return history->count - history->pending_count;
}

bool mt_history_draw(mt_history *history, mt_rng *rng, size_t *point)
{
    for (int i = 0; i < DRAWS; i++) {
        if (!mt_space_sample(history->space, rng, point)) return false;
        if (!mt_history_knows(history, *point)) return true;
    }
    if (!mt_space_is_enumerated(history->space)) return false;
    /* Nearly all are known: what is left is found by looking. Known points stay known, so that all calls together look at each point once. */
    for (; history->scan < mt_space_count(history->space); history->scan++) {
        *point = history->scan;
        if (!mt_history_knows(history, *point)) return true;
    }
    return false;
}

size_t mt_history_elite(const mt_history *history, size_t *places, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < history->count; i++) {
        const mt_evaluation *item = &history->items[i];
        if (item->is_pending || !isfinite(item->cost_ns)) continue;
        if (count == capacity && (capacity == 0 || item->cost_ns >= history->items[places[count - 1]].cost_ns)) continue;
        size_t at = count < capacity ? count++ : count - 1;
        for (; at > 0 && history->items[places[at - 1]].cost_ns > item->cost_ns; at--) places[at] = places[at - 1];
        places[at] = i;
    }
    return count;
}

void mt_history_free(mt_history *history)
{
    mt_free(history->items);
    mt_index_map_free(&history->places);
    *history = (mt_history){0};
}
