/*
 * smem_cluster, first half: how CPB channels of every pixel of an image get into shared memory, [S][CPB].
 *
 * In `value` they are CPB of M*D channels, a few bytes of each pixel. STAGING:
 *
 *     cooperative  every thread loads them pixel by pixel and stores them where they belong
 *     bulk         the copy engine brings runs of BOX_W whole pixels into a ring of STAGES slots, all channels of
 *                  them; the threads pick out theirs
 *     tma          boxes of BOX_W x BOX_H pixels and as few channels as a box may have (16 bytes), into the same ring
 *
 *     slot:  [BOX_H][BOX_W][SLOT_PIXEL bytes]
 */
#pragma once

#include "async_copy.cuh"

constexpr int CPB_BYTES = CPB * sizeof(value_t);
constexpr int PIXEL = M * D * sizeof(value_t);
static_assert(CPB_BYTES == 4 || CPB_BYTES == 8 || CPB_BYTES == 16, "one load per pixel");

/* Copies this block's channels of a pixel. */
__device__ inline void copy_channels(unsigned char *to, const unsigned char *from)
{
    if constexpr (CPB_BYTES == 4)
        *(unsigned *)to = *(const unsigned *)from;
    else if constexpr (CPB_BYTES == 8)
        *(uint2 *)to = *(const uint2 *)from;
    else
        *(uint4 *)to = *(const uint4 *)from;
}

#if STAGING == STAGING_cooperative

constexpr int RING = 0; /* bytes before the map */

__device__ inline void stage_map(unsigned char *map, unsigned char *, const value_t *value, int image, int channel)
{
    const unsigned char *from = (const unsigned char *)(value + (long long)image * S * (M * D) + channel);
    for (int pixel = threadIdx.x; pixel < S; pixel += THREADS)
        copy_channels(map + pixel * CPB_BYTES, from + (long long)pixel * PIXEL);
}

#else

constexpr int MAP_BYTES = ceil_div(S * CPB_BYTES, 16) * 16; /* the barriers lie behind */

/* What one copy brings: `width` x `height` pixels of which the first is pixel `first` of S, in rows of `pitch` of them. */
struct Box {
    int first, width, height, pitch;
};

#if STAGING == STAGING_bulk

constexpr int SLOT_PIXEL = PIXEL, SLOT = BOX_W * SLOT_PIXEL, BOXES = ceil_div(S, BOX_W);
static_assert(PIXEL % 16 == 0, "bulk copies move multiples of 16 bytes");

__device__ inline Box box_at(int number)
{
    return {number * BOX_W, smaller(BOX_W, S - number * BOX_W), 1, BOX_W};
}

/* Byte of a slot's pixel where this block's channels begin. */
__device__ inline int channel_in_slot(int channel)
{
    return channel * (int)sizeof(value_t);
}

__device__ inline void start_copy(unsigned char *slot, const value_t *value, int image, int, int number,
                                  unsigned long long *full)
{
    Box box = box_at(number);
    mbarrier_expect(full, box.width * PIXEL);
    bulk_load(slot, (const char *)value + ((long long)image * S + box.first) * PIXEL, box.width * PIXEL, full);
}

#else /* tma */

constexpr int SLOT_PIXEL = CPB_BYTES < 16 ? 16 : CPB_BYTES, SLOT_CHANNELS = SLOT_PIXEL / sizeof(value_t);
constexpr int SLOT = ceil_div(BOX_H * BOX_W * SLOT_PIXEL, 128) * 128;
static_assert(D % SLOT_CHANNELS == 0, "boxes stay inside a head");

/* Boxes of a level, row by row; a level's last ones reach beyond it and are filled with zeros there. */
__device__ constexpr int boxes_in_row(int level)
{
    return ceil_div(level_width(level), BOX_W);
}

__device__ constexpr int first_box(int level)
{
    int boxes = 0;
    for (int l = 0; l < level; l++)
        boxes += boxes_in_row(l) * ceil_div(level_height(l), BOX_H);
    return boxes;
}

constexpr int BOXES = first_box(L);

struct BoxPlace {
    int level, x, y;
};

__device__ inline BoxPlace box_place(int number)
{
    BoxPlace place = {};
#pragma unroll
    for (int l = 0; l < L; l++)
        if (number >= first_box(l)) {
            int in_level = number - first_box(l);
            place = {l, in_level % boxes_in_row(l) * BOX_W, in_level / boxes_in_row(l) * BOX_H};
        }
    return place;
}

__device__ inline Box box_at(int number)
{
    BoxPlace place = box_place(number);
    int height = level_height(place.level), width = level_width(place.level);
    return {level_start(place.level) + place.y * width + place.x, smaller(BOX_W, width - place.x),
            smaller(BOX_H, height - place.y), width};
}

__device__ inline int channel_in_slot(int channel)
{
    return channel % SLOT_CHANNELS * (int)sizeof(value_t);
}

__device__ inline void start_copy(unsigned char *slot, const TensorMaps<L> &value, int image, int channel, int number,
                                  unsigned long long *full)
{
    BoxPlace place = box_place(number);
    mbarrier_expect(full, BOX_H * BOX_W * SLOT_PIXEL);
    tma_load_4d(slot, &value.m[place.level], channel - channel % SLOT_CHANNELS, place.x, place.y, image, full);
}

#endif

constexpr int RING = STAGES * SLOT;

/* Picks this block's channels out of a slot that is full. */
__device__ inline void copy_box(unsigned char *map, const unsigned char *slot_channel, Box box)
{
    for (int i = threadIdx.x; i < box.height * BOX_W; i += THREADS) {
        int row = i / BOX_W, column = i % BOX_W;
        if (column < box.width)
            copy_channels(map + (box.first + row * box.pitch + column) * CPB_BYTES, slot_channel + i * SLOT_PIXEL);
    }
}

/* `value`: the tensor or its maps. */
template <typename VALUE>
__device__ inline void stage_map(unsigned char *map, unsigned char *ring, const VALUE &value, int image, int channel)
{
    unsigned long long *full = (unsigned long long *)(map + MAP_BYTES);
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; slot++)
            mbarrier_init(&full[slot], 1);
        mbarrier_init_fence();
        for (int number = 0; number < smaller(STAGES, BOXES); number++)
            start_copy(ring + number * SLOT, value, image, channel, number, &full[number]);
    }
    __syncthreads();
    for (int number = 0; number < BOXES; number++) {
        int slot = number % STAGES;
        mbarrier_wait(&full[slot], number / STAGES % 2);
        copy_box(map, ring + slot * SLOT + channel_in_slot(channel), box_at(number));
        __syncthreads(); /* all have read the slot */
        if (threadIdx.x == 0 && number + STAGES < BOXES)
            start_copy(ring + slot * SLOT, value, image, channel, number + STAGES, &full[slot]);
    }
}

#endif
