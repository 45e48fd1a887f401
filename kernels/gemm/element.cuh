/*
 * The 16-bit elements that sums are rounded to, in pairs, and what sizes are rounded up to. ELEMENT_IS_F16: f16, else bf16.
 */
#pragma once

#include <cuda_fp16.h>

#if ELEMENT_IS_F16
typedef half element_t;
#else
#include <cuda_bf16.h>
typedef __nv_bfloat16 element_t;
#endif

__device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ constexpr int align_up(int a, int b)
{
    return ceil_div(a, b) * b;
}

__device__ inline unsigned pack(float low, float high)
{
#if ELEMENT_IS_F16
    half2 both = __floats2half2_rn(low, high);
#else
    __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
#endif
    return *(unsigned *)&both;
}

__device__ inline float2 unpack(unsigned both)
{
#if ELEMENT_IS_F16
    return __half22float2(*(half2 *)&both);
#else
    return __bfloat1622float2(*(__nv_bfloat162 *)&both);
#endif
}
