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

__device__ inline Channels load_channels(const char *at)
{
    Channels channels;
#pragma unroll
    for (int i = 0; i < PIECE_BYTES / UNIT; i++)
        channels.unit[i] = __ldg((const typename Bits<UNIT>::type *)at + i);
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

__device__ inline void widen(Sums &sums)
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
        for (int i = 0; i < VEC / 2; i++) {
            float2 part = widened(sums.part[piece][i]);
            sums.total[piece][2 * i] += part.x;
            sums.total[piece][2 * i + 1] += part.y;
            *(unsigned *)&sums.part[piece][i] = 0;
        }
}

/* Weights of the upper and the lower pixel of a column. */
__device__ inline void split(weight_t &upper, weight_t &lower, half2 rows)
{
#if SHAPE_dtype == SHAPE_dtype_bf16
    float2 both = __half22float2(rows);
    upper = __float2bfloat162_rn(both.x);
    lower = __float2bfloat162_rn(both.y);
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

__device__ inline void widen(Sums &)
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
    typedef typename Bits<UNIT>::type unit_t;
    struct alignas(UNIT) {
        value_t channel[VEC];
    } packed;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        packed.channel[i] = value_t(total[i]);
#pragma unroll
    for (int i = 0; i < PIECE_BYTES / UNIT; i++)
        if (STORE_HINT == STORE_HINT_streaming) /* nobody here reads it again */
            __stcs((unit_t *)to + i, ((unit_t *)&packed)[i]);
        else
            ((unit_t *)to)[i] = ((unit_t *)&packed)[i];
}
