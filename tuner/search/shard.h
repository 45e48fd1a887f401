/* One of several equal parts of a space, for several machines: the parts are disjoint and together are the space. Which part a point belongs to follows from space and count alone: no
 * machine needs to know of the others, and a part that is run again, wherever, is the same. */
#pragma once

#include "tuner/space/points/space.h"

typedef struct mt_shard {
    size_t index; /* from 0 */
    size_t count; /* 0 and 1: the whole space */
} mt_shard;

enum { MT_SHARDS_MAX = 100000 };

/* "3/8": the third of eight. False for anything else: i must be 1 to n, n at most MT_SHARDS_MAX. */
bool mt_shard_parse(const char *text, mt_shard *shard);
size_t mt_shard_count(const mt_shard *shard); /* at least 1 */
/* Enumerated spaces: the parts differ by one point at most, and each is spread over the whole space. Sampled ones: by a hash. */
bool mt_shard_has(const mt_shard *shard, const mt_space *space, size_t point);
/* Points of the shard; of a sampled space, whose parts nobody counted, those of the whole space. */
size_t mt_shard_size(const mt_shard *shard, const mt_space *space);
/* A search of the whole space that differs from those of the other shards. The seed itself where there is one shard. */
uint64_t mt_shard_seed(const mt_shard *shard, uint64_t seed);
