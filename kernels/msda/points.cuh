/*
 * direct and coarse_smem, first half: a warp turns the sampling points of its items into records.
 *
 * The points of PREP levels lie one after the other for each item, so the lanes load them as chunks of CHUNK
 * points, coalesced, and each lane computes what it has loaded: nothing is computed twice. Then the records go to the
 * lanes that gather, by EXCHANGE:
 *
 *     smem      through shared memory: of a warp [32/GROUP items][PREP*P points + padding]; the stride between items is
 *               an odd number of 16-byte units, so that the groups of a warp read different banks. A warp's records belong
 *               to it alone, __syncwarp is enough
 *     shuffle   they stay in the registers of the lane that made them (PREP = 1, at most a chunk per lane)
 *
 * A record is a pixel code and weights in RECORD bytes: 8 or 12 for half2 blending (a code of 16 or 32 bits), 16 for
 * f32. The code is the number of the upper left pixel. With parity order, of a pair of neighbours the one comes first
 * whose parity is the group's: code = (first - parity) | (the first is the right one), and the weights' first column
 * is that pixel's. SWAPPED says how the consumer learns which one it is:
 *
 *     bit     as said
 *     sign    code = first - parity; the second column's share is negative, and be it -0, where the first is the right one: by one shift of
 *             a whole word it is -2 * (the first is the right one), and the share's absolute value is free
 *
 * TRIM = on: the same in fewer instructions; the levels' sizes are selected as floats.
 */
#pragma once

#include "chunk.cuh"
#include "levels.cuh"

constexpr int GROUP = LANES * (CORNERS == CORNERS_pair ? 2 : 1); /* lanes per item */
constexpr int ITEMS_PER_WARP = 32 / GROUP, ITEMS = THREADS / GROUP;
constexpr int PASSES = ceil_div(ITEMS_PER_WARP * PREP * P / CHUNK, 32);
constexpr bool PARITY = CORNERS == CORNERS_parity && GRID_AT_LEAST_2X2;
/* No constants, which would be symbols of the compiled code: without these knobs it is byte for byte what was measured before there were any. */
enum : bool {
    TRIMS = TRIM == TRIM_on,
#if defined SWAPPED && SWAPPED == SWAPPED_sign
    SIGN_SWAPS = PARITY
#else
    SIGN_SWAPS = false
#endif
};
static_assert(!SIGN_SWAPS || (TRIMS && LEVELS == LEVELS_baked && RECORD == 8), "only the trimmed records of 8 bytes have the sign");
constexpr bool BY_SHUFFLE = EXCHANGE == EXCHANGE_shuffle;
static_assert(!BY_SHUFFLE || (PREP == 1 && PASSES == 1), "a lane keeps one chunk of records");

#if defined WEIGHTS && WEIGHTS == WEIGHTS_at_once
constexpr bool AT_ONCE = true;
#else
constexpr bool AT_ONCE = false;
#endif
constexpr int LEVELS_PER_PREP = smaller(PREP, L), PREPS = AT_ONCE ? L / LEVELS_PER_PREP : 1;
constexpr int LANES_PER_ITEM = LEVELS_PER_PREP * P / CHUNK; /* that hold its points, of a prep */
static_assert(!AT_ONCE || L % LEVELS_PER_PREP == 0, "all preps have the same lanes");
static_assert(!AT_ONCE || 32 % LANES_PER_ITEM == 0, "the softmax is over neighbouring lanes");

/* Loads of what is used once: past L1, which the values need. */
#if LOAD_HINT == LOAD_HINT_no_allocate
#define LOAD_ONCE "ld.global.nc.L1::no_allocate"
#else
#define LOAD_ONCE "ld.global.nc"
#endif

__device__ inline void load_once(unsigned short &to, const void *at)
{
    asm volatile(LOAD_ONCE ".u16 %0, [%1];" : "=h"(to) : "l"(at));
}
__device__ inline void load_once(unsigned &to, const void *at)
{
    asm volatile(LOAD_ONCE ".u32 %0, [%1];" : "=r"(to) : "l"(at));
}
__device__ inline void load_once(uint2 &to, const void *at)
{
    asm volatile(LOAD_ONCE ".v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "l"(at));
}
__device__ inline void load_once(uint4 &to, const void *at)
{
    asm volatile(LOAD_ONCE ".v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w) : "l"(at));
}

/*
 * A point: its weight in the upper and the lower row, and `right`, the share of the second column. What is left for
 * the consumer is one product and one difference per row: weight * right, weight - weight * right.
 */
struct alignas(RECORD == 12 ? 4 : RECORD) Record {
    unsigned word[RECORD / 4];
};

__device__ inline unsigned bits_of(half2 pair)
{
    return *(unsigned *)&pair;
}

__device__ inline half2 half2_of(unsigned bits)
{
    return *(half2 *)&bits;
}

__device__ inline Record make_record(unsigned code, float right, float upper, float lower)
{
    Record record;
    if constexpr (RECORD == 16) {
        record.word[0] = code;
        record.word[1] = __float_as_uint(right);
        record.word[2] = __float_as_uint(upper);
        record.word[RECORD / 4 - 1] = __float_as_uint(lower);
    } else {
        half2 rights = TRIMS && RECORD == 8 ? __floats2half2_rn(0.0f, right) : __float2half2_rn(right);
        record.word[0] = RECORD != 8 ? code : TRIMS ? code | bits_of(rights) : code | (bits_of(rights) & 0xffff0000);
        if constexpr (RECORD == 12)
            record.word[1] = bits_of(rights);
        record.word[RECORD / 4 - 1] = bits_of(__floats2half2_rn(upper, lower));
    }
    return record;
}

__device__ inline unsigned record_code(Record record)
{
    return RECORD == 8 ? record.word[0] & 0xffff : record.word[0];
}

/* Twice the second column's share, and the weights of the upper and the lower row: half2 blending. */
__device__ inline half2 record_right(Record record)
{
    half2 right = __high2half2(half2_of(record.word[RECORD == 8 ? 0 : 1]));
    return SIGN_SWAPS ? __habs2(right) : right;
}

/* SWAPPED = sign: from the pixel after the first to the second one, 0 or -2 pixels. The share is at most 1, so bit 30 is 0. */
__device__ inline int record_step_back(Record record)
{
    return (int)record.word[0] >> 30;
}

__device__ inline half2 record_rows(Record record)
{
    return half2_of(record.word[RECORD / 4 - 1]);
}

constexpr int ITEM_STRIDE = ceil_div(PREP * P * RECORD, 32) * 32 + 16; /* bytes */

/* Where a lane finds its item's records. */
struct Records {
    char *warp;            /* smem: of the warp's first item */
    const char *item;      /* smem: of the lane's own */
    Record mine[CHUNK];    /* shuffle: what this lane made */
};

/* Which of the warp's items, and which of its points in LEVELS levels, chunk number pass*32 + lane holds. */
struct ChunkPlace {
    int item, point;
    bool exists;
};

template <int LEVELS_NOW>
__device__ inline ChunkPlace chunk_place(int pass)
{
    constexpr int PER_ITEM = LEVELS_NOW * P / CHUNK, COUNT = ITEMS_PER_WARP * PER_ITEM;
    unsigned number = pass * 32 + threadIdx.x % 32, item = number / PER_ITEM;
    return {(int)item, (int)(number % PER_ITEM * CHUNK), (pass + 1) * 32 <= COUNT || number < COUNT};
}

/* The points of a lane's item: loc and attn of its image, and the item's number there, query*M + head. */
struct Points {
    const loc_t *loc, *attn;
    int item;
};

/*
 * WEIGHTS = at_once: the logits of all levels, which a lane loads when it fetches its item's first points; the lanes that hold an
 * item's make weights of them, with no pass of their own. An item's logits of one prep fill a part of a 128-byte line, the same part
 * for all items; so that loads of neighbouring items do not meet in the same banks, load number k brings those of prep k ^ item.
 */
struct Weights {
    decltype(Chunk::attn) loaded[PREPS][PASSES];
    float weight[PREPS][PASSES][CHUNK];
};

constexpr bool TAKES_TURNS = (PREPS & (PREPS - 1)) == 0;

__device__ inline int turn_of(int item)
{
    return TAKES_TURNS ? item % PREPS : 0;
}

/* Starts loading the points of levels [LEVEL, LEVEL + LEVELS_NOW), with the weights that WEIGHTS says. */
template <int LEVEL, int LEVELS_NOW>
__device__ inline void fetch_points(Chunk (&chunks)[PASSES], Weights &weights, const Points &points)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place<LEVELS_NOW>(pass);
        int whose = __shfl_sync(0xffffffff, points.item, at.item * GROUP);
        if (at.exists) {
            long long first = (long long)whose * (L * P), point = first + LEVEL * P + at.point;
            load_once(chunks[pass].loc, points.loc + 2 * point);
            if constexpr (!AT_ONCE)
                load_once(chunks[pass].attn, points.attn + point);
            else if constexpr (LEVEL == 0)
#pragma unroll
                for (int prep = 0; prep < PREPS; prep++)
                    load_once(weights.loaded[prep][pass], points.attn + first + (prep ^ turn_of(at.item)) * (LEVELS_PER_PREP * P) + at.point);
        }
    }
}

/* The logits that were fetched become weights, in the levels' order. All lanes of the warp. */
__device__ inline void take_weights(Weights &weights)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place<LEVELS_PER_PREP>(pass);
        decltype(Chunk::attn) in_order[PREPS];
#pragma unroll
        for (int prep = 0; prep < PREPS; prep++)
            in_order[prep] = weights.loaded[prep][pass];
#pragma unroll
        for (int bit = 1; TAKES_TURNS && bit < PREPS; bit *= 2)
#pragma unroll
            for (int prep = 0; prep < PREPS; prep++)
                if (!(prep & bit)) {
                    auto one = in_order[prep], other = in_order[prep | bit];
                    bool is_swapped = turn_of(at.item) & bit;
                    in_order[prep] = is_swapped ? other : one;
                    in_order[prep | bit] = is_swapped ? one : other;
                }
        float logits[PREPS * CHUNK];
#pragma unroll
        for (int i = 0; i < PREPS * CHUNK; i++)
            logits[i] = float(((const loc_t *)&in_order[i / CHUNK])[i % CHUNK]);
        softmax_of_item<LANES_PER_ITEM>(logits, at.exists);
#pragma unroll
        for (int i = 0; i < PREPS * CHUNK; i++)
            weights.weight[i / CHUNK][pass][i % CHUNK] = logits[i];
    }
}

/* TRIM: what a point's level must say. As floats that are selected, they need no conversion. */
struct FloatLevel {
    float width, height, pitch, origin;
};

static_assert(!TRIMS || GRID_S < 1 << 24, "f32 holds pixel numbers");

__device__ inline FloatLevel in_floats(Level level)
{
    return {(float)level.width, (float)level.height, (float)level.pitch, (float)level.origin};
}

#if LEVELS == LEVELS_baked
template <int LEVEL, int COUNT>
__device__ inline void select_level(FloatLevel &level, int first_point, int point)
{
    if constexpr (COUNT > 0) {
        constexpr Level here = level_of(LevelTable(), LEVEL);
        if (point >= first_point)
            level = in_floats(here);
        select_level<LEVEL + 1, COUNT - 1>(level, first_point + P, point);
    }
}
#endif

__device__ inline Record point_record(float x, float y, float weight, FloatLevel level, int parity)
{
    Place column = place_on_grid(x, level.width), row = place_on_grid(y, level.height);
    float scale = column.scale * row.scale;
    weight = scale > 0.0f ? weight * scale : 0.0f; /* not NaN * 0 */
    float lower = weight * row.fraction;
    if constexpr (SIGN_SWAPS) { /* (pixel + 1 - parity) & ~1 is the first pixel less its parity; the right one comes first where the bit that is lost was 0 */
        unsigned next = (unsigned)fmaf(row.cell, level.pitch, column.cell + (level.origin + (1 - parity)));
        float right = next & 1 ? column.fraction : __fadd_rd(column.fraction, -1.0f); /* rounded down: 1 - 1 is -0 */
        return make_record(next & ~1u, right, weight - lower, lower);
    }
    unsigned pixel = (unsigned)fmaf(row.cell, level.pitch, column.cell + level.origin);
    if constexpr (PARITY) {
        unsigned swap = (pixel ^ parity) & 1;
        pixel = (pixel + swap - parity) | swap;
        column.fraction = swap ? 1.0f - column.fraction : column.fraction;
    }
    return make_record(pixel, column.fraction, weight - lower, lower);
}

__device__ inline Record point_record(float x, float y, float weight, Level level, int parity)
{
    Place column = place_on_grid(x, level.width), row = place_on_grid(y, level.height);
    float scale = column.scale * row.scale;
    weight = scale > 0.0f ? weight * scale : 0.0f; /* not NaN * 0 */
    /* f32 holds pixel numbers below 2^24 exactly: one conversion instead of two. */
    unsigned pixel = GRID_S < 1 << 24 ? (unsigned)fmaf(row.cell, level.pitch, column.cell + level.origin)
                                      : (unsigned)((int)row.cell * level.pitch + (int)column.cell + level.origin);
    if constexpr (PARITY) {
        unsigned swap = (pixel ^ parity) & 1;
        pixel = (pixel + swap - parity) | swap;
        column.fraction = swap ? 1.0f - column.fraction : column.fraction;
    }
    float lower = weight * row.fraction;
    return make_record(pixel, column.fraction, weight - lower, lower);
}

__device__ inline void store_records(char *at, const Record (&records)[CHUNK])
{
    if constexpr (sizeof(records) == 16)
        *(uint4 *)at = *(const uint4 *)records;
    else
        for (int i = 0; i < CHUNK; i++)
            ((Record *)at)[i] = records[i];
}

/* Turns fetched points into records. `log_sum`: of this lane's item, where logits come with their points. */
template <int LEVEL, int LEVELS_NOW>
__device__ inline void prepare_points(Records &to, const Chunk (&chunks)[PASSES], const Weights &weights, const LevelTable &table, float log_sum)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place<LEVELS_NOW>(pass);
        float its_log_sum = 0.0f;
#if TRIM == TRIM_on && LEVELS == LEVELS_baked
        FloatLevel level = in_floats(level_of(table, LEVEL));
        select_level<LEVEL + 1, LEVELS_NOW - 1>(level, P, at.point);
#else
        Level level = level_of(table, LEVEL);
#pragma unroll
        for (int l = 1; l < LEVELS_NOW; l++)
            if (at.point >= l * P)
                level = level_of(table, LEVEL + l);
#endif
        if constexpr (LOGITS && !AT_ONCE)
            its_log_sum = __shfl_sync(0xffffffff, log_sum, at.item * GROUP % 32);
        Record records[CHUNK];
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            records[i] = point_record(chunk_x(chunks[pass], i), chunk_y(chunks[pass], i),
                                      AT_ONCE ? weights.weight[LEVEL / PREP][pass][i] : chunk_weight(chunks[pass], i, its_log_sum), level, at.item & 1);
        if constexpr (BY_SHUFFLE)
            for (int i = 0; i < CHUNK; i++)
                to.mine[i] = records[i];
        else if (at.exists)
            store_records(to.warp + at.item * ITEM_STRIDE + at.point * RECORD, records);
    }
}

/* UNROLL records of the lane's item, the first of them its point number `first`; `left` of them exist. */
__device__ inline void load_records(Record (&records)[UNROLL], const Records &from, int first, int left)
{
    if constexpr (BY_SHUFFLE) {
        constexpr int PER_ITEM = P / CHUNK;
        int source = threadIdx.x % 32 / GROUP * PER_ITEM + first / CHUNK;
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
#pragma unroll
            for (int w = 0; w < RECORD / 4; w++)
                records[i].word[w] = __shfl_sync(0xffffffff, from.mine[i % CHUNK].word[w], source + i / CHUNK);
    } else if constexpr (RECORD == 8 && UNROLL % 2 == 0 && P % UNROLL == 0) {
#pragma unroll
        for (int i = 0; i < UNROLL; i += 2)
            *(uint4 *)&records[i] = *(const uint4 *)(from.item + (first + i) * RECORD); /* 16-byte aligned: P is even */
    } else {
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (P % UNROLL == 0 || i < left)
                records[i] = ((const Record *)(from.item + first * RECORD))[i];
    }
}
