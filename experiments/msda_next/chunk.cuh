/*
 * Sampling points as they are loaded: CHUNK neighbouring ones at a time, 16 bytes of f32 locations where P is even.
 */
#pragma once

#include "softmax.cuh"

constexpr int CHUNK = P % 2 == 0 ? 2 : 1;

/* A chunk as it was loaded. Nothing is converted before it is needed: a conversion would wait for the load. */
struct Chunk {
    typename Bits<2 * CHUNK * sizeof(loc_t)>::type loc;
    typename Bits<CHUNK * sizeof(loc_t)>::type attn;
};

__device__ inline float chunk_x(const Chunk &chunk, int i)
{
    return float(((const loc_t *)&chunk.loc)[2 * i]);
}

__device__ inline float chunk_y(const Chunk &chunk, int i)
{
    return float(((const loc_t *)&chunk.loc)[2 * i + 1]);
}

/* `log_sum`: of the item, see softmax.cuh; read for logits only. */
__device__ inline float chunk_weight(const Chunk &chunk, int i, float log_sum)
{
    return attention(float(((const loc_t *)&chunk.attn)[i]), log_sum);
}

/* `point`: a multiple of CHUNK, of an item whose points begin at loc and attn. */
__device__ inline Chunk load_chunk(const loc_t *loc, const loc_t *attn, int point)
{
    Chunk chunk;
    chunk.loc = __ldg((const decltype(chunk.loc) *)(loc + 2 * point));
    chunk.attn = __ldg((const decltype(chunk.attn) *)(attn + point));
    return chunk;
}
