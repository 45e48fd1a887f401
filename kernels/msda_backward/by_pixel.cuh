/*
 * by_pixel: each pixel gathers what its points give it, instead of points adding to pixels. So grad_value is written once, in its own type: it is not
 * zeroed before, not added to atomically, not rounded from sums after. That is most of the time where queries are few and images large (decoders).
 *
 * First launch, blocks of two kinds, so that one kind's latency hides behind the other's:
 *     the first N*M*L   sort the corners of a list's points by the pixel they are in, with a counter for each pixel of the level in shared memory
 *                           shares [N*M][L][4*Lq*P]   of each list; as many as there are corners, the rest is not written
 *                           ranges [N*M][S]           where a pixel's shares begin and end in [L][4*Lq*P]; those of a pixel of no level are none
 *     the others        own gradients, of an item and level for each group of LANES lanes
 *     grid = N*M*L + ceil_div(N*Lq*M, OWN_GROUPS)*L, block = SORT_THREADS, smem: counters of the level with most, and a
 *           list's shares where STAGES_SHARES
 *
 * Second launch: a group of LANES lanes adds up the shares of BINS neighbouring pixels of a head. Each lane loads one of LANES shares, and the group
 * their rows of grad_out, UNROLL in flight together, while the next shares are on their way. Coarse levels, whose pixels have most, go first.
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

/* Counters of a list's shares, of 16 bits where these suffice: half of the shared memory, and levels twice as large. */
constexpr bool SHORT_COUNTERS = 4ll * LIST < 1 << 16;
typedef typename Word<SHORT_COUNTERS ? 2 : 4>::type counter_t;

__device__ inline unsigned count_share(counter_t *counters, int pixel)
{
    if (!SHORT_COUNTERS)
        return atomicAdd((unsigned *)counters + pixel, 1u);
    unsigned shift = pixel % 2 * 16; /* two counters a word: neither overflows into the other */
    return atomicAdd((unsigned *)counters + pixel / 2, 1u << shift) >> shift & 0xffff;
}

/* Shares are sorted in shared memory where they fit: stores of 8 bytes to anywhere take longer than all the rest. */
constexpr bool STAGES_SHARES = 32ll * LIST <= 65536;

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
static_assert(4ll * L * LIST < (1ll << 31) - 32, "a head's shares are counted in 31 bits");

/* Pixels from the end of the level before to this one's begin, and after the last one, are of no level. */
__device__ inline void store_gaps(int level, Range *ranges)
{
    const Level before = level ? level_at(level - 1) : Level{0, 0, 0}, at = level_at(level);
    for (int i = before.start + before.height * before.width + threadIdx.x; i < at.start; i += SORT_THREADS)
        ranges[i] = {0, 0};
    for (int i = at.start + at.height * at.width + threadIdx.x; level == L - 1 && i < S; i += SORT_THREADS)
        ranges[i] = {0, 0};
}

/* SORT_BATCH points of a list, SORT_THREADS apart, whose loads are in flight together. */
constexpr unsigned BATCH = SORT_THREADS * SORT_BATCH;

struct Batch {
    unsigned first;
    Location at[SORT_BATCH];
    float weight[SORT_BATCH];
};

__device__ inline Batch load_batch(const List &list, unsigned first, const loc_t *loc, const loc_t *attn)
{
    Batch batch = {first};
#pragma unroll
    for (int i = 0; i < SORT_BATCH; i++)
        if (first + i * SORT_THREADS < LIST) {
            long long place = point_number(list, first + i * SORT_THREADS);
            batch.at[i] = load_location(loc + 2 * place);
            batch.weight[i] = float(__ldg(attn + place));
        }
    return batch;
}

/* DO(pixel, share) for all corners of the list's points that are this thread's, beginning with a batch that is on its way. */
template <typename DO>
__device__ inline void for_shares(Batch batch, const List &list, const Level &level, const loc_t *loc, const loc_t *attn, DO act)
{
#pragma unroll 1
    while (true) {
#pragma unroll
        for (int i = 0; i < SORT_BATCH; i++)
            if (batch.first + i * SORT_THREADS < LIST)
                for_corners(batch.at[i], level, [&](int pixel, float weight) { act(pixel, Share{batch.weight[i] * weight, (int)((batch.first + i * SORT_THREADS) / P)}); });
        if (LIST <= BATCH || batch.first + BATCH >= LIST)
            return;
        batch = load_batch(list, batch.first + BATCH, loc, attn);
    }
}

__device__ inline void sort_list(unsigned number, const loc_t *loc, const loc_t *attn, Share *shares, Range *ranges)
{
    extern __shared__ __align__(8) char memory[];
    counter_t *counters = (counter_t *)memory;
    List list = list_number(number);
    Level level = level_at(list.level);
    int pixels = level.height * level.width, first = list.level * (4 * LIST), bytes = (pixels * (int)sizeof(counter_t) + 7) / 8 * 8;
    Batch batch = load_batch(list, threadIdx.x, loc, attn);
    for (int i = threadIdx.x; i < bytes / 4; i += SORT_THREADS)
        ((int *)memory)[i] = 0;
    __syncthreads();
    for_shares(batch, list, level, loc, attn, [&](int pixel, const Share &) { count_share(counters, pixel); });
    __syncthreads();
    sums_before<SORT_THREADS>(counters, pixels);
    if (LIST > BATCH) /* else it is still there */
        batch = load_batch(list, threadIdx.x, loc, attn);
    shares += 4ll * LIST * number;
    Share *sorted = STAGES_SHARES ? (Share *)(memory + bytes) : shares;
    for_shares(batch, list, level, loc, attn, [&](int pixel, const Share &share) { sorted[count_share(counters, pixel)] = share; });
    __syncthreads();
    for (int i = threadIdx.x; STAGES_SHARES && i < (int)counters[pixels - 1]; i += SORT_THREADS)
        shares[i] = sorted[i];
    ranges += (list.image * M + list.head) * S;
    for (int i = threadIdx.x; i < pixels; i += SORT_THREADS)
        ranges[level.start + i] = {first + (i ? (int)counters[i - 1] : 0), first + (int)counters[i]};
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

/* At least 1024 threads per SM: reads are in flight for all of a small problem's points. */
extern "C" __global__ void __launch_bounds__(SORT_THREADS, 1024 / SORT_THREADS)
    msda_backward_by_pixel_sort(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, Share *shares, Range *ranges, loc_t *grad_loc, loc_t *grad_attn)
{
    constexpr unsigned LISTS = N * M * L;
    if (blockIdx.x < LISTS)
        sort_list(blockIdx.x, loc, attn, shares, ranges);
    else
        own_gradients(blockIdx.x - LISTS, value, loc, attn, grad_out, grad_loc, grad_attn);
}

/* The lanes of this one's group. */
__device__ inline unsigned group_mask()
{
    return (0xffffffffu >> (32 - LANES)) << (threadIdx.x % 32 - lane_in_group());
}

/* This lane's of the LANES shares that begin at `begin`: a weight of 0 beyond the end. */
__device__ inline Share load_share(const Range &range, const Share *shares)
{
    int i = range.begin + lane_in_group();
    uint2 bits = i < range.end ? __ldg((const uint2 *)(shares + i)) : make_uint2(0, 0);
    return {__uint_as_float(bits.x), (int)bits.y};
}

__device__ inline void add_row(float (&sum)[PIECES][VEC], float weight, const Piece (&row)[PIECES])
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        float channels[VEC];
        widen(channels, row[piece]);
#pragma unroll
        for (int c = 0; c < VEC; c++)
            sum[piece][c] = fmaf(weight, channels[c], sum[piece][c]);
    }
}

constexpr int ROWS = smaller(UNROLL, LANES); /* of grad_out, in flight together */

/* Adds a pixel's shares of the lane's channels. All lanes of the group. */
__device__ inline void add_shares(float (&sum)[PIECES][VEC], Range range, Share share, const Share *shares, const value_t *grad_out)
{
    const unsigned group = group_mask();
#pragma unroll 1
    while (range.begin < range.end) {
        int count = min(range.end - range.begin, LANES);
        range.begin += LANES;
        Share next = load_share(range, shares);
        Piece row[ROWS][PIECES];
#pragma unroll
        for (int first = 0; first < LANES; first += ROWS) {
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                int query = __shfl_sync(group, share.query, first + i, LANES);
#pragma unroll
                for (int piece = 0; piece < PIECES; piece++)
                    row[i][piece] = first + i < count && has_piece(piece) ? load_piece(grad_out + (long long)query * PIXEL + first_channel(piece)) : zero_piece();
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                add_row(sum, __shfl_sync(group, share.weight, first + i, LANES), row[i]);
            if (first + ROWS >= count)
                break;
        }
        share = next;
    }
}

/* Up to 16 bytes of neighbouring channels as they are stored. */
constexpr int STEP = smaller(VEC, 16 / (int)sizeof(grad_t));

struct alignas(STEP * sizeof(grad_t)) Stored {
    grad_t channel[STEP];
};

__device__ inline void round_channels(Stored (&rounded)[VEC / STEP], const float (&channels)[VEC])
{
#pragma unroll
    for (int i = 0; i < VEC; i++)
        rounded[i / STEP].channel[i % STEP] = grad_t(channels[i]);
}

/*
 * A lane's 32 bytes are two stores. Were each lane's first half one store, it would write half of each sector of 32 bytes, and L2 takes twice as long for
 * that. So pairs of lanes exchange: an even lane takes both first halves, an odd one both second halves, of the pair's two sectors in turn.
 */
constexpr bool EXCHANGES = VEC == 2 * STEP && LANES > 1 && FILLS_LANES && sizeof(Stored) == 16;

__device__ inline void exchange_halves(Stored &first, Stored &second)
{
    bool is_odd = threadIdx.x & 1;
    unsigned *words[2] = {(unsigned *)&first, (unsigned *)&second};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned other = __shfl_xor_sync(group_mask(), is_odd ? words[0][i] : words[1][i], 1);
        words[0][i] = is_odd ? other : words[0][i];
        words[1][i] = is_odd ? words[1][i] : other;
    }
}

/* `at`: the lane's first channel. All lanes of the group. */
__device__ inline void store_channels(grad_t *at, const float (&channels)[VEC])
{
    Stored rounded[VEC / STEP];
    round_channels(rounded, channels);
    if constexpr (EXCHANGES) {
        exchange_halves(rounded[0], rounded[1]);
        at -= threadIdx.x & 1 ? VEC - STEP : 0;
    }
#pragma unroll
    for (int i = 0; i < VEC / STEP; i++)
        *(Stored *)(at + i * (EXCHANGES ? VEC : STEP)) = rounded[i];
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) msda_backward_by_pixel(const value_t *grad_out, const Share *shares, const Range *ranges, grad_t *grad_value)
{
    constexpr unsigned RUNS = ceil_div(S, BINS);
    unsigned number = blockIdx.x / N * GROUPS + threadIdx.x / LANES, head = number % M;
    long long image = blockIdx.x % N, list = image * M + head;
    if (number >= RUNS * M)
        return;
    int pixel = (int)(RUNS - 1 - number / M) * BINS;
    ranges += list * S + pixel;
    shares += list * (4ll * L * LIST);
    grad_out += (image * LQ * M + head) * D;
    grad_value += ((image * S + pixel) * M + head) * D;
    Range range[BINS];
    Share share[BINS];
#pragma unroll
    for (int k = 0; k < BINS; k++) {
        int2 bits = pixel + k < S ? __ldg((const int2 *)ranges + k) : make_int2(0, 0);
        range[k] = {bits.x, bits.y};
    }
#pragma unroll
    for (int k = 0; k < BINS; k++)
        share[k] = load_share(range[k], shares);
#pragma unroll
    for (int k = 0; k < BINS; k++) {
        float sum[PIECES][VEC] = {};
        add_shares(sum, range[k], share[k], shares, grad_out);
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++)
            if (pixel + k < S && has_piece(piece))
                store_channels(grad_value + (long long)k * PIXEL + first_channel(piece), sum[piece]);
    }
}
