/*
 * baseline: the first published algorithm. One thread computes one output element and does all of the
 * coordinate arithmetic itself, D times what is needed. Neighbouring threads read neighbouring channels.
 *
 * grid = ceil_div(N*Lq*M*D, THREADS)
 */
#pragma once

#include "softmax.cuh"

/* The value at (row, column) of a level, zero outside it. */
__device__ inline float pixel_or_zero(const value_t *level, int row, int column, int height, int width)
{
    if (row < 0 || row >= height || column < 0 || column >= width)
        return 0.0f;
    return float(level[((long long)row * width + column) * (M * D)]);
}

__device__ inline float bilinear(const value_t *level, float x, float y, int height, int width)
{
    int column = (int)floorf(x), row = (int)floorf(y);
    float right = x - column, down = y - row;
    return (1 - down) * ((1 - right) * pixel_or_zero(level, row, column, height, width) +
                         right * pixel_or_zero(level, row, column + 1, height, width)) +
           down * ((1 - right) * pixel_or_zero(level, row + 1, column, height, width) +
                   right * pixel_or_zero(level, row + 1, column + 1, height, width));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    msda_baseline(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out)
{
    long long element = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (element >= (long long)N * LQ * M * D)
        return;
    long long item = element / D; /* (n, q, m) */
    int head = item % M;
    long long image = item / ((long long)LQ * M);
    const value_t *channel = value + image * ((long long)S * M * D) + head * D + element % D;

    float sum = 0.0f, log_sum = 0.0f;
    if (LOGITS)
        log_sum = log_sum_of_item<1>(attn + item * (L * P), 0, 0);
    for (int l = 0; l < L; l++) {
        int height = level_height(l), width = level_width(l);
        const value_t *level = channel + (long long)level_start(l) * (M * D);
        for (int p = 0; p < P; p++) {
            long long point = (item * L + l) * P + p;
            float x = fmaf(float(loc[2 * point]), width, -0.5f);
            float y = fmaf(float(loc[2 * point + 1]), height, -0.5f);
            if (x > -1 && x < width && y > -1 && y < height) /* false for NaN */
                sum += attention(float(attn[point]), log_sum) * bilinear(level, x, y, height, width);
        }
    }
    out[element] = value_t(sum);
}
