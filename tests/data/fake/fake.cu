/*
 * out[i] = a[i] + b[i], i < count, and everything that a kernel can do wrong, chosen by the knob BEHAVIOUR (tests/fakes/README.md).
 *
 *     a, b, out   f32 [N]
 */
typedef unsigned long long u64;

#if BEHAVIOUR == BEHAVIOUR_compile_error
#error "BEHAVIOUR = compile_error"
#endif

#if BEHAVIOUR == BEHAVIOUR_load_error
#define fake_add fake_add_under_another_name
#endif

static __device__ float sum_of(const float *a, const float *b, u64 i)
{
    float sum = a[i] + b[i];
    if (BEHAVIOUR == BEHAVIOUR_wrong) sum *= 1.1f;
    if (BEHAVIOUR == BEHAVIOUR_nan && i == 7) sum = __int_as_float(0x7fffffff);
    if (BEHAVIOUR == BEHAVIOUR_nondet && i == 0) sum = __int_as_float(__float_as_int(sum) ^ (int)(clock64() / 64 & 1));
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) fake_add(float *a, const float *b, float *out, u64 count)
{
    u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    volatile float *never = 0;
    if (BEHAVIOUR == BEHAVIOUR_illegal_address && i == 0) *never = 1;
    if (BEHAVIOUR == BEHAVIOUR_crash && i == 0) __trap();
    if (BEHAVIOUR == BEHAVIOUR_wrote_input && i == 0) a[0] += 1;
    if (BEHAVIOUR == BEHAVIOUR_oob) {
        if (i < BLOCK) out[count + i] = 1;
    }
    if (BEHAVIOUR == BEHAVIOUR_hang) {
        while (((volatile float *)b)[0] < 10) {
        }
    }
    u64 end = BEHAVIOUR == BEHAVIOUR_wrong_tail ? count - BLOCK : count;
    if (i >= end) return;
    float sum = sum_of(a, b, i);
    if (BEHAVIOUR == BEHAVIOUR_slow) {
        for (int k = 0; k < 1000; k++)
            sum = ((volatile float *)a)[i] + b[i];
    }
    out[i] = sum;
}

extern "C" __global__ void fake_add_reference(const float *a, const float *b, double *out, u64 count)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (double)a[i] + (double)b[i];
}

/* Values in [0, 1) from a hash of (seed, i). */
extern "C" __global__ void fake_init(float *data, u64 count, u64 seed)
{
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        u64 x = (seed + i + 1) * 0x9e3779b97f4a7c15ull;
        x ^= x >> 29;
        data[i] = (float)((x * 0xbf58476d1ce4e5b9ull) >> 40) * 0x1p-24f;
    }
}
