/*
 * mma.sync without producers: warp w loads slices w, w + WARPS, ... of K for itself, all at once, and multiplies the whole tile of
 * BM x BN by them. No warp waits for another one before the sums are added up. For small problems, where the way to the first load
 * and the number of bytes per SM are what counts: tiles may be smaller than wgmma's 64 rows.
 *
 *     block   WARPS * 32       grid   rows x columns of tiles
 *     smem    1024 + max(ceil_div(K, BK), WARPS) * (BM + BN) * BK * 2
 *
 * A slice of R rows (m or n) by BK of k lies in rows of BK * 2 bytes (k innermost) or R * 2 (k outermost), 128 at most, whose 16-byte
 * pieces are permuted so that eight lines are read without conflicts. A warp's sums take the place of its first slice.
 */
#pragma once

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

/* By the lanes of a warp; what lies outside is zero. WHOLE: nothing does. */
template <bool WHOLE, int R, bool K_INNERMOST>
__device__ inline void copy_slice(unsigned to, const element_t *from, int ld, int row, int k, int rows, int ks)
{
    constexpr int LINES = K_INNERMOST ? R : BK, PIECES = (K_INNERMOST ? BK : R) / 8, ROUND = 32 / PIECES; /* lines per round */
    int first_line = K_INNERMOST ? row : k, first = K_INNERMOST ? k : row, lines = K_INNERMOST ? rows : ks, width = K_INNERMOST ? ks : rows;
    int line = threadIdx.x % 32 / PIECES, piece = threadIdx.x % PIECES, x = first + piece * 8;
    const element_t *source = from + (long long)(first_line + line) * ld + x;
#pragma unroll
    for (int i = 0; i < LINES / ROUND; i++) {
        int inside = WHOLE ? 8 : first_line + line + i * ROUND < lines ? min(max(width - x, 0), 8) : 0;
        cp_async_16(slice_piece<R, K_INNERMOST>(to, line + i * ROUND, piece), inside > 0 ? source + (long long)(i * ROUND) * ld : from, inside * 2);
    }
    static_assert(LINES % ROUND == 0 && 32 % PIECES == 0, "whole rounds of a warp");
}

/* All slices of a warp. */
template <bool WHOLE>
__device__ inline void copy_slices(unsigned base, int warp, int slices, const element_t *a, const element_t *b, int lda, int ldb, int row,
                                   int column, int m, int n, int k)
{
#pragma unroll 1
    for (int i = warp; i < slices; i += WARPS) {
        copy_slice<WHOLE, BM, A_K_INNERMOST>(base + i * SLICE_BYTES, a, lda, row, i * BK, m, k);
        copy_slice<WHOLE, BN, B_K_INNERMOST>(base + i * SLICE_BYTES + A_BYTES, b, ldb, column, i * BK, n, k);
    }
}

/* Where this lane's row of 8 elements lies, of the four matrices of the first 16 x 16: (outer, k8), both counted in 8. */
template <int R, bool K_INNERMOST>
__device__ inline unsigned lane_row(unsigned tile, int outer, int k8)
{
    int row = threadIdx.x % 8;
    return K_INNERMOST ? slice_piece<R, true>(tile, outer * 8 + row, k8) : slice_piece<R, false>(tile, k8 * 8 + row, outer);
}

/* The same of 16 x 16 number (outer16, k16). A step of 16 along a line flips bits of the offset, one across lines adds to it: 8 lines and more
 * do not change the permutation. */
template <int R, bool K_INNERMOST>
__device__ inline unsigned row_of_step(unsigned first, int outer16, int k16)
{
    constexpr int LINE_BYTES = K_INNERMOST ? BK * 2 : R * 2;
    return K_INNERMOST ? (first ^ k16 << 5) + outer16 * 16 * LINE_BYTES : (first ^ outer16 << 5) + k16 * 16 * LINE_BYTES;
}

struct LaneRows {
    unsigned a, b;
};

/* In the slice at `slice`: rows 0-7 and 8-15 of A, then the same for the next 8 of k; both halves of k of B, then the next 8 columns. */
__device__ inline LaneRows lane_rows(unsigned slice)
{
    int matrix = threadIdx.x % 32 / 8;
    return {lane_row<BM, A_K_INNERMOST>(slice, matrix % 2, matrix / 2), lane_row<BN, B_K_INNERMOST>(slice + A_BYTES, matrix / 2, matrix % 2)};
}

__device__ inline void multiply_slice(sum_t (&sum)[BM / 16][SUMS<BN>], LaneRows rows)
{
    unsigned a[BK / 16][BM / 16][4], b[BK / 16][BN / 16][4];
#pragma unroll
    for (int k16 = 0; k16 < BK / 16; k16++) {
#pragma unroll
        for (int i = 0; i < BM / 16; i++)
            ldmatrix_x4<!A_K_INNERMOST>(a[k16][i], row_of_step<BM, A_K_INNERMOST>(rows.a, i, k16));
#pragma unroll
        for (int j = 0; j < BN / 16; j++)
            ldmatrix_x4<!B_K_INNERMOST>(b[k16][j], row_of_step<BN, B_K_INNERMOST>(rows.b, j, k16));
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

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_upfront_mma(const element_t *a, const element_t *b, element_t *d, const element_t *c, int m, int n, int k, int lda, int ldb,
                     int ldd, float alpha, float beta)
{
    extern __shared__ unsigned char shared[];
    int slices = (unsigned)(k + BK - 1) / BK, warp = threadIdx.x / 32, row = blockIdx.x * BM, column = blockIdx.y * BN;
    sum_t sum[BM / 16][SUMS<BN>] = {};
    unsigned char *base = shared + (-shared_address(shared) & 1023);
    if (DEPENDENT) {
        let_next_kernel_start();
        wait_for_previous_kernel();
    }
    if (row + BM <= m && column + BN <= n && k % BK == 0)
        copy_slices<true>(shared_address(base), warp, slices, a, b, lda, ldb, row, column, m, n, k);
    else
        copy_slices<false>(shared_address(base), warp, slices, a, b, lda, ldb, row, column, m, n, k);
    cp_async_commit();
    LaneRows rows = lane_rows(shared_address(base) + warp * SLICE_BYTES);
    asm volatile("" : "+r"(rows.a), "+r"(rows.b)); /* now, not when the data is there */
    cp_async_wait<0>();
    __syncwarp();
#pragma unroll 1
    for (int i = warp; i < slices; i += WARPS, rows.a += WARPS * SLICE_BYTES, rows.b += WARPS * SLICE_BYTES)
        multiply_slice(sum, rows);
    __syncwarp(); /* all lanes have read the first slice */
    put_sums((float *)(base + warp * SLICE_BYTES), sum);
    __syncthreads();
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
    add_and_store(out, base, row, column);
}
