/*
 * out[y][x] = sum over i, j of filter[i][j] * in[y + i][x + j]: templates in a namespace, and a filter in constant memory, as such kernels often come.
 *
 *     in      f32 [HEIGHT + FH - 1, WIDTH + FW - 1]
 *     filter  f32 [FH, FW], a parameter or the variable convolution::d_filter
 *     out     f32 [HEIGHT, WIDTH]
 *
 * Knobs: blocks of BLOCK_X x BLOCK_Y threads; a thread computes TILE_Y outputs below each other.
 */
namespace convolution {

__constant__ float d_filter[SHAPE_FH * SHAPE_FW];

template <int ROWS, int FH, int FW> __device__ void convolve(const float *in, const float *filter, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    float sum[ROWS] = {};
    if (x >= width) return;
    for (int i = 0; i < FH; i++)
        for (int j = 0; j < FW; j++)
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                if (top + k < height) sum[k] += filter[i * FW + j] * in[(size_t)(top + k + i) * (width + FW - 1) + x + j];
    for (int k = 0; k < ROWS && top + k < height; k++)
        out[(size_t)(top + k) * width + x] = sum[k];
}

template <int ROWS, int FH, int FW> __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) constant(const float *in, float *out, int width, int height)
{
    convolve<ROWS, FH, FW>(in, d_filter, out, width, height);
}

template <int ROWS, int FH, int FW> __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) global(const float *in, const float *filter, float *out, int width, int height)
{
    convolve<ROWS, FH, FW>(in, filter, out, width, height);
}

} // namespace convolution

__global__ void convolution_reference(const float *in, const float *filter, double *out, int width, int height)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    if (at >= (size_t)width * height) return;
    for (int i = 0; i < SHAPE_FH; i++)
        for (int j = 0; j < SHAPE_FW; j++)
            sum += (double)filter[i * SHAPE_FW + j] * in[(at / width + i) * (width + SHAPE_FW - 1) + at % width + j];
    out[at] = sum;
}
