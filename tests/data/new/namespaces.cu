/* Names in namespaces, and blocks of as many threads as the source counts. */
namespace image {
#if 0
__global__ void old(float *out) { }
#endif
constexpr int WIDE = 32;
enum { HIGH = 8 };
__constant__ float taps[WIDE];
namespace {
__global__ void blur(float *out, const float *in, int width, int Width)
{
    int x = blockIdx.x * WIDE + threadIdx.x, y = (HIGH * blockIdx.y) + threadIdx.y;
    if (x < width && y < Width) out[y * width + x] = in[y * width + x] * taps[x % WIDE];
}
}
}
