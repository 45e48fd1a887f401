/* A block for each row: blockIdx.x is an index by itself, and only the threads of a row are counted. */
#include <float.h>
__global__ void softmax(const float *__restrict__ in, float *out, int rows, int cols)
{
    extern __shared__ float part[];
    int row = blockIdx.x, t = threadIdx.x;
    float most = -FLT_MAX, sum = 0;
    for (int c = t; c < cols; c += blockDim.x) most = fmaxf(most, in[row * cols + c]);
    part[t] = most;
    __syncthreads();
    for (int i = 0; i < blockDim.x; i++) most = fmaxf(most, part[i]);
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) sum += expf(in[row * cols + c] - most);
    part[t] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < blockDim.x; i++) sum += part[i];
    for (int c = t; c < cols; c += blockDim.x) out[row * cols + c] = expf(in[row * cols + c] - most) / sum;
}
