/*
 * sorted, first launch: the points of a head and level of an image, sorted by their cells. A block counts them in shared
 * memory, adds up the counts, and writes each point as a record to its place:
 *
 *     records [N*M*L][Lq*P]   of list (n*M + m)*L + l; as many as points of it count, the rest is not written
 *     lengths [N*M*L]         how many
 *
 * Within a cell the order is that of arrival: it is the only thing about this variant that differs from run to run. Own gradients of points that do not count are zeros, stored here.
 *
 * grid = L*M*N (list l + L*(m + M*n)), block = SORT_THREADS, smem = cells of the level with most * 4
 */
#pragma once

#include "cells.cuh"
#include "lists.cuh"
#include "sums.cuh"

/* A point that counts: pixel coordinates, weight, and its number q*P + p. */
struct alignas(16) Record {
    float x, y, weight;
    unsigned number;
};

extern "C" __global__ void __launch_bounds__(SORT_THREADS, 2)
    msda_backward_sort(const loc_t *loc, const loc_t *attn, Record *records, int *lengths, loc_t *grad_loc, loc_t *grad_attn)
{
    extern __shared__ int counters[];
    List list = list_number(blockIdx.x);
    Level level = level_at(list.level);
    int cells = (level.height + 1) * (level.width + 1);
    for (int i = threadIdx.x; i < cells; i += SORT_THREADS)
        counters[i] = 0;
    __syncthreads();
    for_points(list, loc, [&](unsigned, long long point, const Location &at) {
        float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
        if (counts(x, y, level)) {
            atomicAdd(counters + cell_number(cell_of(x, y), level), 1);
            return;
        }
        *(Location *)(grad_loc + 2 * point) = {loc_t(0.0f), loc_t(0.0f)};
        grad_attn[point] = loc_t(0.0f);
    });
    __syncthreads();
    int length = sums_before<SORT_THREADS>(counters, cells);
    if (threadIdx.x == 0)
        lengths[blockIdx.x] = length;
    records += (long long)blockIdx.x * LIST;
    for_points(list, loc, [&](unsigned number, long long point, const Location &at) {
        float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
        if (counts(x, y, level))
            records[atomicAdd(counters + cell_number(cell_of(x, y), level), 1)] = {x, y, float(__ldg(attn + point)), number};
    });
}
