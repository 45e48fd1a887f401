/*
 * tiled: as sorted, but blocks sort the points of their own tiles in shared memory (tile.cuh), and walk over those. Only the sums of cells
 * are additions to grad_value from anywhere. They are more than with lists of whole images, because neighbouring tiles share cells, and
 * less the larger a tile is.
 *
 * grid = ceil_div(Lq, TILE_QUERIES) * M*N, block = THREADS
 */
#pragma once

constexpr int CELLS_PER_BIN = 1;

#include "tile.cuh"
#include "walk.cuh"

/* This group's part of the sorted points, as long as those of all other groups but where they end. */
__device__ inline void walk_points(const Shared &shared, int length, const Level &level, const value_t *value, sum_t *sums)
{
    int run = ceil_div(length, GROUPS), first = threadIdx.x / LANES * run, end = min(first + run, length);
    unsigned walked = ~0u; /* the cell's number */
    Walk walk = before_any_cell();
#pragma unroll 1
    for (int k = 0; k < run; k += UNROLL) {
        unsigned entry[UNROLL];
        Piece gradient[UNROLL][PIECES];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            bool exists = first + k + u < end;
            entry[u] = exists ? shared.order[first + k + u] : ~0u;
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                gradient[u][piece] = exists && has_piece(piece) ? *(const Piece *)(shared.rows + (entry[u] & 0xffff) / P * D + first_channel(piece)) : zero_piece();
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            PointGradient own = {0.0f, 0.0f, 0.0f};
            TilePoint *point = shared.points + (entry[u] & 0xffff);
            bool exists = first + k + u < end;
            if (exists) {
                TilePoint at = *point;
                if (entry[u] >> 16 != walked) {
                    walked = entry[u] >> 16;
                    walk_to(walk, cell_of_bin(walked, level), level, value, sums);
                }
                own = add_point(walk, {walk.cell.row, walk.cell.column, at.y, at.x}, at.weight, gradient[u], level);
            }
            OwnTotal total = own_total(own);
            __syncwarp(); /* all lanes of the group have read the point whose place is written now: shuffles do not order memory */
            if (exists)
                store_total(total, [&](int which, float value) { ((float *)point)[which] = value; });
        }
    }
    leave(walk, level, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_tiled(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    add_tile<walk_points>(value, loc, attn, grad_out, sums, grad_loc, grad_attn);
}
