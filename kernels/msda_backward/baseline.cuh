/*
 * baseline: the first published algorithm. A block per item, a thread per channel; for each point each thread adds its
 * channel to the four pixels, atomically, and the channels' parts of the point's own gradients are summed up in shared
 * memory: by the first thread up to 32 channels, by halving beyond.
 *
 * grid = N*Lq*M (in x), block = D
 */
#pragma once

#include "sums.cuh"

constexpr bool ONE_THREAD_SUMS = D <= 32;

/* The sum over the block's threads, for the first one. Everybody takes part. */
__device__ inline PointGradient sum_over_channels(PointGradient (&parts)[D], PointGradient own)
{
    int channel = threadIdx.x;
    parts[channel] = own;
    __syncthreads();
    if (ONE_THREAD_SUMS && channel == 0)
        for (int d = 1; d < D; d++)
            own = {own.x + parts[d].x, own.y + parts[d].y, own.attn + parts[d].attn};
    for (int left = D; !ONE_THREAD_SUMS && left > 1; left = ceil_div(left, 2)) {
        int half = ceil_div(left, 2);
        if (channel + half < left)
            parts[channel] = own = {own.x + parts[channel + half].x, own.y + parts[channel + half].y, own.attn + parts[channel + half].attn};
        __syncthreads();
    }
    __syncthreads(); /* before parts are written again */
    return own;
}

extern "C" __global__ void __launch_bounds__(D)
    msda_backward_baseline(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    __shared__ PointGradient parts[D];
    long long item = blockIdx.x, first = item / ((long long)LQ * M) * S * PIXEL + item % M * D + threadIdx.x;
    float gradient = float(grad_out[item * D + threadIdx.x]);
    for (int i = 0; i < POINTS; i++) {
        long long point = item * POINTS + i;
        Level level = level_at(i / P);
        float x = pixel_coordinate(loc[2 * point], level.width), y = pixel_coordinate(loc[2 * point + 1], level.height);
        PointGradient own = {0.0f, 0.0f, 0.0f};
        if (counts(x, y, level)) {
            Cell cell = cell_of(x, y);
            float weight = float(attn[point]), dot[4];
            for (int corner = 0; corner < 4; corner++) {
                dot[corner] = 0.0f;
                if (!has_pixel(cell, corner, level))
                    continue;
                long long offset = first + (long long)pixel_number(cell, corner, level) * PIXEL;
                dot[corner] = gradient * float(value[offset]);
                atomicAdd(sums + offset, weight * corner_weight(cell, corner) * gradient);
            }
            own = point_gradient(dot, cell, level, weight);
        }
        own = sum_over_channels(parts, own);
        if (threadIdx.x == 0) {
            grad_loc[2 * point] = loc_t(own.x);
            grad_loc[2 * point + 1] = loc_t(own.y);
            grad_attn[point] = loc_t(own.attn);
        }
    }
}
