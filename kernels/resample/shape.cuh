/*
 * The problem of a compiled variant: types and sizes, all baked.
 *
 *     source  [B][S][D] value_t (bf16, f16, f32)   S rows of a trajectory
 *     times   [B][S]    f32, ascending             when each row was
 *     targets [B][T]    f32, any order             when a row is wanted
 *     out     [B][T][D] value_t
 *
 *     i   = the largest with times[i] <= target, 0 if there is none, and S - 2 at most
 *     dt  = times[i+1] - times[i]
 *     w   = (target - times[i]) / dt, at least 0 and at most 1; 0 where dt <= 0 (equal times); NaN for a NaN target
 *     out = left + w * (right - left) in f32, left and right being rows i and i + 1; the only row where S = 1
 *
 * Offsets inside a trajectory (S*D, T) are 32 bits; what grows with B is 64 bits.
 */
#pragma once

constexpr int B = SHAPE_B, S = SHAPE_S, T = SHAPE_T, D = SHAPE_D;

#if SHAPE_dtype == SHAPE_dtype_bf16
#include <cuda_bf16.h>
typedef __nv_bfloat16 value_t;
#elif SHAPE_dtype == SHAPE_dtype_f16
#include <cuda_fp16.h>
typedef half value_t;
#elif SHAPE_dtype == SHAPE_dtype_f32
typedef float value_t;
#else
#error "expected dtype = bf16, f16 or f32"
#endif

constexpr int ROW = D * sizeof(value_t); /* bytes */
static_assert((long long)S * D < 0x7fffffff && T < 0x7fffffff, "a trajectory's elements are counted in 31 bits");

__device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ constexpr int smaller(int a, int b)
{
    return a < b ? a : b;
}
