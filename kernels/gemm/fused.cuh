/*
 * What gemm_fused does beyond gemm: many matrices of one size, and more that becomes of a sum. SHAPE_fuse is gemm_fused's alone; without it nothing is left of this.
 *
 *     none         D = alpha * A * B + beta * C
 *     bias         D = alpha * A * B + beta * C + bias[n]
 *     bias_gelu    D = gelu(alpha * A * B + beta * C + bias[n]), gelu by tanh
 *     silu_gate    D = alpha * A * B * silu(C); beta is not used
 */
#pragma once

#include "element.cuh"

#ifdef SHAPE_fuse
#define IS_FUSED 1
/* Of the values of fuse, the shape's alone is a macro. */
#if defined SHAPE_fuse_silu_gate
#define IS_GATED 1
#define ADDS_BIAS 0
#elif defined SHAPE_fuse_bias || defined SHAPE_fuse_bias_gelu
#define IS_GATED 0
#define ADDS_BIAS 1
#elif defined SHAPE_fuse_none
#define IS_GATED 0
#define ADDS_BIAS 0
#else
#error "fuse is none, bias, bias_gelu or silu_gate"
#endif
#ifdef SHAPE_fuse_bias_gelu
#define IS_GELU 1
#else
#define IS_GELU 0
#endif

struct Extra {
    const element_t *bias;                  /* [n], whole pairs of them: what is behind an odd n is read, and not used */
    long long stride_a, stride_b, stride_d; /* from one matrix to the next, in elements, multiples of 8. C lies as D does */
    int batch;                              /* matrices */
};
#define EXTRA_PARAMETERS , const element_t *bias, long long stride_a, long long stride_b, long long stride_d, int batch
#define EXTRA_FIELD , {bias, stride_a, stride_b, stride_d, batch}
#define MATRICES batch

/* One instruction, good to 11 bits. */
__device__ inline float tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* x / (1 + exp(-x)) */
__device__ inline float silu(float x)
{
    float half_x = 0.5f * x;
    return fmaf(half_x, tanh_fast(half_x), half_x);
}

__device__ inline float gelu(float x)
{
    float half_x = 0.5f * x, y = x * fmaf(0.0356774081f, x * x, 0.7978845608f);
    return fmaf(half_x, tanh_fast(y), half_x);
}

/* value: alpha * A * B. Behind D's last column all three are zero, and so is what becomes of them. */
__device__ inline float fused(float value, float of_c, float of_bias, float beta)
{
    if (IS_GATED)
        return value * silu(of_c);
    value += beta * of_c + of_bias;
    return IS_GELU ? gelu(value) : value;
}

/* The pair at an even place of a row of n elements; zero behind its end. No branch lies before the load, so that many are under way. */
__device__ inline float2 pair_at(const element_t *row, int column, int n)
{
    float2 pair = unpack(*(const unsigned *)(row + min(column, (n - 1) & ~1)));
    return make_float2(column < n ? pair.x : 0.0f, column + 1 < n ? pair.y : 0.0f);
}

#else
#define IS_FUSED 0
#define IS_GATED 0
#define EXTRA_PARAMETERS
#define EXTRA_FIELD
#define MATRICES 1
#endif

/* D's elements are made of C's. */
#define READS_C (ADDS_C || IS_GATED)
