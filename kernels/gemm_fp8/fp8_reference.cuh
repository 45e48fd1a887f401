/*
 * The reference: everything in fp64 from the inputs as they are stored.
 *
 * grid = ceil_div(ldd, 32), ceil_div(M, 32); block = 32, 8
 */
#pragma once

#include "reference_tile.cuh"

/* e5m2 is the upper half of an f16; e4m3 has one bit less of exponent, one more of mantissa, and no infinity. */
__device__ inline double value_of(fp8_t bits, bool is_e4m3)
{
    if (!is_e4m3)
        return (double)__half2float(__ushort_as_half((unsigned short)(bits << 8)));
    if ((bits & 0x7f) == 0x7f)
        return __longlong_as_double(0x7ff8000000000000ll);
    return 256.0 * (double)__half2float(__ushort_as_half((unsigned short)((bits & 0x80) << 8 | (bits & 0x7f) << 7)));
}

extern "C" __global__ void gemm_fp8_reference(const fp8_t *a, const fp8_t *b, const float *scale_a, const float *scale_b, double *d, int m, int n, int k,
                                              int lda, int ldb, int ldd, int ld_scale_a, int ld_scale_b)
{
    int first_row = blockIdx.y * 32, column = blockIdx.x * 32 + threadIdx.x;
    double sum[4] = {};
    multiply_tile<true, true>(
        sum, first_row, blockIdx.x * 32, k,
        [=](int row, int kk) {
            return row < m && kk < k ? value_of(a[(long long)row * lda + kk], A_IS_E4M3) * (double)scale_a[BLOCK_SCALES ? (long long)(kk / SCALED) * ld_scale_a + row : 0] : 0.0;
        },
        [=](int kk, int col) {
            return col < n && kk < k ? value_of(b[(long long)col * ldb + kk], B_IS_E4M3) * (double)scale_b[BLOCK_SCALES ? (long long)(col / SCALED) * ld_scale_b + kk / SCALED : 0] : 0.0;
        });
    for (int i = 0; i < 4; i++) {
        int row = first_row + threadIdx.y + 8 * i;
        if (row < m && column < ldd)
            d[row * (long long)ldd + column] = column < n ? sum[i] : 0.0;
    }
}
