/*
 * The staging test: each block copies two channels of a whole image, a map of S words, into its shared memory, and sums it up.
 *
 *     pixels [N][S][C]            f16   as value of msda with one head: a map is 4 of each C*2 bytes
 *     planes [N*C/2][PITCH words] u32   the same, map after map, each at a multiple of 256 bytes
 *     out    [N*C/2]              u32   a checksum of each map: sum over i of word_i * weight(i) modulo 2^32
 *
 *     PATTERN = strided   from pixels:  #...............#...............#...............     4 of 64 bytes (C = 32)
 *               runs      from planes:  ################################################     all bytes
 *
 * weight(i) is odd: a single wrong word always shows, words in another order do.
 */
#pragma once

#include <cuda_fp16.h>

constexpr int N = SHAPE_N, S = SHAPE_S, C = SHAPE_C;
constexpr int PARTS = C / 2, MAPS = N * PARTS;
constexpr int ROW = 256; /* bytes that the copy engine moves at least */
constexpr int ROWS = (S * 4 + ROW - 1) / ROW, PITCH = ROWS * ROW / 4;
static_assert(C % 8 == 0 && C <= 256, "pixels are whole pieces of 16 bytes");
static_assert((long long)S * C * 2 < 0x7fffffff, "an image's bytes are counted in 31 bits");

__device__ inline unsigned weight(int i)
{
    return (2 * i + 1) * 0x9e3779b1u;
}
