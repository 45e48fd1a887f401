/*
 * What a ring of stages shared by a cluster needs (sm_90): loads into several blocks, arrivals and stores at other blocks.
 */
#pragma once

#include "async_copy.cuh"
#include "cluster.cuh"

/* The box arrives at the same offset in every block of the cluster whose bit is set in `blocks`, and completes on each
 * one's barrier there. */
__device__ inline void tma_multicast_2d(void *to, const CUtensorMap *map, int x, int y, unsigned long long *barrier,
                                        unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

__device__ inline void tma_multicast_3d(void *to, const CUtensorMap *map, int x, int y, int z, unsigned long long *barrier,
                                        unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

/* Arrives without ordering memory: for initialised mbarriers, after mbarrier_init_fence. A release would cost a fence of
 * the whole GPU. */
__device__ inline void cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

__device__ inline void mbarrier_arrive(unsigned long long *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/* Arrives at the barrier of another block of the cluster (an address that cluster_map gave). Without .release.cluster,
 * which would cost a fence of the whole GPU: enough where what precedes it was read, not written. */
__device__ inline void mbarrier_arrive_remote(unsigned mapped)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(mapped) : "memory");
}
