/*
 * smem_cluster, STAGING = bulk or tma: what one copy of the engine brings.
 */
#pragma once

#include "level_size.cuh"

/* `width` x `height` pixels of which the first is pixel `first` of S, in rows of `pitch` of them. */
struct Box {
    int first, width, height, pitch;
};

#if STAGING == STAGING_bulk

typedef const value_t *source_t;
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

__device__ inline void start_copy(unsigned char *slot, const value_t *value, Part part, int number, unsigned long long *full)
{
    Box box = box_at(number);
    mbarrier_expect(full, box.width * PIXEL);
    bulk_load(slot, (const char *)value + ((long long)part.image * S + box.first) * PIXEL, box.width * PIXEL, full);
}

#else /* tma */

typedef TensorMaps<L> source_t;
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

/* LEVEL: where the search begins, from the last one down. */
template <int LEVEL = L - 1>
__device__ inline BoxPlace box_place(int number)
{
    constexpr int FIRST = first_box(LEVEL), IN_ROW = boxes_in_row(LEVEL);
    if constexpr (LEVEL > 0)
        if (number < FIRST)
            return box_place<LEVEL - 1>(number);
    return {LEVEL, (number - FIRST) % IN_ROW * BOX_W, (number - FIRST) / IN_ROW * BOX_H};
}

__device__ inline Box box_at(int number)
{
    BoxPlace place = box_place(number);
    LevelSize size = size_of_level(place.level);
    return {size.start + place.y * size.width + place.x, smaller(BOX_W, size.width - place.x), smaller(BOX_H, size.height - place.y), size.width};
}

__device__ inline int channel_in_slot(int channel)
{
    return channel % SLOT_CHANNELS * (int)sizeof(value_t);
}

__device__ inline void start_copy(unsigned char *slot, const source_t &value, Part part, int number, unsigned long long *full)
{
    BoxPlace place = box_place(number);
    mbarrier_expect(full, BOX_H * BOX_W * SLOT_PIXEL);
    tma_load_4d(slot, &value.m[place.level], part.channel - part.channel % SLOT_CHANNELS, place.x, place.y, part.image, full);
}

#endif

constexpr int RING = SLOTS * SLOT + SLOTS * 8;
