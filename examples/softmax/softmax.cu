/*
 * Softmax over rows: in [ROWS][COLUMNS] f32 -> out, the same. Three passes of one block over a row, or one pass with the row in registers.
 *
 *     passes     a block of THREADS per row: largest, sum of powers, quotients; each reads the row again (from L1 or L2)
 *     registers  TEAM threads per row (a block has THREADS / TEAM rows) keep it in registers
 *
 * VEC: elements per load; COLUMNS is a multiple of it.
 */
#if !MT_SUPPORT

#define NOTHING __int_as_float(0xff800000) /* minus infinity */

struct alignas(4 * VEC) Pack {
    float x[VEC];
};

/* Of MEMBERS neighbouring threads; all of them get the result. MEMBERS is a power of two, the whole block if it is more than a warp. */
template <int MEMBERS, typename COMBINE>
__device__ inline float across_team(float value, COMBINE combine)
{
    for (int step = (MEMBERS < 32 ? MEMBERS : 32) / 2; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    if constexpr (MEMBERS > 32) {
        __shared__ float warps[MEMBERS / 32];
        __syncthreads(); /* all have read what was there before */
        if (threadIdx.x % 32 == 0)
            warps[threadIdx.x / 32] = value;
        __syncthreads();
        value = warps[0];
        for (int i = 1; i < MEMBERS / 32; i++)
            value = combine(value, warps[i]);
    }
    return value;
}

struct Largest {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

#if ALGO == ALGO_passes

extern "C" __global__ void __launch_bounds__(THREADS) passes(const float *in, float *out)
{
    const Pack *from = (const Pack *)(in + (size_t)blockIdx.x * SHAPE_COLUMNS);
    Pack *to = (Pack *)(out + (size_t)blockIdx.x * SHAPE_COLUMNS);
    float largest = NOTHING, sum = 0;
    for (int i = threadIdx.x; i < SHAPE_COLUMNS / VEC; i += THREADS)
        for (int k = 0; k < VEC; k++)
            largest = fmaxf(largest, from[i].x[k]);
    largest = across_team<THREADS>(largest, Largest());
    for (int i = threadIdx.x; i < SHAPE_COLUMNS / VEC; i += THREADS)
        for (int k = 0; k < VEC; k++)
            sum += __expf(from[i].x[k] - largest);
    sum = across_team<THREADS>(sum, Sum());
    for (int i = threadIdx.x; i < SHAPE_COLUMNS / VEC; i += THREADS) {
        Pack pack = from[i];
        for (int k = 0; k < VEC; k++)
            pack.x[k] = __expf(pack.x[k] - largest) / sum;
        to[i] = pack;
    }
}

#elif ALGO == ALGO_registers

constexpr int PACKS = (SHAPE_COLUMNS / VEC + TEAM - 1) / TEAM; /* of a thread */

extern "C" __global__ void __launch_bounds__(THREADS) registers(const float *in, float *out)
{
    int member = threadIdx.x % TEAM;
    size_t row = (size_t)blockIdx.x * (THREADS / TEAM) + threadIdx.x / TEAM;
    bool is_row = row < SHAPE_ROWS; /* threads without one stay for the sums */
    const Pack *from = (const Pack *)(in + row * SHAPE_COLUMNS);
    Pack *to = (Pack *)(out + row * SHAPE_COLUMNS), pack[PACKS];
    float largest = NOTHING, sum = 0;
#pragma unroll
    for (int i = 0; i < PACKS; i++) {
        bool is_there = is_row && member + i * TEAM < SHAPE_COLUMNS / VEC;
        for (int k = 0; k < VEC; k++)
            pack[i].x[k] = NOTHING;
        if (is_there)
            pack[i] = from[member + i * TEAM];
        for (int k = 0; k < VEC; k++)
            largest = fmaxf(largest, pack[i].x[k]);
    }
    largest = across_team<TEAM>(largest, Largest());
#pragma unroll
    for (int i = 0; i < PACKS; i++)
        for (int k = 0; k < VEC; k++)
            sum += pack[i].x[k] = __expf(pack[i].x[k] - largest);
    float scale = 1.0f / across_team<TEAM>(sum, Sum());
#pragma unroll
    for (int i = 0; i < PACKS; i++) {
        for (int k = 0; k < VEC; k++)
            pack[i].x[k] *= scale;
        if (is_row && member + i * TEAM < SHAPE_COLUMNS / VEC)
            to[member + i * TEAM] = pack[i];
    }
}

#elif ALGO == ALGO_copy

extern "C" __global__ void __launch_bounds__(THREADS) copy(const float *in, float *out)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (size_t)SHAPE_ROWS * SHAPE_COLUMNS / VEC; i += (size_t)gridDim.x * THREADS)
        ((Pack *)out)[i] = ((const Pack *)in)[i];
}

#endif
#else

/* A block of 256 threads per row would do as well: a thread per row is for reading. */
extern "C" __global__ void softmax_reference(const float *in, double *out)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= SHAPE_ROWS)
        return;
    const float *from = in + row * SHAPE_COLUMNS;
    double largest = from[0], sum = 0;
    for (int i = 1; i < SHAPE_COLUMNS; i++)
        largest = fmax(largest, (double)from[i]);
    for (int i = 0; i < SHAPE_COLUMNS; i++)
        sum += exp(from[i] - largest);
    for (int i = 0; i < SHAPE_COLUMNS; i++)
        out[row * SHAPE_COLUMNS + i] = exp(from[i] - largest) / sum;
}

#endif
