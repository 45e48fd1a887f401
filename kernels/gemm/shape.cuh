/*
 * The problem of a compiled variant. Types and layouts are baked, sizes and leading dimensions are arguments: one
 * cubin serves all sizes.
 *
 *     D[m][n] = alpha * sum over k of A[m][k] * B[k][n] + beta * C[m][n]
 *
 * element_t is f16 or bf16. C and D are row-major with leading dimension ldd. The layout's letters say how A and B lie:
 *
 *     A  R  row-major, [M][lda], k innermost          B  R  row-major, [K][ldb], n innermost
 *        C  column-major, [K][lda], m innermost          C  column-major, [N][ldb], k innermost
 *
 * Leading dimensions are multiples of 8 elements (16 bytes); M, N and K are any. Rows of D are stored in pieces of 16
 * bytes: where N is not a multiple of 8, the rest of the last piece is set to zero (ldd has room for it). Padding of A,
 * B and C is not used, whatever it holds. beta = zero: C is not read.
 *
 * Sums are in f32, or in f16 where the shape says accumulate = f16 (half the registers, and errors of 1e-2).
 * Offsets inside a matrix are 64 bits where they may pass 2^31 elements.
 */
#pragma once

#include <cuda_fp16.h>

#if SHAPE_dtype == SHAPE_dtype_f16
typedef half element_t;
#define ELEMENT_TYPE "f16"
#elif SHAPE_dtype == SHAPE_dtype_bf16
#include <cuda_bf16.h>
typedef __nv_bfloat16 element_t;
#define ELEMENT_TYPE "bf16"
#else
#error "dtype is f16 or bf16"
#endif

#if SHAPE_layout == SHAPE_layout_RC || SHAPE_layout == SHAPE_layout_RR
#define A_K_INNERMOST 1
#else
#define A_K_INNERMOST 0
#endif
#if SHAPE_layout == SHAPE_layout_RC || SHAPE_layout == SHAPE_layout_CC
#define B_K_INNERMOST 1
#else
#define B_K_INNERMOST 0
#endif

#if SHAPE_accumulate == SHAPE_accumulate_f16
#define SUMS_F16 1
#else
#define SUMS_F16 0
#endif

#if SHAPE_beta == SHAPE_beta_any
#define READS_C 1
#else
#define READS_C 0
#endif

/* The launch is programmatic: it waits by itself for the kernel in front. */
#ifdef PDL
constexpr bool DEPENDENT = PDL == PDL_on;
#else
constexpr bool DEPENDENT = false;
#endif

__device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ constexpr int align_up(int a, int b)
{
    return ceil_div(a, b) * b;
}

__device__ inline unsigned pack(float low, float high)
{
#if SHAPE_dtype == SHAPE_dtype_f16
    half2 both = __floats2half2_rn(low, high);
#else
    __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
#endif
    return *(unsigned *)&both;
}

__device__ inline float2 unpack(unsigned both)
{
#if SHAPE_dtype == SHAPE_dtype_f16
    return __half22float2(*(half2 *)&both);
#else
    return __bfloat1622float2(*(__nv_bfloat162 *)&both);
#endif
}
