/*
 * Where a point lies among the pixels of a level, computed in f32 or in f16.
 *
 *     f32   x*W - 1/2, rounded once: right to some 10^-5 pixels
 *     f16   the location rounded to half, times W rounded to half, minus 1/2 rounded to half, both axes at once: between 128 and 160 neighbouring
 *           halves are 1/8 of a pixel apart, so a coordinate just below a pixel is rounded up to it and the point falls into the next cell
 */
#pragma once

#include <cuda_fp16.h>

/* In pixels of the level: column, row. */
__device__ inline float2 coordinates_f32(float x, float y, int height, int width)
{
    return make_float2(fmaf(x, (float)width, -0.5f), fmaf(y, (float)height, -0.5f));
}

__device__ inline float2 coordinates_f16(half2 location, int height, int width)
{
    half2 size = __floats2half2_rn((float)width, (float)height);
    half2 scaled = __hmul2_rn(location, size); /* _rn: never fused with what follows */
    return __half22float2(__hsub2(scaled, __float2half2_rn(0.5f)));
}
