/*
 * The reference: everything in fp64 from the inputs as they are stored, but for the pixel coordinates, which problem.cuh
 * defines in f32. Plain loops that share nothing with the variants but that definition; sums into grad_value are atomic,
 * so their last bits (of fp64) depend on the order.
 *
 * Launches: msda_backward_reference_zero, ..._value (a thread per item and channel), ..._points (a thread per point).
 * grid = ceil_div(count, 256)
 */
#pragma once

/* What one axis of a sample reads: pixels `first` and first + 1, the second one's share. */
struct ReferenceAxis {
    int first;
    double share;
    bool counts;
};

__device__ inline ReferenceAxis reference_axis(loc_t location, int size)
{
    float at = fmaf(float(location), (float)size, -0.5f);
    if (!(at > -1.0f && at < (float)size))
        return {0, 0.0, false};
    return {(int)floor((double)at), (double)at - floor((double)at), true};
}

extern "C" __global__ void msda_backward_reference_zero(double *grad_value)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)N * S * M * D)
        grad_value[i] = 0.0;
}

extern "C" __global__ void msda_backward_reference_value(const loc_t *loc, const loc_t *attn, const value_t *grad_out, double *grad_value)
{
    long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= (long long)N * LQ * M * D)
        return;
    long long item = element / D, image = item / ((long long)LQ * M);
    double gradient = (double)float(grad_out[element]);
    double *channel = grad_value + image * ((long long)S * M * D) + item % M * D + element % D;
    for (int i = 0; i < L * P; i++) {
        int l = i / P, height = level_height(l), width = level_width(l);
        long long point = item * (L * P) + i;
        ReferenceAxis x = reference_axis(loc[2 * point], width), y = reference_axis(loc[2 * point + 1], height);
        for (int corner = 0; corner < 4 && x.counts && y.counts; corner++) {
            int row = y.first + corner / 2, column = x.first + corner % 2;
            double weight = (corner / 2 ? y.share : 1 - y.share) * (corner % 2 ? x.share : 1 - x.share);
            if (row >= 0 && row < height && column >= 0 && column < width)
                atomicAdd(channel + (level_start(l) + (long long)row * width + column) * (M * D), weight * (double)float(attn[point]) * gradient);
        }
    }
}

/* Derivatives of the sample by its place and by its weight, channel after channel. */
extern "C" __global__ void msda_backward_reference_points(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out,
                                                          double *grad_loc, double *grad_attn)
{
    long long point = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= (long long)N * LQ * M * L * P)
        return;
    long long item = point / (L * P), image = item / ((long long)LQ * M);
    int l = point / P % L, height = level_height(l), width = level_width(l);
    const value_t *level = value + (image * S + level_start(l)) * ((long long)M * D) + item % M * D;
    ReferenceAxis x = reference_axis(loc[2 * point], width), y = reference_axis(loc[2 * point + 1], height);
    double by_x = 0.0, by_y = 0.0, sample = 0.0;
    for (int d = 0; d < D && x.counts && y.counts; d++) {
        double pixel[2][2], gradient = (double)float(grad_out[item * D + d]);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                int row = y.first + i, column = x.first + j;
                bool inside = row >= 0 && row < height && column >= 0 && column < width;
                pixel[i][j] = inside ? (double)float(level[((long long)row * width + column) * (M * D) + d]) : 0.0;
            }
        double above = pixel[0][0] * (1 - x.share) + pixel[0][1] * x.share, below = pixel[1][0] * (1 - x.share) + pixel[1][1] * x.share;
        by_x += gradient * ((1 - y.share) * (pixel[0][1] - pixel[0][0]) + y.share * (pixel[1][1] - pixel[1][0]));
        by_y += gradient * (below - above);
        sample += gradient * (above * (1 - y.share) + below * y.share);
    }
    double weight = x.counts && y.counts ? (double)float(attn[point]) : 0.0;
    grad_loc[2 * point] = weight * width * by_x;
    grad_loc[2 * point + 1] = weight * height * by_y;
    grad_attn[point] = sample;
}
