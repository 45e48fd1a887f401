/*
 * mma.sync without producers: warp w loads slices w, w + WARPS, ... of K for itself, all at once, and multiplies the whole tile of
 * BM x BN by them. No warp waits for another one before the sums are added up. For small problems, where the way to the first load
 * and the number of bytes per SM are what counts: tiles may be smaller than wgmma's 64 rows.
 *
 *     block   WARPS * 32       grid   rows x columns of tiles
 *     smem    1024 + max(ceil_div(K, BK), WARPS) * ((BM + BN) * BK * 2 + 8)
 *
 * LOADER = tma: a box per operand and slice, a barrier per slice (k innermost, BK = 64). LOADER = async: cp.async by the warp's lanes.
 *
 * A slice of R rows (m or n) by BK of k lies in rows of BK * 2 bytes (k innermost) or R * 2 (k outermost), 128 at most, whose 16-byte
 * pieces are permuted as a TMA box with a swizzle of that width is. A warp's sums take the place of its first slice.
 */
#pragma once

#include "async_copy.cuh"
#include "dependent_launch.cuh"
#include "thread_copy.cuh"
#include "epilogue.cuh"
#include "mma.cuh"

constexpr int THREADS = WARPS * 32, A_BYTES = BM * BK * 2, SLICE_BYTES = A_BYTES + BN * BK * 2, PITCH = BN + 8;
static_assert(BM <= 64 && BN <= 64 && BK <= 64 && SLICE_BYTES % 1024 == 0, "rows of 128 bytes at most, slices aligned to the swizzle");
static_assert(BM * PITCH * 4 <= SLICE_BYTES, "sums in the place of a slice");

/* Piece `piece` (8 elements) of line `line`; of a tile of R rows, lines are rows where k is innermost. */
template <int R, bool K_INNERMOST>
__device__ inline unsigned slice_piece(unsigned tile, int line, int piece)
{
    constexpr int LINE_BYTES = K_INNERMOST ? BK * 2 : R * 2;
    int offset = line * LINE_BYTES + piece * 16;
    return tile + (offset ^ (offset >> 7 & (LINE_BYTES / 16 - 1)) << 4);
}

/* By the lanes of a warp; what lies outside is zero. */
template <int R, bool K_INNERMOST>
__device__ inline void copy_slice(unsigned to, const element_t *from, long long ld, int row, int k, int rows, int ks)
{
    constexpr int LINES = K_INNERMOST ? R : BK, PIECES = (K_INNERMOST ? BK : R) / 8;
    int first_line = K_INNERMOST ? row : k, first = K_INNERMOST ? k : row, lines = K_INNERMOST ? rows : ks, width = K_INNERMOST ? ks : rows;
#pragma unroll
    for (int i = 0; i < LINES * PIECES / 32; i++) {
        int item = i * 32 + threadIdx.x % 32, line = item / PIECES, piece = item % PIECES;
        int y = first_line + line, x = first + piece * 8, inside = y < lines ? min(max(width - x, 0), 8) : 0;
        cp_async_16(slice_piece<R, K_INNERMOST>(to, line, piece), from + (inside > 0 ? y * ld + x : 0), inside * 2);
    }
    static_assert(LINES * PIECES % 32 == 0, "whole rounds of a warp");
}

/* Where this lane's row of 8 elements lies: of matrix (outer, k8), both counted in 8. */
template <int R, bool K_INNERMOST>
__device__ inline unsigned matrix_row(unsigned tile, int outer, int k8)
{
    int row = threadIdx.x % 8;
    return K_INNERMOST ? slice_piece<R, true>(tile, outer * 8 + row, k8) : slice_piece<R, false>(tile, k8 * 8 + row, outer);
}

__device__ inline void multiply_slice(sum_t (&sum)[BM / 16][SUMS<BN>], unsigned slice)
{
    int matrix = threadIdx.x % 32 / 8;
    unsigned a[BK / 16][BM / 16][4], b[BK / 16][BN / 16][4];
#pragma unroll
    for (int k16 = 0; k16 < BK / 16; k16++) {
#pragma unroll
        for (int i = 0; i < BM / 16; i++) /* rows 0-7 and 8-15, then the same for the next 8 of k */
            ldmatrix_x4<!A_K_INNERMOST>(a[k16][i], matrix_row<BM, A_K_INNERMOST>(slice, 2 * i + matrix % 2, 2 * k16 + matrix / 2));
#pragma unroll
        for (int j = 0; j < BN / 16; j++) /* both halves of k, then the next 8 columns */
            ldmatrix_x4<!B_K_INNERMOST>(b[k16][j], matrix_row<BN, B_K_INNERMOST>(slice + A_BYTES, 2 * j + matrix / 2, 2 * k16 + matrix % 2));
    }
#pragma unroll
    for (int k16 = 0; k16 < BK / 16; k16++)
#pragma unroll
        for (int i = 0; i < BM / 16; i++)
#pragma unroll
            for (int j = 0; j < BN / 8; j++)
                mma(&sum[i][j * SUMS<8>], a[k16][i], {b[k16][j / 2][j % 2 * 2], b[k16][j / 2][j % 2 * 2 + 1]});
}

/* A warp's sums as a tile of BM rows of PITCH floats. */
__device__ inline void put_sums(float *tile, const sum_t (&sum)[BM / 16][SUMS<BN>])
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < BM / 8; i++)
#pragma unroll
        for (int j = 0; j < BN / 8; j++)
            *(float2 *)(tile + (i * 8 + g) * PITCH + j * 8 + t * 2) = sum_pair(sum[i / 2], 2 * j + i % 2);
}

/* Adds up the warps' tiles, always in the same order, and stores 4 columns per thread and round. */
__device__ inline void add_and_store(const Output &out, const unsigned char *slices, int row, int column)
{
#pragma unroll
    for (int first = 0; first < BM * BN / 4; first += THREADS) {
        int item = first + threadIdx.x, r = item / (BN / 4), c = item % (BN / 4) * 4;
        if (BM * BN / 4 % THREADS != 0 && item >= BM * BN / 4)
            break;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            float4 part = *(const float4 *)((const float *)(slices + warp * SLICE_BYTES) + r * PITCH + c);
            sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
        }
        int y = row + r, x = column + c;
        uint2 all;
        all.x = finished_pair(out, make_float2(sum.x, sum.y), y, x);
        all.y = finished_pair(out, make_float2(sum.z, sum.w), y, x + 2);
        if (y < out.m && x < align_up(out.n, 8))
            *(uint2 *)(out.d + (long long)y * out.ldd + x) = all;
    }
}

#if LOADER == LOADER_tma
#define FROM_PARAMETERS const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map
#else
#define FROM_PARAMETERS const element_t *a, const element_t *b, int lda, int ldb
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_upfront_mma(FROM_PARAMETERS, element_t *d, const element_t *c, int m, int n, int k, int ldd, float alpha, float beta)
{
    extern __shared__ unsigned char shared[];
    int slices = ceil_div(k, BK), warp = threadIdx.x / 32, row = blockIdx.x * BM, column = blockIdx.y * BN;
    unsigned char *base = shared + (-shared_address(shared) & 1023);
    sum_t sum[BM / 16][SUMS<BN>] = {};
#if LOADER == LOADER_tma
    unsigned long long *full = (unsigned long long *)(base + max(slices, WARPS) * SLICE_BYTES);
    if (DEPENDENT)
        let_next_kernel_start();
    if (threadIdx.x % 32 == 0) {
        for (int i = warp; i < slices; i += WARPS)
            mbarrier_init(&full[i], 1);
        mbarrier_init_fence();
        if (DEPENDENT)
            wait_for_previous_kernel();
        for (int i = warp; i < slices; i += WARPS) {
            unsigned char *slice = base + i * SLICE_BYTES;
            mbarrier_expect(&full[i], SLICE_BYTES);
            tma_load_2d(slice, &a_map, i * BK, row, &full[i]);
            tma_load_2d(slice + A_BYTES, &b_map, i * BK, column, &full[i]);
        }
    }
    __syncwarp(); /* the warp's barriers are there */
    for (int i = warp; i < slices; i += WARPS) {
        mbarrier_wait(&full[i], 0);
        multiply_slice(sum, shared_address(base) + i * SLICE_BYTES);
    }
#else
    if (DEPENDENT) {
        let_next_kernel_start();
        wait_for_previous_kernel();
    }
    for (int i = warp; i < slices; i += WARPS) {
        unsigned slice = shared_address(base) + i * SLICE_BYTES;
        copy_slice<BM, A_K_INNERMOST>(slice, a, lda, row, i * BK, m, k);
        copy_slice<BN, B_K_INNERMOST>(slice + A_BYTES, b, ldb, column, i * BK, n, k);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncwarp();
    for (int i = warp; i < slices; i += WARPS)
        multiply_slice(sum, shared_address(base) + i * SLICE_BYTES);
#endif
    __syncwarp(); /* all lanes have read the first slice */
    put_sums((float *)(base + warp * SLICE_BYTES), sum);
    __syncthreads();
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta};
    add_and_store(out, base, row, column);
}
