/*
 * Asynchronous stores shared -> global (sm_90), completed by groups of the thread that starts them.
 */
#pragma once

#include "async_copy.cuh"

/* Shared -> global. What lies outside the tensor is not written. One thread starts, commits and waits for its stores;
 * what ordinary stores wrote needs async_proxy_fence() in the writing threads, and a barrier, first. */
__device__ inline void tma_store_2d(const CUtensorMap *map, int x, int y, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
                 "r"(y), "r"(from)
                 : "memory");
}

__device__ inline void tma_store_3d(const CUtensorMap *map, int x, int y, int z, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
                 "r"(y), "r"(z), "r"(from)
                 : "memory");
}

__device__ inline void bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Returns when at most LEFT of this thread's groups still read shared memory. */
template <int LEFT>
__device__ inline void bulk_wait_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
