// launch bounds in front, blocks of rows of threads, and a flag
__launch_bounds__(64) __global__ void bounds(float *out, int width, int height, unsigned char flag, char sign)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = flag ? sign : x;
}
