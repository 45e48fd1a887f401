/*
 * cp.async of 4, 8 or 16 bytes: asynchronous copies that every thread starts for itself (sm_80). Pieces of 16 bytes go past L1, smaller ones
 * cannot. Commit and wait: thread_copy.cuh.
 */
#pragma once

#include "thread_copy.cuh"

/* Both addresses are multiples of BYTES. */
template <int BYTES>
__device__ inline void cp_async_piece(unsigned to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "what cp.async moves");
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "n"(BYTES) : "memory");
}
