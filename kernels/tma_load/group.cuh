/*
 * What a block works on: groups of QUERIES neighbouring queries of an image, all their tiles at once.
 *
 *     slot  [TILES][TILE bytes] in shared memory, STAGES of them: groups on their way
 *     tile  [2][2][C] as in shape.cuh; [x][y][C] where boxes are one pixel wide and two high
 */
#pragma once

#include "shape.cuh"

constexpr int TILES_OF_QUERY = L * P, TILES = QUERIES * TILES_OF_QUERY, GROUPS_OF_IMAGE = (Q + QUERIES - 1) / QUERIES;
constexpr int SLOT = TILES * TILE, WARPS = THREADS / 32;
static_assert((long long)N * GROUPS_OF_IMAGE < 0x7fffffff, "groups are counted in 31 bits");

struct Group {
    int image, first, count; /* tiles of the image */
};

__device__ inline Group group_at(int number)
{
    int first = number % GROUPS_OF_IMAGE * TILES, all = Q * TILES_OF_QUERY;
    return {number / GROUPS_OF_IMAGE, first, first + TILES < all ? TILES : all - first};
}

/* Where a tile lies. */
struct Corner {
    int level, x, y;
};

__device__ inline Corner corner_at(const int2 *at, Group group, int tile)
{
    int2 xy = at[(long long)group.image * (Q * TILES_OF_QUERY) + group.first + tile];
    return {tile / P % L, xy.x, xy.y};
}

/* The first pixel's place in S; meaningful where that pixel is inside. */
__device__ inline int pixel_at(Corner corner, int x, int y)
{
    int start = 0, width = 0;
#pragma unroll
    for (int l = 0; l < L; l++)
        if (corner.level == l) {
            start = level_start(l);
            width = level_width(l);
        }
    return start + (corner.y + y) * width + corner.x + x;
}

__device__ inline bool is_column_inside(Corner corner, int x)
{
    bool inside = false;
#pragma unroll
    for (int l = 0; l < L; l++)
        if (corner.level == l)
            inside = (unsigned)(corner.x + x) < (unsigned)level_width(l);
    return inside;
}

__device__ inline bool is_row_inside(Corner corner, int y)
{
    bool inside = false;
#pragma unroll
    for (int l = 0; l < L; l++)
        if (corner.level == l)
            inside = (unsigned)(corner.y + y) < (unsigned)level_height(l);
    return inside;
}

/* The word of shape.cuh's order that lies at word `at` of a tile in shared memory. */
__device__ inline int word_at(int at)
{
#if ALGO == ALGO_tma && BOX_X == 1 && BOX_Y == 2
    int pixel = at / (C / 2);
    return (pixel % 2 * 2 + pixel / 2) * (C / 2) + at % (C / 2);
#else
    return at;
#endif
}

__device__ inline long long out_at(Group group, int tile)
{
    return (long long)group.image * (Q * TILES_OF_QUERY) + group.first + tile;
}

/* Adds over 2^k neighbouring lanes. */
template <int LANES>
__device__ inline unsigned add_up(unsigned sum)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

/* A warp sums a tile in shared memory. */
__device__ inline void sum_tile(unsigned *out, const char *tile, Group group, int number)
{
    int lane = threadIdx.x % 32;
    unsigned sum = 0;
#pragma unroll
    for (int word = lane; word < WORDS; word += 32)
        sum += ((const unsigned *)tile)[word] * weight(word_at(word));
    sum = add_up<32>(sum);
    if (lane == 0)
        out[out_at(group, number)] = sum;
}
