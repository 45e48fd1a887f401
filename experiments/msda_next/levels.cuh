/*
 * The levels as direct and coarse_smem gather from them.
 *
 *     BORDER = clamp     from `value` itself: the 2x2 window of a point stays inside the level, weights do the rest
 *              zeros     from a copy [N][GRID_S][M][D] in which each level has a border of zeros: rows of W_l + 2 pixels,
 *                        H_l + 2 of them; the window may reach into the border. The copy is made each time, and timed
 *              given     the same, made by a [prepare]: for callers that keep their values so
 *     LEVELS = baked     sizes are constants: the four corners are immediates of the loads
 *              runtime   sizes come from `table` [L][3] (height, width, start); how many levels there are, S and whether all are
 *                        at least 2x2 is baked all the same
 */
#pragma once

#include "shape.cuh"

constexpr bool BORDERED = BORDER != BORDER_clamp;
constexpr int RIM = BORDERED ? 2 : 0; /* what a border adds to a side */
constexpr bool GRID_AT_LEAST_2X2 = BORDERED || levels_at_least_2x2();

/* Pixels of the bordered levels before this one. */
__device__ constexpr int bordered_start(int level)
{
    int pixels = 0;
    for (int l = 0; l < level; l++)
        pixels += (level_height(l) + 2) * (level_width(l) + 2);
    return pixels;
}

constexpr int GRID_S = BORDERED ? bordered_start(L) : S; /* pixels of an image that is gathered from */

/* First pixel of a level's rows on the grid; its border, if any, included. */
__device__ constexpr int grid_start(int level)
{
    return BORDERED ? bordered_start(level) : level_start(level);
}

/* A level: the problem's height and width, pixels from row to row, and the number of pixel (0, 0). */
struct Level {
    int height, width, pitch, origin;
};

#if LEVELS == LEVELS_runtime
typedef const int *LevelTable;

__device__ inline Level level_of(LevelTable table, int level)
{
    int height = __ldg(table + 3 * level), width = __ldg(table + 3 * level + 1), start = __ldg(table + 3 * level + 2);
    return {height, width, width, start};
}
#else
struct LevelTable {
};

__device__ constexpr Level level_of(LevelTable, int level)
{
    int pitch = level_width(level) + RIM;
    return {level_height(level), level_width(level), pitch, grid_start(level) + (BORDERED ? pitch + 1 : 0)};
}
#endif

__device__ inline Place place_on_grid(float position, float size)
{
    return BORDERED ? place_in_border(position, size) : place(position, size);
}
