/*
 * wgmma and TMA without producers: all of K is in shared memory at once, each barrier is used once, nobody waits for a
 * free stage. For small problems, where the way to the first load is what counts.
 *
 *     block   128 threads        grid   rows x columns of tiles of 64 x BN, x matrices
 *     smem    1536 + ceil_div(K, BK) * (64 + BN) * BK * 2 + 16 KiB unless EPILOGUE = direct; 32 steps at most
 *
 * Lane 0 of warp w makes barriers w, w + 4, ... and starts their loads at once. ISSUE = stage: a barrier per stage; operand: one for
 * A and one for B, so that two warps start the loads of a stage.
 */
#pragma once

#include "dependent_launch.cuh"
#include "elect.cuh"
#include "wgmma.cuh"
#include "epilogue.cuh"
#include "load_tile.cuh"
#include "tile_start.cuh"

typedef Operand<64, BK, A_K_INNERMOST> TileA;
typedef Operand<BN, BK, B_K_INNERMOST> TileB;
constexpr int STAGE_BYTES = TileA::BYTES + TileB::BYTES;
constexpr int BARRIER_BYTES = 512; /* of 32 steps */
constexpr int LOADERS = ISSUE == ISSUE_operand ? 2 : 1; /* warps that load a stage */

extern "C" __global__ void __launch_bounds__(128)
    gemm_upfront(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, element_t *d,
                 const element_t *c, int m, int n, int k, int ldd, float alpha, float beta EXTRA_PARAMETERS)
{
    extern __shared__ unsigned char shared[];
    unsigned steps = (unsigned)(k + BK - 1) / BK;
    int warp = warp_number(), row = first_row(blockIdx.x, 64, m), column = first_column(blockIdx.y, BN, n), matrix = blockIdx.z;
    unsigned long long *full = (unsigned long long *)shared;
    unsigned char *stages = shared + BARRIER_BYTES + (-(shared_address(shared) + BARRIER_BYTES) & 1023);
    unsigned slots = shared_address(stages + steps * STAGE_BYTES);

    if (DEPENDENT)
        let_next_kernel_start();
    if (elect_one()) {
#pragma unroll 1
        for (unsigned i = warp; i < steps * LOADERS; i += 4) {
            unsigned char *stage = stages + i / LOADERS * STAGE_BYTES;
            bool loads_a = LOADERS == 1 || i % 2 == 0, loads_b = LOADERS == 1 || i % 2 == 1;
            mbarrier_init(&full[i], 1);
            mbarrier_init_fence();
            if (DEPENDENT && i == warp)
                wait_for_previous_kernel();
            mbarrier_expect(&full[i], (loads_a ? TileA::BYTES : 0) + (loads_b ? TileB::BYTES : 0));
            if (loads_a)
                load_tile<64, A_K_INNERMOST>(stage, &a_map, row, i / LOADERS * BK, matrix, &full[i]);
            if (loads_b)
                load_tile<BN, B_K_INNERMOST>(stage + TileA::BYTES, &b_map, column, i / LOADERS * BK, matrix, &full[i]);
        }
    }
    __syncthreads();

    sum_t sum[SUMS<BN>];
    unsigned long long a = TileA::descriptor(shared_address(stages));
    unsigned long long b = TileB::descriptor(shared_address(stages) + TileA::BYTES);
    int add = 0;
#pragma unroll 1
    for (unsigned i = 0; i < steps; i++) {
        for (int part = 0; part < LOADERS; part++)
            mbarrier_wait(&full[i * LOADERS + part], 0);
        wgmma_fence();
#pragma unroll
        for (int k16 = 0; k16 < BK / 16; k16++) {
            wgmma<BN>(sum, a + (TileA::offset(0, k16) >> 4), b + (TileB::offset(0, k16) >> 4), add);
            add = 1;
        }
        wgmma_commit();
        a += STAGE_BYTES >> 4;
        b += STAGE_BYTES >> 4;
    }
    wgmma_wait<0>();
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
    out.go_to(matrix);
    store_rows<BN>(out, sum, row + warp * 16, column, slots + warp * 2 * SLOT_BYTES);
}
