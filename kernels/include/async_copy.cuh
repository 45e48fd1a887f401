/*
 * Asynchronous copies global -> shared that complete on an mbarrier (sm_90): cp.async.bulk for a run of bytes,
 * cp.async.bulk.tensor (TMA) for a box of a tensor map. One thread starts a copy for the whole block.
 *
 *   bulk   source, destination and size: multiples of 16 bytes.
 *   TMA    destination aligned to 128 bytes; coordinates in elements, innermost first, signed: what lies outside
 *          the tensor arrives as the map's fill value and counts in the bytes like the rest of the box.
 *
 * Shared memory that ordinary stores wrote and a copy reads next needs async_proxy_fence() in every writing
 * thread, before the block barrier. Overwriting by a copy what ordinary loads have read needs the barrier alone.
 */
#pragma once

#include "mbarrier.cuh"
#include "tensormap.cuh"

__device__ inline void async_proxy_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void bulk_load(void *to, const void *from, unsigned bytes, unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Fetches a map ahead of its first use: about half a microsecond less for the first box. */
__device__ inline void tensormap_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ inline void tma_load_2d(void *to, const CUtensorMap *map, int x, int y, unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
                 : "memory");
}

__device__ inline void tma_load_3d(void *to, const CUtensorMap *map, int x, int y, int z, unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
                 : "memory");
}

__device__ inline void tma_load_4d(void *to, const CUtensorMap *map, int x, int y, int z, int w,
                                   unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(shared_address(barrier))
                 : "memory");
}
