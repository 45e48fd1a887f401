/*
 * A few lanes share the channels of an item or cell: lane `lane` of LANES has the pieces of VEC channels that begin at
 * (piece * LANES + lane) * VEC. Pieces beyond D do not exist. Loads of them, additions to `sums` and sums over the lanes.
 *
 *     RED    channels per red instruction: 1, or 2 or 4 (vectors of f32: sm_90); of SUMS = packed: pairs, 2 to 8 channels
 */
#pragma once

#include "sums.cuh"

constexpr int PIECES = ceil_div(D, LANES * VEC);
constexpr bool FILLS_LANES = D % (LANES * VEC) == 0;
static_assert(D % VEC == 0, "whole pieces of channels");
static_assert(VEC % RED == 0, "whole vectors of sums");
static_assert(!PACKED || RED > 1, "pairs of channels");

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

#if defined SUMS && SUMS == SUMS_packed

__device__ inline unsigned packed(float first, float second)
{
#if SHAPE_grad_dtype == SHAPE_grad_dtype_bf16
    __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
#else
    half2 pair = __floats2half2_rn(first, second);
#endif
    return *(unsigned *)&pair;
}

#if SHAPE_grad_dtype == SHAPE_grad_dtype_bf16
#define PAIRS "bf16x2"
#else
#define PAIRS "f16x2"
#endif

/* Adds VEC neighbouring channels to the sums at `at`. */
__device__ inline void add_piece(sum_t *at, const float (&channels)[VEC])
{
#pragma unroll
    for (int i = 0; i < VEC; i += RED)
        if constexpr (RED == 2)
            asm volatile("red.global.add.noftz." PAIRS " [%0], %1;" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])) : "memory");
        else if constexpr (RED == 4)
            asm volatile("red.global.add.noftz.v2." PAIRS " [%0], {%1, %2};" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])),
                         "r"(packed(channels[i + RED - 2], channels[i + RED - 1])) : "memory");
        else
            asm volatile("red.global.add.noftz.v4." PAIRS " [%0], {%1, %2, %3, %4};" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])),
                         "r"(packed(channels[i + 2 % RED], channels[i + 3 % RED])), "r"(packed(channels[i + 4 % RED], channels[i + 5 % RED])),
                         "r"(packed(channels[i + 6 % RED], channels[i + 7 % RED])) : "memory");
}

#else

__device__ inline void add_piece(sum_t *at, const float (&channels)[VEC])
{
#pragma unroll
    for (int i = 0; i < VEC; i += RED)
        if constexpr (RED == 1)
            atomicAdd(at + i, channels[i]);
        else if constexpr (RED == 2)
            asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(at + i), "f"(channels[i]), "f"(channels[i + RED - 1]) : "memory");
        else
            asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at + i), "f"(channels[i]), "f"(channels[i + 1 % RED]), "f"(channels[i + 2 % RED]),
                         "f"(channels[i + 3 % RED]) : "memory");
}

#endif

/* The group's total, for each of its lanes. All lanes of the warp. */
__device__ inline float sum_over_lanes(float part)
{
#pragma unroll
    for (int step = 1; step < LANES; step *= 2)
        part += __shfl_xor_sync(0xffffffff, part, step);
    return part;
}

__device__ inline PointGradient sum_over_lanes(PointGradient part)
{
    return {sum_over_lanes(part.x), sum_over_lanes(part.y), sum_over_lanes(part.attn)};
}
