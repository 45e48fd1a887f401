/*
 * cp.async: asynchronous copies of 16 bytes that every thread starts for itself (sm_80).
 */
#pragma once

#include "shared_address.cuh"

/* Copies `bytes` (0..16) and fills the rest of the 16 with zeros. Both addresses are multiples of 16. */
__device__ inline void cp_async_16(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

__device__ inline void cp_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Returns when at most LEFT of this thread's groups are in flight. */
template <int LEFT>
__device__ inline void cp_async_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
