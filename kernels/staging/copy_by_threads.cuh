/*
 * cooperative, cp_async: every thread copies pieces of VEC bytes, through registers or by cp.async; UNROLL of them at a time.
 *
 *     strided   pieces of 4 bytes, PARTS words from each other
 *     runs      pieces one after the other
 *
 * smem = the map
 */
#pragma once

#include "copy_pieces.cuh"

typedef const unsigned *source_t;

template <int BYTES> struct Piece;
template <> struct Piece<4> { typedef unsigned type; };
template <> struct Piece<8> { typedef uint2 type; };
template <> struct Piece<16> { typedef uint4 type; };
typedef Piece<VEC>::type piece_t;
static_assert(PATTERN == PATTERN_runs || VEC == 4, "strided words are single ones");

/* The map's last words come along with padding; it is never summed up. */
constexpr int PIECES = (S * 4 + VEC - 1) / VEC;

__device__ inline const piece_t *piece_at(source_t source, int map, int piece)
{
#if PATTERN == PATTERN_strided
    return (const piece_t *)(source + ((long long)(map / PARTS) * S + piece) * PARTS + map % PARTS);
#else
    return (const piece_t *)(source + (long long)map * PITCH) + piece;
#endif
}

/* All threads of the block. The map is there after a barrier. */
__device__ inline void copy_map(unsigned char *to, source_t source, int map)
{
#pragma unroll UNROLL
    for (int piece = threadIdx.x; piece < PIECES; piece += THREADS)
#if ALGO == ALGO_cp_async
        cp_async_piece<VEC>(shared_address((piece_t *)to + piece), piece_at(source, map, piece));
    cp_async_commit();
    cp_async_wait<0>();
#else
        ((piece_t *)to)[piece] = *piece_at(source, map, piece);
#endif
}
