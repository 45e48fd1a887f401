/*
 * SCHEDULE = dynamic: blocks that walk over tiles ask for them as they go, so that none waits for those with dearer tiles or slower
 * multiprocessors. A block begins with a run of tiles that its number says; then it draws runs from `tickets`, long ones at first, at last
 * single tiles.
 *
 *     tickets    [0]: tiles drawn so far, [1]: blocks that found none left; both 0 before a launch, and again after it
 *     claimed    shared: for how many steps some warp of the block has begun to find out the tile
 *     ring       shared: what step number s works on, in ring[s % RING]
 *
 * The warps of a block take the same tiles in the same order, but each in its own time. The first one to begin step s (a compare-and-swap
 * on `claimed` decides) finds out the tile of step s + 1: draws, if the run in hand has ended, and publishes it as late as the tile is
 * asked for, when the draw has long come back. An entry is one 64-bit word that also says its step, so there is nothing to fence.
 * Warps drift apart by less than RING steps: every RING/2 steps they wait for each other.
 */
#pragma once

#include "tiles.cuh"

constexpr bool DYNAMIC = SCHEDULE == SCHEDULE_dynamic;

#if SCHEDULE == SCHEDULE_dynamic

constexpr unsigned RING = 64;

/* What a step works on, and how many tiles of the run follow. TILES or more: there are none left. */
struct Entry {
    unsigned tile, left;
};

/* Part of a draw that is under way. Only the first lane of the warp that claimed the step has one. */
struct Draw {
    bool is_mine, is_new;
    unsigned first, count;
};

struct Queue {
    unsigned long long ring[RING];
    unsigned claimed;
};

__device__ inline Queue &queue(void)
{
    __shared__ Queue the_queue;
    return the_queue;
}

/* How long a run is, when `tile` tiles have been given out. */
__device__ inline unsigned run_after(unsigned tile)
{
    unsigned share = (tile < TILES ? TILES - tile : 0) / (2 * gridDim.x);
    return share < 1 ? 1 : share > RUN ? RUN : share;
}

/* Says that this block draws no more; the last one to say so leaves the tickets as they were before the launch. */
__device__ inline void stop_drawing(unsigned *tickets)
{
    if (atomicAdd(&tickets[1], 1) == gridDim.x - 1) {
        tickets[0] = 0;
        tickets[1] = 0;
    }
}

/* All threads of the block. */
__device__ inline Entry first_entry(unsigned *tickets)
{
    if (threadIdx.x < RING)
        queue().ring[threadIdx.x] = ~0ull;
    if (threadIdx.x == 0)
        queue().claimed = 0;
    __syncthreads();
    unsigned count = run_after(0), tile = blockIdx.x * count;
    if (tile >= TILES && threadIdx.x == 0)
        stop_drawing(tickets);
    return {tile, count - 1};
}

/* Begins to find out what follows `now`, the entry of step number `step`, if no other warp has. */
__device__ inline Draw begin_draw(unsigned *tickets, unsigned step, Entry now)
{
    Draw draw = {};
    if (threadIdx.x % 32 == 0 && atomicCAS(&queue().claimed, step, step + 1) == step) {
        draw.is_mine = true;
        draw.is_new = now.left == 0 && now.tile + 1 < TILES;
        draw.count = run_after(now.tile);
        if (draw.is_new) /* not atomicAdd(), which the compiler makes the sum of a warp's, and waits for */
            asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(draw.first) : "l"(tickets), "r"(draw.count) : "memory");
    }
    return draw;
}

/* What follows `now`: as the claiming warp publishes it, for which the others wait. All lanes. */
__device__ inline Entry end_draw(unsigned *tickets, unsigned step, Entry now, const Draw &draw)
{
    volatile unsigned long long *place = &queue().ring[(step + 1) % RING];
    if (draw.is_mine) {
        unsigned tile = now.tile + 1, left = now.left - 1;
        if (draw.is_new) {
            tile = draw.first + gridDim.x * run_after(0); /* the first runs were not drawn */
            left = draw.count - 1;
        }
        if (tile >= TILES) {
            tile = TILES;
            left = 0;
            stop_drawing(tickets);
        }
        *place = (unsigned long long)(step + 1) << 40 | (unsigned long long)left << 32 | tile;
    }
    unsigned long long entry;
    do
        entry = *place;
    while ((unsigned)(entry >> 40) != step + 1);
    return {(unsigned)entry, (unsigned)(entry >> 32) & 0xff};
}

#else

struct Entry {
};
struct Draw {
};

#endif
