/*
 * ROWS = trajectory: a block has all rows of a trajectory in shared memory before it works on targets, and those of the next
 * STAGES - 1 on their way.
 *
 *     rows    [STAGES][SLOT] dynamic
 *     item    one of SPLIT parts of a trajectory's targets
 *
 * grid = at most BLOCKS_PER_SM * SMs, each with neighbouring items
 */
#pragma once

#include "copies.cuh"
#include "tile.cuh"

constexpr int PART = ceil_div(ceil_div(T, SPLIT), TILE) * TILE, ITEMS = B * SPLIT; /* targets of an item */
static_assert((long long)B * SPLIT < 0x7fffffff, "items are counted in 31 bits");

struct Shared {
    unsigned long long full[STAGES];
    Place places[2][TILE];
    float times[S];
};

__device__ inline void do_item(Shared &shared, const char *rows, int item, const float *times, const float *targets, value_t *out)
{
    int trajectory = item / SPLIT, first = item % SPLIT * PART, last = smaller(first + PART, T), slot = 0;
    float early = early_target(targets + (long long)trajectory * T + first, last - first);
    copy_times(shared.times, times + (long long)trajectory * S);
    __syncthreads();
    for (; first < last; first += TILE, slot ^= 1) {
        long long at = (long long)trajectory * T + first;
        int count = smaller(TILE, last - first);
        find_places(shared.places[slot], shared.times, targets + at, count, early);
        early = early_target(targets + at + TILE, last - first - TILE);
        __syncthreads();
        move_rows(out + at * D, rows, shared.places[slot], count);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
#if ALGO == ALGO_bulk_staged && COPY == COPY_tma
    resample_staged_tma(const __grid_constant__ CUtensorMap map, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
#else
    resample_staged(const char *__restrict__ source, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
#endif
{
#if ALGO == ALGO_bulk_staged && COPY == COPY_tma
    const CUtensorMap *source = &map;
#endif
    extern __shared__ __align__(128) char ring[];
    __shared__ Shared shared;
    int item = (int)((long long)blockIdx.x * ITEMS / gridDim.x), last = (int)((blockIdx.x + 1ll) * ITEMS / gridDim.x);
    if (threadIdx.x == 0)
        init_ring(shared.full, STAGES);
    __syncthreads();
    for (int ahead = 0; ahead < STAGES; ahead++) {
        if (item + ahead < last)
            start_rows<THREADS>(ring + ahead * SLOT, source, (item + ahead) / SPLIT, 0, &shared.full[ahead], threadIdx.x);
        commit_rows();
    }
    for (int number = 0; item < last; item++, number++) {
        int slot = number % STAGES;
        wait_rows(&shared.full[slot], number / STAGES % 2);
        do_item(shared, ring + slot * SLOT, item, times, targets, out); /* has a barrier before it reads the rows */
        __syncthreads();
        if (item + STAGES < last)
            start_rows<THREADS>(ring + slot * SLOT, source, (item + STAGES) / SPLIT, 0, &shared.full[slot], threadIdx.x);
        commit_rows();
    }
}
