/*
 * Input generator: where the tiles lie, by WORKLOAD_tiles. Random numbers are hashes of (seed, number).
 *
 *     uniform   anywhere where a tile has at least one pixel inside: x in [-1, W-1]
 *     borders   around the four borders and corners, up to two pixels outside
 */
#pragma once

typedef unsigned long long u64;

__device__ inline unsigned hash(u64 seed, u64 number)
{
    u64 x = (number + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return (unsigned)(x >> 32);
}

__device__ inline int place(unsigned random, int size)
{
#if WORKLOAD_tiles == WORKLOAD_tiles_borders
    int from_edge = (int)(random / 2 % 5) - 2;
    return random % 2 ? from_edge : size - 1 + from_edge;
#else
    return (int)(random % (size + 1)) - 1;
#endif
}

/* data: [N][Q][L][P][2] */
extern "C" __global__ void init_at(int *data, u64 count, u64 seed)
{
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        int level = (int)(i / 2 / P % L);
        data[i] = place(hash(seed, i), i % 2 ? level_height(level) : level_width(level));
    }
}
