/*
 * The kernel: a block copies its map and sums it up; in a cluster with READ = peer it sums up the next block's instead, through distributed
 * shared memory. Then no block may exit before all have read.
 *
 * grid = N*C/2, cluster = CLUSTER
 */
#pragma once

#include "cluster.cuh"

#ifdef READ
constexpr bool READS_PEER = READ == READ_peer;
#else
constexpr bool READS_PEER = false;
#endif

struct alignas(16) Words {
    unsigned x[4];
};

/* Words 4*i ... of the map at `map`, an address in the cluster's window where a peer's is read. */
__device__ inline Words load_words(unsigned map, int i)
{
    Words words;
    if constexpr (READS_PEER)
        cluster_load<16>(words.x, map + i * 16);
    else
        words = *(const Words *)__cvta_shared_to_generic(map + i * 16);
    return words;
}

__device__ inline void sum_map(unsigned *out, unsigned map)
{
    __shared__ unsigned of_warps[THREADS / 32];
    unsigned sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < (S + 3) / 4; i += THREADS) {
        Words words = load_words(map, i);
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += 4 * i + k < S ? words.x[k] * weight(4 * i + k) : 0;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; warp++)
            sum += of_warps[warp];
        *out = sum;
    }
}

#if ALGO == ALGO_sum_only
extern "C" __global__ void __launch_bounds__(THREADS) sum_only(unsigned *out)
{
    extern __shared__ __align__(128) unsigned char map[];
    sum_map(out + blockIdx.x, shared_address(map));
}
#else
extern "C" __global__ void __launch_bounds__(THREADS)
#if ALGO == ALGO_tma
    stage(const __grid_constant__ CUtensorMap source, unsigned *out)
#else
    stage(source_t source, unsigned *out)
#endif
{
    extern __shared__ __align__(128) unsigned char map[];
    copy_map(map, source, blockIdx.x);
    if constexpr (READS_PEER) {
        unsigned rank = cluster_rank(), peer = (rank + 1) % CLUSTER;
        cluster_barrier();
        sum_map(out + blockIdx.x - rank + peer, cluster_map(shared_address(map), peer));
        cluster_barrier(); /* the last one: the peer may still read this block's map */
    } else {
        __syncthreads();
        sum_map(out + blockIdx.x, shared_address(map));
    }
}
#endif
