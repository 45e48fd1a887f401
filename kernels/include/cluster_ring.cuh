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

/* What L2 throws away last or first (createpolicy.fractional of everything, as the constants that it makes). */
constexpr unsigned long long EVICT_FIRST = 0x12f0000000000000, EVICT_LAST = 0x14f0000000000000;

/* tma_load_2d and tma_multicast_2d with a policy of L2. */
__device__ inline void tma_load_2d_hinted(void *to, const CUtensorMap *map, int x, int y, unsigned long long *barrier,
                                          unsigned long long policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)), "l"(policy)
                 : "memory");
}

__device__ inline void tma_multicast_2d_hinted(void *to, const CUtensorMap *map, int x, int y, unsigned long long *barrier,
                                               unsigned short blocks, unsigned long long policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
                 " [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)), "h"(blocks), "l"(policy)
                 : "memory");
}

/* Arrives without ordering memory: for initialised mbarriers, after mbarrier_init_fence. A release would cost a fence of
 * the whole GPU. */
__device__ inline void cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/* Stores 16 bytes at an address that cluster_map gave, asynchronously: they complete on the mbarrier (also mapped) of that
 * block. Needs no fence, and the storing block may exit. */
__device__ inline void cluster_store_async(unsigned address, float4 value, unsigned barrier)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
                 "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(barrier)
                 : "memory");
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
