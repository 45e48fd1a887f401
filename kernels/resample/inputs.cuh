/*
 * Input generators. Random numbers are hashes of (seed, number): the same on every machine, in any order.
 *
 * A trajectory's time i lies in [i, i+1), anywhere. Targets, by WORKLOAD_targets:
 *     sorted    ascending from before the first time until after the last one, one in each T-th part
 *     random    the same range, in no order
 *     edges     as random; but times come in pairs of equal ones now and then, and targets are often exactly one of the
 *               times, far outside, infinite, or NaN
 */
#pragma once

#include "shape.cuh"

typedef unsigned long long u64;

__device__ inline unsigned hash(u64 seed, unsigned stream, u64 number)
{
    u64 x = (number + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd6e8feb86659fd93ull + stream * 0xa0761d6478bd642full;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return (unsigned)(x >> 32);
}

/* In [0, 1). */
__device__ inline float fraction(u64 seed, unsigned stream, u64 number)
{
    return (hash(seed, stream, number) >> 8) * 0x1p-24f;
}

/* `number` counts over all trajectories. */
__device__ inline float time_at(u64 seed, u64 number)
{
#if WORKLOAD_targets == WORKLOAD_targets_edges
    while (number % S > 0 && hash(seed, 2, number) % 5 == 0) /* equals the one before */
        number--;
#endif
    return number % S + fraction(seed, 1, number);
}

__device__ inline float edge_target(u64 seed, u64 number, float target)
{
    unsigned kind = hash(seed, 4, number) % 16;
    const float infinity = __int_as_float(0x7f800000), nan = __int_as_float(0x7fc00000);
    return kind < 6    ? time_at(seed, number / T * S + hash(seed, 5, number) % S)
           : kind == 6 ? nan
           : kind == 7 ? infinity
           : kind == 8 ? -infinity
           : kind == 9 ? 1e30f * (target - 0.5f * S)
                       : target;
}

/* data: [B][S] */
extern "C" __global__ void init_times(float *data, u64 count, u64 seed)
{
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        data[i] = time_at(seed, i);
}

/* data: [B][T] */
extern "C" __global__ void init_targets(float *data, u64 count, u64 seed)
{
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        float at = fraction(seed, 3, i);
#if WORKLOAD_targets == WORKLOAD_targets_sorted
        at = (i % T + at) / T;
#endif
        float target = -0.5f + at * (S + 1);
#if WORKLOAD_targets == WORKLOAD_targets_edges
        target = edge_target(seed, i, target);
#endif
        data[i] = target;
    }
}
