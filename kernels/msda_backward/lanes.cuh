/*
 * A few lanes share the channels of an item, cell or pixel: lane `lane` of LANES has the pieces of VEC channels that begin at
 * (piece * LANES + lane) * VEC. Pieces beyond D do not exist. Loads of them, and sums over the lanes.
 */
#pragma once

#include "sums.cuh"

constexpr int PIECES = ceil_div(D, LANES * VEC);
constexpr bool FILLS_LANES = D % (LANES * VEC) == 0;
static_assert(D % VEC == 0, "whole pieces of channels");

/* VEC neighbouring channels as they are stored. */
constexpr int PIECE_BYTES = VEC * sizeof(value_t), UNIT = smaller(PIECE_BYTES, 16);
struct alignas(UNIT) Piece {
    typename Word<UNIT>::type unit[PIECE_BYTES / UNIT];
};

__device__ inline int lane_in_group()
{
    return threadIdx.x % LANES;
}

__device__ inline int first_channel(int piece)
{
    return (piece * LANES + lane_in_group()) * VEC;
}

__device__ inline bool has_piece(int piece)
{
    return FILLS_LANES || first_channel(piece) < D;
}

__device__ inline Piece zero_piece()
{
    Piece piece = {};
    return piece;
}

__device__ inline Piece load_piece(const value_t *at)
{
    Piece piece;
#pragma unroll
    for (int i = 0; i < PIECE_BYTES / UNIT; i++)
        piece.unit[i] = __ldg((const typename Word<UNIT>::type *)at + i);
    return piece;
}

__device__ inline float channel_of(const Piece &piece, int i)
{
    return float(((const value_t *)&piece)[i]);
}

#if SHAPE_dtype != SHAPE_dtype_f32
/* Pairs at once: half the conversions. */
__device__ inline float2 pair_of(const Piece &piece, int pair)
{
#if SHAPE_dtype == SHAPE_dtype_bf16
    return __bfloat1622float2(((const __nv_bfloat162 *)&piece)[pair]);
#else
    return __half22float2(((const half2 *)&piece)[pair]);
#endif
}
#endif

__device__ inline void widen(float (&channels)[VEC], const Piece &piece)
{
#if SHAPE_dtype != SHAPE_dtype_f32
    if constexpr (VEC % 2 == 0) {
#pragma unroll
        for (int i = 0; i < VEC / 2; i++) {
            float2 pair = pair_of(piece, i);
            channels[2 * i] = pair.x;
            channels[2 * i + 1] = pair.y;
        }
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < VEC; i++)
        channels[i] = channel_of(piece, i);
}

/* The group's total, for each of its lanes. All lanes of the warp. */
__device__ inline float sum_over_lanes(float part)
{
#pragma unroll
    for (int step = 1; step < LANES; step *= 2)
        part += __shfl_xor_sync(0xffffffff, part, step);
    return part;
}

/*
 * Totals of a point's gradients over the group: lane 0 has x in value[0], lane 1 y, lanes 2 and 3 attn. Of two lanes both have attn in
 * value[1]; one has all three. At each step a lane gives what it will not need for what it will. All lanes of the warp.
 */
struct OwnTotal {
    float value[3];
};

__device__ inline OwnTotal own_total(PointGradient part)
{
    OwnTotal total = {part.x, part.y, part.attn};
    if (LANES >= 2) {
        bool is_odd = threadIdx.x & 1;
        total.value[0] = (is_odd ? part.y : part.x) + __shfl_xor_sync(0xffffffff, is_odd ? part.x : part.y, 1);
        total.value[1] = part.attn + __shfl_xor_sync(0xffffffff, part.attn, 1);
    }
    if (LANES >= 4) {
        bool has_attn = threadIdx.x & 2;
        total.value[0] = (has_attn ? total.value[1] : total.value[0]) + __shfl_xor_sync(0xffffffff, has_attn ? total.value[0] : total.value[1], 2);
    }
#pragma unroll
    for (int step = 4; step < LANES; step *= 2)
        total.value[0] += __shfl_xor_sync(0xffffffff, total.value[0], step);
    return total;
}

/* STORE(0, x), STORE(1, y), STORE(2, attn), each by a lane that has it. */
template <typename STORE>
__device__ inline void store_total(const OwnTotal &total, STORE store)
{
    int lane = lane_in_group();
    if (LANES == 1)
        for (int i = 0; i < 3; i++)
            store(i, total.value[i]);
    else if (lane < smaller(LANES, 3))
        store(lane, total.value[0]);
    if (LANES == 2 && lane == 0)
        store(2, total.value[1]);
}
