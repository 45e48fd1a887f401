/*
 * sorted and by_pixel: the points of a head and level of an image are a list, number (n*M + m)*L + l. A block of SORT_THREADS threads sorts one.
 */
#pragma once

#include "problem.cuh"

constexpr int LIST = LQ * P; /* places of a list */

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

/* DO(number in the list, its place in [N][Lq][M][L][P], location) for all points of the list that are this thread's; SORT_BATCH loads are in flight together. */
template <typename DO>
__device__ inline void for_points(const List &list, const loc_t *loc, DO act)
{
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < LIST; first += SORT_THREADS * SORT_BATCH) {
        Location at[SORT_BATCH];
#pragma unroll
        for (int i = 0; i < SORT_BATCH; i++)
            if (first + i * SORT_THREADS < LIST)
                at[i] = load_location(loc + 2 * point_number(list, first + i * SORT_THREADS));
#pragma unroll
        for (int i = 0; i < SORT_BATCH; i++)
            if (first + i * SORT_THREADS < LIST)
                act(first + i * SORT_THREADS, point_number(list, first + i * SORT_THREADS), at[i]);
    }
}
