/* A second way, with knobs: tiles of TILE x TILE elements through shared memory, so that reads and writes are both whole lines.
 * PAD: an element more per row of the tile, against bank conflicts. */
#if ALGO == ALGO_tiled
extern "C" __global__ void __launch_bounds__(TILE *THREAD_ROWS) tiled(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += THREAD_ROWS)
        if (x < columns && y + i < rows)
            tile[threadIdx.y + i][threadIdx.x] = in[(size_t)(y + i) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += THREAD_ROWS)
        if (x < rows && y + i < columns)
            out[(size_t)(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}
#endif

#if ALGO == ALGO_copy
extern "C" __global__ void copy(const float4 *in, float4 *out, int rows, int columns)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * columns / 4)
        out[i] = in[i];
}
#endif
