// three pointers, two of one type: their names in compiled code refer to each other
#include <cuda_fp16.h>
__global__ void __launch_bounds__(256) add(const __half *a, const __half *b, __half *out, unsigned int count, size_t offset, bool twice)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count - offset) out[i] = twice ? __hadd(a[i], b[i]) : a[i];
}
