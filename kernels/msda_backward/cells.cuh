/*
 * Sorting points by the cell they lie in. The cells of a level are numbered row by row from (-1, -1): (H + 1) * (W + 1) of them.
 */
#pragma once

#include "problem.cuh"

__device__ constexpr int cells_of_level(int level)
{
    return (level_height(level) + 1) * (level_width(level) + 1);
}

__device__ inline int cell_number(const Cell &cell, const Level &level)
{
    return (cell.row + 1) * (level.width + 1) + cell.column + 1;
}

/* Counts become the places where each cell's records begin. Returns how many there are. All of the block's COUNT threads. */
template <int COUNT, typename COUNTER>
__device__ inline int sums_before(COUNTER *counts, int cells)
{
    __shared__ int of_warp[COUNT / 32];
    int share = ceil_div(cells, COUNT), first = threadIdx.x * share, end = min(first + share, cells), own = 0;
    for (int i = first; i < end; i++)
        own += counts[i];
    int through = own, lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int below = __shfl_up_sync(0xffffffff, through, step);
        through += lane >= step ? below : 0;
    }
    if (lane == 31)
        of_warp[threadIdx.x / 32] = through;
    __syncthreads();
    int before = through - own, all = 0;
    for (int w = 0; w < COUNT / 32; w++) {
        before += w < (int)threadIdx.x / 32 ? of_warp[w] : 0;
        all += of_warp[w];
    }
    for (int i = first; i < end; i++) {
        int count = counts[i];
        counts[i] = (COUNTER)before;
        before += count;
    }
    __syncthreads();
    return all;
}
