#include "tuner/search/index_map.h"

#include <assert.h>
#include <stdint.h>

#include "tuner/base/alloc.h"

struct mt_index_slot {
    size_t key_plus_one; /* 0 = empty, so that zeroed memory is an empty table */
    size_t value;
};

/* Neighbouring indices are the common keys; a multiplicative hash spreads them. */
static size_t first_slot(const mt_index_map *map, size_t key)
{
    return (size_t)(((uint64_t)key * 0x9E3779B97F4A7C15u) >> 20) & (map->capacity - 1);
}

static struct mt_index_slot *find_slot(const mt_index_map *map, size_t key)
{
    size_t at = first_slot(map, key);
    while (map->slots[at].key_plus_one != 0 && map->slots[at].key_plus_one != key + 1)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static bool grow(mt_index_map *map)
{
    mt_index_map larger = {.capacity = map->capacity ? 2 * map->capacity : 16, .count = map->count};
    larger.slots = mt_alloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].key_plus_one) *find_slot(&larger, map->slots[i].key_plus_one - 1) = map->slots[i];
    }
    mt_free(map->slots);
    *map = larger;
    return true;
}

bool mt_index_map_put(mt_index_map *map, size_t key, size_t value)
{
    assert(key != SIZE_MAX);
    if (2 * (map->count + 1) > map->capacity && !grow(map)) return false;
    struct mt_index_slot *slot = find_slot(map, key);
    if (!slot->key_plus_one) map->count++;
    *slot = (struct mt_index_slot){key + 1, value};
    return true;
}

bool mt_index_map_get(const mt_index_map *map, size_t key, size_t *value)
{
    if (map->capacity == 0) return false;
    const struct mt_index_slot *slot = find_slot(map, key);
    if (!slot->key_plus_one) return false;
    if (value) *value = slot->value;
    return true;
}

void mt_index_map_free(mt_index_map *map)
{
    mt_free(map->slots);
    *map = (mt_index_map){0};
}
