/* A whole program: what runs on the host stands beside the kernel. */
#include <cstdio>
#include <vector>

struct __align__(8) Part { int count; float factor; };

__device__ float twice(float x) { return 2 * x; }

__global__ void doubled(float *y, const float *x, Part part)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < part.count) y[i] = twice(x[i]) * part.factor;
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
}

int main()
{
    const int n = 1000;
    std::vector<float> x(n, 1.0f);
    float *from, *to;
    check(cudaMalloc(&from, n * sizeof(float)));
    check(cudaMalloc(&to, n * sizeof(float)));
    check(cudaMemcpy(from, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    doubled<<<(n + 255) / 256, 256>>>(to, from, Part{n, 1});
    check(cudaDeviceSynchronize());
    return 0;
}
