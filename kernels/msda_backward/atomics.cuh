/*
 * atomics: LANES lanes per item; each point's four shares go to grad_value by red instructions, RED channels each.
 * Blocks are tiles of QUERIES queries x HEADS heads of an image, as query_order.cuh numbers them.
 *
 * grid = ceil_div(Lq, QUERIES) * (M/HEADS) * N, block = THREADS
 */
#pragma once

#include "gather.cuh"
#include "red.cuh"
#include "../msda/query_order.cuh"

constexpr int QUERIES = GROUPS / HEADS;
static_assert(GROUPS % HEADS == 0 && M % HEADS == 0, "whole queries per block, whole groups of heads per query");
constexpr unsigned TILES_OF_IMAGE = ceil_div(LQ, QUERIES);

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_atomics(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    unsigned tile = blockIdx.x % TILES_OF_IMAGE, heads = blockIdx.x / TILES_OF_IMAGE % (M / HEADS), group = threadIdx.x / LANES;
    int number = (int)(tile * QUERIES + group / HEADS);
    Item item = item_at(value, sums, blockIdx.x / (TILES_OF_IMAGE * (M / HEADS)), query_at<QUERIES>(min(number, LQ - 1)), heads * HEADS + group % HEADS, number < LQ);
    Gradient gradient = load_gradient(grad_out, item);
    auto add = [&](int pixel, int channel, const float(&channels)[VEC]) { add_piece(item.sums + (long long)pixel * PIXEL + channel, channels); };
#pragma unroll 1
    for (int l = 0; l < L; l++)
        level_of_item(level_at(l), l, item, gradient, loc, attn, grad_loc, grad_attn, add);
}
