/*
 * wgmma of fp8 operands (sm_90a): 32 of k at a time, both operands with k innermost. In shared memory they lie as 16-bit ones of half the length do
 * (Operand of ../gemm/wgmma.cuh): rows of 128 bytes, swizzle 128.
 */
#pragma once

#include "wgmma.cuh"

/* One m64nNk32 with C registers per thread; A1, B1, P1 number the operands behind them. */
#define WGMMA_FP8(N, C, A1, B1, P1)                                                                                   \
    asm volatile("{ .reg .pred p;\n"                                                                                  \
                 "  setp.ne.b32 p, %" #P1 ", 0;\n"                                                                    \
                 "  wgmma.mma_async.sync.aligned.m64n" #N "k32.f32." A_TYPE "." B_TYPE " {" LIST_##C "}, %" #A1 ", %" #B1 \
                 ", p, 1, 1; }"                                                                                       \
                 : SUMS_##C                                                                                           \
                 : "l"(a), "l"(b), "r"(add))

/* d = A * B (add = 0) or d += A * B, for 32 of k; asynchronous. */
template <int N>
__device__ inline void wgmma_fp8(sum_t (&d)[SUMS<N>], unsigned long long a, unsigned long long b, int add)
{
    if constexpr (N == 16)
        WGMMA_FP8(16, 8, 8, 9, 10);
    else if constexpr (N == 32)
        WGMMA_FP8(32, 16, 16, 17, 18);
    else if constexpr (N == 48)
        WGMMA_FP8(48, 24, 24, 25, 26);
    else if constexpr (N == 64)
        WGMMA_FP8(64, 32, 32, 33, 34);
    else if constexpr (N == 80)
        WGMMA_FP8(80, 40, 40, 41, 42);
    else if constexpr (N == 96)
        WGMMA_FP8(96, 48, 48, 49, 50);
    else if constexpr (N == 112)
        WGMMA_FP8(112, 56, 56, 57, 58);
    else if constexpr (N == 128)
        WGMMA_FP8(128, 64, 64, 65, 66);
    else if constexpr (N == 144)
        WGMMA_FP8(144, 72, 72, 73, 74);
    else if constexpr (N == 160)
        WGMMA_FP8(160, 80, 80, 81, 82);
    else if constexpr (N == 176)
        WGMMA_FP8(176, 88, 88, 89, 90);
    else if constexpr (N == 192)
        WGMMA_FP8(192, 96, 96, 97, 98);
    else if constexpr (N == 208)
        WGMMA_FP8(208, 104, 104, 105, 106);
    else if constexpr (N == 224)
        WGMMA_FP8(224, 112, 112, 113, 114);
    else if constexpr (N == 240)
        WGMMA_FP8(240, 120, 120, 121, 122);
    else if constexpr (N == 256)
        WGMMA_FP8(256, 128, 128, 129, 130);
    else
        static_assert(N == 16, "columns as listed above");
}
