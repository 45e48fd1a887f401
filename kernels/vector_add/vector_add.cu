/*
 * out[i] = a[i] + b[i], i < N: the smallest kernel family, to learn from.
 *
 *     a, b, out   f32 [N]
 *
 * SHAPE_N comes from the .ini's [shape]; BLOCK and VEC are its knobs. A thread adds VEC neighbouring elements.
 */
struct alignas(4 * VEC) Pack {
    float x[VEC];
};

extern "C" __global__ void __launch_bounds__(BLOCK) vector_add(const float *a, const float *b, float *out)
{
    unsigned long long first = ((unsigned long long)blockIdx.x * BLOCK + threadIdx.x) * VEC;
    if (first + VEC <= SHAPE_N) {
        Pack u = *(const Pack *)(a + first), v = *(const Pack *)(b + first);
        for (int i = 0; i < VEC; i++)
            u.x[i] += v.x[i];
        *(Pack *)(out + first) = u;
    } else {
        for (unsigned long long i = first; i < SHAPE_N; i++)
            out[i] = a[i] + b[i];
    }
}

/* What the result must be. A reference writes double, whatever the output's type. */
extern "C" __global__ void vector_add_reference(const float *a, const float *b, double *out)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SHAPE_N)
        out[i] = (double)a[i] + (double)b[i];
}
