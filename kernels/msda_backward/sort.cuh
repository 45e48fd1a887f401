/*
 * sorted, first launch: the points of a head and level of an image, sorted by their cells. A block counts them in shared
 * memory, adds up the counts, and writes each point as a record to its place:
 *
 *     records [N*M*L][Lq*P]   of list (n*M + m)*L + l; as many as points of it count, the rest is not written
 *     lengths [N*M*L]         how many
 *
 * Cells are numbered row by row from (-1, -1): (H + 1) * (W + 1) of them. Within a cell the order is that of arrival: it is
 * the only thing about this variant that differs from run to run. Own gradients of points that do not count are zeros, stored here.
 *
 * grid = L*M*N (list l + L*(m + M*n)), block = SORT_THREADS, smem = (cells of the level with most + 1) * 4
 */
#pragma once

#include "sums.cuh"

constexpr int LIST = LQ * P; /* places of a list */

/* A point that counts: pixel coordinates, weight, and its number q*P + p. */
struct alignas(16) Record {
    float x, y, weight;
    unsigned number;
};

__device__ constexpr int cells_of_level(int level)
{
    return (level_height(level) + 1) * (level_width(level) + 1);
}

__device__ inline int cell_number(const Cell &cell, const Level &level)
{
    return (cell.row + 1) * (level.width + 1) + cell.column + 1;
}

/* Of a list: its level, and the number of its item of query 0. */
struct List {
    int level, head;
    long long image;
};

__device__ inline List list_number(unsigned number)
{
    return {(int)(number % L), (int)(number / L % M), number / (L * M)};
}

/* Of point q*P + p of a list, in [N][Lq][M][L][P]. */
__device__ inline long long point_number(const List &list, unsigned number)
{
    return (((list.image * LQ + number / P) * M + list.head) * L + list.level) * P + number % P;
}

/* Counts become the places where each cell's records begin. Returns how many there are. All of the block's threads. */
__device__ inline int sums_before(int *counts, int cells)
{
    __shared__ int of_warp[SORT_THREADS / 32];
    int share = ceil_div(cells, SORT_THREADS), first = threadIdx.x * share, end = min(first + share, cells), own = 0;
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
    for (int w = 0; w < SORT_THREADS / 32; w++) {
        before += w < (int)threadIdx.x / 32 ? of_warp[w] : 0;
        all += of_warp[w];
    }
    for (int i = first; i < end; i++) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
    return all;
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    msda_backward_sort(const loc_t *loc, const loc_t *attn, Record *records, int *lengths, loc_t *grad_loc, loc_t *grad_attn)
{
    extern __shared__ int counters[];
    List list = list_number(blockIdx.x);
    Level level = level_at(list.level);
    int cells = (level.height + 1) * (level.width + 1);
    for (int i = threadIdx.x; i < cells; i += SORT_THREADS)
        counters[i] = 0;
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < LIST; i += SORT_THREADS) {
        long long point = point_number(list, i);
        Location at = load_location(loc + 2 * point);
        float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
        if (counts(x, y, level)) {
            atomicAdd(counters + cell_number(cell_of(x, y), level), 1);
            continue;
        }
        *(Location *)(grad_loc + 2 * point) = {loc_t(0.0f), loc_t(0.0f)};
        grad_attn[point] = loc_t(0.0f);
    }
    __syncthreads();
    int length = sums_before(counters, cells);
    if (threadIdx.x == 0)
        lengths[blockIdx.x] = length;
    records += (long long)blockIdx.x * LIST;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < LIST; i += SORT_THREADS) {
        long long point = point_number(list, i);
        Location at = load_location(loc + 2 * point);
        float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
        if (counts(x, y, level))
            records[atomicAdd(counters + cell_number(cell_of(x, y), level), 1)] = {x, y, float(__ldg(attn + point)), i};
    }
}
