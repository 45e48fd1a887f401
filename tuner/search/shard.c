#include "tuner/search/shard.h"

#include <string.h>

#include "tuner/base/text.h"

bool mt_shard_parse(const char *text, mt_shard *shard)
{
    const char *slash = strchr(text, '/');
    int64_t index, count;
    if (!slash || !mt_text_int64(text, (size_t)(slash - text), &index) || !mt_text_int64(slash + 1, strlen(slash + 1), &count)) return false;
    if (count < 1 || count > MT_SHARDS_MAX || index < 1 || index > count) return false;
    *shard = (mt_shard){(size_t)index - 1, (size_t)count};
    return true;
}

size_t mt_shard_count(const mt_shard *shard)
{
    return shard->count ? shard->count : 1;
}

/* splitmix64's finalizer. */
static uint64_t scatter(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps near the golden section of the circle of points visit all of them, and any stretch of such steps lies evenly on it. Counting off by the index instead would give
 * one shard one value of the last knob. */
static uint64_t place_of(uint64_t point, uint64_t count)
{
    uint64_t step = count * 618034 / 1000000;
    while (step > 1 && common_divisor(step, count) != 1) step--;
    return point * (step ? step : 1) % count;
}

bool mt_shard_has(const mt_shard *shard, const mt_space *space, size_t point)
{
    size_t count = mt_space_count(space);
    if (shard->count <= 1) return true;
    if (!mt_space_is_enumerated(space)) return scatter(point) % shard->count == shard->index;
    return place_of(point, count) * shard->count / count == shard->index;
}

size_t mt_shard_size(const mt_shard *shard, const mt_space *space)
{
    uint64_t count = mt_space_count(space), shards = shard->count;
    if (shards <= 1 || !mt_space_is_enumerated(space)) return (size_t)count;
    uint64_t first = (shard->index * count + shards - 1) / shards, next = ((shard->index + 1) * count + shards - 1) / shards;
    return (size_t)(next - first);
}

uint64_t mt_shard_seed(const mt_shard *shard, uint64_t seed)
{
    return shard->count <= 1 ? seed : scatter(seed ^ scatter(shard->index + 1));
}
