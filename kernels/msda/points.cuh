/*
 * direct, first half: a warp turns the sampling points of its items into records in shared memory.
 *
 * The points of PREP levels lie one after the other for each item, so the lanes load them as chunks of CHUNK
 * points, coalesced, and each lane computes what it has loaded: nothing is computed twice. A warp's records belong
 * to it alone, __syncwarp is enough.
 *
 *     records of a warp    [32/GROUP items][PREP*P points + padding]; the stride between items is an odd number of
 *                          16-byte units, so that the groups of a warp read different banks
 *
 * A record is a pixel code and weights: 8 bytes for half2 blending, 16 for f32. The code is the upper left pixel's
 * number in S. With parity order, of a pair of neighbours the one comes first whose parity is the group's:
 * code = (first - parity) | (the first is the right one), and the weights' first column is that pixel's.
 */
#pragma once

#include "chunk.cuh"

constexpr int GROUP = LANES * (CORNERS == CORNERS_pair ? 2 : 1); /* lanes per item */
constexpr int ITEMS_PER_WARP = 32 / GROUP, ITEMS = THREADS / GROUP;
constexpr int PASSES = ceil_div(ITEMS_PER_WARP * PREP * P / CHUNK, 32);
constexpr bool PARITY = CORNERS == CORNERS_parity && levels_at_least_2x2();

/* Loads of what is used once: past L1, which the values need. */
__device__ inline void load_once(unsigned short &to, const void *at)
{
    asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(to) : "l"(at));
}
__device__ inline void load_once(unsigned &to, const void *at)
{
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(to) : "l"(at));
}
__device__ inline void load_once(uint2 &to, const void *at)
{
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "l"(at));
}
__device__ inline void load_once(uint4 &to, const void *at)
{
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "l"(at));
}

/*
 * A point: rows[i] is its weight in the upper and the lower row, `right` the share of the second column. What is left
 * for the consumer is one product and one difference: rows * right, rows - rows * right.
 */
#if BLEND == BLEND_half2
static_assert(S <= 65536, "a pixel code has 16 bits");

struct alignas(8) Record {
    unsigned code_right; /* code | half << 16 */
    half2 rows;
};

__device__ inline Record make_record(unsigned code, float right, float upper, float lower)
{
    return {code | (unsigned)__half_as_ushort(__float2half_rn(right)) << 16, __floats2half2_rn(upper, lower)};
}

__device__ inline unsigned record_code(Record record)
{
    return record.code_right & 0xffff;
}
#else
struct alignas(16) Record {
    unsigned code;
    float right, upper, lower;
};

__device__ inline Record make_record(unsigned code, float right, float upper, float lower)
{
    return {code, right, upper, lower};
}

__device__ inline unsigned record_code(Record record)
{
    return record.code;
}
#endif

constexpr int RECORD_STRIDE = (ceil_div(PREP * P * (int)sizeof(Record), 32) * 32 + 16) / sizeof(Record);

/* Which of the warp's items, and which of its points in LEVELS levels, chunk number pass*32 + lane holds. */
struct ChunkPlace {
    int item, point;
    bool exists;
};

template <int LEVELS>
__device__ inline ChunkPlace chunk_place(int pass)
{
    constexpr int PER_ITEM = LEVELS * P / CHUNK, COUNT = ITEMS_PER_WARP * PER_ITEM;
    unsigned number = pass * 32 + threadIdx.x % 32, item = number / PER_ITEM;
    return {(int)item, (int)(number % PER_ITEM * CHUNK), (pass + 1) * 32 <= COUNT || number < COUNT};
}

/* Starts loading the points of levels [LEVEL, LEVEL + LEVELS). `item`: this lane's q*M + m; loc, attn: of the image. */
template <int LEVEL, int LEVELS>
__device__ inline void fetch_points(Chunk (&chunks)[PASSES], const loc_t *loc, const loc_t *attn, int item)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place<LEVELS>(pass);
        int whose = __shfl_sync(0xffffffff, item, at.item * GROUP);
        if (at.exists) {
            long long point = (long long)whose * (L * P) + LEVEL * P + at.point;
            load_once(chunks[pass].loc, loc + 2 * point);
            load_once(chunks[pass].attn, attn + point);
        }
    }
}

__device__ inline Record point_record(float x, float y, float weight, int height, int width, int start, int parity)
{
    Place column = place(x, width), row = place(y, height);
    float scale = column.scale * row.scale;
    weight = scale > 0.0f ? weight * scale : 0.0f; /* not NaN * 0 */
    /* f32 holds pixel numbers below 2^24 exactly: one conversion instead of two. */
    unsigned pixel = S < 1 << 24 ? (unsigned)fmaf(row.cell, width, column.cell + start)
                                 : (unsigned)row.cell * width + (unsigned)column.cell + start;
    if constexpr (PARITY) {
        unsigned swap = (pixel ^ parity) & 1;
        pixel = (pixel + swap - parity) | swap;
        column.fraction = swap ? 1.0f - column.fraction : column.fraction;
    }
    float lower = weight * row.fraction;
    return make_record(pixel, column.fraction, weight - lower, lower);
}

__device__ inline void store_records(Record *at, const Record (&records)[CHUNK])
{
    if constexpr (sizeof(records) == 16)
        *(uint4 *)at = *(const uint4 *)records;
    else
        for (int i = 0; i < CHUNK; i++)
            at[i] = records[i];
}

/* Turns fetched points into the warp's records. */
template <int LEVEL, int LEVELS>
__device__ inline void prepare_points(Record *warp_records, const Chunk (&chunks)[PASSES])
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place<LEVELS>(pass);
        int height = level_height(LEVEL), width = level_width(LEVEL), start = level_start(LEVEL);
#pragma unroll
        for (int l = 1; l < LEVELS; l++)
            if (at.point >= l * P) {
                height = level_height(LEVEL + l);
                width = level_width(LEVEL + l);
                start = level_start(LEVEL + l);
            }
        Record records[CHUNK];
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            records[i] = point_record(chunk_x(chunks[pass], i), chunk_y(chunks[pass], i), chunk_weight(chunks[pass], i),
                                      height, width, start, at.item & 1);
        if (at.exists)
            store_records(warp_records + at.item * RECORD_STRIDE + at.point, records);
    }
}

/* The next UNROLL records, or as many as are `left`. */
__device__ inline void load_records(Record (&records)[UNROLL], const Record *at, int left)
{
    if constexpr (sizeof(Record) == 8 && UNROLL % 2 == 0 && P % UNROLL == 0) {
#pragma unroll
        for (int i = 0; i < UNROLL; i += 2)
            *(uint4 *)&records[i] = *(const uint4 *)&at[i]; /* 16-byte aligned: P is even */
    } else {
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (P % UNROLL == 0 || i < left)
                records[i] = at[i];
    }
}
