/*
 * The size of a level that is not known when compiling. shape.cuh's functions index an array, which for such a level lies in local memory; with
 * shared memory taking most of L1 away, looking that up for each point doubled the time of smem_cluster.
 */
#pragma once

#include "shape.cuh"

struct LevelSize {
    int height, width, start;
};

/* LEVEL: where the search begins. Templates, because only constexpr variables are sure to be constants. */
template <int LEVEL = 0>
__device__ inline LevelSize size_of_level(int level)
{
    constexpr LevelSize size = {level_height(LEVEL), level_width(LEVEL), level_start(LEVEL)};
    if constexpr (LEVEL + 1 < L)
        return level == LEVEL ? size : size_of_level<LEVEL + 1>(level);
    return size;
}
