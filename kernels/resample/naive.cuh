/*
 * naive: a thread per output element, which looks its target up by itself.
 *
 * grid = ceil_div(B*T*D, THREADS)
 */
#pragma once

#define VEC 1
#define STORE_plain 1
#define STORE STORE_plain
#define STORE_streaming 2
#include "rows.cuh"
#include "search.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) resample_naive(const char *source, const float *times, const float *targets, value_t *out)
{
    long long element = (long long)blockIdx.x * THREADS + threadIdx.x, target = element / D, trajectory = target / T;
    if (trajectory >= B)
        return;
    Place place = search_by_thread(times + trajectory * S, targets[target]);
    move_piece(out + element, source + (trajectory * S + place.row) * ROW + element % D * (int)sizeof(value_t), place.weight);
}
