/*
 * Where the tile with a number begins, in rows or in columns of D. The last one begins early enough to end with the last row (column);
 * what it shares with the one before is computed twice, to the same bits: rows outside cost TMA more than rows inside. Not where C is
 * read (C may be D itself), and not with tails, for which ptxas would no longer find registers.
 */
#pragma once

#if READS_C || (ALGO == ALGO_ring && TAIL > 0)
constexpr bool OVERLAPS = false;
#else
constexpr bool OVERLAPS = true;
#endif

/* unit: of which the beginning is a multiple. Behind `extent` lie less than `unit` rows of the tile, unless it is larger than all of D. */
__device__ inline int tile_start(int number, int size, int extent, int unit)
{
    int start = number * size;
    return OVERLAPS ? min(start, max(align_up(extent - size, unit), 0)) : start;
}

__device__ inline int first_row(int number, int size, int m)
{
    return tile_start(number, size, m, A_K_INNERMOST ? 1 : 8);
}

__device__ inline int first_column(int number, int size, int n)
{
    return tile_start(number, size, n, 8);
}
