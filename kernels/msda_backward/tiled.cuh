/*
 * tiled: as sorted, but a block sorts the points of its own tile of TILE_QUERIES queries, level by level, in shared memory:
 * locations and weights are read once, in rows; grad_out of the tile too; the points' own gradients take the places of their
 * locations and weights and go out in rows. Only the sums of cells are additions to grad_value from anywhere. They are more
 * than with lists of whole images, because neighbouring tiles share cells, and less the larger a tile is.
 *
 *     shared memory: rows     value_t [TILE_QUERIES][D]                grad_out
 *                    x, y, w  f32 [3][TILE_QUERIES*P]                  pixel coordinates and weights, then own gradients
 *                    counters i32 [cells of the level with most]
 *                    query    i32 [TILE_QUERIES]                       in their order of work
 *                    order    u16 [TILE_QUERIES*P]                     sorted: points that count
 *
 * grid = ceil_div(Lq, TILE_QUERIES) * M*N, block = THREADS
 */
#pragma once

#include "cells.cuh"
#include "walk.cuh"
#include "../msda/query_order.cuh"

constexpr int TILE_POINTS = TILE_QUERIES * P;
constexpr unsigned TILES_OF_IMAGE = ceil_div(LQ, TILE_QUERIES);
static_assert(TILE_POINTS <= 65536, "points of a tile are counted in 16 bits");

__device__ constexpr int most_cells()
{
    int most = 0;
    for (int l = 0; l < L; l++)
        most = cells_of_level(l) > most ? cells_of_level(l) : most;
    return most;
}

/* Multiples of 16 bytes, so that all parts are aligned. */
__device__ constexpr int aligned(int bytes)
{
    return (bytes + 15) / 16 * 16;
}

constexpr int ROW_BYTES = aligned(TILE_QUERIES * D * (int)sizeof(value_t)), POINT_BYTES = aligned(TILE_POINTS * 4), COUNTER_BYTES = aligned(most_cells() * 4),
              QUERY_BYTES = aligned(TILE_QUERIES * 4);

struct Shared {
    value_t *rows;
    float *x, *y, *weight;
    int *counters, *query;
    unsigned short *order;
};

__device__ inline Shared parts_of(char *memory)
{
    Shared shared;
    shared.rows = (value_t *)memory;
    shared.x = (float *)(memory + ROW_BYTES);
    shared.y = (float *)(memory + ROW_BYTES + POINT_BYTES);
    shared.weight = (float *)(memory + ROW_BYTES + 2 * POINT_BYTES);
    shared.counters = (int *)(memory + ROW_BYTES + 3 * POINT_BYTES);
    shared.query = (int *)(memory + ROW_BYTES + 3 * POINT_BYTES + COUNTER_BYTES);
    shared.order = (unsigned short *)(memory + ROW_BYTES + 3 * POINT_BYTES + COUNTER_BYTES + QUERY_BYTES);
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
            atomicAdd(shared.counters + cell_number(cell_of(x, y), level), 1);
        shared.x[i] = is_counted ? x : __uint_as_float(0x7fffffff);
        shared.y[i] = is_counted ? y : 0.0f;
        shared.weight[i] = is_counted ? weight : 0.0f;
    }
}

/* Writes the numbers of the points that count into `order`, by cell. */
__device__ inline void sort_points(const Shared &shared, const Tile &tile, const Level &level)
{
    for (int i = threadIdx.x; i < tile.count * P; i += THREADS) {
        float x = shared.x[i];
        if (x == x)
            shared.order[atomicAdd(shared.counters + cell_number(cell_of(x, shared.y[i]), level), 1)] = i;
        else
            shared.x[i] = 0.0f;
    }
}

/* This group's part of the sorted points, as long as those of all other groups but where they end. */
__device__ inline void walk_points(const Shared &shared, int length, const Level &level, const value_t *value, sum_t *sums)
{
    int run = ceil_div(length, GROUPS), first = threadIdx.x / LANES * run, end = min(first + run, length);
    Walk walk = before_any_cell();
#pragma unroll 1
    for (int k = 0; k < run; k += UNROLL) {
        int number[UNROLL];
        Piece gradient[UNROLL][PIECES];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            number[u] = first + k + u < end ? shared.order[first + k + u] : -1;
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                gradient[u][piece] = number[u] >= 0 && has_piece(piece) ? *(const Piece *)(shared.rows + number[u] / P * D + first_channel(piece)) : zero_piece();
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            PointGradient own = {0.0f, 0.0f, 0.0f};
            if (number[u] >= 0) {
                Cell cell = cell_of(shared.x[number[u]], shared.y[number[u]]);
                if (cell.row != walk.cell.row || cell.column != walk.cell.column)
                    walk_to(walk, cell, level, value, sums);
                own = add_point(walk, cell, shared.weight[number[u]], gradient[u], level);
            }
            own = {sum_over_lanes(own.x), sum_over_lanes(own.y), sum_over_lanes(own.attn)};
            if (number[u] < 0)
                continue;
            if (lane_in_group() == 0) {
                shared.x[number[u]] = own.x;
                shared.y[number[u]] = own.y;
                shared.weight[number[u]] = own.attn;
            }
        }
    }
    leave(walk, level, sums);
}

__device__ inline void store_own(const Shared &shared, const Tile &tile, int number, loc_t *grad_loc, loc_t *grad_attn)
{
    for (int i = threadIdx.x; i < tile.count * P; i += THREADS) {
        long long point = item_of(shared, tile, i / P) * POINTS + number * P + i % P;
        *(Location *)(grad_loc + 2 * point) = {loc_t(shared.x[i]), loc_t(shared.y[i])};
        grad_attn[point] = loc_t(shared.weight[i]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_tiled(const value_t *value, const loc_t *loc, const loc_t *attn, const value_t *grad_out, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
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
        int cells = (level.height + 1) * (level.width + 1);
        for (int i = threadIdx.x; i < cells; i += THREADS)
            shared.counters[i] = 0;
        __syncthreads();
        load_points(shared, tile, l, level, loc, attn);
        __syncthreads();
        int length = sums_before<THREADS>(shared.counters, cells);
        sort_points(shared, tile, level);
        __syncthreads();
        walk_points(shared, length, level, value + head, sums + head);
        __syncthreads();
        store_own(shared, tile, l, grad_loc, grad_attn);
    }
}
