/* Names without C++ decoration, so that the tuner finds the kernel; the file itself stays as it is. */
extern "C" {
#include "transpose.cu"
}

/* What is right: written for reading. Its output is double, whatever the kernel's is. */
extern "C" __global__ void transpose_reference(const float *in, double *out, int rows, int columns)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * columns)
        out[i] = in[i % rows * columns + i / rows];
}
