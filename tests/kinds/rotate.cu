// An image turned by an angle, with the filter that a texture would apply: the border repeats its last pixel, four neighbours are mixed.
__device__ float pixel(const float *image, int width, int height, int x, int y)
{
    int at = min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1);
#if READ == READ_cached
    return __ldg(image + at);
#else
    return image[at];
#endif
}

extern "C" __global__ void rotate(float *out, const float *image, int width, int height, float cosine, float sine)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    for (int k = 0; k < ROWS; k++) {
        int y = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS + k;
        if (x >= width || y >= height) return;
        float u = cosine * x - sine * y, v = sine * x + cosine * y, fu = floorf(u), fv = floorf(v), s = u - fu, t = v - fv;
        int i = (int)fu, j = (int)fv + WRONG;
        float upper = (1 - s) * pixel(image, width, height, i, j) + s * pixel(image, width, height, i + 1, j);
        float lower = (1 - s) * pixel(image, width, height, i, j + 1) + s * pixel(image, width, height, i + 1, j + 1);
        out[y * width + x] = (1 - t) * upper + t * lower;
    }
}
