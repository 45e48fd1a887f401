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
 * BLEND = half2 sums SUM points in half before it widens to f32; = f32 blends in f32. Values are assumed finite: for
 * a point on or beyond the border a pixel that does not count is read, inside the level, and multiplied by zero.
 *
 * Where an image's values do not fit in L1 (far points), bytes from L2 limit instead; more loads in flight and a small
 * shared memory (PREP) help there, more warps where they do. Tried and not kept: blocks that walk over tiles, with
 * and without a barrier per tile (no gain near, 10 % lost far); other carve-outs than the least; L2 prefetch sizes.
 */
#pragma once

/* Knobs that the .ini leaves out where they make no difference. So does ORDER. */
#ifndef SUM
#define SUM UNROLL
#endif
#ifndef TILE_W
#define TILE_W 0
#endif

#include "points.cuh"
#include "query_order.cuh"

constexpr int QUERIES = ITEMS / HEADS;
constexpr int PIECES = ceil_div(D, LANES * VEC);         /* of VEC channels, per lane */
constexpr int PIXEL = M * D * sizeof(value_t);           /* bytes from a pixel to the next */
constexpr int COLUMNS = CORNERS == CORNERS_pair ? 1 : 2; /* of the 2x2 pixels, per lane */

static_assert(ITEMS % HEADS == 0 && M % HEADS == 0, "whole queries per block, whole groups of heads per query");
static_assert(D % VEC == 0 && SUM % UNROLL == 0, "whole pieces of channels, whole iterations of points");

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
    half2 second = __hmul2(record.rows, __high2half2(*(half2 *)&record.code_right));
    half2 first = __hsub2(record.rows, second);
    if constexpr (COLUMNS == 1)
        first = side ? second : first;
    weights[0][0] = __low2half2(first);
    weights[1][0] = __high2half2(first);
    if constexpr (COLUMNS == 2) {
        weights[0][COLUMNS - 1] = __low2half2(second);
        weights[1][COLUMNS - 1] = __high2half2(second);
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
    float rows[2] = {record.upper, record.lower};
#pragma unroll
    for (int row = 0; row < 2; row++) {
        float second = rows[row] * record.right, first = rows[row] - second;
        weights[row][0] = COLUMNS == 1 && side ? second : first;
        if constexpr (COLUMNS == 2)
            weights[row][COLUMNS - 1] = second;
    }
}

#endif

/* `count` pixels of `bytes` after `at`. As C, this becomes twice the instructions: shifts, masks, adds with carry. */
__device__ inline const char *pixels_after(const char *at, int count, int bytes)
{
    const char *after;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(after) : "r"(count), "r"(bytes), "l"(at));
    return after;
}

/* Where the columns' upper pixels begin for this lane. */
__device__ inline void upper_pixels(const char *(&upper)[COLUMNS], unsigned code, const Lane &lane, long long right)
{
    if constexpr (PARITY) {
        upper[0] = pixels_after(lane.image, code & ~1u, PIXEL);
        upper[COLUMNS - 1] = pixels_after(upper[0], code & 1, -2 * PIXEL) + PIXEL; /* one pixel back or on */
    } else {
        upper[0] = pixels_after(lane.image, code, PIXEL);
        if constexpr (COLUMNS == 1)
            upper[0] += lane.side * right;
        else
            upper[COLUMNS - 1] = upper[0] + right;
    }
}

__device__ inline void add_point(Sums &sums, Record record, const Lane &lane, int height, int width)
{
    long long right = width > 1 ? PIXEL : 0, down = height > 1 ? (long long)width * PIXEL : 0;
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

/* All points of one level, from the item's records. Not fully unrolled: more registers, fewer loads in flight. */
__device__ inline void add_level(Sums &sums, const Record *records, const Lane &lane, int height, int width)
{
#pragma unroll 1
    for (int first = 0; first < P; first += UNROLL) {
        Record step[UNROLL];
        load_records(step, records + first, P - first);
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (P % UNROLL == 0 || first + i < P)
                add_point(sums, step[i], lane, height, width);
        if (SUM < P && (first + UNROLL) % SUM == 0)
            widen(sums);
    }
    if (SUM >= P || P % SUM != 0)
        widen(sums);
}

/*
 * Levels from LEVEL on; `chunks` holds the points of the first PREP of them. The next ones are fetched before the
 * last of these levels is gathered, which hides their latency.
 */
template <int LEVEL>
__device__ inline void add_levels(Sums &sums, Record *warp_records, const Record *records, Chunk (&chunks)[PASSES],
                                  const loc_t *loc, const loc_t *attn, int item_number, const Lane &lane)
{
    if constexpr (LEVEL < L) {
        constexpr int LEVELS = smaller(PREP, L - LEVEL), NEXT = LEVEL + LEVELS;
        __syncwarp(); /* all have read the previous records */
        prepare_points<LEVEL, LEVELS>(warp_records, chunks);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < LEVELS; i++) {
            if constexpr (NEXT < L)
                if (i == LEVELS - 1)
                    fetch_points<NEXT, smaller(PREP, L - NEXT)>(chunks, loc, attn, item_number);
            add_level(sums, records + i * P, lane, level_height(LEVEL + i), level_width(LEVEL + i));
        }
        add_levels<NEXT>(sums, warp_records, records, chunks, loc, attn, item_number, lane);
    }
}

/* Whether this lane has a piece of that number: D need not be a multiple of LANES*VEC. */
__device__ inline bool has_piece(int piece, int sub)
{
    return D % (LANES * VEC) == 0 || (piece * LANES + sub) * VEC < D;
}

/* pair: the sum over both columns, in all lanes. */
__device__ inline void add_other_side(Sums &sums)
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
        for (int i = 0; i < VEC; i++)
            sums.total[piece][i] += __shfl_xor_sync(0xffffffff, sums.total[piece][i], LANES);
}

__device__ inline void store_piece(value_t *to, const float (&total)[VEC])
{
    constexpr int BYTES = VEC * sizeof(value_t), UNIT = smaller(BYTES, 16);
    typedef Bits<UNIT>::type unit_t;
    struct alignas(UNIT) {
        value_t channel[VEC];
    } packed;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        packed.channel[i] = value_t(total[i]);
#pragma unroll
    for (int i = 0; i < BYTES / UNIT; i++)
        __stcs((unit_t *)to + i, ((unit_t *)&packed)[i]); /* streaming: nobody here reads it again */
}

/* The item (query, head, image) that a group works on. */
struct Item {
    int query, head, image;
    bool exists; /* the last block of an image may have more groups than queries are left */
};

__device__ inline Item item_of_group(unsigned group)
{
    constexpr unsigned tiles = ceil_div(LQ, QUERIES), head_groups = M / HEADS;
    unsigned block = blockIdx.x;
#if defined ORDER && ORDER == ORDER_heads
    unsigned head_group = block % head_groups, tile = block / head_groups % tiles;
#else
    unsigned tile = block % tiles, head_group = block / tiles % head_groups;
#endif
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
    unsigned group = threadIdx.x / GROUP;
    int sub = threadIdx.x % LANES;
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
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        lane.piece_bytes[piece] = (has_piece(piece, sub) ? piece * LANES : -sub) * VEC * (int)sizeof(value_t);

    Chunk chunks[PASSES];
    fetch_points<0, smaller(PREP, L)>(chunks, loc, attn, item_number);
    Sums sums = {};
    add_levels<0>(sums, warp_records, records, chunks, loc, attn, item_number, lane);

    if constexpr (COLUMNS == 1)
        add_other_side(sums);
    value_t *to = out + (first_item + item_number) * D + sub * VEC;
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        if (item.exists && lane.side == 0 && has_piece(piece, sub))
            store_piece(to + piece * LANES * VEC, sums.total[piece]);
}
