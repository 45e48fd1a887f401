/*
 * How fast tiles of 2 x 2 pixels get from maps into a block, by each way there is.
 *
 *     value [N][S][C]       f16   level l begins at pixel START_l, rows of W_l pixels
 *     at    [N][Q][L][P][2] i32   (x, y) of a tile's first pixel; may lie outside, also wholly
 *     out   [N][Q][L][P]    u32   one checksum per tile, so that every word of every tile is checked and little is written
 *     cycles [blocks]       u64   clock64 from a block's start to its end
 *
 *     tile  [2 rows][2 columns][C channels], pixels outside the level are zero
 *     out = sum over its 2*C words of 32 bits of word_k * weight(k) modulo 2^32
 *
 * weight(k) is odd: a single wrong word always shows, words in another order do.
 */
#pragma once

constexpr int N = SHAPE_N, Q = SHAPE_Q, P = SHAPE_P, C = SHAPE_C, L = SHAPE_H_LEN, S = SHAPE_S;
static_assert(C % 16 == 0 && C <= 256, "tiles begin at multiples of 128 bytes");
static_assert((long long)Q * L * P < 0x7fffffff, "an image's tiles are counted in 31 bits");

constexpr int PIXEL = C * 2, TILE = 4 * PIXEL, WORDS = TILE / 4; /* bytes, bytes, words */

__device__ constexpr int level_height(int level)
{
    constexpr int heights[] = {SHAPE_H};
    return heights[level];
}

__device__ constexpr int level_width(int level)
{
    constexpr int widths[] = {SHAPE_W};
    return widths[level];
}

__device__ constexpr int level_start(int level)
{
    constexpr int starts[] = {SHAPE_START};
    return starts[level];
}

__device__ inline unsigned weight(int word)
{
    return (2 * word + 1) * 0x9e3779b1u;
}
