/*
 * What grad_value is summed up in, `sums`, and the launches around it:
 *
 *     msda_backward_zero     before: all zeros
 *     msda_backward_store    after, where grad_value is f16 or bf16: rounds the f32 sums once
 *
 * sums is grad_value itself where that is f32; else [N][S][M][D] of f32 beside it, or, with SUMS = packed, grad_value
 * again: pairs of channels are then added in 16 bits, each addition rounded.
 */
#pragma once

#include "problem.cuh"

#if defined SUMS && SUMS == SUMS_packed
constexpr bool PACKED = true;
typedef grad_t sum_t;
static_assert(sizeof(grad_t) == 2, "f32 gradients are summed in f32");
#else
constexpr bool PACKED = false;
typedef float sum_t;
#endif

__device__ inline long long first_index()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline long long index_step()
{
    return (long long)gridDim.x * blockDim.x;
}

extern "C" __global__ void __launch_bounds__(256) msda_backward_zero(sum_t *sums)
{
    constexpr long long QUADS = VALUES * sizeof(sum_t) / 16, TAIL = QUADS * 16 / sizeof(sum_t);
    for (long long i = first_index(); i < QUADS; i += index_step())
        ((uint4 *)sums)[i] = make_uint4(0, 0, 0, 0);
    for (long long i = TAIL + first_index(); i < VALUES; i += index_step())
        sums[i] = sum_t(0.0f);
}

extern "C" __global__ void __launch_bounds__(256) msda_backward_store(const float *sums, grad_t *grad_value)
{
    constexpr long long QUADS = VALUES / 4;
    for (long long i = first_index(); i < QUADS; i += index_step()) {
        float4 sum = __ldcs((const float4 *)sums + i);
        struct alignas(4 * sizeof(grad_t)) {
            grad_t channel[4];
        } rounded = {{grad_t(sum.x), grad_t(sum.y), grad_t(sum.z), grad_t(sum.w)}};
        *(decltype(rounded) *)(grad_value + 4 * i) = rounded;
    }
    for (long long i = 4 * QUADS + first_index(); i < VALUES; i += index_step())
        grad_value[i] = grad_t(sums[i]);
}
