/*
 * Sums of a warp, 16 rows by N columns, as mma.sync and wgmma (a quarter of its 64 rows) hold them: lane t has, for each
 * j in 0..N/8-1, the elements 4 j .. 4 j + 3: rows t / 4 (two) and t / 4 + 8 (two), columns 8 j + 2 (t % 4) and the one
 * beside. In f16, two neighbours share a register.
 */
#pragma once

#if SUMS_F16
#define SUM_TYPE "f16"
typedef unsigned sum_t; /* two elements */
template <int N> constexpr int SUMS = N / 4;
#else
#define SUM_TYPE "f32"
typedef float sum_t;
template <int N> constexpr int SUMS = N / 2;
#endif

/* The pair of neighbouring columns that elements 2 i and 2 i + 1 are. */
template <int COUNT>
__device__ inline float2 sum_pair(const sum_t (&d)[COUNT], int i)
{
#if SUMS_F16
    return unpack(d[i]);
#else
    return make_float2(d[2 * i], d[2 * i + 1]);
#endif
}
