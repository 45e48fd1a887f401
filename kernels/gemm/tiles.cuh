/*
 * Which block makes which tile, in which order: groups of ORDER rows of tiles, down the group first, so that blocks
 * that run together share rows of A and columns of B in L2.
 */
#pragma once

#include "cluster.cuh"
#include "fused.cuh"
#include "tile_start.cuh"

struct Place {
    int m, n; /* of the tile, counted in tiles */
};

/* The tile's place from its number, for grids of one dimension. */
__device__ inline Place place_of(int number, int rows, int columns)
{
    int per_group = ORDER * columns, group = number / per_group, left = number - group * per_group;
    int height = min(ORDER, rows - group * ORDER);
    if (height == ORDER)
        return {group * ORDER + left % ORDER, left / ORDER};
    return {group * ORDER + left % height, left / height};
}

/* Which matrix of `batch`, and which group of its rows of tiles, a block has in a grid whose last dimension is the groups of all matrices. */
__device__ inline unsigned matrix_of_block(int batch)
{
    return IS_FUSED ? blockIdx.z / (gridDim.z / batch) : 0;
}

__device__ inline unsigned group_of_block(int batch)
{
    return IS_FUSED ? blockIdx.z % (gridDim.z / batch) : blockIdx.z;
}

/* The same order from a grid of ORDER x columns x groups blocks, without a division. Rows may lie behind the last. */
__device__ inline Place place_of_block(int batch)
{
    return {(int)(group_of_block(batch) * ORDER + blockIdx.x), (int)blockIdx.y};
}

/* A part of a tile: steps of BK. */
struct Work {
    int m, n;        /* first row and column */
    int step, steps; /* of k */
    int slot;        /* where partial sums go; -1: the sums are whole */
    int matrix;
};

#if ALGO == ALGO_stream_k

/* Blocks share the steps of all tiles evenly; a block has at most two parts of tiles, its first and its last work. */
struct Walk {
    int begin, number, end, rows, columns, steps, m, n;

    __device__ Walk(int m, int n, int k, int per_block, int) : m(m), n(n)
    {
        rows = ceil_div(m, BM);
        columns = ceil_div(n, BN);
        steps = ceil_div(k, BK);
        begin = number = blockIdx.x * per_block;
        end = min(number + per_block, rows * columns * steps);
    }

    __device__ int all_steps(void) const
    {
        return end - begin;
    }

    __device__ bool next(Work &work)
    {
        if (number >= end)
            return false;
        int tile = number / steps, first = number - tile * steps, count = min(steps - first, end - number);
        Place place = place_of(tile, rows, columns);
        work = {first_row(place.m, BM, m), first_column(place.n, BN, n), first, count, count == steps ? -1 : 2 * (int)blockIdx.x + (number != begin), 0};
        number += count;
        return true;
    }
};

#elif ALGO == ALGO_ring

/* Whole tiles: one per block, or, persistent, every gridDim-th. A cluster takes neighbouring tiles. */
struct Walk {
    int number, end, rows, columns, steps, m, n;
#if IS_FUSED
    int batch;
#else
    enum { batch = 1 };
#endif

    __device__ Walk(int m, int n, int k, int, int matrices) : m(m), n(n)
    {
        rows = ceil_div(m, BM * CLUSTER_M);
        columns = ceil_div(n, BN * CLUSTER_N);
        steps = ceil_div(k, BK);
        number = WALK == WALK_persistent ? blockIdx.x / (CLUSTER_M * CLUSTER_N) : 0;
        end = WALK == WALK_persistent ? rows * columns * matrices : 1;
#if IS_FUSED
        batch = matrices;
#endif
    }

    /* Of all works that are left, both blocks of a cluster have as many. */
    __device__ int all_steps(void) const
    {
        return WALK == WALK_persistent ? ceil_div(end - number, gridDim.x / (CLUSTER_M * CLUSTER_N)) * steps : steps;
    }

    __device__ bool next(Work &work)
    {
        if (number >= end)
            return false;
        Place place;
        int matrix = WALK == WALK_persistent ? (IS_FUSED ? number / (rows * columns) : 0) : matrix_of_block(batch);
        if (WALK == WALK_persistent) {
            int rank = CLUSTER_M * CLUSTER_N > 1 ? cluster_rank() : 0;
            place = place_of(number - matrix * (rows * columns), rows, columns);
            place = {place.m * CLUSTER_M + rank % CLUSTER_M, place.n * CLUSTER_N + rank / CLUSTER_M};
            number += gridDim.x / (CLUSTER_M * CLUSTER_N);
        } else {
            place = place_of_block(batch);
            number++;
        }
        work = {first_row(place.m, BM, m), first_column(place.n, BN, n), 0, steps, -1, matrix};
        return true;
    }
};

#endif
