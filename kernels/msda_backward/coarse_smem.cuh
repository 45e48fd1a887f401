/*
 * coarse_smem: as atomics, but a block owns a head of an image and a part of its queries, and sums up the gradients of the
 * coarsest STAGED_LEVELS levels in shared memory; at the end these go to grad_value, those that are not zero.
 *
 *     shared memory: f32 [pixels of the staged levels][D]. Groups of lanes add to pixels of their own at one time, and all
 *     pixels begin in the same bank: channel c of a pixel lies at c ^ (pixel mod VEC), so that different pixels' first
 *     channels lie in different banks.
 *
 * grid = SPLIT * N*M, block = THREADS, smem = (S - start of the first staged level) * D * 4
 */
#pragma once

#include "gather.cuh"
#include "red.cuh"
#include "../msda/query_order.cuh"

static_assert(STAGED_LEVELS <= L, "there are not as many levels");
constexpr int FIRST_STAGED = L - STAGED_LEVELS, STAGED_START = level_start(FIRST_STAGED), STAGED_PIXELS = S - STAGED_START;
constexpr int SWIZZLE = VEC & (VEC - 1) ? 1 : VEC; /* a power of two */

__device__ inline int place_in_pixel(int pixel, int channel)
{
    return channel ^ pixel % SWIZZLE;
}

__device__ inline void clear_staged(float *staged)
{
    for (int i = threadIdx.x; i < STAGED_PIXELS * D; i += THREADS)
        staged[i] = 0.0f;
    __syncthreads();
}

__device__ inline void flush_staged(const float *staged, sum_t *sums)
{
    __syncthreads();
    for (int i = threadIdx.x; i < STAGED_PIXELS * D; i += THREADS) {
        int pixel = i / D, channel = i % D;
        float sum = staged[pixel * D + place_in_pixel(pixel, channel)];
        if (sum != 0.0f) /* NaN too */
            atomicAdd(sums + (long long)(STAGED_START + pixel) * PIXEL + channel, sum);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_coarse_smem(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    extern __shared__ float staged[];
    constexpr int PART = ceil_div(ceil_div(LQ, SPLIT), GROUPS) * GROUPS; /* queries per block */
    int part = blockIdx.x % SPLIT, head = blockIdx.x / SPLIT % M, image = blockIdx.x / (SPLIT * M);
    clear_staged(staged);
#pragma unroll 1
    for (int i = part * PART + threadIdx.x / LANES; i - (int)threadIdx.x / LANES < smaller(LQ, (part + 1) * PART); i += GROUPS) {
        Item item = item_at(value, sums, image, query_at<GROUPS>(min(i, LQ - 1)), head, i < LQ);
        Gradient gradient = load_gradient(grad_out, item);
        auto add_far = [&](int pixel, int channel, const float(&channels)[VEC]) { add_piece(item.sums + (long long)pixel * PIXEL + channel, channels); };
        auto add_near = [&](int pixel, int channel, const float(&channels)[VEC]) {
            pixel -= STAGED_START;
#pragma unroll
            for (int c = 0; c < VEC; c++)
                atomicAdd(staged + pixel * D + place_in_pixel(pixel, channel + c), channels[c]);
        };
#pragma unroll 1
        for (int l = 0; l < FIRST_STAGED; l++)
            level_of_item(level_at(l), l, item, gradient, loc, attn, grad_loc, grad_attn, add_far);
#pragma unroll 1
        for (int l = FIRST_STAGED; l < L; l++)
            level_of_item(level_at(l), l, item, gradient, loc, attn, grad_loc, grad_attn, add_near);
    }
    flush_staged(staged, sums + (long long)image * S * PIXEL + head * D);
}
