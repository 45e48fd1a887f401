/*
 * smem_cluster, STAGING = bulk or tma: what one copy of the engine brings.
 */
#pragma once

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
    return {level_start(place.level) + place.y * width + place.x, smaller(BOX_W, width - place.x), smaller(BOX_H, height - place.y), width};
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
