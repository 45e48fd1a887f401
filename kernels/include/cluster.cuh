/*
 * Thread-block clusters and distributed shared memory (sm_90).
 *
 * A block may read the shared memory of the other blocks of its cluster while they run. Therefore two barriers:
 * one after everybody has written what the others will read, and one before anybody exits.
 *
 *     unsigned there = cluster_map(shared_address(buffer), peer);      // the peer's copy of `buffer`
 *     cluster_load<8>(&value, there + offset);
 *     cluster_barrier();                                               // last statement of the kernel
 */
#pragma once

#include "shared_address.cuh"

/* This block's number in its cluster. */
__device__ inline unsigned cluster_rank(void)
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* The cluster's number in the grid (one-dimensional grids). */
__device__ inline unsigned cluster_id(void)
{
    unsigned id;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    return id;
}

__device__ inline void cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ inline void cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* All threads of all blocks of the cluster; orders shared memory, its own and the peers'. */
__device__ inline void cluster_barrier(void)
{
    cluster_arrive();
    cluster_wait();
}

/* The address, in the cluster's window, of what lies at `address` (shared_address) in block `rank`. */
__device__ inline unsigned cluster_map(unsigned address, unsigned rank)
{
    unsigned mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

/* Loads BYTES (4, 8 or 16, aligned so) from an address that cluster_map gave. */
template <int BYTES>
__device__ inline void cluster_load(unsigned *to, unsigned address)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "one load");
    if constexpr (BYTES == 4) {
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(to[0]) : "r"(address));
    } else if constexpr (BYTES == 8) {
        asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(address));
    } else {
        asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address));
    }
}
