/*
 * The reference: everything in fp64 from the inputs as they are stored. A block makes a tile of 32 x 32 elements; the
 * tiles of A and B only keep 8192 x 8192 within seconds.
 *
 * grid = ceil_div(ldd, 32), ceil_div(M, 32); block = 32, 8
 */
#pragma once

__device__ inline double reference_a(const element_t *a, long long lda, int m, int k)
{
    return (double)float(A_K_INNERMOST ? a[m * lda + k] : a[k * lda + m]);
}

__device__ inline double reference_b(const element_t *b, long long ldb, int k, int n)
{
    return (double)float(B_K_INNERMOST ? b[n * ldb + k] : b[k * ldb + n]);
}

extern "C" __global__ void gemm_reference(const element_t *a, const element_t *b, const element_t *c, double *d, int m,
                                          int n, int k, int lda, int ldb, int ldd, float alpha, float beta)
{
    __shared__ double a_tile[32][33], b_tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, first_row = blockIdx.y * 32;
    double sum[4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int i = threadIdx.y; i < 32; i += 8) {
            /* The innermost dimension along threadIdx.x. */
            int a_m = first_row + (A_K_INNERMOST ? i : threadIdx.x), a_k = k0 + (A_K_INNERMOST ? threadIdx.x : i);
            int b_n = blockIdx.x * 32 + (B_K_INNERMOST ? i : threadIdx.x), b_k = k0 + (B_K_INNERMOST ? threadIdx.x : i);
            a_tile[a_m - first_row][a_k - k0] = a_m < m && a_k < k ? reference_a(a, lda, a_m, a_k) : 0.0;
            b_tile[b_k - k0][b_n - blockIdx.x * 32] = b_n < n && b_k < k ? reference_b(b, ldb, b_k, b_n) : 0.0;
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk++)
            for (int i = 0; i < 4; i++)
                sum[i] += a_tile[threadIdx.y + 8 * i][kk] * b_tile[kk][threadIdx.x];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int row = first_row + threadIdx.y + 8 * i;
        if (row >= m || column >= ldd)
            continue;
        double addend = READS_C && column < n ? (double)beta * (double)float(c[row * (long long)ldd + column]) : 0.0;
        d[row * (long long)ldd + column] = column < n ? (double)alpha * sum[i] + addend : 0.0;
    }
}
