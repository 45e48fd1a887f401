/*
 * query_order.cuh with two of msda's knobs. That file is msda_backward's too and stays as it is, so that what was measured with it still counts.
 *
 *     FOLD = on    the levels' first queries are constants; query_at() leaves them to the compiler, which counts them up at run time
 *     TRIM = on    quotients without the scaling of __fdividef, which only divisors beyond 2^126 need
 */
#pragma once

#if TRIM == TRIM_on
__device__ inline float quotient(float a, float b)
{
    float reciprocal; /* its error, too, stays below the half that small_quotient() adds */
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
    return a * reciprocal;
}
#define __fdividef quotient
#endif
#include "query_order.cuh"
#undef __fdividef

#if defined FOLD && FOLD == FOLD_on && SHAPE_queries == SHAPE_queries_levels

/* The level that query i is a pixel of. By recursion: in an unrolled loop pixels_before() is not folded. */
template <int LEVEL>
__device__ inline void find_level(int i, int &first, int &height, int &width)
{
    if constexpr (LEVEL < L) {
        constexpr int BEFORE = pixels_before(LEVEL), HEIGHT = level_height(LEVEL), WIDTH = level_width(LEVEL);
        if (i >= BEFORE) {
            first = BEFORE;
            height = HEIGHT;
            width = WIDTH;
        }
        find_level<LEVEL + 1>(i, first, height, width);
    }
}

template <int QUERIES>
__device__ inline int query_in_order(int i)
{
    if (LQ >= 1 << 20) /* beyond small_quotient */
        return i;
    int first = 0, height = level_height(0), width = level_width(0);
    find_level<1>(i, first, height, width);
    return first + tile_to_row_order<QUERIES < TILE_W ? 1 : QUERIES / TILE_W>(i - first, height, width);
}

#else

template <int QUERIES>
__device__ inline int query_in_order(int i)
{
    return query_at<QUERIES>(i);
}

#endif
