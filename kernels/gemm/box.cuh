/*
 * TMA boxes of a matrix: the tensor maps of gemm_fused have a third dimension, the matrices.
 */
#pragma once

#include "bulk_store.cuh"
#include "cluster_ring.cuh"

__device__ inline void load_box(void *to, const CUtensorMap *map, int x, int y, int matrix, unsigned long long *full)
{
    if (IS_FUSED)
        tma_load_3d(to, map, x, y, matrix, full);
    else
        tma_load_2d(to, map, x, y, full);
}

/* For all blocks of the cluster whose bit is set. */
__device__ inline void multicast_box(void *to, const CUtensorMap *map, int x, int y, int matrix, unsigned long long *full, unsigned short blocks)
{
    if (IS_FUSED)
        tma_multicast_3d(to, map, x, y, matrix, full, blocks);
    else
        tma_multicast_2d(to, map, x, y, full, blocks);
}

__device__ inline void store_box(const CUtensorMap *map, int x, int y, int matrix, unsigned from)
{
    if (IS_FUSED)
        tma_store_3d(map, x, y, matrix, from);
    else
        tma_store_2d(map, x, y, from);
}
