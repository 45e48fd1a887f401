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

/* Which launch of this module it is: each block counts itself once. */
__device__ unsigned fake_blocks_so_far;

static __device__ unsigned launch_number()
{
    __shared__ unsigned launch;
    if (threadIdx.x == 0) launch = atomicAdd(&fake_blocks_so_far, 1u) / gridDim.x + 1;
    __syncthreads();
    return launch;
}

/* A bit that depends on what an earlier block has left in shared memory. */
static __device__ int stale_bit(u64 i)
{
    __shared__ volatile unsigned table[10240];
    unsigned slot = (unsigned)(i * 37 % 10240);
    table[slot] = table[slot] * 5 + blockIdx.x + 1;
    __syncthreads();
    return (int)(table[(slot + 1) % 10240] >> 3 & 1);
}

extern "C" __global__ void __launch_bounds__(BLOCK) fake_add(float *a, const float *b, float *out, u64 count)
{
    u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    volatile float *never = 0;
    if (BEHAVIOUR == BEHAVIOUR_illegal_address && i == 0) *never = 1;
    if (BEHAVIOUR == BEHAVIOUR_crash && i == 0) __trap();
    if (BEHAVIOUR == BEHAVIOUR_wrote_input && i == 0) a[0] += 1;
    if (BEHAVIOUR == BEHAVIOUR_late_fault && launch_number() >= 5) *never = 1;
    if (BEHAVIOUR == BEHAVIOUR_one_past && i == 0) out[count] = 1;
    if (BEHAVIOUR == BEHAVIOUR_read_past && i < count && ((volatile float *)a)[i + 4] == 12345.0f) return;
    if (BEHAVIOUR == BEHAVIOUR_even_half && i % 2 == 1) return;
    if (BEHAVIOUR == BEHAVIOUR_odd_half && i % 2 == 0) return;
    int stale = BEHAVIOUR == BEHAVIOUR_stale_smem ? stale_bit(i) : 0;
    if (BEHAVIOUR == BEHAVIOUR_oob) {
        if (i < BLOCK) out[count + i] = 1;
    }
    if (BEHAVIOUR == BEHAVIOUR_hang) {
        while (((volatile float *)b)[0] < 10) {
        }
    }
    u64 end = BEHAVIOUR == BEHAVIOUR_wrong_tail ? count - BLOCK : BEHAVIOUR == BEHAVIOUR_skips_second ? count / 2 : count;
    if (i >= end) return;
    float sum = sum_of(a, b, i);
    if (BEHAVIOUR == BEHAVIOUR_slow) {
        for (int k = 0; k < 1000; k++)
            sum = ((volatile float *)a)[i] + b[i];
    }
    out[i] = __int_as_float(__float_as_int(sum) ^ stale);
}

/* The second of two launches, where the file has them: the upper half. */
extern "C" __global__ void fake_second(float *a, const float *b, float *out, u64 count)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (BEHAVIOUR != BEHAVIOUR_skips_second && i >= count / 2 && i < count) out[i] = a[i] + b[i];
}

/* fake_add with a counter of cycles per block; the last block writes none. */
extern "C" __global__ void fake_add_counting(const float *a, const float *b, float *out, u64 count, u64 *cycles)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    long long start = clock64();
    if (i < count) out[i] = a[i] + b[i];
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x) cycles[blockIdx.x] = (u64)(clock64() - start);
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
