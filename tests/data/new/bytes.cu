// Numbers that are a byte each, and halves, by value and in a struct.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

struct Scales { __half in; __nv_bfloat16 out; __nv_fp8_e4m3 tiny[2]; bool adds; };

extern "C" __global__ void bytes(float *out, const __nv_fp8_e5m2 *in, __nv_fp8_e4m3 factor, __half shift, bool twice, Scales scales, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = ((float)in[i] * (float)factor + __half2float(shift) + (float)scales.tiny[1]) * (twice ? 2 : 1) + (scales.adds ? __half2float(scales.in) : __bfloat162float(scales.out));
}
