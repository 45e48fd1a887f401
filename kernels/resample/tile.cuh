/*
 * TILE neighbouring targets of one trajectory, worked on by a block in two steps: find their places, move their rows.
 *
 *     places  [TILE] in shared memory
 *     times   [S]    in shared memory too where TIMES = smem
 */
#pragma once

#include "rows.cuh"
#include "search.cuh"

constexpr int TILES_OF_TRAJECTORY = ceil_div(T, TILE);
static_assert((long long)B * TILES_OF_TRAJECTORY < 0x7fffffff, "tiles are counted in 31 bits");

struct Tile {
    int trajectory, first, count; /* targets */
};

__device__ inline Tile tile_at(int number)
{
    int first = number % TILES_OF_TRAJECTORY * TILE;
    return {number / TILES_OF_TRAJECTORY, first, smaller(TILE, T - first)};
}

__device__ inline void copy_times(float *to, const float *times)
{
    for (int i = threadIdx.x; i < S; i += THREADS)
        to[i] = times[i];
}

/* What a thread looks up first: loaded early, it arrives together with the times. */
__device__ inline float early_target(const float *targets, int count)
{
    return SEARCH == SEARCH_thread && (int)threadIdx.x < count ? targets[threadIdx.x] : 0.0f;
}

/* All threads of the block; the caller puts a barrier between it and readers of `places`. */
__device__ inline void find_places(Place *places, const float *times, const float *targets, int count, float early)
{
#if SEARCH == SEARCH_thread
    if (threadIdx.x < count)
        places[threadIdx.x] = search_by_thread(times, early);
    for (int i = threadIdx.x + THREADS; i < count; i += THREADS)
        places[i] = search_by_thread(times, targets[i]);
#elif SEARCH == SEARCH_walk
    constexpr int WALK = 8;
    for (int first = threadIdx.x * WALK; first < count; first += THREADS * WALK) {
        int row = bisect(times, 0, S, targets[first]);
        for (int i = first; i < smaller(first + WALK, count); i++)
            places[i] = search_by_walk(times, &row, targets[i]);
    }
#else
    for (int i = threadIdx.x / 32; i < count; i += THREADS / 32) {
        Place place = search_by_warp(times, targets[i]);
        if (threadIdx.x % 32 == 0)
            places[i] = place;
    }
#endif
}

/* `rows`: the trajectory's rows, in global or shared memory; `out`: of the tile's first target. */
__device__ inline void move_rows(value_t *out, const char *rows, const Place *places, int count)
{
#pragma unroll (AT_ONCE)
    for (int i = threadIdx.x; i < count * PIECES; i += THREADS) {
        Place place = places[i / PIECES];
        move_piece(out + (long long)i * VEC, rows + place.row * ROW + i % PIECES * PIECE, place.weight);
    }
}
