/* A growing map from point indices to numbers, for strategies whose memory must follow what was asked, not the size of the space. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct mt_index_map {
    struct mt_index_slot *slots; /* open addressing; capacity is a power of two, 0 before the first put */
    size_t capacity, count;
} mt_index_map; /* zero-initialise */

/* Sets map[key] = value. False when memory ran out (the map is unchanged). key must not be SIZE_MAX. */
bool mt_index_map_put(mt_index_map *map, size_t key, size_t value);
bool mt_index_map_get(const mt_index_map *map, size_t key, size_t *value); /* value may be NULL */
void mt_index_map_free(mt_index_map *map);
