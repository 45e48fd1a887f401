/* Kernel Tuner's names: values of its own unless kernel_tuner is defined, and one value that nobody gives */
#ifndef kernel_tuner
#define grid_width 4096
#define block_size_x 16
#define block_size_y 16
#define steps_t 1
#define use_padding 0
#endif
#define row_width (grid_width + 2 * steps_t)
#define columns block_size_x + use_padding

__global__ void
#if blocks_per_sm > 0
__launch_bounds__(block_size_x * block_size_y * block_size_z, blocks_per_sm)
#endif
smooth(float *in, float *out)
{
    __shared__ float tile[block_size_y][columns];
    int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
    if (x >= grid_width - 1) return;
    tile[threadIdx.y][threadIdx.x] = in[y * row_width + x];
#pragma unroll loop_unroll_factor
    for (int t = 0; t < steps_t; t++) tile[threadIdx.y][threadIdx.x] *= 0.5f;
    out[y * grid_width + x] = tile[threadIdx.y][threadIdx.x];
}
