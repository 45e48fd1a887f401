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
 *     half2 record  8 bytes: pixel code (16 bits), weight (half), fractions (half2)
 *     wide record  16 bytes: pixel code, fraction x, fraction y, weight (f32)
 *
 * The pixel code is the upper left pixel's number in S. With parity order, of the pair of pixels the one comes first
 * whose parity is the group's: code = (first - parity) | (the first is the right one), and fraction x belongs to the second.
 */
#pragma once

constexpr int GROUP = LANES * (CORNERS == CORNERS_pair ? 2 : 1); /* lanes per item */
constexpr int ITEMS_PER_WARP = 32 / GROUP, ITEMS = THREADS / GROUP;
constexpr int CHUNK = P % 2 == 0 ? 2 : 1;       /* points; 2 f32 ones are 16 bytes */
constexpr int PASSES = ceil_div(ITEMS_PER_WARP * PREP * P / CHUNK, 32);
constexpr bool PARITY = CORNERS == CORNERS_parity && levels_at_least_2x2();

template <int BYTES> struct Bits;
template <> struct Bits<2> { typedef unsigned short type; };
template <> struct Bits<4> { typedef unsigned type; };
template <> struct Bits<8> { typedef uint2 type; };
template <> struct Bits<16> { typedef uint4 type; };

/* Loads of what is used once: past L1, which the values need. */
#if HINTS
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
#else
template <typename T>
__device__ inline void load_once(T &to, const void *at)
{
    to = __ldg((const T *)at);
}
#endif

#if BLEND == BLEND_half2
static_assert(S <= 65536, "a pixel code has 16 bits");

struct alignas(8) Record {
    unsigned code_weight, fractions;
};

__device__ inline Record make_record(unsigned code, float x, float y, float weight)
{
    half2 fractions = __floats2half2_rn(x, y);
    return {code | (unsigned)__half_as_ushort(__float2half_rn(weight)) << 16, *(unsigned *)&fractions};
}
__device__ inline unsigned record_code(Record record) { return record.code_weight & 0xffff; }
__device__ inline half2 record_fractions(Record record) { return *(half2 *)&record.fractions; }
__device__ inline half2 record_weight(Record record) { return __high2half2(*(half2 *)&record.code_weight); }
#else
struct alignas(16) Record {
    unsigned code;
    float x, y, weight;
};

__device__ inline Record make_record(unsigned code, float x, float y, float weight)
{
    return {code, x, y, weight};
}
__device__ inline unsigned record_code(Record record) { return record.code; }
#endif

constexpr int RECORD_STRIDE = (ceil_div(PREP * P * (int)sizeof(Record), 32) * 32 + 16) / sizeof(Record);

/* A chunk as it was loaded. Nothing is converted before it is needed: a conversion would wait for the load. */
struct Chunk {
    typename Bits<2 * CHUNK * sizeof(loc_t)>::type loc;
    typename Bits<CHUNK * sizeof(loc_t)>::type attn;
};

/* Which of the warp's items, and which of its points in `levels` levels, chunk number pass*32 + lane holds. */
struct ChunkPlace {
    int item, point;
    bool exists;
};

__device__ inline ChunkPlace chunk_place(int pass, int levels)
{
    int per_item = levels * P / CHUNK, number = pass * 32 + threadIdx.x % 32, item = number / per_item;
    bool exists = ITEMS_PER_WARP * per_item % 32 == 0 ? pass * 32 < ITEMS_PER_WARP * per_item : item < ITEMS_PER_WARP;
    return {item, (number - item * per_item) * CHUNK, exists};
}

/* Starts loading the points of levels [level, level + levels). `item`: this lane's q*M + m; loc, attn: of the image. */
__device__ inline void fetch_points(Chunk (&chunks)[PASSES], const loc_t *loc, const loc_t *attn, int item, int level,
                                    int levels)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place(pass, levels);
        int whose = __shfl_sync(0xffffffff, item, at.item * GROUP);
        if (at.exists) {
            long long point = (long long)whose * (L * P) + level * P + at.point;
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
    return make_record(pixel, column.fraction, row.fraction, weight);
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
__device__ inline void prepare_points(Record *warp_records, const Chunk (&chunks)[PASSES], int level, int levels)
{
#pragma unroll
    for (int pass = 0; pass < PASSES; pass++) {
        ChunkPlace at = chunk_place(pass, levels);
        int height = level_height(level), width = level_width(level), start = level_start(level);
#pragma unroll
        for (int l = 1; l < levels; l++)
            if (at.point >= l * P) {
                height = level_height(level + l);
                width = level_width(level + l);
                start = level_start(level + l);
            }
        const loc_t *loc = (const loc_t *)&chunks[pass].loc, *attn = (const loc_t *)&chunks[pass].attn;
        Record records[CHUNK];
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            records[i] = point_record(float(loc[2 * i]), float(loc[2 * i + 1]), float(attn[i]), height, width, start,
                                      at.item & 1);
        if (at.exists)
            store_records(warp_records + at.item * RECORD_STRIDE + at.point, records);
    }
}

/* UNROLL records, two at a time where they are aligned so. */
__device__ inline void load_records(Record (&records)[UNROLL], const Record *at)
{
    if constexpr (sizeof(Record) == 8 && UNROLL % 2 == 0 && P % 2 == 0) {
        for (int i = 0; i < UNROLL; i += 2)
            *(uint4 *)&records[i] = *(const uint4 *)&at[i];
    } else {
        for (int i = 0; i < UNROLL; i++)
            records[i] = at[i];
    }
}
