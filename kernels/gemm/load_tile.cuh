/*
 * Whole tiles by TMA, in the layout of wgmma.cuh.
 */
#pragma once

#include "box.cuh"
#include "wgmma.cuh"

/* The R x BK tile from row `row` of m (n) and column k: boxes of 64 of k, or of min(R, 64) of m (n). */
template <int R, bool K_INNERMOST>
__device__ inline void load_tile(unsigned char *to, const CUtensorMap *map, int row, int k, int matrix, unsigned long long *full)
{
    typedef Operand<R, BK, K_INNERMOST> Tile;
    if (K_INNERMOST) {
#pragma unroll
        for (int sub = 0; sub < BK / 64; sub++)
            load_box(to + sub * R * 128, map, k + sub * 64, row, matrix, full);
    } else {
#pragma unroll
        for (int chunk = 0; chunk < R / Tile::WIDTH; chunk++)
            load_box(to + chunk * BK * Tile::ROW_BYTES, map, row + chunk * Tile::WIDTH, k, matrix, full);
    }
}
