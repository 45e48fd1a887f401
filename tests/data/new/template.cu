/* Types, numbers and conditions that a template takes. */
template <typename T, int TILE = 16, bool ADDS = true, class Sum = double>
__global__ void turned(T *out, const T *in, T scale, Sum *sums, int n)
{
    __shared__ T tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    if (x < n && y < n) out[x * n + y] = tile[threadIdx.y][threadIdx.x] * scale;
    if (x < n && y < n) sums[y * n + x] = ADDS;
}
