/* The kernel as it was before anybody thought of tuning: out[x][y] = in[y][x]. */
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[(size_t)x * rows + y] = in[(size_t)y * columns + x];
}
