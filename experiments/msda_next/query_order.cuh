/*
 * In which order blocks take the queries. Queries near each other in the map read the same pixels, so a block
 * should own a tile of them, not a row. Where queries form grids, they are numbered anew:
 *
 *     a grid of `width` columns     bands of TILE_H rows, in a band strips of TILE_W columns, in a strip row by row
 *
 *         | 0 1 2 3 | 8 9 ...       TILE_W = 4, TILE_H = 2. The last strip may be narrower, the last band lower;
 *         | 4 5 6 7 | 12 ...        no number is skipped, so a block of TILE_W*TILE_H queries has no idle lane.
 *
 * TILE_W = 0: as they come. TILE_H follows from the queries per block.
 */
#pragma once

/* i / d for i < 2^20: the error of the quotient stays below the half that is added. Fewer steps than an exact division. */
__device__ inline int small_quotient(int i, int d)
{
#if TRIM /* d is far from where __fdividef must scale; the reciprocal's error stays below the half as well */
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"((float)d));
    return (int)((i + 0.5f) * reciprocal);
#else
    return (int)__fdividef(i + 0.5f, d);
#endif
}

/* The place, row by row, of what is number `i` in tiles. */
template <int TILE_H>
__device__ inline int tile_to_row_order(int i, int height, int width)
{
    int band = small_quotient(i, TILE_H * width);
    i -= band * (TILE_H * width);
    int rows = min(TILE_H, height - band * TILE_H);
    int strip = small_quotient(i, TILE_W * rows);
    i -= strip * (TILE_W * rows);
    int columns = min(TILE_W, width - strip * TILE_W);
    int row = small_quotient(i, columns);
    return (band * TILE_H + row) * width + strip * TILE_W + (i - row * columns);
}

/* The level that query i is a pixel of. By recursion: the compiler does not fold pixels_before() in an unrolled loop, but counts at run time. */
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

/* The query that is number i in the order of work; both in [0, Lq). */
template <int QUERIES>
__device__ inline int query_at(int i)
{
#if TILE_W == 0 || SHAPE_queries == SHAPE_queries_free
    return i;
#else
    constexpr int TILE_H = QUERIES < TILE_W ? 1 : QUERIES / TILE_W;
    if (LQ >= 1 << 20) /* beyond small_quotient */
        return i;
#if SHAPE_queries == SHAPE_queries_grid
    constexpr int width = level_width(0), height = LQ / width;
    return i < height * width ? tile_to_row_order<TILE_H>(i, height, width) : i; /* the rest is part of a row */
#else
    int first = 0, height = level_height(0), width = level_width(0);
#if FOLD
    find_level<1>(i, first, height, width);
#else
#pragma unroll
    for (int l = 1; l < L; l++)
        if (i >= pixels_before(l)) {
            first = pixels_before(l);
            height = level_height(l);
            width = level_width(l);
        }
#endif
    return first + tile_to_row_order<TILE_H>(i - first, height, width);
#endif
#endif
}
