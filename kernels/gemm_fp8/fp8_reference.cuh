/*
 * The reference: everything in fp64 from the inputs as they are stored. A block makes a tile of 32 x 32 elements.
 *
 * grid = ceil_div(ldd, 32), ceil_div(M, 32); block = 32, 8
 */
#pragma once

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
    __shared__ double a_tile[32][33], b_tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;
    double sum[4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        int this_k = k0 + threadIdx.x, block = this_k / SCALED;
        for (int i = threadIdx.y; i < 32; i += 8) {
            int a_m = first_row + i, b_n = first_column + i;
            bool has_a = a_m < m && this_k < k, has_b = b_n < n && this_k < k;
            double a_value = has_a ? value_of(a[(long long)a_m * lda + this_k], A_IS_E4M3) : 0.0;
            double b_value = has_b ? value_of(b[(long long)b_n * ldb + this_k], B_IS_E4M3) : 0.0;
            if (has_a)
                a_value *= (double)scale_a[BLOCK_SCALES ? (long long)block * ld_scale_a + a_m : 0];
            if (has_b)
                b_value *= (double)scale_b[BLOCK_SCALES ? (long long)(b_n / SCALED) * ld_scale_b + block : 0];
            a_tile[i][threadIdx.x] = a_value;
            b_tile[threadIdx.x][i] = b_value;
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk++)
            for (int i = 0; i < 4; i++)
                sum[i] += a_tile[threadIdx.y + 8 * i][kk] * b_tile[kk][threadIdx.x];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int row = first_row + threadIdx.y + 8 * i;
        if (row < m && column < ldd)
            d[row * (long long)ldd + column] = column < n ? sum[i] : 0.0;
    }
}
