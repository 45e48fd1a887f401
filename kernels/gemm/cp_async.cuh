/*
 * wgmma with cp.async: what the ring does without TMA and without producers. All threads load, STAGES - 1 steps ahead.
 *
 *     block   CONSUMERS * 128       grid   ORDER x columns x groups, tiles.cuh
 *     smem    1024 + STAGES * (BM + BN) * BK * 2, + 16 KiB per warpgroup unless EPILOGUE = direct
 */
#pragma once

#include "dependent_launch.cuh"
#include "wgmma.cuh"
#include "epilogue.cuh"
#include "smem_tile.cuh"
#include "tiles.cuh"

constexpr int THREADS = CONSUMERS * 128, ROW_BLOCKS = BM / 64 / CONSUMERS;
typedef Operand<BM, BK, A_K_INNERMOST> TileA;
typedef Operand<BN, BK, B_K_INNERMOST> TileB;
constexpr int STAGE_BYTES = TileA::BYTES + TileB::BYTES;

struct Source {
    const element_t *a, *b;
    int lda, ldb, m, n, k;
};

__device__ inline void load_step(const Source &from, unsigned stages, Place place, int step, int steps)
{
    if (step < steps) {
        unsigned stage = stages + step % STAGES * STAGE_BYTES;
        copy_tile<BM, BK, A_K_INNERMOST, THREADS>(stage, from.a, from.lda, place.m * BM, step * BK, from.m, from.k);
        copy_tile<BN, BK, B_K_INNERMOST, THREADS>(stage + TileA::BYTES, from.b, from.ldb, place.n * BN, step * BK, from.n, from.k);
    }
    cp_async_commit(); /* also an empty group: the count tells which steps have arrived */
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_cp_async(const element_t *from_a, const element_t *from_b, element_t *d, const element_t *c, int m, int n, int k,
                  int lda, int ldb, int ldd, float alpha, float beta)
{
    extern __shared__ unsigned char shared[];
    unsigned stages = shared_address(shared) + (-shared_address(shared) & 1023);
    Source from = {from_a, from_b, lda, ldb, m, n, k};
    Place place = place_of_block(MATRICES);
    int steps = ceil_div(k, BK), group = threadIdx.x / 128, warp = threadIdx.x / 32, add = 0;
    if (DEPENDENT) {
        let_next_kernel_start();
        wait_for_previous_kernel();
    }
    if (place.m * BM >= m)
        return;
    for (int i = 0; i < STAGES - 1; i++)
        load_step(from, stages, place, i, steps);

    sum_t sum[ROW_BLOCKS][SUMS<BN>];
    unsigned long long a = TileA::descriptor(stages) + (TileA::offset(group * ROW_BLOCKS, 0) >> 4);
    unsigned long long b = TileB::descriptor(stages + TileA::BYTES);
    for (int i = 0; i < steps; i++) {
        cp_async_wait<STAGES - 2>();
        async_proxy_fence();
        __syncthreads();
        unsigned stage = i % STAGES * (STAGE_BYTES >> 4);
        wgmma_fence();
#pragma unroll
        for (int k16 = 0; k16 < BK / 16; k16++) {
#pragma unroll
            for (int block = 0; block < ROW_BLOCKS; block++)
                wgmma<BN>(sum[block], a + stage + (TileA::offset(block, k16) >> 4), b + stage + (TileB::offset(0, k16) >> 4), add);
            add = 1;
        }
        wgmma_commit();
        /* The stage that the next load overwrites was read by the wgmmas of the step before. */
        wgmma_wait<1>();
        __syncthreads();
        load_step(from, stages, place, i + STAGES - 1, steps);
    }
    wgmma_wait<0>();
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
#pragma unroll
    for (int block = 0; block < ROW_BLOCKS; block++)
        store_rows<BN>(out, sum[block], place.m * BM + (group * ROW_BLOCKS + block) * 64 + warp % 4 * 16, place.n * BN,
                       stages + STAGES * STAGE_BYTES + warp * 2 * SLOT_BYTES);
}
