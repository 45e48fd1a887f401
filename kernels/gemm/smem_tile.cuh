/*
 * Tiles that threads load by cp.async, in the layout of wgmma.cuh for R a multiple of 64 (or k innermost, any R):
 *
 *     k innermost    [K / 64][R][64 of k]        k outermost    [R / 64][K][64 of m or n]
 *
 * rows of 128 bytes whose 16-byte pieces are permuted: piece p of row r lies at p ^ (r & 7).
 */
#pragma once

#include "thread_copy.cuh"

__device__ inline unsigned piece_address(unsigned tile, int row, int piece)
{
    return tile + row * 128 + ((piece ^ (row & 7)) << 4);
}

/* The R x K tile from `row` of m (n) and column k of a matrix of rows x columns_k. What lies outside is zero. */
template <int R, int K, bool K_INNERMOST, int THREADS>
__device__ inline void copy_tile(unsigned to, const element_t *from, long long ld, int row, int k, int rows, int ks)
{
    constexpr int LINES = K_INNERMOST ? R : K, WIDTH = K_INNERMOST ? K : R, PIECES = WIDTH / 8;
    int first_line = K_INNERMOST ? row : k, first = K_INNERMOST ? k : row;
    int lines = K_INNERMOST ? rows : ks, width = K_INNERMOST ? ks : rows;
#pragma unroll
    for (int i = 0; i < LINES * PIECES / THREADS; i++) {
        int item = i * THREADS + threadIdx.x, line = item / PIECES, piece = item % PIECES;
        int y = first_line + line, x = first + piece * 8;
        int inside = y < lines ? min(max(width - x, 0), 8) : 0;
        const element_t *source = from + (inside > 0 ? y * ld + x : 0);
        cp_async_16(piece_address(to + piece / 8 * LINES * 128, line, piece % 8), source, inside * 2);
    }
    static_assert(LINES * PIECES % THREADS == 0, "whole rounds of all threads");
}
