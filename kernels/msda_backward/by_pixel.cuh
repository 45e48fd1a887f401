/*
 * by_pixel: each pixel gathers what its points give it, instead of points adding to pixels. So grad_value is written once, in its own type: it is not
 * zeroed before, not added to atomically, not rounded from sums after. That is most of the time where queries are few and images large (decoders).
 *
 * First launch, blocks of two kinds, so that one kind's latency hides behind the other's:
 *     the first N*M*L   sort the corners of a list's points by the pixel they are in, with a counter for each pixel of the level in shared memory
 *                           shares [N*M][L][4*Lq*P]   of each list; as many as there are corners, the rest is not written
 *                           ranges [N*M][S]           where a pixel's shares begin and end in [L][4*Lq*P]; those of a pixel of no level are none
 *     the others        own gradients, of an item and level for each group of LANES lanes
 *     grid = N*M*L + ceil_div(N*Lq*M, OWN_GROUPS)*L, block = SORT_THREADS, smem = pixels of the level with most * 4
 *
 * Second launch: a group of LANES lanes adds up the shares of BINS neighbouring pixels of a head. Most pixels of large levels have none: their zeros are
 * stored after a look at their ranges. Coarse levels, whose pixels have most, go first.
 *     grid = ceil_div(ceil_div(S, BINS)*M, GROUPS)*N, block = THREADS
 *
 * Within a pixel the order is that of arrival: it is the only thing about this variant that differs from run to run.
 */
#pragma once

#include "cells.cuh"
#include "gather.cuh"
#include "lists.cuh"

constexpr int OWN_GROUPS = SORT_THREADS / LANES;

/* What a corner adds to its pixel: `weight` times the query's grad_out. */
struct alignas(8) Share {
    float weight;
    int query;
};

/* DO(pixel of the level, the corner's weight) for each corner of a point that is a pixel. */
template <typename DO>
__device__ inline void for_corners(const Location &at, const Level &level, DO act)
{
    float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
    if (!counts(x, y, level))
        return;
    Cell cell = cell_of(x, y);
#pragma unroll
    for (int corner = 0; corner < 4; corner++)
        if (has_pixel(cell, corner, level))
            act(pixel_number(cell, corner, level) - level.start, corner_weight(cell, corner));
}

/* Where shares begin and end, in those of all levels of a head of an image. */
struct alignas(8) Range {
    int begin, end;
};
static_assert(4ll * L * LIST < 1ll << 31, "a head's shares are counted in 31 bits");

/* Pixels from the end of the level before to this one's begin, and after the last one, are of no level. */
__device__ inline void store_gaps(int level, Range *ranges)
{
    const Level before = level ? level_at(level - 1) : Level{0, 0, 0}, at = level_at(level);
    for (int i = before.start + before.height * before.width + threadIdx.x; i < at.start; i += SORT_THREADS)
        ranges[i] = {0, 0};
    for (int i = at.start + at.height * at.width + threadIdx.x; level == L - 1 && i < S; i += SORT_THREADS)
        ranges[i] = {0, 0};
}

__device__ inline void sort_list(unsigned number, const loc_t *loc, const loc_t *attn, Share *shares, Range *ranges)
{
    extern __shared__ int counters[];
    List list = list_number(number);
    Level level = level_at(list.level);
    int pixels = level.height * level.width, first = list.level * (4 * LIST);
    for (int i = threadIdx.x; i < pixels; i += SORT_THREADS)
        counters[i] = 0;
    __syncthreads();
    for_points(list, loc, [&](unsigned, long long, const Location &at) {
        for_corners(at, level, [&](int pixel, float) { atomicAdd(counters + pixel, 1); });
    });
    __syncthreads();
    sums_before<SORT_THREADS>(counters, pixels);
    shares += 4ll * LIST * number;
    for_points(list, loc, [&](unsigned point, long long place, const Location &at) {
        float weight = float(__ldg(attn + place));
        for_corners(at, level, [&](int pixel, float of_corner) { shares[atomicAdd(counters + pixel, 1)] = {weight * of_corner, (int)(point / P)}; });
    });
    __syncthreads();
    ranges += (list.image * M + list.head) * S;
    for (int i = threadIdx.x; i < pixels; i += SORT_THREADS)
        ranges[level.start + i] = {first + (i ? counters[i - 1] : 0), first + counters[i]};
    store_gaps(list.level, ranges);
}

/* Groups of a block take neighbouring items of one level. */
__device__ inline void own_gradients(unsigned block, const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, loc_t *grad_loc, loc_t *grad_attn)
{
    constexpr unsigned BLOCKS_OF_LEVEL = (unsigned)((ITEMS_IN_ALL + OWN_GROUPS - 1) / OWN_GROUPS);
    unsigned l = block / BLOCKS_OF_LEVEL, number = block % BLOCKS_OF_LEVEL * OWN_GROUPS + threadIdx.x / LANES;
    bool exists = number < ITEMS_IN_ALL;
    number = exists ? number : 0;
    Item item = item_at(value, nullptr, number / (LQ * M), number / M % LQ, number % M, exists);
    Gradient gradient = load_gradient(grad_out, item);
    level_of_item(level_at(l), l, item, gradient, loc, attn, grad_loc, grad_attn, [](int, int, const float(&)[VEC]) {});
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS) msda_backward_by_pixel_sort(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out,
                                                                                      Share *shares, Range *ranges, loc_t *grad_loc, loc_t *grad_attn)
{
    constexpr unsigned LISTS = N * M * L;
    if (blockIdx.x < LISTS)
        sort_list(blockIdx.x, loc, attn, shares, ranges);
    else
        own_gradients(blockIdx.x - LISTS, value, loc, attn, grad_out, grad_loc, grad_attn);
}

/* Adds what shares give the lane's channels; UNROLL rows of grad_out are in flight together. */
__device__ inline void add_shares(float (&sum)[PIECES][VEC], const Range &range, const Share *shares, const value_t *grad_out)
{
#pragma unroll 1
    for (int i = range.begin; i < range.end; i += UNROLL) {
        Share share[UNROLL];
        Piece gradient[UNROLL][PIECES];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            uint2 bits = i + k < range.end ? __ldg((const uint2 *)(shares + i + k)) : make_uint2(0, 0);
            share[k] = {__uint_as_float(bits.x), (int)bits.y};
        }
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                gradient[k][piece] = i + k < range.end && has_piece(piece) ? load_piece(grad_out + (long long)share[k].query * PIXEL + first_channel(piece)) : zero_piece();
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++) {
                float channels[VEC];
                widen(channels, gradient[k][piece]);
#pragma unroll
                for (int c = 0; c < VEC; c++)
                    sum[piece][c] = fmaf(share[k].weight, channels[c], sum[piece][c]);
            }
    }
}

/* Neighbouring channels as they are stored, 16 bytes at a time. */
__device__ inline void store_channels(grad_t *at, const float (&channels)[VEC])
{
    constexpr int STEP = smaller(VEC, 16 / (int)sizeof(grad_t));
    struct alignas(STEP * sizeof(grad_t)) Channels {
        grad_t channel[STEP];
    };
#pragma unroll
    for (int i = 0; i < VEC; i += STEP) {
        Channels rounded;
#pragma unroll
        for (int k = 0; k < STEP; k++)
            rounded.channel[k] = grad_t(channels[i + k]);
        *(Channels *)(at + i) = rounded;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) msda_backward_by_pixel(const value_t *grad_out, const Share *shares, const Range *ranges, grad_t *grad_value)
{
    constexpr unsigned RUNS = ceil_div(S, BINS), BLOCKS_OF_IMAGE = ceil_div(RUNS * M, GROUPS);
    unsigned number = blockIdx.x % BLOCKS_OF_IMAGE * GROUPS + threadIdx.x / LANES, head = number % M;
    long long image = blockIdx.x / BLOCKS_OF_IMAGE, list = image * M + head;
    if (number >= RUNS * M)
        return;
    int pixel = (int)(RUNS - 1 - number / M) * BINS;
    ranges += list * S + pixel;
    shares += list * (4ll * L * LIST);
    grad_out += (image * LQ * M + head) * D;
    grad_value += ((image * S + pixel) * M + head) * D;
    Range range[BINS];
#pragma unroll
    for (int k = 0; k < BINS; k++) {
        int2 bits = pixel + k < S ? __ldg((const int2 *)ranges + k) : make_int2(0, 0);
        range[k] = {bits.x, bits.y};
    }
#pragma unroll
    for (int k = 0; k < BINS; k++) {
        float sum[PIECES][VEC] = {};
        add_shares(sum, range[k], shares, grad_out);
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++)
            if (pixel + k < S && has_piece(piece))
                store_channels(grad_value + (long long)k * PIXEL + first_channel(piece), sum[piece]);
    }
}
