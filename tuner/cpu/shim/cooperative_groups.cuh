// Groups of a block's threads: the block, tiles of a warp, the lanes there are. Groups of several blocks have no counterpart here.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

struct thread_block {
    static void sync(MT_HERE) { __syncthreads(file, line); }
    static unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Lanes of one warp that follow each other.
template <unsigned SIZE> struct thread_block_tile {
    static_assert(SIZE > 0 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile of 1, 2, 4, 8, 16 or 32 threads");
    static unsigned first() { return unsigned(mt_lane()) & ~(SIZE - 1); }
    static unsigned mask() { return (SIZE == 32 ? ~0u : (1u << SIZE) - 1) << first(); }
    static unsigned thread_rank() { return unsigned(mt_lane()) & (SIZE - 1); }
    static constexpr unsigned size() { return SIZE; }
    static constexpr unsigned num_threads() { return SIZE; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / SIZE; }
    static unsigned meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
    void sync(MT_HERE) const { __syncwarp(mask(), file, line); }
    template <typename T> T shfl(T value, int source, MT_HERE) const { return __shfl_sync(mask(), value, source, SIZE, file, line); }
    template <typename T> T shfl_xor(T value, int lanes, MT_HERE) const { return __shfl_xor_sync(mask(), value, lanes, SIZE, file, line); }
    template <typename T> T shfl_up(T value, unsigned lanes, MT_HERE) const { return __shfl_up_sync(mask(), value, lanes, SIZE, file, line); }
    template <typename T> T shfl_down(T value, unsigned lanes, MT_HERE) const { return __shfl_down_sync(mask(), value, lanes, SIZE, file, line); }
    unsigned ballot(int vote, MT_HERE) const { return __ballot_sync(mask(), vote, file, line) >> first(); }
    int any(int vote, MT_HERE) const { return __any_sync(mask(), vote, file, line); }
    int all(int vote, MT_HERE) const { return __all_sync(mask(), vote, file, line); }
};
template <unsigned SIZE> thread_block_tile<SIZE> tiled_partition(const thread_block &) { return {}; }
template <unsigned SIZE, unsigned OUTER> thread_block_tile<SIZE> tiled_partition(const thread_block_tile<OUTER> &)
{
    static_assert(SIZE <= OUTER, "a tile of the tile");
    return {};
}

template <typename GROUP> void sync(const GROUP &group, MT_HERE) { group.sync(file, line); }
template <typename GROUP> unsigned thread_rank(const GROUP &group) { return group.thread_rank(); }
template <typename GROUP> unsigned group_size(const GROUP &group) { return group.size(); }

template <typename T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <typename T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <typename T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
// Of every lane the same value: by halves, as a GPU does.
template <unsigned SIZE, typename T, typename OPERATION> T reduce(const thread_block_tile<SIZE> &tile, T value, OPERATION operation, MT_HERE)
{
    for (unsigned half = SIZE / 2; half; half /= 2) value = operation(value, tile.shfl_xor(value, int(half), file, line));
    return value;
}

}
