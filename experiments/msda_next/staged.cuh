/*
 * coarse_smem: the last STAGED_LEVELS levels of the image and heads that a block works on, in its shared memory.
 *
 *     staged [pixels of those levels][HEADS*D channels]     behind it: the records
 *
 * They are small and every tile reads all of them, so they come once per image (and group of heads), whole: by one bulk copy
 * where the block has all heads, else in pieces of 16 bytes by all threads. Finer levels are gathered while they come.
 */
#pragma once

#include "tiles.cuh"

#if ALGO == ALGO_coarse_smem

#include "async_copy.cuh"

constexpr bool STAGES = true;
constexpr int FIRST_STAGED = L - STAGED_LEVELS;
constexpr int STAGED_PIXEL = HEADS * D * sizeof(value_t);
constexpr int STAGED_PIXELS = GRID_S - grid_start(FIRST_STAGED);
constexpr int STAGED_BYTES = ceil_div(STAGED_PIXELS * STAGED_PIXEL, 128) * 128;
static_assert(STAGED_PIXEL % 16 == 0 && LEVELS == LEVELS_baked, "copies move 16 bytes");

__device__ inline Channels load_channels(unsigned at)
{
    return *(const Channels *)__cvta_shared_to_generic(at);
}

__device__ inline void copy_16_bytes(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)) : "memory");
}

struct Stage {
    char *staged;
    int image, head, copies; /* whose levels are there; bulk copies so far */

    __device__ inline static unsigned long long *full(void)
    {
        __shared__ unsigned long long barrier;
        return &barrier;
    }

    __device__ inline Stage(char *shared) : staged(shared), image(-1), head(-1), copies(0)
    {
        if (HEADS == M && threadIdx.x == 0) {
            mbarrier_init(full(), 1);
            mbarrier_init_fence();
        }
    }

    /* Number 0 of the image's pixels, as if all of them were here. */
    __device__ inline unsigned pixel_0(void) const
    {
        return shared_address(staged) - grid_start(FIRST_STAGED) * STAGED_PIXEL;
    }

    /* Makes sure that these levels are there, or on their way. All threads of the block. */
    __device__ inline void begin(const value_t *value, Tile tile)
    {
        if (image == tile.image && head == tile.first_head)
            return;
        image = tile.image;
        head = tile.first_head;
        copies++;
        __syncthreads(); /* all have done with what was there */
        const char *from = (const char *)(value + ((long long)image * GRID_S + grid_start(FIRST_STAGED)) * (M * D) + head * D);
        if constexpr (HEADS == M) {
            if (threadIdx.x == 0) {
                constexpr int BYTES = STAGED_PIXELS * STAGED_PIXEL;
                mbarrier_expect(full(), BYTES);
                bulk_load(staged, from, BYTES, full());
            }
        } else {
            constexpr int PIECES_OF_PIXEL = STAGED_PIXEL / 16;
            for (int i = threadIdx.x; i < STAGED_PIXELS * PIECES_OF_PIXEL; i += THREADS)
                copy_16_bytes(staged + i * 16, from + (long long)(i / PIECES_OF_PIXEL) * (M * D * sizeof(value_t)) + i % PIECES_OF_PIXEL * 16);
            asm volatile("cp.async.wait_all;" ::: "memory");
            __syncthreads();
        }
    }

    __device__ inline void wait(void) const
    {
        if constexpr (HEADS == M)
            mbarrier_wait(full(), (copies - 1) & 1);
    }
};

#else

constexpr bool STAGES = false;
constexpr int FIRST_STAGED = L, STAGED_PIXEL = 16, STAGED_BYTES = 0;

/* Nothing is staged. */
__device__ inline Channels load_channels(unsigned)
{
    return {};
}

struct Stage {
    __device__ inline Stage(char *) {}
    __device__ inline unsigned pixel_0(void) const { return 0; }
    __device__ inline void begin(const value_t *, Tile) {}
    __device__ inline void wait(void) const {}
};

#endif
