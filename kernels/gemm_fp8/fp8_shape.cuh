/*
 * The problem of a compiled variant. Types, scales and sums are baked, sizes and leading dimensions are arguments: one cubin serves all sizes.
 *
 *     scales = tensor    D[m][n] = scale_a * scale_b * sum over k of A[m][k] * B[n][k]
 *     scales = block     D[m][n] = sum over k of A[m][k] * scale_a[k / 128][m] * B[n][k] * scale_b[n / 128][k / 128]
 *
 * A is [M][lda], B is [N][ldb], both with k innermost (layout RC: no other has fp8 instructions); leading dimensions are multiples of 16. D is f16 or bf16,
 * [M][ldd], ldd a multiple of 8. M, N and K are any. Rows of D are stored in pieces of 16 bytes: where N is not a multiple of 8, the rest of the last
 * piece is set to zero. Padding of A and B is not used, whatever it holds. Scales are in device memory: one number each, or f32 [K / 128][ld_scale_a]
 * and [N / 128][ld_scale_b], lengths rounded up.
 *
 * accumulate = fast: sums stay in the tensor core, which keeps some 14 bits of them (errors of 1e-3 and more, growing with K).
 * accumulate = f32: what 128 of k gave is added to a sum in f32 outside of it. Block scales need that.
 */
#pragma once

typedef unsigned char fp8_t;

/* Of D. */
#if SHAPE_out == SHAPE_out_f16
#define ELEMENT_IS_F16 1
#elif SHAPE_out == SHAPE_out_bf16
#define ELEMENT_IS_F16 0
#else
#error "out is f16 or bf16"
#endif
#include "element.cuh"

#if SHAPE_dtype == SHAPE_dtype_f8e4m3
#define A_TYPE "e4m3"
constexpr bool A_IS_E4M3 = true;
#else
#define A_TYPE "e5m2"
constexpr bool A_IS_E4M3 = false;
#endif
#if SHAPE_dtype_b == SHAPE_dtype_b_f8e4m3
#define B_TYPE "e4m3"
constexpr bool B_IS_E4M3 = true;
#else
#define B_TYPE "e5m2"
constexpr bool B_IS_E4M3 = false;
#endif

#if SHAPE_scales == SHAPE_scales_block
constexpr bool BLOCK_SCALES = true;
#else
constexpr bool BLOCK_SCALES = false;
#endif
constexpr int SCALED = 128; /* of k that have a scale, or a sum in the tensor core, of their own */

/* What the headers of ../gemm ask for. */
#define ELEMENT_TYPE "f16"
#define A_K_INNERMOST 1
#define B_K_INNERMOST 1
#define SUMS_F16 0
#define ADDS_C 0

#include "fused.cuh"
