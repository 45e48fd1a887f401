/*
 * Products in fp64. A block of 32 x 8 threads makes a tile of 32 x 32 elements; the tiles of A and B only keep 8192 x 8192 within seconds.
 */
#pragma once

/* sum[i]: of row threadIdx.y + 8 i and column threadIdx.x of the tile that begins at (row, column). a(m, k) and b(k, n): elements, zero outside. A_ALONG_K: k is innermost. */
template <bool A_ALONG_K, bool B_ALONG_K, class A, class B>
__device__ inline void multiply_tile(double (&sum)[4], int row, int column, int k, A a, B b)
{
    __shared__ double a_tile[32][33], b_tile[32][33];
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int i = threadIdx.y; i < 32; i += 8) {
            /* The innermost dimension along threadIdx.x. */
            int a_m = A_ALONG_K ? i : threadIdx.x, a_k = A_ALONG_K ? threadIdx.x : i;
            int b_n = B_ALONG_K ? i : threadIdx.x, b_k = B_ALONG_K ? threadIdx.x : i;
            a_tile[a_m][a_k] = a(row + a_m, k0 + a_k);
            b_tile[b_k][b_n] = b(k0 + b_k, column + b_n);
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk++)
            for (int i = 0; i < 4; i++)
                sum[i] += a_tile[threadIdx.y + 8 * i][kk] * b_tile[kk][threadIdx.x];
        __syncthreads();
    }
}
