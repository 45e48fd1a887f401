/*
 * Additions of a lane's channels to `sums`, by red instructions.
 *
 *     RED    channels per red instruction: 1, or vectors of 2 or 4 f32, one by one where there are none (before sm_90); of SUMS = packed: pairs, 2 to 8
 *            channels
 */
#pragma once

#include "lanes.cuh"

static_assert(VEC % RED == 0, "whole vectors of sums");
static_assert(!PACKED || RED > 1, "pairs of channels");

#if defined SUMS && SUMS == SUMS_packed

__device__ inline unsigned packed(float first, float second)
{
#if SHAPE_grad_dtype == SHAPE_grad_dtype_bf16
    __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
#else
    half2 pair = __floats2half2_rn(first, second);
#endif
    return *(unsigned *)&pair;
}

#if SHAPE_grad_dtype == SHAPE_grad_dtype_bf16
#define PAIRS "bf16x2"
#else
#define PAIRS "f16x2"
#endif

/* Adds COUNT neighbouring channels to the sums at `at`. */
template <int COUNT>
__device__ inline void add_piece(sum_t *at, const float (&channels)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i += RED)
        if constexpr (RED == 2)
            asm volatile("red.global.add.noftz." PAIRS " [%0], %1;" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])) : "memory");
        else if constexpr (RED == 4)
            asm volatile("red.global.add.noftz.v2." PAIRS " [%0], {%1, %2};" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])),
                         "r"(packed(channels[i + RED - 2], channels[i + RED - 1])) : "memory");
        else
            asm volatile("red.global.add.noftz.v4." PAIRS " [%0], {%1, %2, %3, %4};" ::"l"(at + i), "r"(packed(channels[i], channels[i + 1])),
                         "r"(packed(channels[i + 2 % RED], channels[i + 3 % RED])), "r"(packed(channels[i + 4 % RED], channels[i + 5 % RED])),
                         "r"(packed(channels[i + 6 % RED], channels[i + 7 % RED])) : "memory");
}

#else

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
constexpr bool HAS_VECTORS = true;
#else
constexpr bool HAS_VECTORS = false;
#endif

template <int COUNT>
__device__ inline void add_piece(sum_t *at, const float (&channels)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i += RED)
        if constexpr (RED == 1 || !HAS_VECTORS)
            for (int k = i; k < i + RED; k++)
                atomicAdd(at + k, channels[k]);
        else if constexpr (RED == 2)
            asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(at + i), "f"(channels[i]), "f"(channels[i + RED - 1]) : "memory");
        else
            asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at + i), "f"(channels[i]), "f"(channels[i + 1 % RED]), "f"(channels[i + 2 % RED]),
                         "f"(channels[i + 3 % RED]) : "memory");
}

#endif
