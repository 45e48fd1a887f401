/*
 * Which block works on which tile: QUERIES queries x HEADS heads of an image. Tiles are numbered image by image, in an
 * image as ORDER says; work_order.cuh says which queries are neighbours.
 *
 *     SCHEDULE = grid         a block per tile
 *                persistent   MIN_BLOCKS blocks per SM walk over the tiles: block p takes runs of RUN tiles in a row
 *                aligned      the same, and the warps of a block begin each tile together
 *                in_step      the same, and they begin each PREP levels together
 *
 * Blocks that share an SM (b, b + SMs, b + 2*SMs ... of a grid that just fits, as far as the hardware places them round
 * robin; nothing depends on it but the time) get neighbouring runs, so that they read the same pixels through their L1:
 *
 *     round 0, RUN = 2, 2 blocks per SM      SM 0: tiles 0 1 | 2 3     SM 1: tiles 4 5 | 6 7    ...
 *
 * What does not fill a round of RUN tiles per block is dealt out in shorter runs, at last one by one. What does not fill a round of one
 * each (a turn of fewer tiles than blocks) is:
 *
 *     TAIL = whole   tiles for some blocks, and none for the others
 *            split   parts of tiles for as many blocks as possible: each does with some of its warps what is a part of a tile
 */
#pragma once

#include "points.cuh"
#include "work_order.cuh"

constexpr int QUERIES = ITEMS / HEADS;
constexpr unsigned TILES_PER_IMAGE = ceil_div(LQ, QUERIES), HEAD_GROUPS = M / HEADS;
constexpr unsigned TILES = TILES_PER_IMAGE * HEAD_GROUPS * N;
constexpr bool PERSISTENT = SCHEDULE != SCHEDULE_grid;
constexpr bool WARPS_ARE_FREE = SCHEDULE == SCHEDULE_grid || SCHEDULE == SCHEDULE_persistent; /* no barriers within a tile */
#if defined TAIL && TAIL == TAIL_split
constexpr bool SPLITS = true;
#else
constexpr bool SPLITS = false;
#endif
static_assert(!SPLITS || (PERSISTENT && WARPS_ARE_FREE), "warps without work need not wait for the others");
static_assert(ITEMS % HEADS == 0 && M % HEADS == 0, "whole queries per block, whole groups of heads per query");
static_assert((long long)TILES_PER_IMAGE * HEAD_GROUPS * N < 1u << 31, "tiles are counted in 31 bits");

/* What a block does as one of its steps: the tile, TILES or more if none, or the part of it that begins with its group `first`. */
struct Turn {
    unsigned tile, first, warps;
};

constexpr int WARPS = THREADS / 32, WHOLE_WARPS = ITEMS_PER_WARP % HEADS == 0 ? 1 : HEADS / ITEMS_PER_WARP; /* that have whole queries */
constexpr int MOST_PARTS = SPLITS ? WARPS / WHOLE_WARPS & -(WARPS / WHOLE_WARPS) : 1; /* a power of two */

/* The last turn: `count` tiles from `first` on, fewer than there are blocks. */
__device__ inline Turn last_turn(unsigned first, unsigned count, unsigned blocks)
{
    unsigned parts = 1;
    while (parts < MOST_PARTS && parts * 2 * count <= blocks)
        parts *= 2;
    unsigned tile = blockIdx.x / parts, part = blockIdx.x % parts;
    return {tile < count ? first + tile : TILES, part * (ITEMS / parts), WARPS / parts};
}

/* This block's turn number `step`. */
__device__ inline Turn turn_at(unsigned step)
{
    if constexpr (!PERSISTENT) { /* this block's one tile, then about those of the blocks that will follow it on its SM */
        unsigned multiprocessors;
        asm("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
        return {blockIdx.x + step * MIN_BLOCKS * multiprocessors, 0, WARPS};
    }
    unsigned blocks = gridDim.x, multiprocessors = blocks / MIN_BLOCKS;
    unsigned place = blockIdx.x % multiprocessors * MIN_BLOCKS + blockIdx.x / multiprocessors, first = 0;
#pragma unroll
    for (unsigned run = RUN; run > 1; run /= 4) {
        unsigned steps = (TILES - first) / (blocks * run) * run;
        if (step < steps)
            return {first + step / run * (blocks * run) + place * run + step % run, 0, WARPS};
        step -= steps;
        first += steps * blocks;
    }
    first += step * blocks;
    if (SPLITS && first < TILES && TILES - first < blocks)
        return last_turn(first, TILES - first, blocks);
    return {first + blockIdx.x, 0, WARPS};
}

/* TRIM: how many steps belong to runs of 4 tiles or more; turn_at() deals them out first, so that only every fourth of these steps can begin a run. */
__device__ inline unsigned steps_in_runs(void)
{
    unsigned steps = 0;
#pragma unroll
    for (unsigned run = RUN; run > 1; run /= 4)
        steps += (TILES - steps * gridDim.x) / (gridDim.x * run) * run;
    return steps;
}

/* The turn that follows `turn`, as number `step`. */
__device__ inline Turn turn_after(Turn turn, unsigned step, unsigned in_runs)
{
    if (TRIMS && PERSISTENT && RUN > 1 && step % 4 != 0 && step < in_runs)
        return {turn.tile + 1, 0, WARPS};
    return turn_at(step);
}

/* What a tile is, the same for the whole block: cheap to ask again, so that nothing of it occupies registers meanwhile. */
struct Tile {
    int image, first_head, first_query; /* the query in the order of work */
};

__device__ inline Tile tile_number(unsigned tile)
{
#if defined ORDER && ORDER == ORDER_heads
    unsigned head_group = tile % HEAD_GROUPS, of_queries = tile / HEAD_GROUPS % TILES_PER_IMAGE;
#else
    unsigned of_queries = tile % TILES_PER_IMAGE, head_group = tile / TILES_PER_IMAGE % HEAD_GROUPS;
#endif
    return {(int)(tile / (TILES_PER_IMAGE * HEAD_GROUPS)), (int)head_group * HEADS, (int)of_queries * QUERIES};
}

/* The last tile of an image may have more groups than queries are left: they repeat the last one, and don't store. */
__device__ inline bool group_has_query(unsigned tile, unsigned group)
{
    return tile_number(tile).first_query + (int)group / HEADS < LQ;
}

/* Whether this warp has no part in a turn. */
__device__ inline bool is_idle(Turn turn)
{
    return SPLITS && threadIdx.x / 32 >= turn.warps;
}

/* Whether any of the warp's groups has one. */
__device__ inline bool warp_has_queries(Turn turn)
{
    return group_has_query(turn.tile, turn.first + threadIdx.x / 32 * ITEMS_PER_WARP);
}

/* Number of a group's item in its image: query*M + head. */
__device__ inline int item_of_group(unsigned tile, unsigned group)
{
    Tile at = tile_number(tile);
    int query = query_in_order<QUERIES>(min(at.first_query + (int)group / HEADS, LQ - 1));
    return query * M + at.first_head + group % HEADS;
}

__device__ inline Points points_of(unsigned tile, unsigned group, const loc_t *loc, const loc_t *attn)
{
    long long first = (long long)tile_number(tile).image * LQ * M;
    return {loc + first * (L * P * 2), attn + first * (L * P), item_of_group(tile, group)};
}

constexpr bool PREFETCHES =
#if defined PREFETCH
    PREFETCH == PREFETCH_bulk;
#else
    false;
#endif

#if defined PREFETCH && PREFETCH == PREFETCH_bulk

__device__ inline void prefetch_run(const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
}

/*
 * Brings a later tile's loc and attn into L2: as one run for the warp where its items are neighbours, else one per
 * query. The copy engine needs some fifty clocks for each.
 */
__device__ inline void prefetch_points(const Points &points)
{
    constexpr int RUN_OF_QUERY = L * P * HEADS;
    unsigned lane = threadIdx.x % 32;
    int first = __shfl_sync(0xffffffff, points.item, 0), last = __shfl_sync(0xffffffff, points.item, (ITEMS_PER_WARP - 1) * GROUP);
    bool is_one_run = last - first == ITEMS_PER_WARP - 1;
    if (is_one_run ? lane != 0 : lane % (GROUP * HEADS) != 0)
        return;
    unsigned count = is_one_run ? ITEMS_PER_WARP * L * P : RUN_OF_QUERY;
    long long point = (long long)points.item * (L * P);
    prefetch_run(points.loc + 2 * point, count * 2 * sizeof(loc_t));
    prefetch_run(points.attn + point, count * sizeof(loc_t));
}

#else

__device__ inline void prefetch_points(const Points &)
{
}

#endif
