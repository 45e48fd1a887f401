/*
 * smem_cluster, first half: how CPB channels of every pixel of an image get into shared memory, a map [S][CPB].
 *
 * In `value` they are CPB of M*D channels, a few bytes of each pixel. STAGING:
 *
 *     cooperative  threads load them pixel by pixel and store them where they belong
 *     cp_async     the same by cp.async of CPB channels, without registers
 *     bulk         the copy engine brings runs of BOX_W whole pixels, all channels of them, into a ring of SLOTS slots; threads pick out theirs
 *     tma          boxes of BOX_W x BOX_H pixels and as few channels as a box may have (16 bytes), into the same ring
 *
 *     slot:  [BOX_H][BOX_W][SLOT_PIXEL bytes]
 *
 * Who stages: all threads of the block (STAGES = 1, and cp_async, which does not wait), or its first STAGERS warps while the others sample.
 */
#pragma once

#include "async_copy.cuh"
#include "chunk.cuh"
#include "copy_pieces.cuh"

constexpr int CPB_BYTES = CPB * sizeof(value_t);
constexpr int PIXEL = M * D * sizeof(value_t);
static_assert(CPB_BYTES == 4 || CPB_BYTES == 8 || CPB_BYTES == 16, "one load per pixel");

constexpr bool BY_ENGINE = STAGING == STAGING_bulk || STAGING == STAGING_tma;
constexpr bool BESIDE = STAGES > 1 && STAGING != STAGING_cp_async; /* warps that stage beside those that sample */
#if STAGES > 1 && STAGING != STAGING_cp_async
constexpr int STAGER_THREADS = 32 * STAGERS;
#else
constexpr int STAGER_THREADS = THREADS;
#endif
constexpr int MAP = ceil_div(S * CPB_BYTES, 128) * 128;

/* Where a map comes from: this block's first channel of an image. */
struct Part {
    int image, channel;
};

/* Those threads that stage, and only they. */
__device__ inline void barrier_of_stagers(void)
{
    if constexpr (!BESIDE)
        __syncthreads();
    else if constexpr (STAGER_THREADS == 32)
        __syncwarp();
    else
        asm volatile("bar.sync 1, %0;" ::"n"(STAGER_THREADS) : "memory");
}

/* Copies this block's channels of a pixel. */
__device__ inline void copy_channels(unsigned char *to, const unsigned char *from)
{
    *(typename Bits<CPB_BYTES>::type *)to = *(const typename Bits<CPB_BYTES>::type *)from;
}

#if STAGING == STAGING_cooperative || STAGING == STAGING_cp_async

constexpr int RING = 0; /* bytes behind the maps */
typedef const value_t *source_t;

struct Stager {
    __device__ inline Stager(unsigned char *) {}

    /* Stager threads. With cp_async the map is there after cp_async_wait and a barrier. */
    __device__ inline void stage(unsigned char *map, source_t value, Part part)
    {
        const unsigned char *from = (const unsigned char *)(value + (long long)part.image * S * (M * D) + part.channel);
#pragma unroll 8
        for (int pixel = threadIdx.x; pixel < S; pixel += STAGER_THREADS)
#if STAGING == STAGING_cp_async
            cp_async_piece<CPB_BYTES>(shared_address(map + pixel * CPB_BYTES), from + (long long)pixel * PIXEL);
        cp_async_commit();
#else
            copy_channels(map + pixel * CPB_BYTES, from + (long long)pixel * PIXEL);
#endif
    }
};

#else

#include "map_boxes.cuh"

/* The ring goes on from map to map: copy number n of all is in slot n % SLOTS, and ends phase n / SLOTS of its barrier. */
struct Stager {
    unsigned char *ring;
    unsigned long long *full;
    int copies; /* waited for so far, by this thread */

    __device__ inline Stager(unsigned char *behind_maps) : ring(behind_maps), full((unsigned long long *)(behind_maps + SLOTS * SLOT)), copies(0)
    {
        if (threadIdx.x == 0) {
            for (int slot = 0; slot < SLOTS; slot++)
                mbarrier_init(&full[slot], 1);
            mbarrier_init_fence();
        }
        __syncthreads();
    }

    /* Picks this block's channels out of a slot that is full. */
    __device__ inline static void pick(unsigned char *map, const unsigned char *slot_channel, Box box)
    {
#pragma unroll 4
        for (int i = threadIdx.x; i < box.height * BOX_W; i += STAGER_THREADS) {
            int row = i / BOX_W, column = i % BOX_W;
            if (column < box.width)
                copy_channels(map + (box.first + row * box.pitch + column) * CPB_BYTES, slot_channel + i * SLOT_PIXEL);
        }
    }

    /* Stager threads. Only the copy engine writes to slots, and all copies have arrived when this returns. */
    __device__ inline void stage(unsigned char *map, const source_t &value, Part part)
    {
        if (threadIdx.x == 0)
            for (int number = 0; number < smaller(SLOTS, BOXES); number++) {
                int slot = (copies + number) % SLOTS;
                start_copy(ring + slot * SLOT, value, part, number, &full[slot]);
            }
        for (int number = 0; number < BOXES; number++, copies++) {
            int slot = copies % SLOTS;
            mbarrier_wait(&full[slot], copies / SLOTS % 2);
            pick(map, ring + slot * SLOT + channel_in_slot(part.channel), box_at(number));
            barrier_of_stagers(); /* all have read the slot */
            if (threadIdx.x == 0 && number + SLOTS < BOXES)
                start_copy(ring + slot * SLOT, value, part, number + SLOTS, &full[slot]);
        }
    }
};

#endif
