/*
 * The softmax inside: attn holds logits, and an item (image, query, head) needs one number of them before any of its
 * points, log2 of the sum of their exponentials. Then weight = 2^(logit*log2(e) - that): no division, no overflow.
 */
#pragma once

#include "shape.cuh"

template <int BYTES> struct Bits;
template <> struct Bits<2> { typedef unsigned short type; };
template <> struct Bits<4> { typedef unsigned type; };
template <> struct Bits<8> { typedef uint2 type; };
template <> struct Bits<16> { typedef uint4 type; };

constexpr float LOG2_E = 1.44269504f;

/* log2 of a sum of powers of two: `sum` * 2^`top`, top the largest exponent met. -FLT_MAX is finite, so that nothing subtracts infinities. */
struct LogSum {
    float top = -3.402823466e38f, sum = 0.0f;
};

__device__ inline float power_of_two(float exponent)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
    return power;
}

__device__ inline void add(LogSum &to, LogSum what)
{
    float top = fmaxf(to.top, what.top);
    to.sum = to.sum * power_of_two(to.top - top) + what.sum * power_of_two(what.top - top);
    to.top = top;
}

/*
 * Logits become weights: this lane's `count` ones of an item that LANE_COUNT neighbouring lanes hold (a power of two). Powers need no
 * largest exponent subtracted while their sum is an ordinary number, which it is unless logits are beyond some 60. `counts`: whether the lane has any.
 */
template <int LANE_COUNT, int COUNT>
__device__ inline void softmax_of_item(float (&logits)[COUNT], bool counts)
{
    float power[COUNT], sum = 0.0f;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        sum += power[i] = power_of_two(logits[i] * LOG2_E);
#pragma unroll
    for (int other = 1; other < LANE_COUNT; other *= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, other);
    if (__any_sync(0xffffffff, counts && !(sum > 1e-25f && sum < 1e25f))) {
        float top = logits[0];
#pragma unroll
        for (int i = 1; i < COUNT; i++)
            top = fmaxf(top, logits[i]);
        for (int other = 1; other < LANE_COUNT; other *= 2)
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, other));
        sum = 0.0f;
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            sum += power[i] = power_of_two((logits[i] - top) * LOG2_E);
        for (int other = 1; other < LANE_COUNT; other *= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, other);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        logits[i] = __fdividef(power[i], sum);
}

/* The attention weight of a point from what `attn` holds. */
__device__ inline float attention(float stored, float log_sum)
{
    return LOGITS ? power_of_two(fmaf(stored, LOG2_E, -log_sum)) : stored;
}

/*
 * `lane` of LANE_COUNT (a power of two, neighbours in a warp) gives its share; all get the item's log sum. attn: of the item.
 * Neighbouring groups of lanes (`odd`) begin with different halves where a turn takes half a 128-byte line: no bank conflict.
 */
template <int LANE_COUNT>
__device__ inline float log_sum_of_item(const loc_t *attn, int lane, int odd)
{
    constexpr int COUNT = L * P, PACK = COUNT % 4 == 0 ? 4 : COUNT % 2 == 0 ? 2 : 1;
    typedef typename Bits<PACK * sizeof(loc_t)>::type pack_t;
    LogSum all;
#pragma unroll 4
    for (int first = 0; first < COUNT; first += LANE_COUNT * PACK) {
        constexpr int SWAP = COUNT % (2 * LANE_COUNT * PACK) == 0 ? LANE_COUNT * PACK : 0;
        int at = (first ^ odd * SWAP) + lane * PACK;
        if (COUNT % (LANE_COUNT * PACK) != 0 && at >= COUNT)
            break;
        pack_t pack = __ldg((const pack_t *)(attn + at));
        LogSum part;
        float exponent[PACK];
#pragma unroll
        for (int i = 0; i < PACK; i++) {
            exponent[i] = float(((const loc_t *)&pack)[i]) * LOG2_E;
            part.top = fmaxf(part.top, exponent[i]);
        }
#pragma unroll
        for (int i = 0; i < PACK; i++)
            part.sum += power_of_two(exponent[i] - part.top);
        add(all, part);
    }
#pragma unroll
    for (int other = 1; other < LANE_COUNT; other *= 2) {
        LogSum there;
        there.top = __shfl_xor_sync(0xffffffff, all.top, other);
        there.sum = __shfl_xor_sync(0xffffffff, all.sum, other);
        add(all, there);
    }
    return all.top + __log2f(all.sum);
}
