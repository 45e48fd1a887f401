// Kernels that go wrong in one way each, and one that does not. out[i] = 2 a[i].
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void bad_reference(const float *a, double *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0 * a[INDEX];
}

#ifndef MT_SUPPORT
extern "C" __global__ void bad_good(float *a, float *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX];
}

extern "C" __global__ void bad_illegal_address(float *a, float *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * *(volatile float *)((unsigned long long)a ^ 0x700000000000ull);
}

extern "C" __global__ void bad_trap(float *a, float *out)
{
    if (INDEX == 7) asm volatile("trap;");
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX];
}

// Waits for a flag that nobody sets.
extern "C" __global__ void bad_endless(float *a, float *out)
{
    while (((volatile float *)a)[0] != 12345.0f) {}
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX];
}

// The last block writes one row too many.
extern "C" __global__ void bad_one_row_more(float *a, float *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX];
    if (INDEX < 32) out[SHAPE_N + INDEX] = 1.0f;
}

extern "C" __global__ void bad_skips_last_tile(float *a, float *out)
{
    if (INDEX < SHAPE_N - 256) out[INDEX] = 2.0f * a[INDEX];
}

extern "C" __global__ void bad_writes_input(float *a, float *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX];
    if (INDEX == 5) a[9] = 3.0f;
}

// Right within the tolerance, but never the same twice.
extern "C" __global__ void bad_races(float *a, float *out)
{
    if (INDEX < SHAPE_N) out[INDEX] = 2.0f * a[INDEX] * (1.0f + 1e-6f * (float)(clock64() & 7));
}

extern "C" __global__ void bad_syntax(float *a, float *out)
{
#ifdef ALGO_syntax
#if ALGO == ALGO_syntax
    this is no C++;
#endif
#endif
}
#endif
