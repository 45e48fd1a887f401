/*
 * The block: groups one after the other, STAGES of them on their way.
 *
 *     SCHEDULE = grid         a block per group
 *     SCHEDULE = persistent   BLOCKS_PER_SM blocks per SM, each with every gridDim-th group
 *
 * Dynamic shared memory: STAGES * SLOT bytes; none where tiles stay in registers.
 */
#pragma once

#if ALGO == ALGO_ld_global || ALGO == ALGO_cp_async
#include "by_threads.cuh"
#else
#include "by_engine.cuh"
#endif

#if SCHEDULE == SCHEDULE_persistent
#define MIN_BLOCKS BLOCKS_PER_SM
#else
#define MIN_BLOCKS 1
#endif

constexpr int GROUPS = N * GROUPS_OF_IMAGE;

__device__ inline void sum_slot(unsigned *out, const char *slot, Group group)
{
    for (int tile = threadIdx.x / 32; tile < group.count; tile += WARPS)
        sum_tile(out, slot + tile * TILE, group, tile);
}

#if ALGO == ALGO_ld_global

__device__ inline void do_groups(char *slots, const char *value, const int2 *at, unsigned *out)
{
    for (int number = blockIdx.x; number < GROUPS; number += gridDim.x) {
        Group group = group_at(number);
#if THROUGH == THROUGH_registers
        sum_group(out, value, at, group);
#else
        load_group(slots, value, at, group);
        sum_slot(out, slots, group);
        __syncthreads();
#endif
    }
}

#elif ALGO == ALGO_cp_async

__device__ inline void do_groups(char *slots, const char *value, const int2 *at, unsigned *out)
{
    int number = blockIdx.x;
    for (int ahead = 0; ahead < STAGES; ahead++) {
        if (number + ahead * gridDim.x < GROUPS)
            start_group(slots + ahead * SLOT, value, at, group_at(number + ahead * gridDim.x));
        end_group();
    }
    for (int turn = 0; number < GROUPS; number += gridDim.x, turn++) {
        char *slot = slots + turn % STAGES * SLOT;
        wait_group();
        sum_slot(out, slot, group_at(number));
        __syncthreads(); /* all have read the slot */
        if ((long long)number + STAGES * gridDim.x < GROUPS)
            start_group(slot, value, at, group_at(number + STAGES * gridDim.x));
        end_group();
    }
}

#else

__device__ inline void sum_slot_when_full(unsigned *out, const char *slot, Group group, unsigned long long *full, unsigned phase)
{
    if (BARRIERS != BARRIERS_tile)
        mbarrier_wait(&full[BARRIERS == BARRIERS_warp ? threadIdx.x / 32 % BARRIERS_OF_SLOT : 0], phase);
    for (int tile = threadIdx.x / 32; tile < group.count; tile += WARPS) {
        if (BARRIERS == BARRIERS_tile)
            mbarrier_wait(&full[barrier_of(tile)], phase);
        sum_tile(out, slot + tile * TILE, group, tile);
    }
}

__device__ inline void do_groups(char *slots, const source_t &source, const int2 *at, unsigned *out)
{
    __shared__ unsigned long long full[STAGES * BARRIERS_OF_SLOT];
    int number = blockIdx.x;
#if ALGO == ALGO_tma && PREFETCH_MAP == PREFETCH_MAP_yes
    if (threadIdx.x < L)
        tensormap_prefetch(&source.m[threadIdx.x]);
#endif
    if (threadIdx.x == 0)
        init_barriers(full);
    __syncthreads();
    for (int ahead = 0; ahead < STAGES; ahead++)
        if (number + ahead * gridDim.x < GROUPS)
            start_group(slots + ahead * SLOT, source, at, group_at(number + ahead * gridDim.x), full + ahead * BARRIERS_OF_SLOT);
    for (int turn = 0; number < GROUPS; number += gridDim.x, turn++) {
        int place = turn % STAGES;
        sum_slot_when_full(out, slots + place * SLOT, group_at(number), full + place * BARRIERS_OF_SLOT, turn / STAGES % 2);
        __syncthreads(); /* all have read the slot */
        if ((long long)number + STAGES * gridDim.x < GROUPS)
            start_group(slots + place * SLOT, source, at, group_at(number + STAGES * gridDim.x), full + place * BARRIERS_OF_SLOT);
    }
}

#endif

#if ALGO == ALGO_tma
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) load_tma(const __grid_constant__ TensorMaps<L> source, const int2 *at, unsigned *out, unsigned long long *cycles)
#else
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) load(const char *source, const int2 *at, unsigned *out, unsigned long long *cycles)
#endif
{
    extern __shared__ __align__(128) char slots[];
    long long start = clock64();
    do_groups(slots, source, at, out);
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - start;
}
