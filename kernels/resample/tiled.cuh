/*
 * plain, persistent: rows come straight from memory; a trajectory's are few and read often, so that L1 and L2 have them.
 *
 *     plain        a block per tile of TILE targets
 *     persistent   BLOCKS_PER_SM blocks per SM, each of which walks over neighbouring tiles; times of the next trajectory
 *                  are not loaded anew for tiles of the same one
 *
 * grid = plain: B * ceil_div(T, TILE); persistent: at most that, BLOCKS_PER_SM * SMs. Shared memory is static.
 */
#pragma once

#include "tile.cuh"

#if ALGO == ALGO_persistent
#define MIN_BLOCKS BLOCKS_PER_SM
#else
#define MIN_BLOCKS 1
#endif

struct Shared {
    Place places[2][TILE];
#if TIMES == TIMES_smem
    float times[S];
#endif
};

__device__ inline void do_tile(Shared &shared, int slot, Tile tile, bool is_same, const char *source, const float *times, const float *targets, value_t *out)
{
    times += (long long)tile.trajectory * S;
    long long first = (long long)tile.trajectory * T + tile.first;
    float early = early_target(targets + first, tile.count);
#if TIMES == TIMES_smem
    if (!is_same) {
        __syncthreads(); /* all have searched the times before */
        copy_times(shared.times, times);
        __syncthreads();
    }
    times = shared.times;
#endif
    find_places(shared.places[slot], times, targets + first, tile.count, early);
    __syncthreads(); /* the other slot is free from here on, too */
    move_rows(out + first * D, source + (long long)tile.trajectory * S * ROW, shared.places[slot], tile.count);
}

/* Neighbouring tiles go to one block: block b has tiles [b*TILES/blocks, (b+1)*TILES/blocks). */
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    resample_tiled(const char *__restrict__ source, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
{
    __shared__ Shared shared;
#if ALGO == ALGO_persistent
    constexpr int TILES = B * TILES_OF_TRAJECTORY;
    int last = (int)((blockIdx.x + 1ll) * TILES / gridDim.x), trajectory = -1;
    for (int number = (int)((long long)blockIdx.x * TILES / gridDim.x), slot = 0; number < last; number++, slot ^= 1) {
        Tile tile = tile_at(number);
        do_tile(shared, slot, tile, tile.trajectory == trajectory, source, times, targets, out);
        trajectory = tile.trajectory;
    }
#else
    do_tile(shared, 0, tile_at(blockIdx.x), false, source, times, targets, out);
#endif
}
