/*
 * Few rows without tensor cores: all warps of a block share the k of BM x BN elements of D, 8 of k per lane and turn. B is read once,
 * at the rate of memory; for BM = 1 it is a product of matrix and vector. Both operands have k innermost. Any architecture.
 *
 *     block   WARPS * 32        grid   columns of BN, up to the end of D's last piece of 16 bytes, x rows of BM x matrices
 */
#pragma once

#include "dependent_launch.cuh"
#if IS_FUSED
#include "epilogue.cuh"
#endif

constexpr int TURN = WARPS * 32 * 8; /* of k, by the block */

/* Eight elements; what lies behind the end of k is zero. */
__device__ inline uint4 load_piece(const element_t *from, int left)
{
    uint4 piece;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece.x), "=r"(piece.y), "=r"(piece.z), "=r"(piece.w)
                 : "l"(__cvta_generic_to_global(from)));
    if (left < 8) {
        unsigned *words = (unsigned *)&piece;
#pragma unroll
        for (int i = 0; i < 4; i++)
            words[i] = left >= 2 * i + 2 ? words[i] : left == 2 * i + 1 ? words[i] & 0xffff : 0;
    }
    return piece;
}

__device__ inline float dot_piece(float sum, uint4 a, uint4 b)
{
    const unsigned *x = (const unsigned *)&a, *y = (const unsigned *)&b;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 p = unpack(x[i]), q = unpack(y[i]);
        sum = fmaf(p.x, q.x, fmaf(p.y, q.y, sum));
    }
    return sum;
}

/* The block's sums, in `total` of its first threads: over the lanes of a warp, then over the warps, in one order always. */
__device__ inline float add_up(const float (&sum)[BM][BN])
{
    __shared__ float shared[WARPS][BM * BN];
#pragma unroll
    for (int i = 0; i < BM * BN; i++) {
        float total = sum[i / BN][i % BN];
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2)
            total += __shfl_xor_sync(0xffffffff, total, apart);
        if (threadIdx.x % 32 == i % 32)
            shared[threadIdx.x / 32][i] = total;
    }
    __syncthreads();
    float total = 0.0f;
    if (threadIdx.x < BM * BN)
        for (int warp = 0; warp < WARPS; warp++)
            total += shared[warp][threadIdx.x];
    return total;
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    gemm_dot(const element_t *a, const element_t *b, element_t *d, const element_t *c, int m, int n, int k, int lda, int ldb, int ldd,
             float alpha, float beta EXTRA_PARAMETERS)
{
    int row = blockIdx.y * BM, column = blockIdx.x * BN;
#if IS_FUSED
    a += blockIdx.z * stride_a;
    b += blockIdx.z * stride_b;
#endif
    if (DEPENDENT) {
        let_next_kernel_start();
        wait_for_previous_kernel();
    }
    float sum[BM][BN] = {};
    for (int at = threadIdx.x * 8; at < k; at += TURN) {
        uint4 from_b[BN], from_a[BM];
#pragma unroll
        for (int j = 0; j < BN; j++)
            from_b[j] = load_piece(b + (long long)min(column + j, n - 1) * ldb + at, k - at);
#pragma unroll
        for (int i = 0; i < BM; i++)
            from_a[i] = load_piece(a + (long long)min(row + i, m - 1) * lda + at, k - at);
#pragma unroll
        for (int i = 0; i < BM * BN; i++)
            sum[i / BN][i % BN] = dot_piece(sum[i / BN][i % BN], from_a[i / BN], from_b[i % BN]);
    }
    float total = add_up(sum);
    int r = row + (int)threadIdx.x / BN, col = column + (int)threadIdx.x % BN;
    if (threadIdx.x >= BM * BN || r >= m || col >= align_up(n, 8))
        return;
#if IS_FUSED
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
    out.go_to(blockIdx.z);
    out.d[(long long)r * ldd + col] = element_t(finished(out, col < n ? total : 0.0f, r, col));
#else
    long long at = (long long)r * ldd + col;
    float more = READS_C && col < n ? beta * float(c[at]) : 0.0f;
    d[at] = element_t(col < n ? alpha * total + more : 0.0f);
#endif
}
