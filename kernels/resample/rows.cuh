/*
 * Interpolating between two rows: pieces of VEC elements, loaded and stored at once, blended in f32.
 */
#pragma once

#include "shape.cuh"

constexpr int PIECE = VEC * sizeof(value_t); /* bytes */
static_assert(D % VEC == 0 && PIECE <= 16, "whole pieces, of one load each");
constexpr int PIECES = D / VEC; /* of a row */
#ifdef UNROLL
constexpr int AT_ONCE = UNROLL; /* pieces that a thread has in flight */
#else
constexpr int AT_ONCE = 1;
#endif

/* Words, so that a piece stays in registers as it came; the upper half of the word is zero where a piece has 2 bytes. */
struct Piece {
    unsigned word[PIECE < 4 ? 1 : PIECE / 4];
};

template <int BYTES>
__device__ inline Piece load_bytes(const char *from)
{
    Piece piece;
    if constexpr (BYTES == 16) {
        uint4 all = *(const uint4 *)from;
        piece.word[0] = all.x, piece.word[1] = all.y, piece.word[2] = all.z, piece.word[3] = all.w;
    } else if constexpr (BYTES == 8) {
        uint2 all = *(const uint2 *)from;
        piece.word[0] = all.x, piece.word[1] = all.y;
    } else if constexpr (BYTES == 4) {
        piece.word[0] = *(const unsigned *)from;
    } else {
        piece.word[0] = *(const unsigned short *)from;
    }
    return piece;
}

/* Out is written once and read by nobody here: with `streaming` its lines leave L2 first. */
#if STORE == STORE_streaming
#define STORE_AS "st.global.cs"
#else
#define STORE_AS "st.global"
#endif

/* In assembly, because the compiler takes stores of uint4 apart into words, which then do not fill a sector each. */
__device__ inline void store_piece(value_t *to, const Piece &piece)
{
    const unsigned *word = piece.word;
    unsigned long long at = __cvta_generic_to_global(to);
    if constexpr (PIECE == 16)
        asm volatile(STORE_AS ".v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]));
    else if constexpr (PIECE == 8)
        asm volatile(STORE_AS ".v2.b32 [%0], {%1, %2};" ::"l"(at), "r"(word[0]), "r"(word[1]));
    else if constexpr (PIECE == 4)
        asm volatile(STORE_AS ".b32 [%0], %1;" ::"l"(at), "r"(word[0]));
    else
        asm volatile(STORE_AS ".b16 [%0], %1;" ::"l"(at), "h"((unsigned short)word[0]));
}

__device__ inline unsigned blend_word(unsigned left, unsigned right, float weight)
{
#if SHAPE_dtype == SHAPE_dtype_f32
    float l = __uint_as_float(left), r = __uint_as_float(right);
    return __float_as_uint(l + weight * (r - l));
#else
#if SHAPE_dtype == SHAPE_dtype_bf16
    float2 l = make_float2(__uint_as_float(left << 16), __uint_as_float(left & 0xffff0000u));
    float2 r = make_float2(__uint_as_float(right << 16), __uint_as_float(right & 0xffff0000u));
    __nv_bfloat162 both = __floats2bfloat162_rn(l.x + weight * (r.x - l.x), l.y + weight * (r.y - l.y));
#else
    float2 l = __half22float2(*(const half2 *)&left), r = __half22float2(*(const half2 *)&right);
    half2 both = __floats2half2_rn(l.x + weight * (r.x - l.x), l.y + weight * (r.y - l.y));
#endif
    return *(const unsigned *)&both;
#endif
}

__device__ inline Piece blend(const Piece &left, const Piece &right, float weight)
{
    Piece result;
#pragma unroll
    for (int i = 0; i < (int)(sizeof result.word / 4); i++)
        result.word[i] = blend_word(left.word[i], right.word[i], weight);
    return result;
}

/* Bytes from the left row to the right one. */
constexpr int TO_RIGHT = S > 1 ? ROW : 0;

/* One piece of one output row; `left` is that piece of the left row, anywhere in memory. */
__device__ inline void move_piece(value_t *to, const char *left, float weight)
{
    store_piece(to, blend(load_bytes<PIECE>(left), load_bytes<PIECE>(left + TO_RIGHT), weight));
}
