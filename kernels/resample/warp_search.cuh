/*
 * warp_search: a warp takes TARGETS neighbouring targets, finds their places and moves their rows. No shared memory, no barrier:
 * warps are at different steps, so that searching hides behind others' stores.
 *
 *     SEARCH = warp     all lanes look one target up together, one after the other
 *     SEARCH = thread   lane k looks up target k
 *
 * grid = ceil_div(B * ceil_div(T, TARGETS), THREADS / 32)
 */
#pragma once

#include "rows.cuh"
#include "search.cuh"

constexpr int GROUPS_OF_TRAJECTORY = ceil_div(T, TARGETS);
static_assert(TARGETS <= 32, "a lane keeps one place");

/* Lane k gets the place of target k < count. */
__device__ inline Place find_places(const float *times, const float *targets, int count, int lane)
{
#if SEARCH == SEARCH_warp
    Place mine = {};
    for (int k = 0; k < count; k++) {
        Place place = search_by_warp(times, targets[k]);
        if (k == lane)
            mine = place;
    }
    return mine;
#else
    return search_by_thread(times, targets[smaller(lane, count - 1)]);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    resample_warp_search(const char *__restrict__ source, const float *__restrict__ times, const float *__restrict__ targets, value_t *__restrict__ out)
{
    int lane = threadIdx.x % 32;
    long long group = (long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (group >= (long long)B * GROUPS_OF_TRAJECTORY)
        return;
    int trajectory = (int)(group / GROUPS_OF_TRAJECTORY), first = (int)(group % GROUPS_OF_TRAJECTORY) * TARGETS, count = smaller(TARGETS, T - first);
    Place mine = find_places(times + (long long)trajectory * S, targets + (long long)trajectory * T + first, count, lane);
    source += (long long)trajectory * S * ROW;
    out += ((long long)trajectory * T + first) * D;
#pragma unroll (AT_ONCE)
    for (int base = 0; base < TARGETS * PIECES; base += 32) { /* the lanes have neighbouring pieces, of one row or several */
        int i = base + lane;
        int row = __shfl_sync(0xffffffffu, mine.row, i / PIECES);
        float weight = __shfl_sync(0xffffffffu, mine.weight, i / PIECES);
        if (i < count * PIECES)
            move_piece(out + (long long)i * VEC, source + row * ROW + i % PIECES * PIECE, weight);
    }
}
