/* a stencil with macros of its own that somebody else may set */
#ifndef TILE_X
#define TILE_X 32
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#define RADIUS 1

namespace detail {
__device__ float weight(int d) { return d == 0 ? 0.5f : 0.25f; }
}

extern "C" {
__global__ void stencil(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
#pragma unroll UNROLL
    for (int d = -RADIUS; d <= RADIUS; d++) {
        int at = min(max(x + d, 0), width - 1);
        sum += detail::weight(d) * in[y * width + at];
    }
    out[y * width + x] = sum;
}
}
