/*
 * Warpgroup matrix multiply (sm_90a): 128 threads, operands in shared memory.
 *
 * A tile of R rows (m or n) by K columns lies in shared memory as TMA boxes with a swizzle write it:
 *
 *     k innermost    [K / 64][R][64 of k]           rows of 128 bytes, swizzle 128
 *     k outermost    [R / W][K][W of m or n]        W = min(R, 64), rows of 2 W bytes, swizzle 2 W
 */
#pragma once

#include "shared_address.cuh"
#include "sums.cuh"


/* Swizzle of rows of so many bytes, as a descriptor names it. */
__device__ constexpr unsigned long long swizzle_code(int row_bytes)
{
    return row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
}

/* The operand's R rows and K columns, both of the whole tile. */
template <int R, int K, bool K_INNERMOST>
struct Operand {
    static constexpr int WIDTH = R < 64 ? R : 64;
    static constexpr int ROW_BYTES = K_INNERMOST ? 128 : 2 * WIDTH;
    static_assert(K_INNERMOST ? K % 64 == 0 : R % WIDTH == 0 && ROW_BYTES >= 32, "whole boxes");
    static constexpr int BYTES = R * K * 2;

    /* Byte offset of row block m64 (64 rows; A only) and of k16 (16 columns). */
    __device__ static constexpr int offset(int m64, int k16)
    {
        return K_INNERMOST ? (k16 / 4) * R * 128 + (k16 % 4) * 32 + m64 * 64 * 128
                           : m64 * K * ROW_BYTES + k16 * 16 * ROW_BYTES;
    }

    /* Descriptor of the tile at a shared address; add offset() >> 4 for a part of it. */
    __device__ static unsigned long long descriptor(unsigned address)
    {
        constexpr unsigned long long leading = K_INNERMOST ? 1 : K * ROW_BYTES / 16, stride = 8 * ROW_BYTES / 16;
        return (unsigned long long)((address & 0x3ffff) >> 4) | leading << 16 | stride << 32 | swizzle_code(ROW_BYTES) << 62;
    }
};

__device__ inline void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int LEFT>
__device__ inline void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

#define LIST_2 "%0, %1"
#define LIST_4 LIST_2 ", %2, %3"
#define LIST_8 LIST_4 ", %4, %5, %6, %7"
#define LIST_12 LIST_8 ", %8, %9, %10, %11"
#define LIST_16 LIST_12 ", %12, %13, %14, %15"
#define LIST_20 LIST_16 ", %16, %17, %18, %19"
#define LIST_24 LIST_20 ", %20, %21, %22, %23"
#define LIST_28 LIST_24 ", %24, %25, %26, %27"
#define LIST_32 LIST_28 ", %28, %29, %30, %31"
#define LIST_36 LIST_32 ", %32, %33, %34, %35"
#define LIST_40 LIST_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define LIST_44 LIST_40 ", %40, %41, %42, %43"
#define LIST_48 LIST_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define LIST_52 LIST_48 ", %48, %49, %50, %51"
#define LIST_56 LIST_52 ", %52, %53, %54, %55"
#define LIST_60 LIST_56 ", %56, %57, %58, %59"
#define LIST_64 LIST_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define LIST_68 LIST_64 ", %64, %65, %66, %67"
#define LIST_72 LIST_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define LIST_76 LIST_72 ", %72, %73, %74, %75"
#define LIST_80 LIST_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define LIST_84 LIST_80 ", %80, %81, %82, %83"
#define LIST_88 LIST_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define LIST_92 LIST_88 ", %88, %89, %90, %91"
#define LIST_96 LIST_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define LIST_100 LIST_96 ", %96, %97, %98, %99"
#define LIST_104 LIST_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define LIST_108 LIST_104 ", %104, %105, %106, %107"
#define LIST_112 LIST_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define LIST_116 LIST_112 ", %112, %113, %114, %115"
#define LIST_120 LIST_112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define LIST_124 LIST_120 ", %120, %121, %122, %123"
#define LIST_128 LIST_120 ", %120, %121, %122, %123, %124, %125, %126, %127"

#if SUMS_F16
#define HELD(register) "+r"(register)
#else
#define HELD(register) "+f"(register)
#endif
#define SUM(i) HELD(d[i])
#define SUMS_2 SUM(0), SUM(1)
#define SUMS_4 SUMS_2, SUM(2), SUM(3)
#define SUMS_8 SUMS_4, SUM(4), SUM(5), SUM(6), SUM(7)
#define SUMS_12 SUMS_8, SUM(8), SUM(9), SUM(10), SUM(11)
#define SUMS_16 SUMS_12, SUM(12), SUM(13), SUM(14), SUM(15)
#define SUMS_20 SUMS_16, SUM(16), SUM(17), SUM(18), SUM(19)
#define SUMS_24 SUMS_20, SUM(20), SUM(21), SUM(22), SUM(23)
#define SUMS_28 SUMS_24, SUM(24), SUM(25), SUM(26), SUM(27)
#define SUMS_32 SUMS_28, SUM(28), SUM(29), SUM(30), SUM(31)
#define SUMS_36 SUMS_32, SUM(32), SUM(33), SUM(34), SUM(35)
#define SUMS_40 SUMS_32, \
    SUM(32), SUM(33), SUM(34), SUM(35), SUM(36), SUM(37), SUM(38), SUM(39)
#define SUMS_44 SUMS_40, SUM(40), SUM(41), SUM(42), SUM(43)
#define SUMS_48 SUMS_40, \
    SUM(40), SUM(41), SUM(42), SUM(43), SUM(44), SUM(45), SUM(46), SUM(47)
#define SUMS_52 SUMS_48, SUM(48), SUM(49), SUM(50), SUM(51)
#define SUMS_56 SUMS_52, SUM(52), SUM(53), SUM(54), SUM(55)
#define SUMS_60 SUMS_56, SUM(56), SUM(57), SUM(58), SUM(59)
#define SUMS_64 SUMS_56, \
    SUM(56), SUM(57), SUM(58), SUM(59), SUM(60), SUM(61), SUM(62), SUM(63)
#define SUMS_68 SUMS_64, SUM(64), SUM(65), SUM(66), SUM(67)
#define SUMS_72 SUMS_64, \
    SUM(64), SUM(65), SUM(66), SUM(67), SUM(68), SUM(69), SUM(70), SUM(71)
#define SUMS_76 SUMS_72, SUM(72), SUM(73), SUM(74), SUM(75)
#define SUMS_80 SUMS_72, \
    SUM(72), SUM(73), SUM(74), SUM(75), SUM(76), SUM(77), SUM(78), SUM(79)
#define SUMS_84 SUMS_80, SUM(80), SUM(81), SUM(82), SUM(83)
#define SUMS_88 SUMS_80, \
    SUM(80), SUM(81), SUM(82), SUM(83), SUM(84), SUM(85), SUM(86), SUM(87)
#define SUMS_92 SUMS_88, SUM(88), SUM(89), SUM(90), SUM(91)
#define SUMS_96 SUMS_88, \
    SUM(88), SUM(89), SUM(90), SUM(91), SUM(92), SUM(93), SUM(94), SUM(95)
#define SUMS_100 SUMS_96, SUM(96), SUM(97), SUM(98), SUM(99)
#define SUMS_104 SUMS_96, \
    SUM(96), SUM(97), SUM(98), SUM(99), SUM(100), SUM(101), SUM(102), SUM(103)
#define SUMS_108 SUMS_104, SUM(104), SUM(105), SUM(106), SUM(107)
#define SUMS_112 SUMS_104, \
    SUM(104), SUM(105), SUM(106), SUM(107), SUM(108), SUM(109), SUM(110), SUM(111)
#define SUMS_116 SUMS_112, SUM(112), SUM(113), SUM(114), SUM(115)
#define SUMS_120 SUMS_112, \
    SUM(112), SUM(113), SUM(114), SUM(115), SUM(116), SUM(117), SUM(118), SUM(119)
#define SUMS_124 SUMS_120, SUM(120), SUM(121), SUM(122), SUM(123)
#define SUMS_128 SUMS_120, \
    SUM(120), SUM(121), SUM(122), SUM(123), SUM(124), SUM(125), SUM(126), SUM(127)

/* The operand that gives 64 rows, and the one that gives N columns: A and B, unless the algorithm swaps them. */
#ifndef ROWS_K_INNERMOST
#define ROWS_K_INNERMOST A_K_INNERMOST
#define COLUMNS_K_INNERMOST B_K_INNERMOST
#endif
#if ROWS_K_INNERMOST
#define ROWS_TRANSPOSED "0"
#else
#define ROWS_TRANSPOSED "1"
#endif
#if COLUMNS_K_INNERMOST
#define COLUMNS_TRANSPOSED "0"
#else
#define COLUMNS_TRANSPOSED "1"
#endif

/* One m64nNk16 with C registers per thread; A1, B1, P1 number the operands behind them. */
#define WGMMA(N, C, A1, B1, P1)                                                                                          \
    asm volatile("{ .reg .pred p;\n"                                                                                     \
                 "  setp.ne.b32 p, %" #P1 ", 0;\n"                                                                       \
                 "  wgmma.mma_async.sync.aligned.m64n" #N "k16." SUM_TYPE "." ELEMENT_TYPE "." ELEMENT_TYPE " {" LIST_##C \
                 "}, %" #A1 ", %" #B1 ", p, 1, 1, " ROWS_TRANSPOSED ", " COLUMNS_TRANSPOSED "; }"                           \
                 : SUMS_##C                                                                                              \
                 : "l"(a), "l"(b), "r"(add))

#define COLUMNS(COUNT, C, A1, B1, P1)       \
    if constexpr (N == COUNT)               \
        WGMMA(COUNT, C, A1, B1, P1);        \
    else

/* d = A * B (add = 0) or d += A * B, for 16 of k; asynchronous. */
template <int N>
__device__ inline void wgmma(sum_t (&d)[SUMS<N>], unsigned long long a, unsigned long long b, int add)
{
#if SUMS_F16
    COLUMNS(8, 2, 2, 3, 4)
    COLUMNS(16, 4, 4, 5, 6)
    COLUMNS(32, 8, 8, 9, 10)
    COLUMNS(64, 16, 16, 17, 18)
    COLUMNS(128, 32, 32, 33, 34)
    COLUMNS(256, 64, 64, 65, 66)
#else
    COLUMNS(8, 4, 4, 5, 6)
    COLUMNS(16, 8, 8, 9, 10)
    COLUMNS(24, 12, 12, 13, 14)
    COLUMNS(32, 16, 16, 17, 18)
    COLUMNS(40, 20, 20, 21, 22)
    COLUMNS(48, 24, 24, 25, 26)
    COLUMNS(56, 28, 28, 29, 30)
    COLUMNS(64, 32, 32, 33, 34)
    COLUMNS(72, 36, 36, 37, 38)
    COLUMNS(80, 40, 40, 41, 42)
    COLUMNS(88, 44, 44, 45, 46)
    COLUMNS(96, 48, 48, 49, 50)
    COLUMNS(104, 52, 52, 53, 54)
    COLUMNS(112, 56, 56, 57, 58)
    COLUMNS(120, 60, 60, 61, 62)
    COLUMNS(128, 64, 64, 65, 66)
    COLUMNS(136, 68, 68, 69, 70)
    COLUMNS(144, 72, 72, 73, 74)
    COLUMNS(152, 76, 76, 77, 78)
    COLUMNS(160, 80, 80, 81, 82)
    COLUMNS(168, 84, 84, 85, 86)
    COLUMNS(176, 88, 88, 89, 90)
    COLUMNS(184, 92, 92, 93, 94)
    COLUMNS(192, 96, 96, 97, 98)
    COLUMNS(200, 100, 100, 101, 102)
    COLUMNS(208, 104, 104, 105, 106)
    COLUMNS(216, 108, 108, 109, 110)
    COLUMNS(224, 112, 112, 113, 114)
    COLUMNS(232, 116, 116, 117, 118)
    COLUMNS(240, 120, 120, 121, 122)
    COLUMNS(248, 124, 124, 125, 126)
    COLUMNS(256, 128, 128, 129, 130)
#endif
    static_assert(N == 8, "columns as listed above");
}
