/*
 * tensor: as tiled, but tensor cores do the products. A bin is three neighbouring cells, so its points have to do with a window of 2 x 4 pixels:
 *
 *     0 1 2 3        a warp takes up to 16 points of a bin at a time:
 *     4 5 6 7            sums [32 channels][8 pixels]  +=  grad_out^T [32][16 points] * weights [16][8]
 *                        dots [16 points][8 pixels]     =  grad_out [16][32 channels] * value^T [32][8]
 *
 * with the sums in f32 registers until the bin changes. weights: attn times the shares of the four pixels of the point's cell, zeros for the other
 * four, rounded to f16. Channels may be put into the products' rows and columns in any order, the same on both sides: so a lane reads its part of a
 * row as 16 or 8 neighbouring bytes. Values and grad_out are f16, D is a multiple of 32, here called slices.
 *
 * grid = ceil_div(Lq, TILE_QUERIES) * M*N, block = THREADS
 */
#pragma once

#define LANES 4
#define VEC 8
constexpr int CELLS_PER_BIN = 3;

#include "mma.cuh"
#include "red.cuh"
#include "tile.cuh"

constexpr int SLICES = D / 32, WARPS = THREADS / 32, CHUNK = 16;
static_assert(D % 32 == 0 && sizeof(value_t) == 2, "whole slices of f16");

/* A bin's window as a lane 4*g + t has it: pixel g's channels 8t ... 8t + 7 of each slice; sums of pixels 2t and 2t + 1 for channels 4g ... 4g + 3. */
struct Window {
    Cell first; /* row and column of the upper left pixel */
    uint4 pixel[SLICES];
    float sum[SLICES][2][4]; /* of channels 4g, 4g + 1: pixels 2t, 2t + 1, 2t, 2t + 1; then of 4g + 2, 4g + 3 */
};

__device__ inline int row_of_lane() /* g */
{
    return threadIdx.x % 32 / 4;
}

__device__ inline int column_of_lane() /* t */
{
    return threadIdx.x % 4;
}

__device__ inline bool window_has(const Window &window, int pixel, const Level &level)
{
    int row = window.first.row + pixel / 4, column = window.first.column + pixel % 4;
    return row >= 0 && row < level.height && column >= 0 && column < level.width;
}

__device__ inline long long window_offset(const Window &window, int pixel, const Level &level)
{
    return (long long)(level.start + (window.first.row + pixel / 4) * level.width + window.first.column + pixel % 4) * PIXEL;
}

__device__ inline void open_window(Window &window, int bin, const Level &level, const value_t *value)
{
    window.first = cell_of_bin(bin, level);
    bool reads = window_has(window, row_of_lane(), level);
    const value_t *at = value + window_offset(window, row_of_lane(), level) + 8 * column_of_lane();
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        window.pixel[slice] = reads ? __ldg((const uint4 *)(at + 32 * slice)) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < 8; i++)
            window.sum[slice][i / 4][i % 4] = 0.0f;
    }
}

/* Pixels that no point has to do with have sums of zero. */
__device__ inline void close_window(const Window &window, const Level &level, sum_t *sums)
{
#pragma unroll
    for (int side = 0; side < 2; side++) {
        int pixel = 2 * column_of_lane() + side;
        sum_t *at = sums + window_offset(window, pixel, level) + 4 * row_of_lane();
        if (!window_has(window, pixel, level))
            continue;
#pragma unroll
        for (int slice = 0; slice < SLICES; slice++) {
            float sum[4] = {window.sum[slice][0][side], window.sum[slice][0][side + 2], window.sum[slice][1][side], window.sum[slice][1][side + 2]};
            if (sum[0] != 0.0f || sum[1] != 0.0f || sum[2] != 0.0f || sum[3] != 0.0f)
                add_piece(at + 32 * slice, sum);
        }
    }
}

/* The share that a point has of a column of pixels; what the column's pixels say of how the sample changes to the right. */
__device__ inline float column_share(const TilePoint &point, int column)
{
    return column == point.column ? 1.0f - point.x : column == point.column + 1 ? point.x : 0.0f;
}

__device__ inline float column_slope(const TilePoint &point, int column, float dot)
{
    return column == point.column ? -dot : column == point.column + 1 ? dot : 0.0f;
}

__device__ inline float row_share(const TilePoint &point, int row)
{
    return row ? point.y : 1.0f - point.y;
}

/* Up to CHUNK points of one bin: which they are. */
struct Chunk {
    const unsigned *order;
    int count;
};

/* Number of a chunk's point in the tile, or -1: such lanes read no point, since other warps write the places of theirs meanwhile. */
__device__ inline int point_of(const Chunk &chunk, int i)
{
    return i < chunk.count ? (int)(chunk.order[i] & 0xffff) : -1;
}

__device__ inline void add_sums(Window &window, const Shared &shared, const Chunk &chunk)
{
    int g = row_of_lane(), t = column_of_lane(), number[4];
    float weight[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        number[i] = point_of(chunk, 2 * t + i % 2 + i / 2 * 8);
        weight[i] = 0.0f;
        if (number[i] >= 0) {
            TilePoint point = shared.points[number[i]];
            weight[i] = point.weight * row_share(point, g / 4) * column_share(point, g % 4);
        }
    }
    half2 first = __floats2half2_rn(weight[0], weight[1]), second = __floats2half2_rn(weight[2], weight[3]);
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        uint2 row[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            row[i] = number[i] >= 0 ? *(const uint2 *)(shared.rows + number[i] / P * D + 32 * slice + 4 * g) : uint2{0, 0};
        constexpr int LOWER = 0x5410, UPPER = 0x7632;
        multiply_add(window.sum[slice][0], __byte_perm(row[0].x, row[1].x, LOWER), __byte_perm(row[0].x, row[1].x, UPPER), __byte_perm(row[2].x, row[3].x, LOWER),
                     __byte_perm(row[2].x, row[3].x, UPPER), *(unsigned *)&first, *(unsigned *)&second);
        multiply_add(window.sum[slice][1], __byte_perm(row[0].y, row[1].y, LOWER), __byte_perm(row[0].y, row[1].y, UPPER), __byte_perm(row[2].y, row[3].y, LOWER),
                     __byte_perm(row[2].y, row[3].y, UPPER), *(unsigned *)&first, *(unsigned *)&second);
    }
}

/* Of points g (0, 1) and g + 8 (2, 3) with pixels 2t and 2t + 1. */
__device__ inline void find_dots(float (&dot)[4], const Window &window, const Shared &shared, const int (&number)[2])
{
#pragma unroll
    for (int slice = 0; slice < SLICES; slice++) {
        uint4 row[2], pixel = window.pixel[slice];
#pragma unroll
        for (int i = 0; i < 2; i++)
            row[i] = number[i] >= 0 ? *(const uint4 *)(shared.rows + number[i] / P * D + 32 * slice + 8 * column_of_lane()) : make_uint4(0, 0, 0, 0);
        multiply_add(dot, row[0].x, row[1].x, row[0].y, row[1].y, pixel.x, pixel.y);
        multiply_add(dot, row[0].z, row[1].z, row[0].w, row[1].w, pixel.z, pixel.w);
    }
}

/* A lane's part of a point's own gradients: two pixels of a row, whose first column is `column`. */
__device__ inline PointGradient own_part(const TilePoint &point, const float *dot, int row, int column, const Level &level)
{
    float across = column_share(point, column) * dot[0] + column_share(point, column + 1) * dot[1];
    float slope = column_slope(point, column, dot[0]) + column_slope(point, column + 1, dot[1]);
    float by_x = row_share(point, row) * slope, by_y = row ? across : -across;
    return {point.weight * level.width * by_x, point.weight * level.height * by_y, row_share(point, row) * across};
}

__device__ inline void add_chunk(Window &window, const Shared &shared, const Chunk &chunk, const Level &level)
{
    int number[2] = {point_of(chunk, row_of_lane()), point_of(chunk, row_of_lane() + 8)}, t = column_of_lane();
    float dot[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    add_sums(window, shared, chunk);
    find_dots(dot, window, shared, number);
    OwnTotal total[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        TilePoint point = number[i] >= 0 ? shared.points[number[i]] : TilePoint{0.0f, 0.0f, 0.0f, 0};
        total[i] = own_total(own_part(point, dot + 2 * i, t / 2, t % 2 * 2, level));
    }
    __syncwarp(); /* all have read the points whose places are written now */
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (number[i] >= 0)
            store_total(total[i], [&](int which, float value) { ((float *)(shared.points + number[i]))[which] = value; });
    __syncwarp();
}

/* This warp's part of the sorted points, in chunks that do not cross bins. */
__device__ inline void add_points(const Shared &shared, int length, const Level &level, const value_t *value, sum_t *sums)
{
    int run = ceil_div(length, WARPS), first = threadIdx.x / 32 * run, end = min(first + run, length), bin = -1;
    Window window;
    for (int i = first; i < end;) {
        int here = shared.order[i] >> 16;
        if (here != bin) {
            if (bin >= 0)
                close_window(window, level, sums);
            bin = here;
            open_window(window, bin, level, value);
        }
        Chunk chunk = {shared.order + i, min(min(end, shared.counters[bin]) - i, CHUNK)};
        add_chunk(window, shared, chunk, level);
        i += chunk.count;
    }
    if (bin >= 0)
        close_window(window, level, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_tensor(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    add_tile<add_points>(value, loc, attn, grad_out, sums, grad_loc, grad_attn);
}
