/*
 * The reference: everything in fp64 from the inputs as they are stored.
 *
 * grid = ceil_div(ldd, 32), ceil_div(M, 32), matrices; block = 32, 8
 */
#pragma once

#include "reference_tile.cuh"

/* What becomes of alpha * A * B. */
__device__ inline double reference_fused(double value, double beta, double of_c, double of_bias)
{
#if IS_FUSED
    if (IS_GATED)
        return value * of_c / (1.0 + exp(-of_c));
    value += beta * of_c + of_bias;
    if (IS_GELU)
        return 0.5 * value * (1.0 + tanh(0.79788456080286536 * (value + 0.044715 * value * value * value)));
    return value;
#else
    return value + beta * of_c;
#endif
}

extern "C" __global__ void gemm_reference(const element_t *a, const element_t *b, const element_t *c, double *d, int m, int n, int k, int lda, int ldb, int ldd,
                                          float alpha, float beta EXTRA_PARAMETERS)
{
    int first_row = blockIdx.y * 32, column = blockIdx.x * 32 + threadIdx.x;
#if IS_FUSED
    a += blockIdx.z * stride_a;
    b += blockIdx.z * stride_b;
    c += blockIdx.z * stride_d;
    d += blockIdx.z * stride_d;
#endif
    double sum[4] = {};
    multiply_tile<A_K_INNERMOST, B_K_INNERMOST>(
        sum, first_row, blockIdx.x * 32, k,
        [=](int row, int kk) { return row < m && kk < k ? (double)float(A_K_INNERMOST ? a[(long long)row * lda + kk] : a[(long long)kk * lda + row]) : 0.0; },
        [=](int kk, int col) { return col < n && kk < k ? (double)float(B_K_INNERMOST ? b[(long long)col * ldb + kk] : b[(long long)kk * ldb + col]) : 0.0; });
    for (int i = 0; i < 4; i++) {
        int row = first_row + threadIdx.y + 8 * i;
        if (row >= m || column >= ldd)
            continue;
        long long at = (long long)row * ldd + column;
        double of_c = READS_C && column < n ? (double)float(c[at]) : 0.0, of_bias = 0.0;
#if IS_FUSED
        of_bias = ADDS_BIAS && column < n ? (double)float(bias[column]) : 0.0;
#endif
        d[at] = column < n ? reference_fused((double)alpha * sum[i], (double)beta, of_c, of_bias) : 0.0;
    }
}
