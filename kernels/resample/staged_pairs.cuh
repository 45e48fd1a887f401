/*
 * ROWS = pairs: each warp takes 32 neighbouring targets, a lane looks up each, and the two rows of a target come through the warp's own
 * ring of STAGES slots. Works for trajectories of any length; rows that several targets share come several times.
 *
 *     ring   [warps][STAGES][SLOT] dynamic
 *
 * grid = ceil_div(B * ceil_div(T, 32), THREADS / 32)
 */
#pragma once

#include "copies.cuh"
#include "rows.cuh"
#include "search.cuh"

constexpr int GROUPS_OF_TRAJECTORY = ceil_div(T, 32), WARPS = THREADS / 32;

struct Shared {
    unsigned long long full[WARPS][STAGES];
};

/* Starts the rows of the group's target `number`, which lane `number` knows. */
__device__ inline void start_pair(char *ring, source_t source, int trajectory, Place place, int number, int count, unsigned long long *full, int lane)
{
    int row = __shfl_sync(0xffffffffu, place.row, number % 32);
    if (number < count)
        start_rows<32>(ring + number % STAGES * SLOT, source, trajectory, row, &full[number % STAGES], lane);
    commit_rows();
}

extern "C" __global__ void __launch_bounds__(THREADS)
#if ALGO == ALGO_bulk_staged && COPY == COPY_tma
    resample_pairs_tma(const __grid_constant__ CUtensorMap map, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
#else
    resample_pairs(const char *__restrict__ source, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
#endif
{
#if ALGO == ALGO_bulk_staged && COPY == COPY_tma
    const CUtensorMap *source = &map;
#endif
    extern __shared__ __align__(128) char rings[];
    __shared__ Shared shared;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long group = (long long)blockIdx.x * WARPS + warp;
    char *ring = rings + warp * (STAGES * SLOT);
    unsigned long long *full = shared.full[warp];
    if (lane == 0)
        init_ring(full, STAGES);
    __syncwarp();
    if (group >= (long long)B * GROUPS_OF_TRAJECTORY)
        return;
    int trajectory = (int)(group / GROUPS_OF_TRAJECTORY), first = (int)(group % GROUPS_OF_TRAJECTORY) * 32, count = smaller(32, T - first);
    long long at = (long long)trajectory * T + first;
    Place place = search_by_thread(times + (long long)trajectory * S, targets[at + smaller(lane, count - 1)]);
    for (int number = 0; number < STAGES; number++)
        start_pair(ring, source, trajectory, place, number, count, full, lane);
    for (int number = 0; number < count; number++) {
        float weight = __shfl_sync(0xffffffffu, place.weight, number);
        wait_rows(&full[number % STAGES], number / STAGES % 2);
        __syncwarp();
        const char *left = ring + number % STAGES * SLOT;
        for (int piece = lane; piece < PIECES; piece += 32)
            move_piece(out + (at + number) * D + piece * VEC, left + piece * PIECE, weight);
        __syncwarp(); /* all have read the slot */
        start_pair(ring, source, trajectory, place, number + STAGES, count, full, lane);
    }
}
