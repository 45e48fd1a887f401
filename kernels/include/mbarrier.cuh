/*
 * mbarrier: a counter in shared memory that asynchronous copies complete on (sm_90).
 *
 *     __shared__ unsigned long long full;
 *     if (threadIdx.x == 0) { mbarrier_init(&full, 1); mbarrier_init_fence(); }
 *     __syncthreads();
 *     if (threadIdx.x == 0) { mbarrier_expect(&full, bytes); ... start copies of that many bytes ... }
 *     mbarrier_wait(&full, 0);              // phase 0, then 1, 0, 1 ... as the barrier is used again
 */
#pragma once

#include "shared_address.cuh"

/* `arrivals` arrive calls and all expected bytes end a phase. One thread, once. */
__device__ inline void mbarrier_init(unsigned long long *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* Makes initialised barriers visible to the copy engine and to the cluster. Follow it by a block (cluster) barrier. */
__device__ inline void mbarrier_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives, and adds `bytes` to what this phase waits for. Call it before the copies start. */
__device__ inline void mbarrier_expect(unsigned long long *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

__device__ inline bool mbarrier_try_wait(unsigned long long *barrier, unsigned phase)
{
    unsigned done;
    asm volatile("{ .reg .pred p;\n"
                 "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(phase)
                 : "memory");
    return done != 0;
}

/* Returns once the phase of this parity is over; what the copies wrote is then visible to the caller. */
__device__ inline void mbarrier_wait(unsigned long long *barrier, unsigned phase)
{
    while (!mbarrier_try_wait(barrier, phase)) {
    }
}
