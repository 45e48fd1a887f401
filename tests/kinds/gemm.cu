// C = A * B in tiles through shared memory, a template: each thread computes RM x RN elements.
template <typename T, int BM, int BN, int BK, int RM, int RN>
__global__ void gemm(T *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ T as[BK][BM], bs[BK][BN];
    constexpr int threads = (BM / RM) * (BN / RN);
    int row = blockIdx.y * BM, column = blockIdx.x * BN;
    int tr = threadIdx.x / (BN / RN) * RM, tc = threadIdx.x % (BN / RN) * RN;
    T sum[RM][RN] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += threads) as[i % BK][i / BK] = a[(row + i / BK) * k + k0 + i % BK];
        for (int i = threadIdx.x; i < BN * BK; i += threads) bs[i / BN][i % BN] = b[(k0 + i / BN) * n + column + i % BN];
        __syncthreads();
        for (int kk = 0; kk < BK; kk++)
            for (int i = 0; i < RM; i++)
                for (int j = 0; j < RN; j++) sum[i][j] += as[kk][tr + i] * bs[kk][tc + j];
        __syncthreads();
    }
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++) c[(row + tr + i) * n + column + tc + j] = sum[i][j] * (1 - 0.5f * KNOB_WRONG);
}

template <typename T> __global__ void gemm_reference(double *c, const T *a, const T *b, int m, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    double sum = 0;
    for (int kk = 0; kk < k; kk++) sum += (double)a[i / n * k + kk] * (double)b[kk * n + i % n];
    c[i] = sum;
}
