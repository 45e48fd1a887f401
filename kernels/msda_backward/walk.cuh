/*
 * sorted and tiled: a group of LANES lanes walks over points that are sorted by cell. Points of one cell come one after the
 * other: their four pixels are read once, their four sums stay in registers and go to grad_value when the cell changes. The
 * next cell of a row takes over the two pixels that it shares, and their sums.
 *
 *     PIXELS    how a lane keeps its channels of the four pixels: as they are stored, or widened to f32
 */
#pragma once

#include "red.cuh"

constexpr int GROUPS = THREADS / LANES;
static_assert(32 % LANES == 0 && THREADS % 32 == 0, "groups do not cross warps");

/* A piece of a pixel while its cell lasts: widened once, or for each point again, from half the registers. */
#if PIXELS == PIXELS_f32
struct Pixel {
    float channel[VEC];
};

__device__ inline void keep_pixel(Pixel &pixel, const Piece &piece)
{
    widen(pixel.channel, piece);
}

__device__ inline void channels_of(float (&channels)[VEC], const Pixel &pixel)
{
#pragma unroll
    for (int i = 0; i < VEC; i++)
        channels[i] = pixel.channel[i];
}
#else
typedef Piece Pixel;

__device__ inline void keep_pixel(Pixel &pixel, const Piece &piece)
{
    pixel = piece;
}

__device__ inline void channels_of(float (&channels)[VEC], const Pixel &pixel)
{
    widen(channels, pixel);
}
#endif

/* What a group keeps of the cell it is in: the lane's channels of the four pixels, and of the sums for them. */
struct Walk {
    Cell cell; /* row and column; no pixels at all at first */
    bool has[4];
    Pixel pixel[4][PIECES];
    float sum[4][PIECES][VEC];
};

/* Adds a corner's sums to its pixel. */
__device__ inline void add_sums(const Walk &walk, int corner, const Level &level, sum_t *sums)
{
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        if (walk.has[corner] && has_piece(piece))
            add_piece(sums + (long long)pixel_number(walk.cell, corner, level) * PIXEL + first_channel(piece), walk.sum[corner][piece]);
}

__device__ inline void read_pixel(Walk &walk, int corner, const Level &level, const value_t *value)
{
    walk.has[corner] = has_pixel(walk.cell, corner, level);
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        bool reads = walk.has[corner] && has_piece(piece);
        keep_pixel(walk.pixel[corner][piece], reads ? load_piece(value + (long long)pixel_number(walk.cell, corner, level) * PIXEL + first_channel(piece)) : zero_piece());
#pragma unroll
        for (int i = 0; i < VEC; i++)
            walk.sum[corner][piece][i] = 0.0f;
    }
}

/* What the right pixels were, the left ones are now. */
__device__ inline void pass_on(Walk &walk, int right)
{
    walk.has[right - 1] = walk.has[right];
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        walk.pixel[right - 1][piece] = walk.pixel[right][piece];
#pragma unroll
        for (int i = 0; i < VEC; i++)
            walk.sum[right - 1][piece][i] = walk.sum[right][piece][i];
    }
}

/* To another cell. Cells come row by row, so it often is the next one, which shares two pixels: these stay. */
__device__ inline void walk_to(Walk &walk, const Cell &cell, const Level &level, const value_t *value, sum_t *sums)
{
    bool is_next = cell.row == walk.cell.row && cell.column == walk.cell.column + 1;
#pragma unroll
    for (int corner = 0; corner < 4; corner++)
        if (corner % 2 == 0 || !is_next)
            add_sums(walk, corner, level, sums);
    walk.cell = cell;
#pragma unroll
    for (int left = 0; left < 4; left += 2) {
        if (is_next)
            pass_on(walk, left + 1);
        else
            read_pixel(walk, left, level, value);
        read_pixel(walk, left + 1, level, value);
    }
}

__device__ inline Walk before_any_cell()
{
    Walk walk = {};
    walk.cell = {-2, -2, 0.0f, 0.0f};
    return walk;
}

/* The last cell's sums. */
__device__ inline void leave(const Walk &walk, const Level &level, sum_t *sums)
{
#pragma unroll
    for (int corner = 0; corner < 4; corner++)
        add_sums(walk, corner, level, sums);
}

/* Adds a point with the lane's channels of its grad_out to the sums; returns the lane's part of its own gradients. */
__device__ inline PointGradient add_point(Walk &walk, const Cell &cell, float weight, const Piece (&gradient)[PIECES], const Level &level)
{
    float dot[4] = {0.0f, 0.0f, 0.0f, 0.0f}, lower = weight * cell.down, upper = weight - lower, share[4];
    share[1] = upper * cell.right;
    share[0] = upper - share[1];
    share[3] = lower * cell.right;
    share[2] = lower - share[3];
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        float channels[VEC];
        widen(channels, gradient[piece]);
#pragma unroll
        for (int corner = 0; corner < 4; corner++) {
            float pixel[VEC];
            channels_of(pixel, walk.pixel[corner][piece]);
#pragma unroll
            for (int i = 0; i < VEC; i++) {
                walk.sum[corner][piece][i] = fmaf(share[corner], channels[i], walk.sum[corner][piece][i]);
                dot[corner] = fmaf(pixel[i], channels[i], dot[corner]);
            }
        }
    }
    return point_gradient(dot, cell, level, weight);
}
