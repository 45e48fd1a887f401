"""A script for Kernel Tuner. vector_add.py is the same for msda-tune."""
import numpy
import kernel_tuner

kernel_string = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
"""

size = 1000000
a = numpy.random.randn(size).astype(numpy.float32)
b = numpy.random.randn(size).astype(numpy.float32)
c = numpy.zeros_like(b)
n = numpy.int32(size)
args = [c, a, b, n]

tune_params = {"block_size_x": [32 * i for i in range(1, 33)]}
restrictions = ["block_size_x % 64 == 0 or block_size_x < 128"]

results, env = kernel_tuner.tune_kernel("vector_add", kernel_string, size, args, tune_params, restrictions=restrictions, answer=[a + b, None, None, None])
print(min(results, key=lambda result: result["time"]))
