/*
 * bulk, tma: few threads tell the copy engine what to bring; mbarriers say when it is there.
 *
 *     tma    boxes of BOX_X x BOX_Y pixels of a tensor map; the engine fills in zeros
 *     bulk   runs of one or two pixels; whoever issues a tile writes the zeros
 *
 *     ISSUE_EVERY   every that many threads issue a tile each; 0: one thread issues all
 *     BARRIERS      one per slot (block), per tile, or for the tiles that a warp sums up (warp)
 */
#pragma once

#include "group.cuh"

#include "async_copy.cuh"

constexpr int BARRIERS_OF_SLOT = BARRIERS == BARRIERS_tile ? TILES : BARRIERS == BARRIERS_warp ? (TILES < WARPS ? TILES : WARPS) : 1;
/* With boxes, all bytes of a slot are known ahead: one thread that issues all arrives once. */
constexpr bool ARRIVES_ONCE = ALGO == ALGO_tma && ISSUE_EVERY == 0 && BARRIERS == BARRIERS_block;

/* Warp w sums up tiles w, w + WARPS ... */
__device__ inline int barrier_of(int tile)
{
    return tile % BARRIERS_OF_SLOT;
}

/* One thread. The last group of an image may have fewer tiles: whoever would issue the missing ones arrives all the same. */
__device__ inline void init_barriers(unsigned long long *full)
{
    for (int slot = 0; slot < STAGES; slot++)
        for (int i = 0; i < BARRIERS_OF_SLOT; i++)
            mbarrier_init(&full[slot * BARRIERS_OF_SLOT + i], ARRIVES_ONCE ? 1 : (TILES - i + BARRIERS_OF_SLOT - 1) / BARRIERS_OF_SLOT);
    mbarrier_init_fence();
}

#if ALGO == ALGO_tma

typedef TensorMaps<L> source_t;
constexpr int BOX = BOX_X * BOX_Y * PIXEL;

__device__ inline void start_tile(char *to, const source_t &maps, Corner corner, int image, unsigned long long *full)
{
    if (!ARRIVES_ONCE)
        mbarrier_expect(full, TILE);
    const CUtensorMap *map = &maps.m[corner.level];
#pragma unroll
    for (int box = 0; box < TILE / BOX; box++)
        tma_load_4d(to + box * BOX, map, 0, corner.x + (BOX_X == 1 ? box % 2 : 0), corner.y + (BOX_Y == 1 ? box / (3 - BOX_X) : 0), image, full);
}

#else

typedef const char *source_t;

__device__ inline void write_zeros(char *to, int bytes)
{
    for (int i = 0; i < bytes; i += 16)
        *(uint4 *)(to + i) = make_uint4(0, 0, 0, 0);
}

__device__ inline void start_tile(char *to, source_t value, Corner corner, int image, unsigned long long *full)
{
    bool left = is_column_inside(corner, 0), right = is_column_inside(corner, 1);
    int bytes = (left + right) * PIXEL, rows = is_row_inside(corner, 0) + is_row_inside(corner, 1);
    if (rows * bytes < TILE) {
        for (int y = 0; y < 2; y++) {
            bool inside = is_row_inside(corner, y);
            if (!(inside && left))
                write_zeros(to + y * 2 * PIXEL, PIXEL);
            if (!(inside && right))
                write_zeros(to + y * 2 * PIXEL + PIXEL, PIXEL);
        }
        async_proxy_fence(); /* a later group's copy overwrites the zeros */
    }
    mbarrier_expect(full, rows * bytes);
    for (int y = 0; y < 2 && bytes > 0; y++)
        if (is_row_inside(corner, y))
            bulk_load(to + y * 2 * PIXEL + (left ? 0 : PIXEL), value + ((long long)image * S + pixel_at(corner, left ? 0 : 1, y)) * PIXEL, bytes, full);
}

#endif

__device__ inline void start_group(char *slot, const source_t &source, const int2 *at, Group group, unsigned long long *full)
{
    constexpr int ISSUERS = ISSUE_EVERY == 0 ? 1 : THREADS / (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY);
    bool is_issuer = ISSUE_EVERY == 0 ? threadIdx.x == 0 : threadIdx.x % (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY) == 0;
    if (!is_issuer)
        return;
    if (ARRIVES_ONCE)
        mbarrier_expect(full, group.count * TILE);
    for (int tile = threadIdx.x / (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY); tile < TILES; tile += ISSUERS) {
        if (tile < group.count)
            start_tile(slot + tile * TILE, source, corner_at(at, group, tile), group.image, &full[barrier_of(tile)]);
        else if (!ARRIVES_ONCE)
            mbarrier_expect(&full[barrier_of(tile)], 0);
    }
}
