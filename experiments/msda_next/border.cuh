/*
 * The copy of `value` in which every level has a border of zeros: [N][GRID_S][M][D], levels.cuh. A launch before the
 * gather, or a [prepare] for callers that keep their values so; a thread per piece of a pixel.
 *
 * grid = any; block = 256
 */
#pragma once

#include "levels.cuh"

constexpr int PIXEL_PIECE = M * D % 8 == 0 ? 8 : 1; /* channels that a thread moves at once */

struct alignas(PIXEL_PIECE * sizeof(value_t) < 16 ? PIXEL_PIECE * sizeof(value_t) : 16) PixelPiece {
    value_t channel[PIXEL_PIECE];
};

/* The number in `value` of pixel number `at` of the grid; -1 for the border. */
__device__ inline int pixel_of_grid(int at)
{
    int level = 0;
    for (int l = 1; l < L; l++)
        level += at >= bordered_start(l);
    int pitch = level_width(level) + 2, row = (at - bordered_start(level)) / pitch - 1, column = (at - bordered_start(level)) % pitch - 1;
    bool inside = row >= 0 && row < level_height(level) && column >= 0 && column < level_width(level);
    return inside ? level_start(level) + row * level_width(level) + column : -1;
}

extern "C" __global__ void msda_border(const value_t *value, value_t *bordered)
{
    constexpr int PIECES_OF_PIXEL = M * D / PIXEL_PIECE;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (long long)N * GRID_S * PIECES_OF_PIXEL; i += (long long)gridDim.x * blockDim.x) {
        long long pixel = i / PIECES_OF_PIXEL, image = pixel / GRID_S;
        int from = pixel_of_grid((int)(pixel % GRID_S));
        PixelPiece piece = {};
        if (from >= 0)
            piece = ((const PixelPiece *)value)[(image * S + from) * PIECES_OF_PIXEL + i % PIECES_OF_PIXEL];
        ((PixelPiece *)bordered)[i] = piece;
    }
}
