/*
 * The reference: a thread per output element, a plain walk over all times, fp64 from the inputs as they are stored.
 *
 * grid = ceil_div(B*T*D, 256)
 */
#pragma once

#include "shape.cuh"

extern "C" __global__ void resample_reference(const value_t *source, const float *times, const float *targets, double *out)
{
    long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= (long long)B * T * D)
        return;
    long long trajectory = element / D / T;
    double target = targets[element / D];
    const float *time = times + trajectory * S;
    int row = 0;
    for (int i = 0; i <= S - 2; i++)
        row = time[i] <= target ? i : row;
    const value_t *left = source + (trajectory * S + row) * D + element % D, *right = S > 1 ? left + D : left;
    double dt = S > 1 ? (double)time[row + 1] - (double)time[row] : 0.0;
    double weight = dt > 0 ? (target - time[row]) / dt : 0.0;
    weight = weight < 0 ? 0.0 : weight > 1 ? 1.0 : weight;
    if (target != target)
        weight = target;
    out[element] = (double)float(*left) + weight * ((double)float(*right) - (double)float(*left));
}
