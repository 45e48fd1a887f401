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

#if SHAPE_dtype == SHAPE_dtype_f16
#define ELEMENT_IS_F16 1
#define ELEMENT_TYPE "f16"
#elif SHAPE_dtype == SHAPE_dtype_bf16
#define ELEMENT_IS_F16 0
#define ELEMENT_TYPE "bf16"
#else
#error "dtype is f16 or bf16"
#endif
#include "element.cuh"

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
#define ADDS_C 1
#else
#define ADDS_C 0
#endif

#include "fused.cuh"

/* The launch is programmatic: it waits by itself for the kernel in front. */
#ifdef PDL
constexpr bool DEPENDENT = PDL == PDL_on;
#else
constexpr bool DEPENDENT = false;
#endif
