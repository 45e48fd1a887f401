/*
 * mma.sync with cp.async, for GPUs without wgmma (sm_80 to sm_120): all threads load STAGES - 1 steps ahead, warps
 * multiply parts of BM / WARPS_M x BN / WARPS_N.
 *
 *     block   WARPS_M * WARPS_N * 32       grid   ORDER x columns x groups, tiles.cuh
 *     smem    max(STAGES * (BM + BN) * BK * 2, 4 KiB per warp unless EPILOGUE = direct)
 */
#pragma once

#include "dependent_launch.cuh"
#include "epilogue.cuh"
#include "mma.cuh"
#include "smem_tile.cuh"
#include "tiles.cuh"

constexpr int THREADS = WARPS_M * WARPS_N * 32, WARP_M = BM / WARPS_M, WARP_N = BN / WARPS_N;
constexpr int A_BYTES = BM * BK * 2, STAGE_BYTES = A_BYTES + BN * BK * 2;
static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && BK == 64, "whole fragments, and rows of 128 bytes");

struct Source {
    const element_t *a, *b;
    int lda, ldb, m, n, k;
};

__device__ inline void load_step(const Source &from, unsigned stages, Place place, int step, int steps)
{
    if (step < steps) {
        unsigned stage = stages + step % STAGES * STAGE_BYTES;
        copy_tile<BM, BK, A_K_INNERMOST, THREADS>(stage, from.a, from.lda, place.m * BM, step * BK, from.m, from.k);
        copy_tile<BN, BK, B_K_INNERMOST, THREADS>(stage + A_BYTES, from.b, from.ldb, place.n * BN, step * BK, from.n, from.k);
    }
    cp_async_commit(); /* also an empty group: the count tells which steps have arrived */
}

/* Where this lane's row of 8 elements lies: of matrix (outer, k8), both counted in 8, of a tile of BK columns. */
template <bool K_INNERMOST>
__device__ inline unsigned matrix_row(unsigned tile, int outer, int k8)
{
    int row = threadIdx.x % 8;
    if (K_INNERMOST)
        return piece_address(tile, outer * 8 + row, k8);
    return piece_address(tile + outer / 8 * (BK * 128), k8 * 8 + row, outer % 8);
}

__device__ inline void multiply_step(sum_t (&sum)[WARP_M / 16][SUMS<WARP_N>], unsigned stage)
{
    int warp = threadIdx.x / 32, matrix = threadIdx.x % 32 / 8;
    int first_m = warp % WARPS_M * WARP_M / 8, first_n = warp / WARPS_M * WARP_N / 8;
#pragma unroll
    for (int k8 = 0; k8 < BK / 8; k8 += 2) {
        unsigned a[WARP_M / 16][4], b[WARP_N / 16][4];
#pragma unroll
        for (int i = 0; i < WARP_M / 16; i++) /* rows 0-7 and 8-15, then the same for the next 8 of k */
            ldmatrix_x4<!A_K_INNERMOST>(a[i], matrix_row<A_K_INNERMOST>(stage, first_m + 2 * i + matrix % 2, k8 + matrix / 2));
#pragma unroll
        for (int j = 0; j < WARP_N / 16; j++) /* both halves of k, then the next 8 columns */
            ldmatrix_x4<!B_K_INNERMOST>(b[j], matrix_row<B_K_INNERMOST>(stage + A_BYTES, first_n + 2 * j + matrix / 2, k8 + matrix % 2));
#pragma unroll
        for (int i = 0; i < WARP_M / 16; i++)
#pragma unroll
            for (int j = 0; j < WARP_N / 8; j++)
                mma(&sum[i][j * SUMS<8>], a[i], {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]});
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_mma_sync(const element_t *from_a, const element_t *from_b, element_t *d, const element_t *c, int m, int n, int k,
                  int lda, int ldb, int ldd, float alpha, float beta EXTRA_PARAMETERS)
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned stages = shared_address(shared);
    Source from = {from_a, from_b, lda, ldb, m, n, k};
    Place place = place_of_block(MATRICES);
    int matrix = matrix_of_block(MATRICES);
#if IS_FUSED
    from.a += matrix * stride_a;
    from.b += matrix * stride_b;
#endif
    int steps = ceil_div(k, BK), warp = threadIdx.x / 32;
    if (place.m * BM >= m)
        return;
    for (int i = 0; i < STAGES - 1; i++)
        load_step(from, stages, place, i, steps);

    sum_t sum[WARP_M / 16][SUMS<WARP_N>] = {};
    for (int i = 0; i < steps; i++) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); /* also: nobody reads the stage any more that the next load overwrites */
        load_step(from, stages, place, i + STAGES - 1, steps);
        multiply_step(sum, stages + i % STAGES * STAGE_BYTES);
    }
    cp_async_wait<0>();
    __syncthreads(); /* the stages become the warps' slots */
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
    out.go_to(matrix);
#pragma unroll
    for (int i = 0; i < WARP_M / 16; i++)
        store_rows<WARP_N>(out, sum[i], place.m * BM + warp % WARPS_M * WARP_M + i * 16,
                           place.n * BN + warp / WARPS_M * WARP_N, stages + warp * 2 * SLOT_BYTES);
}
