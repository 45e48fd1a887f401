"""vector_add_kernel_tuner.py, for msda-tune. Needs package msda_tune (docs/python.md)."""
import numpy
import msda_tune

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
args = {"c": c, "a": a, "b": b, "n": n}

tune_params = {"block_size_x": [32 * i for i in range(1, 33)]}
restrictions = ["block_size_x % 64 == 0 or block_size_x < 128"]

space = msda_tune.Space("vector_add", kernel_string, shape={"size": size}, args=args, knobs=tune_params, constraints=restrictions, answer={"c": a + b},
                        grid="ceil(size / block_size_x)", block="block_size_x")
if __name__ == "__main__":
    print(msda_tune.tune(space)[0].knobs)
