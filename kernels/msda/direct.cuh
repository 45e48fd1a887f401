/*
 * direct: LANES lanes gather for one (query, head) straight from L1 and L2, VEC channels at a time.
 *
 *     block    ITEMS = THREADS/GROUP items = QUERIES queries x HEADS neighbouring heads
 *     warp     32/GROUP items; first the whole warp turns their points of PREP levels into records (points.cuh),
 *              then each group reads its item's records, and its lanes load 4 corners of VEC channels per point
 *     grid     ceil_div(Lq, QUERIES) * M/HEADS * N blocks in one dimension; ORDER says what runs fastest
 *     smem     ITEMS * RECORD_STRIDE records
 *
 * What limits it is the L1 data path: a quarter-warp's 16-byte pieces must lie in different places modulo 128 bytes.
 * With 64-byte pixels two groups share a quarter-warp, and collide half of the time. CORNERS decides:
 *
 *     plain    left pixel, then right pixel
 *     parity   neighbouring groups begin with pixels of opposite parity, so with opposite halves of a 128-byte line
 *     pair     a group has 2*LANES lanes: one half has the left pixels, the other the right ones
 *
 * BLEND = half2 sums SUM points in half before it widens to f32; = f32 blends in f32. Values are assumed finite:
 * a pixel beside the four that count may be read and multiplied by zero.
 */
#pragma once

#include "points.cuh"
#include "query_order.cuh"

constexpr int QUERIES = ITEMS / HEADS;
constexpr int PIECES = ceil_div(D, LANES * VEC);          /* of VEC channels, per lane */
constexpr int PIXEL = M * D * sizeof(value_t);            /* bytes from a pixel to the next */
constexpr bool HALF_BLEND = BLEND == BLEND_half2;
constexpr int COLUMNS = CORNERS == CORNERS_pair ? 1 : 2;  /* of the 2x2 pixels, per lane */

static_assert(ITEMS % HEADS == 0 && M % HEADS == 0, "whole queries per block, whole head groups per query");
static_assert(!HALF_BLEND || sizeof(value_t) == 2, "half2 blends f16 values");
static_assert(D % VEC == 0 && SUM % UNROLL == 0, "whole pieces of channels, whole steps of points");

/* VEC channels of a pixel. */
struct alignas(8) Channels {
    unsigned word[VEC * sizeof(value_t) / 4];
};

__device__ inline Channels load_channels(const char *at)
{
    Channels channels;
    if constexpr (sizeof(Channels) % 16 == 0) {
        for (int i = 0; i < (int)sizeof(Channels); i += 16) {
            uint4 four = __ldg((const uint4 *)(at + i));
            channels.word[i / 4] = four.x;
            channels.word[i / 4 + 1] = four.y;
            channels.word[i / 4 + 2] = four.z;
            channels.word[i / 4 + 3] = four.w;
        }
    } else {
        uint2 two = __ldg((const uint2 *)at);
        channels.word[0] = two.x;
        channels.word[1] = two.y;
    }
    return channels;
}

/* A lane's part of its item. */
struct Lane {
    const char *image;       /* its first channel in pixel 0; one pixel on in odd groups of the parity order */
    int piece_bytes[PIECES]; /* from there to its pieces */
    int side;                /* pair: the column it reads, 0 or 1 */
};

#if BLEND == BLEND_half2

typedef half2 weight_t; /* twice the same */

/* What a lane sums up: in half over SUM points, in f32 over all. */
struct Sums {
    float total[PIECES][VEC];
    half2 part[PIECES][VEC / 2];
};

__device__ inline void add_weighted(Sums &sums, int piece, const Channels &channels, weight_t weight)
{
#pragma unroll
    for (int i = 0; i < VEC / 2; i++)
        sums.part[piece][i] = __hfma2(*(const half2 *)&channels.word[i], weight, sums.part[piece][i]);
}

__device__ inline void widen(Sums &sums)
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
        for (int i = 0; i < VEC / 2; i++) {
            float2 part = __half22float2(sums.part[piece][i]);
            sums.total[piece][2 * i] += part.x;
            sums.total[piece][2 * i + 1] += part.y;
            sums.part[piece][i] = __float2half2_rn(0.0f);
        }
}

__device__ inline void corner_weights(weight_t (&weights)[2][COLUMNS], Record record, int side)
{
    half2 flip = __floats2half2_rn(-1.0f, 1.0f), one = __floats2half2_rn(1.0f, 0.0f), fractions = record_fractions(record);
    half2 columns = __hfma2(__low2half2(fractions), flip, one); /* (1-f, f) */
    half2 rows = __hmul2(__hfma2(__high2half2(fractions), flip, one), record_weight(record));
    if constexpr (COLUMNS == 1) {
        half2 both = __hmul2(rows, side ? __high2half2(columns) : __low2half2(columns));
        weights[0][0] = __low2half2(both);
        weights[1][0] = __high2half2(both);
    } else {
        half2 top = __hmul2(columns, __low2half2(rows)), bottom = __hmul2(columns, __high2half2(rows));
        weights[0][0] = __low2half2(top);
        weights[0][COLUMNS - 1] = __high2half2(top);
        weights[1][0] = __low2half2(bottom);
        weights[1][COLUMNS - 1] = __high2half2(bottom);
    }
}

#else

typedef float weight_t;

struct Sums {
    float total[PIECES][VEC];
};

__device__ inline void add_weighted(Sums &sums, int piece, const Channels &channels, weight_t weight)
{
    const value_t *value = (const value_t *)channels.word;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        sums.total[piece][i] = fmaf(float(value[i]), weight, sums.total[piece][i]);
}

__device__ inline void widen(Sums &)
{
}

__device__ inline void corner_weights(weight_t (&weights)[2][COLUMNS], Record record, int side)
{
    float rows[2] = {record.weight - record.weight * record.y, record.weight * record.y};
#pragma unroll
    for (int row = 0; row < 2; row++)
        if constexpr (COLUMNS == 1) {
            weights[row][0] = rows[row] * (side ? record.x : 1.0f - record.x);
        } else {
            weights[row][0] = rows[row] * (1.0f - record.x);
            weights[row][COLUMNS - 1] = rows[row] * record.x;
        }
}

#endif

/* Where the columns' upper pixels begin for this lane. */
__device__ inline void upper_pixels(const char *(&upper)[COLUMNS], unsigned code, const Lane &lane, int right)
{
    if constexpr (PARITY) {
        int first = code & ~1u, second = first - 2 * (int)(code & 1);
        upper[0] = lane.image + (long long)first * PIXEL;
        upper[COLUMNS - 1] = lane.image + (long long)second * PIXEL + PIXEL;
    } else {
        upper[0] = lane.image + (long long)code * PIXEL;
        if constexpr (COLUMNS == 1)
            upper[0] += lane.side * right;
        else
            upper[COLUMNS - 1] = upper[0] + right;
    }
}

__device__ inline void add_point(Sums &sums, Record record, const Lane &lane, int height, int width)
{
    int right = width > 1 ? PIXEL : 0, down = height > 1 ? width * PIXEL : 0;
    const char *upper[COLUMNS];
    upper_pixels(upper, record_code(record), lane, right);

    Channels channels[2][COLUMNS][PIECES];
#pragma unroll
    for (int row = 0; row < 2; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                channels[row][column][piece] = load_channels(upper[column] + row * down + lane.piece_bytes[piece]);

    weight_t weights[2][COLUMNS];
    corner_weights(weights, record, lane.side);
#pragma unroll
    for (int row = 0; row < 2; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                add_weighted(sums, piece, channels[row][column][piece], weights[row][column]);
}

/* All points of one level, from the item's records. Not fully unrolled: that spills. */
__device__ inline void add_level(Sums &sums, const Record *records, const Lane &lane, int height, int width)
{
#pragma unroll 1
    for (int sum = 0; sum < P; sum += SUM) {
#pragma unroll 1
        for (int first = sum; first < min(sum + SUM, P); first += UNROLL) {
            Record step[UNROLL];
            load_records(step, records + first);
#pragma unroll
            for (int i = 0; i < UNROLL; i++)
                if (P % UNROLL == 0 || first + i < P)
                    add_point(sums, step[i], lane, height, width);
        }
        widen(sums);
    }
}

__device__ inline void store_piece(value_t *to, const float (&total)[VEC])
{
    struct alignas(8) {
        unsigned word[VEC * sizeof(value_t) / 4];
    } packed;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        ((value_t *)&packed)[i] = value_t(total[i]);
#pragma unroll
    for (int i = 0; i < (int)sizeof(packed) / 8; i++) {
        uint2 two = make_uint2(packed.word[2 * i], packed.word[2 * i + 1]);
        HINTS ? __stcs((uint2 *)to + i, two) : (void)(((uint2 *)to)[i] = two);
    }
}

/* The item (query, head, image) that a group works on. */
struct Item {
    int query, head, image;
    bool exists; /* the last block of an image may have more groups than queries are left */
};

__device__ inline Item item_of_group(int group)
{
    constexpr int tiles = ceil_div(LQ, QUERIES), head_groups = M / HEADS;
    unsigned block = blockIdx.x;
    int tile, head_group;
    if constexpr (ORDER == ORDER_tiles) {
        tile = block % tiles;
        head_group = block / tiles % head_groups;
    } else {
        head_group = block % head_groups;
        tile = block / head_groups % tiles;
    }
    Item item;
    int number = tile * QUERIES + group / HEADS;
    item.exists = number < LQ;
    item.query = query_at<QUERIES>(min(number, LQ - 1));
    item.head = head_group * HEADS + group % HEADS;
    item.image = block / (tiles * head_groups);
    return item;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_direct(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out)
{
    extern __shared__ uint4 shared[];
    int group = threadIdx.x / GROUP, sub = threadIdx.x % LANES;
    Record *warp_records = (Record *)shared + threadIdx.x / 32 * ITEMS_PER_WARP * RECORD_STRIDE;
    const Record *records = (Record *)shared + group * RECORD_STRIDE;

    Item item = item_of_group(group);
    long long first_item = (long long)item.image * LQ * M;
    int item_number = item.query * M + item.head;
    loc += first_item * (L * P * 2);
    attn += first_item * (L * P);

    Lane lane;
    lane.side = COLUMNS == 1 ? threadIdx.x % GROUP / LANES : 0;
    lane.image = (const char *)value + (item.image * (long long)S + (PARITY ? group & 1 : 0)) * PIXEL +
                 (item.head * D + sub * VEC) * sizeof(value_t);
