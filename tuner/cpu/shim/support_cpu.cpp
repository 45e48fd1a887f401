// The tool's own kernels (tuner/gpu/support.cu) on the CPU, each as one thread that strides over everything: the inputs and comparisons are those of the GPU.
#include "small_float.h"

#include <assert.h>

#define MT_CPU 1
#define __shared__ static
#undef __global__
#define __global__ inline // those that nobody calls here are not compiled
#include "support.cu"

// What assert() calls, in the place of the library's, which ends the program without a word for the tool.
extern "C" void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) noexcept
{
    char who[120];
    mt_cpu::add_thread(who, sizeof who, threadIdx);
    mt_cpu::finish("failed", "%s:%u: assert(%s) of %s does not hold for %s", file, line, condition, function, who);
}

static void one_thread()
{
    threadIdx = blockIdx = {0, 0, 0};
    blockDim = gridDim = dim3(1);
}

void mt_cpu_fill(char what, char *data, size_t count, int dtype, unsigned long long seed, double a, double b)
{
    one_thread();
    if (what == 'u') mt_fill_uniform(data, count, dtype, seed, a, b);
    else if (what == 'n') mt_fill_normal(data, count, dtype, seed, a, b);
    else mt_fill_ramp(data, count, dtype, a, b);
}

void mt_cpu_widen(const char *data, size_t count, int dtype, char *out)
{
    one_thread();
    mt_widen(data, count, dtype, (double *)out);
}

// Writes an mt_compare_result, then how many elements differ in their bits, and which is the first.
void mt_cpu_compare(const char *out, const char *reference, size_t count, int dtype, size_t element_bytes, unsigned long long poison, const char *path)
{
    struct { mt_compare_result result; mt_u64 differing, first; } all = {nothing_compared(), 0, ~0ull};
    one_thread();
    BY_DTYPE(dtype, compare_all, out, reference, count, poison, &all.result)
    if (dtype > MT_SUPPORT_F64) mt_diff((const mt_u8 *)out, (const mt_u8 *)reference, count, element_bytes, &all.differing, &all.first);
    mt_cpu::store(&all, sizeof all, path);
}
