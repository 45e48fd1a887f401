/*
 * Stores of sums whose rows are columns of D and the reverse (sm_75 and later): lane t holds, for an 8 x 8 part, the sums of column
 * t / 4 of D and of its rows 2 (t % 4) and the one below. The part is transposed between lanes, so that a row's stores lie side by side.
 */
#pragma once

#include "epilogue.cuh"

/* The pair of an 8 x 8 part of D that begins at (row, column). All lanes of the warp. */
__device__ inline void store_transposed(const Output &out, float2 sum, int row, int column)
{
    int lane = threadIdx.x % 32, r = row + lane % 4 * 2, c = column + lane / 4;
    unsigned pair = pack(finished(out, sum.x, r, c), finished(out, sum.y, r + 1, c)), turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    r = row + lane / 4;
    c = column + lane % 4 * 2;
    store_pair(out, turned, r, c);
    store_padding(out, r, c);
}
