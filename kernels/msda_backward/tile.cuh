/*
 * tiled and tensor: a block's tile of TILE_QUERIES queries of a head of an image, whose points are sorted in shared memory, level by level, by
 * bins of CELLS_PER_BIN neighbouring cells. Locations and weights are read once, in rows; grad_out of the tile too; the points' own gradients
 * take the places of their locations and weights and go out in rows.
 *
 *     shared memory: rows     value_t [TILE_QUERIES][D]     grad_out
 *                    points   TilePoint [TILE_QUERIES*P]    places and weights, then own gradients
 *                    counters i32 [bins of the level with most]
 *                    query    i32 [TILE_QUERIES]            in their order of work
 *                    order    u32 [TILE_QUERIES*P]          sorted: bin and number of the points that count
 *
 * grid = ceil_div(Lq, TILE_QUERIES) * M*N, block = THREADS
 */
#pragma once

#include "cells.cuh"
#include "lanes.cuh"
#include "../msda/query_order.cuh"

constexpr int TILE_POINTS = TILE_QUERIES * P;
constexpr unsigned TILES_OF_IMAGE = ceil_div(LQ, TILE_QUERIES);
static_assert(TILE_POINTS <= 65536, "points of a tile are counted in 16 bits");

/* First pixel coordinates and weight; then the distances in the cell instead of the coordinates, and which of its bin's cells that is; then the own gradients. */
struct alignas(16) TilePoint {
    float x, y, weight;
    int column;
};

/* Bins: CELLS_PER_BIN cells of a row each, numbered row by row. */
__device__ constexpr int bins_of_row(int width)
{
    return ceil_div(width + 1, CELLS_PER_BIN);
}

__device__ constexpr int most_bins()
{
    int most = 0;
    for (int l = 0; l < L; l++)
        most = (level_height(l) + 1) * bins_of_row(level_width(l)) > most ? (level_height(l) + 1) * bins_of_row(level_width(l)) : most;
    return most;
}

__device__ inline int bin_number(const Cell &cell, const Level &level)
{
    return (cell.row + 1) * bins_of_row(level.width) + (cell.column + 1) / CELLS_PER_BIN;
}

/* The first cell of a bin. */
__device__ inline Cell cell_of_bin(int number, const Level &level)
{
    int row = number / bins_of_row(level.width);
    return {row - 1, (number - row * bins_of_row(level.width)) * CELLS_PER_BIN - 1, 0.0f, 0.0f};
}

/* Multiples of 16 bytes, so that all parts are aligned. */
__device__ constexpr int aligned(int bytes)
{
    return (bytes + 15) / 16 * 16;
}

constexpr int ROW_BYTES = aligned(TILE_QUERIES * D * (int)sizeof(value_t)), POINT_BYTES = TILE_POINTS * 16, COUNTER_BYTES = aligned(most_bins() * 4),
              QUERY_BYTES = aligned(TILE_QUERIES * 4);

struct Shared {
    value_t *rows;
    TilePoint *points;
    int *counters, *query;
    unsigned *order;
};

__device__ inline Shared parts_of(char *memory)
{
    Shared shared;
    shared.rows = (value_t *)memory;
    shared.points = (TilePoint *)(memory + ROW_BYTES);
    shared.counters = (int *)(memory + ROW_BYTES + POINT_BYTES);
    shared.query = (int *)(memory + ROW_BYTES + POINT_BYTES + COUNTER_BYTES);
    shared.order = (unsigned *)(memory + ROW_BYTES + POINT_BYTES + COUNTER_BYTES + QUERY_BYTES);
    return shared;
}

/* A block's queries, of one head of one image. */
struct Tile {
    long long image;
    int head, first, count; /* queries in the order of work */
};

__device__ inline Tile this_tile()
{
    Tile tile;
    tile.first = blockIdx.x % TILES_OF_IMAGE * TILE_QUERIES;
    tile.count = smaller(TILE_QUERIES, LQ - tile.first);
    tile.head = blockIdx.x / TILES_OF_IMAGE % M;
    tile.image = blockIdx.x / (TILES_OF_IMAGE * M);
    return tile;
}

__device__ inline void number_queries(const Shared &shared, const Tile &tile)
{
    for (int i = threadIdx.x; i < tile.count; i += THREADS)
        shared.query[i] = query_at<TILE_QUERIES>(tile.first + i);
    __syncthreads();
}

/* Number of the tile's query number i, as an item: (n*Lq + q)*M + m. */
__device__ inline long long item_of(const Shared &shared, const Tile &tile, int i)
{
    return (tile.image * LQ + shared.query[i]) * M + tile.head;
}

__device__ inline void load_rows(const Shared &shared, const Tile &tile, const value_t *grad_out)
{
    constexpr int PIECES_OF_ROW = D / VEC;
    for (int i = threadIdx.x; i < tile.count * PIECES_OF_ROW; i += THREADS) {
        int query = i / PIECES_OF_ROW, channel = i % PIECES_OF_ROW * VEC;
        *(Piece *)(shared.rows + query * D + channel) = load_piece(grad_out + item_of(shared, tile, query) * D + channel);
    }
}

/* The tile's points of a level; counts them in their cells. What does not count has its gradients already: zeros. */
__device__ inline void load_points(const Shared &shared, const Tile &tile, int number, const Level &level, const loc_t *loc, const loc_t *attn)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < tile.count * P; i += THREADS) {
        long long point = item_of(shared, tile, i / P) * POINTS + number * P + i % P;
        Location at = load_location(loc + 2 * point);
        float weight = float(__ldg(attn + point)), x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
        bool is_counted = counts(x, y, level);
        if (is_counted)
            atomicAdd(shared.counters + bin_number(cell_of(x, y), level), 1);
        shared.points[i] = is_counted ? TilePoint{x, y, weight, 0} : TilePoint{__uint_as_float(0x7fffffff), 0.0f, 0.0f, 0};
    }
}

static_assert(most_bins() <= 65536, "bins are counted in 16 bits");

/* Writes the points that count into `order`, by bin, and where in its cell each one lies. The counters then are where the bins end. */
__device__ inline void sort_points(const Shared &shared, const Tile &tile, const Level &level)
{
    for (int i = threadIdx.x; i < tile.count * P; i += THREADS) {
        TilePoint point = shared.points[i];
        if (point.x == point.x) {
            Cell cell = cell_of(point.x, point.y);
            int number = bin_number(cell, level);
            shared.order[atomicAdd(shared.counters + number, 1)] = (unsigned)number << 16 | i;
            point.x = cell.right;
            point.y = cell.down;
            point.column = (cell.column + 1) % CELLS_PER_BIN;
        } else
            point.x = 0.0f;
        shared.points[i] = point;
    }
}

__device__ inline void store_own(const Shared &shared, const Tile &tile, int number, loc_t *grad_loc, loc_t *grad_attn)
{
    for (int i = threadIdx.x; i < tile.count * P; i += THREADS) {
        long long point = item_of(shared, tile, i / P) * POINTS + number * P + i % P;
        TilePoint own = shared.points[i];
        *(Location *)(grad_loc + 2 * point) = {loc_t(own.x), loc_t(own.y)};
        grad_attn[point] = loc_t(own.weight);
    }
}

/* ADD(tile's parts, how many points of the level count, level, the head's values, its sums): between each level's points' arrival and their gradients' departure. */
template <void (*ADD)(const Shared &, int, const Level &, const value_t *, sum_t *)>
__device__ inline void add_tile(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    extern __shared__ __align__(16) char memory[];
    Shared shared = parts_of(memory);
    Tile tile = this_tile();
    long long head = tile.image * S * PIXEL + tile.head * D;
    number_queries(shared, tile);
    load_rows(shared, tile, grad_out);
#pragma unroll 1
    for (int l = 0; l < L; l++) {
        Level level = level_at(l);
        int bins = (level.height + 1) * bins_of_row(level.width);
        for (int i = threadIdx.x; i < bins; i += THREADS)
            shared.counters[i] = 0;
        __syncthreads();
        load_points(shared, tile, l, level, loc, attn);
        __syncthreads();
        int length = sums_before<THREADS>(shared.counters, bins);
        sort_points(shared, tile, level);
        __syncthreads();
        ADD(shared, length, level, value + head, sums + head);
        __syncthreads();
        store_own(shared, tile, l, grad_loc, grad_attn);
    }
}
