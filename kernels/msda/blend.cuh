/*
 * direct and coarse_smem: the arithmetic of a lane, VEC channels of four corners at a time.
 *
 *     BLEND = half2    packed pairs: sums of SUM points in the values' own type, then widened to f32. With bf16 values the four
 *                      weights are made in half (11 bits) and rounded once
 *             f32      everything widened first
 */
#pragma once

#include "points.cuh"

constexpr int PIECES = ceil_div(D, LANES * VEC);         /* of VEC channels, per lane */
constexpr int COLUMNS = CORNERS == CORNERS_pair ? 1 : 2; /* of the 2x2 pixels, per lane */
constexpr int PIECE_BYTES = VEC * sizeof(value_t), UNIT = smaller(PIECE_BYTES, 16);
static_assert(D % VEC == 0, "whole pieces of channels");

/* VEC channels of a pixel. */
struct alignas(UNIT) Channels {
    typename Bits<UNIT>::type unit[PIECE_BYTES / UNIT];
};

/* Loads of values; with VALUE_HINT = fetch, the 128 or 256 bytes around them come into L2 at once. */
#if VALUE_HINT == VALUE_HINT_none
template <typename UNIT_TYPE>
__device__ inline void load_value(UNIT_TYPE &to, const UNIT_TYPE *at)
{
    to = __ldg(at);
}
#else
#if VALUE_HINT == VALUE_HINT_fetch_128
#define LOAD_VALUE "ld.global.nc.L2::128B"
#else
#define LOAD_VALUE "ld.global.nc.L2::256B"
#endif
__device__ inline void load_value(unsigned short &to, const unsigned short *at)
{
    asm(LOAD_VALUE ".u16 %0, [%1];" : "=h"(to) : "l"(at));
}
__device__ inline void load_value(unsigned &to, const unsigned *at)
{
    asm(LOAD_VALUE ".u32 %0, [%1];" : "=r"(to) : "l"(at));
}
__device__ inline void load_value(uint2 &to, const uint2 *at)
{
    asm(LOAD_VALUE ".v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "l"(at));
}
__device__ inline void load_value(uint4 &to, const uint4 *at)
{
    asm(LOAD_VALUE ".v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w) : "l"(at));
}
#endif

__device__ inline Channels load_channels(const char *at)
{
    Channels channels;
#pragma unroll
    for (int i = 0; i < PIECE_BYTES / UNIT; i++)
        load_value(channels.unit[i], (const typename Bits<UNIT>::type *)at + i);
    return channels;
}

#if BLEND == BLEND_half2

#if SHAPE_dtype == SHAPE_dtype_bf16
typedef __nv_bfloat162 pair_t;
__device__ inline float2 widened(pair_t pair) { return __bfloat1622float2(pair); }
#else
typedef half2 pair_t;
__device__ inline float2 widened(pair_t pair) { return __half22float2(pair); }
#endif
static_assert(VEC % 2 == 0 && sizeof(value_t) == 2, "pairs of channels");

typedef pair_t weight_t; /* twice the same */

/* What a lane sums up: packed over SUM points, in f32 over all. */
struct Sums {
    float total[PIECES][VEC];
    pair_t part[PIECES][VEC / 2];
};

__device__ inline void add_weighted(Sums &sums, int piece, const Channels &channels, weight_t weight)
{
#pragma unroll
    for (int i = 0; i < VEC / 2; i++)
        sums.part[piece][i] = __hfma2(((const pair_t *)&channels)[i], weight, sums.part[piece][i]);
}

/* is_first: nothing was added to the totals before. Constant where it is called. */
__device__ inline void widen(Sums &sums, bool is_first)
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
        for (int i = 0; i < VEC / 2; i++) {
            float2 part = widened(sums.part[piece][i]);
            sums.total[piece][2 * i] = is_first ? part.x : sums.total[piece][2 * i] + part.x;
            sums.total[piece][2 * i + 1] = is_first ? part.y : sums.total[piece][2 * i + 1] + part.y;
            *(unsigned *)&sums.part[piece][i] = 0;
        }
}

/* Weights of the upper and the lower pixel of a column. */
__device__ inline void split(weight_t &upper, weight_t &lower, half2 rows)
{
#if SHAPE_dtype == SHAPE_dtype_bf16
    float2 both = __half22float2(rows);
    pair_t rounded = __floats2bfloat162_rn(both.x, both.y); /* one conversion; which half is used costs nothing */
    upper = __low2bfloat162(rounded);
    lower = __high2bfloat162(rounded);
#else
    upper = __low2half2(rows);
    lower = __high2half2(rows);
#endif
}

__device__ inline void corner_weights(weight_t (&weights)[2][COLUMNS], Record record, int side)
{
    half2 second = __hmul2(record_rows(record), record_right(record));
    half2 first = __hsub2(record_rows(record), second);
    if constexpr (COLUMNS == 1)
        first = side ? second : first;
    split(weights[0][0], weights[1][0], first);
    if constexpr (COLUMNS == 2)
        split(weights[0][COLUMNS - 1], weights[1][COLUMNS - 1], second);
}

#else

typedef float weight_t;

struct Sums {
    float total[PIECES][VEC];
};

__device__ inline void add_weighted(Sums &sums, int piece, const Channels &channels, weight_t weight)
{
#pragma unroll
    for (int i = 0; i < VEC; i++)
        sums.total[piece][i] = fmaf(float(((const value_t *)&channels)[i]), weight, sums.total[piece][i]);
}

__device__ inline void widen(Sums &, bool)
{
}

__device__ inline void corner_weights(weight_t (&weights)[2][COLUMNS], Record record, int side)
{
    float right = __uint_as_float(record.word[1]);
#pragma unroll
    for (int row = 0; row < 2; row++) {
        float both = __uint_as_float(record.word[2 + row]), second = both * right, first = both - second;
        weights[row][0] = COLUMNS == 1 && side ? second : first;
        if constexpr (COLUMNS == 2)
            weights[row][COLUMNS - 1] = second;
    }
}

#endif

constexpr int HALF = VEC > 1 ? VEC / 2 : 1;

/* pair: the sum over both columns, of half of the channels: each side gives what the other keeps. */
__device__ inline void add_other_side(float (&half)[HALF], const float (&total)[VEC], int side)
{
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        float kept = side ? total[VEC - HALF + i] : total[i], given = side ? total[i] : total[VEC - HALF + i];
        half[i] = kept + __shfl_xor_sync(0xffffffff, given, LANES);
    }
}

template <int COUNT>
__device__ inline void store_piece(value_t *to, const float (&total)[COUNT])
{
    constexpr int BYTES = COUNT * sizeof(value_t), PART = smaller(BYTES, 16);
    typedef typename Bits<PART>::type part_t;
    struct alignas(PART) {
        value_t channel[COUNT];
    } packed;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        packed.channel[i] = value_t(total[i]);
#pragma unroll
    for (int i = 0; i < BYTES / PART; i++)
        if (STORE_HINT == STORE_HINT_streaming) /* nobody here reads it again */
            __stcs((part_t *)to + i, ((part_t *)&packed)[i]);
        else
            ((part_t *)to)[i] = ((part_t *)&packed)[i];
}
