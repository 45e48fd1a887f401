/*
 * From a target to its place: between which rows, and how far from the left one.
 *
 * `times` points to the S times of one trajectory, in global or shared memory. SEARCH says how targets are looked up:
 *
 *     thread   each thread bisects for a target of its own
 *     walk     each thread bisects for the first of WALK neighbours and walks on from there: few steps where targets
 *              ascend; one that does not is bisected for
 *     warp     a warp looks one target up, 32 times at once
 */
#pragma once

#include "shape.cuh"

/* weight: of the right row. */
struct Place {
    int row;
    float weight;
};

/* Of `count` times from `first`: the last one that is <= target, or the first one if none is. The number of steps does not depend
 * on the target, so that the loop unrolls where `count` is a constant. */
__device__ inline int bisect(const float *times, int first, int count, float target)
{
    for (int half_count = count / 2; half_count > 0; count -= half_count, half_count = count / 2)
        first += times[first + half_count] <= target ? half_count : 0;
    return first;
}

/* `row`: the last time <= target, or anything below it if no time is. */
__device__ inline Place place_at(const float *times, int row, float target)
{
    if (S == 1)
        return {0, target == target ? 0.0f : target};
    row = smaller(row, S - 2);
    float left = times[row], dt = times[row + 1] - left, weight = dt > 0.0f ? (target - left) / dt : 0.0f;
    weight = weight < 0.0f ? 0.0f : weight > 1.0f ? 1.0f : weight; /* not fminf: NaN stays */
    return {row, target == target ? weight : target};
}

__device__ inline Place search_by_thread(const float *times, float target)
{
    return place_at(times, bisect(times, 0, S, target), target);
}

/* `row` is where the neighbour before was found, and then where this one is. */
__device__ inline Place search_by_walk(const float *times, int *row, float target)
{
    if (times[*row] > target)
        *row = bisect(times, 0, *row + 1, target);
    while (*row + 1 < S && times[*row + 1] <= target)
        ++*row;
    return place_at(times, *row, target);
}

/* All lanes call it with the same target and get the same place: a range shrinks to 1/32 with each load. */
__device__ inline Place search_by_warp(const float *times, float target)
{
    int lane = threadIdx.x % 32, first = 0, count = S;
    while (count > 1) {
        int step = ceil_div(count, 32), at = lane * step;
        bool below = at < count && times[first + at] <= target;
        int taken = __popc(__ballot_sync(0xffffffffu, below)); /* a prefix of the lanes */
        int skipped = taken > 0 ? (taken - 1) * step : 0;
        first += skipped;
        count = taken > 0 ? smaller(step, count - skipped) : 1;
    }
    return place_at(times, first, target);
}
