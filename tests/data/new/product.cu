/* The textbook's product of matrices: names for the indices, and tiles of the source's own, which are its blocks. */
#define TS 16
enum Layout { ROWS_FIRST };

__global__ void product(const float *A, const float *B, float *C, int n, enum Layout layout)
{
    __shared__ float a[TS][TS], b[TS][TS];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * TS + ty, col = bx * TS + tx;
    float sum = 0;
    for (int from = 0; from < n; from += TS) {
        a[ty][tx] = row < n && from + tx < n ? A[row * n + from + tx] : 0;
        b[ty][tx] = col < n && from + ty < n ? B[(from + ty) * n + col] : 0;
        __syncthreads();
        for (int k = 0; k < TS; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = layout ? sum : 2 * sum;
}
