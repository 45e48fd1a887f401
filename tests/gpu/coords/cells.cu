/*
 * Which points fall into another cell when their coordinates are computed in f16: out = 1 where the cell is the same as in f32, else 0. The
 * reference is 1 everywhere, so a row's error, ||out - 1|| / ||1||, is the square root of the share of points in another cell.
 */
#include "coords.cuh"

typedef unsigned long long u64;

extern "C" __global__ void cells_reference(const float *, double *out)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SHAPE_POINTS)
        out[i] = 1.0;
}

#if !MT_SUPPORT
__device__ inline bool same_cell(float2 a, float2 b)
{
    return floorf(a.x) == floorf(b.x) && floorf(a.y) == floorf(b.y);
}

extern "C" __global__ void cells(const float *loc, float *out)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SHAPE_POINTS)
        return;
    half2 rounded = __floats2half2_rn(loc[2 * i], loc[2 * i + 1]);
#if ALGO == ALGO_given_f16
    float2 given = __half22float2(rounded); /* f16 locations are taken as they are */
#else
    float2 given = make_float2(loc[2 * i], loc[2 * i + 1]);
#endif
    out[i] = same_cell(coordinates_f32(given.x, given.y, SHAPE_H, SHAPE_W), coordinates_f16(rounded, SHAPE_H, SHAPE_W)) ? 1.0f : 0.0f;
}
#endif
