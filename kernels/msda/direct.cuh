/*
 * direct: LANES lanes gather for one (query, head) straight from L1 and L2, VEC channels at a time.
 * coarse_smem: the same, but the last STAGED_LEVELS levels come from shared memory (staged.cuh).
 *
 *     block    ITEMS = THREADS/GROUP items = QUERIES queries x HEADS neighbouring heads (tiles.cuh)
 *     warp     32/GROUP items; first the whole warp turns their points of PREP levels into records (points.cuh),
 *              then each group reads its item's records, and its lanes load 4 corners of VEC channels per point
 *     grid     one block per tile, or MIN_BLOCKS per SM; one dimension
 *     smem     the staged levels, then ITEMS * ITEM_STRIDE bytes of records
 *
 * What limits it is the L1 data path: a quarter-warp's 16-byte pieces must lie in different places modulo 128 bytes.
 * With 64-byte pixels two groups share a quarter-warp, and collide half of the time. CORNERS decides:
 *
 *     plain    left pixel, then right pixel
 *     parity   neighbouring groups begin with pixels of opposite parity, so with opposite halves of a 128-byte line
 *     pair     a group has 2*LANES lanes: one half has the left pixels, the other the right ones
 *
 * Values are assumed finite: for a point on or beyond the border a pixel that does not count is read, inside the level
 * (or its border of zeros), and multiplied by zero.
 *
 * Where an image's values do not fit in L1 (far points), bytes from L2 limit instead; more loads in flight and a small
 * shared memory (PREP) help there, more warps where they do.
 */
#pragma once

/* Knobs that the .ini leaves out where they make no difference. So do FOLD, ORDER, PREFETCH, SWAPPED, TAIL and WEIGHTS. */
#ifndef SUM
#define SUM UNROLL
#endif
#ifndef TILE_W
#define TILE_W 0
#endif
#ifndef RUN
#define RUN 1
#endif
#ifndef RECORD /* f32 blending */
#define RECORD 16
#endif

#include "blend.cuh"
#include "tiles.cuh"
#include "staged.cuh"

constexpr int PIXEL = M * D * sizeof(value_t); /* bytes from a pixel to the next */
static_assert(COLUMNS == 2 || PIECES == 1, "a pair has all channels");
static_assert(SUM % UNROLL == 0 || UNROLL % SUM == 0, "whole iterations per sum, or whole sums per iteration");

/* A lane's part of its item. */
struct Lane {
    const char *image;       /* its first channel in pixel 0; one pixel on in odd groups of the parity order */
    unsigned staged;         /* the same where levels are staged: a shared address */
    int piece_bytes[PIECES]; /* from there to its pieces */
    int side;                /* pair: the column it reads, 0 or 1 */
};

/* `count` pixels of `bytes` after `at`. As C, this becomes twice the instructions: shifts, masks, adds with carry. */
__device__ inline const char *pixels_after(const char *at, int count, int bytes)
{
    const char *after;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(after) : "r"(count), "r"(bytes), "l"(at));
    return after;
}

__device__ inline unsigned pixels_after(unsigned at, int count, int bytes)
{
    return at + count * bytes;
}

/* Where the columns' upper pixels begin for this lane, `first` being where pixel 0 does. BYTES: from a pixel to the next. */
template <int BYTES, typename PLACE>
__device__ inline void upper_pixels(PLACE (&upper)[COLUMNS], Record record, PLACE first, int side, int right)
{
    int code = (int)record_code(record);
    if constexpr (SIGN_SWAPS) {
        upper[0] = pixels_after(first, code, BYTES);
        upper[COLUMNS - 1] = pixels_after(first + BYTES, code + record_step_back(record), BYTES);
    } else if constexpr (PARITY) {
        int swap = code & 1, even = code & ~1;
        upper[0] = pixels_after(first, even, BYTES);
        upper[COLUMNS - 1] = pixels_after(first + BYTES, even - 2 * swap, BYTES); /* one pixel on, or back */
    } else {
        upper[0] = pixels_after(first, code, BYTES);
        if constexpr (COLUMNS == 1)
            upper[0] += side * right;
        else
            upper[COLUMNS - 1] = upper[0] + right;
    }
}

/* What reaches a pixel: a pointer, or an address in shared memory. */
template <bool STAGED> struct Pointer { typedef const char *type; };
template <> struct Pointer<true> { typedef unsigned type; };

__device__ inline void aim(const char *&first, const Lane &lane)
{
    first = lane.image;
}

__device__ inline void aim(unsigned &first, const Lane &lane)
{
    first = lane.staged;
}

/* `down`: pixels from a row to the next. */
template <bool STAGED>
__device__ inline void add_point(Sums &sums, Record record, const Lane &lane, bool has_right, int down)
{
    constexpr int BYTES = STAGED ? STAGED_PIXEL : PIXEL;
    typedef typename Pointer<STAGED>::type place_t;
    place_t first, upper[COLUMNS];
    aim(first, lane);
    upper_pixels<BYTES>(upper, record, first, lane.side, has_right ? BYTES : 0);

    Channels channels[2][COLUMNS][PIECES];
#pragma unroll
    for (int row = 0; row < 2; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                channels[row][column][piece] = load_channels((place_t)(upper[column] + (long long)row * down * BYTES + lane.piece_bytes[piece]));

    weight_t weights[2][COLUMNS];
    corner_weights(weights, record, lane.side);
#pragma unroll
    for (int row = 0; row < 2; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                add_weighted(sums, piece, channels[row][column][piece], weights[row][column]);
}

/*
 * All points of a level, in the records from number `first_record` on. Not fully unrolled: more registers, fewer loads in
 * flight. A sum of SUM points may go on in the next level. What is_first_sum says holds for the one that ends with the level.
 */
template <bool STAGED>
__device__ inline void add_level(Sums &sums, const Records &records, int first_record, const Lane &lane, Level level, bool ends_sum, bool is_first_sum)
{
    bool has_right = GRID_AT_LEAST_2X2 || level.width > 1;
    int down = GRID_AT_LEAST_2X2 || level.height > 1 ? level.pitch : 0;
#pragma unroll 1
    for (int first = 0; first < P; first += UNROLL) {
        Record step[UNROLL];
        load_records(step, records, first_record + first, P - first);
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            if (P % UNROLL == 0 || first + i < P)
                add_point<STAGED>(sums, step[i], lane, has_right, down);
            if (SUM < UNROLL && (i + 1) % SUM == 0)
                widen(sums, false);
        }
        if (SUM >= UNROLL && SUM < P && (first + UNROLL) % SUM == 0)
            widen(sums, false);
    }
    if (ends_sum)
        widen(sums, is_first_sum);
}

/* Whether a packed sum must be widened behind the last point of a level. */
__device__ constexpr bool sum_ends_after(int level)
{
    if (SUM < P) /* widened on the way; a rest may be left */
        return P % SUM != 0;
    return level + 1 == L || SUM % P != 0 || (level + 1) * P % SUM == 0;
}

/* TRIM: whether a tile's first packed sum, of whole levels, ends with this one, so that it is assigned and not added. */
__device__ constexpr bool first_sum_ends_after(int level)
{
    return TRIMS && BLEND == BLEND_half2 && SUM >= P && SUM >= UNROLL && level + 1 == smaller(SUM % P == 0 ? SUM / P : 1, L);
}

/* What a lane works with, but for its sums. */
struct Work {
    Records records;
    Chunk chunks[PASSES]; /* the points of the next PREP levels */
    Weights weights;      /* of all levels, where logits are loaded at once */
    Points points, next;  /* of this tile; of the block's next one, where blocks walk over tiles */
    float log_sum;
    Lane lane;
    LevelTable table;
};

/* Starts the loads of the next tile's first levels; its logits are all needed before any of them is, so they come into L1. */
__device__ inline void fetch_next_tile(Work &work)
{
    fetch_points<0, smaller(PREP, L)>(work.chunks, work.weights, work.next);
    if constexpr (LOGITS && !AT_ONCE) {
        const loc_t *logits = work.next.attn + (long long)work.next.item * (L * P);
        for (int line = threadIdx.x % GROUP; line < ceil_div(L * P * (int)sizeof(loc_t), 128); line += GROUP)
            asm volatile("prefetch.global.L1 [%0];" ::"l"(logits + line * (128 / (int)sizeof(loc_t))) : "memory");
    }
}

/*
 * Levels from LEVEL on; the chunks hold the points of the first PREP of them. The next ones, of the next tile at last,
 * are fetched before the last of these levels is gathered, which hides their latency.
 */
template <int LEVEL>
__device__ inline void add_levels(Sums &sums, Work &work, Stage &stage)
{
    if constexpr (LEVEL < L) {
        constexpr int NOW = smaller(PREP, L - LEVEL), NEXT = LEVEL + NOW;
        if constexpr (SCHEDULE == SCHEDULE_in_step)
            __syncthreads();
        else if constexpr (!BY_SHUFFLE)
            __syncwarp(); /* all have read the previous records */
        prepare_points<LEVEL, NOW>(work.records, work.chunks, work.weights, work.table, work.log_sum);
        if constexpr (!BY_SHUFFLE)
            __syncwarp();
#pragma unroll
        for (int i = 0; i < NOW; i++) {
            if (i == NOW - 1) {
                if constexpr (NEXT < L)
                    fetch_points<NEXT, smaller(PREP, L - NEXT)>(work.chunks, work.weights, work.points);
                else if constexpr (PERSISTENT)
                    fetch_next_tile(work);
            }
            Level level = level_of(work.table, LEVEL + i);
            if (LEVEL + i >= FIRST_STAGED) {
                if (!TRIMS || LEVEL + i == FIRST_STAGED) /* all of them come by one copy */
                    stage.wait();
                add_level<true>(sums, work.records, i * P, work.lane, level, sum_ends_after(LEVEL + i), first_sum_ends_after(LEVEL + i));
            } else {
                add_level<false>(sums, work.records, i * P, work.lane, level, sum_ends_after(LEVEL + i), first_sum_ends_after(LEVEL + i));
            }
        }
        add_levels<NEXT>(sums, work, stage);
    }
}

/* Whether this lane has a piece of that number: D need not be a multiple of LANES*VEC. */
__device__ inline bool has_piece(int piece, int sub)
{
    return D % (LANES * VEC) == 0 || (piece * LANES + sub) * VEC < D;
}

__device__ inline Lane make_lane(unsigned group, int sub)
{
    Lane lane = {};
    lane.side = COLUMNS == 1 ? threadIdx.x % GROUP / LANES : 0;
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        lane.piece_bytes[piece] = (has_piece(piece, sub) ? piece * LANES : -sub) * VEC * (int)sizeof(value_t);
    return lane;
}

/* `item`: query*M + head of the lane's group, in the tile's image. */
__device__ inline void store_item(value_t *out, Sums &sums, unsigned tile, unsigned group, int item, const Lane &lane, int sub)
{
    value_t *to = out + ((long long)tile_number(tile).image * LQ * M + item) * D + sub * VEC;
    if constexpr (COLUMNS == 1) {
        float half[HALF];
        add_other_side(half, sums.total[0], lane.side);
        if (group_has_query(tile, group))
            store_piece(to + lane.side * HALF, half);
        return;
    }
    if (!group_has_query(tile, group))
        return;
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        if (has_piece(piece, sub))
            store_piece(to + piece * LANES * VEC, sums.total[piece]);
}

/* Points the lane to the pixels of a tile. */
__device__ inline void aim_lane(Lane &lane, const Stage &stage, const value_t *value, unsigned tile, unsigned group, int sub)
{
    Tile at = tile_number(tile);
    int odd = PARITY ? group & 1 : 0, head = group % HEADS;
    lane.image = (const char *)value + (at.image * (long long)GRID_S + odd) * PIXEL + ((at.first_head + head) * D + sub * VEC) * sizeof(value_t);
    lane.staged = stage.pixel_0() + odd * STAGED_PIXEL + (head * D + sub * VEC) * sizeof(value_t);
}

__device__ inline void gather(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out, LevelTable table)
{
    extern __shared__ __align__(128) char shared[];
    unsigned group = threadIdx.x / GROUP;
    Turn turn = turn_at(0);
    int sub = threadIdx.x % LANES;
    char *all_records = shared + STAGED_BYTES;
    Stage stage(shared);
    if (turn.tile >= TILES || (!STAGES && is_idle(turn)))
        return;
    Work work;
    work.records.warp = all_records + threadIdx.x / 32 * ITEMS_PER_WARP * ITEM_STRIDE;
    work.records.item = all_records + group * ITEM_STRIDE;
    work.table = table;
    work.lane = make_lane(group, sub);
    work.points = points_of(turn.tile, turn.first + group, loc, attn);
    fetch_points<0, smaller(PREP, L)>(work.chunks, work.weights, work.points);
    unsigned in_runs = TRIMS && PERSISTENT && RUN > 1 ? steps_in_runs() : 0;
    for (unsigned step = 1;; step++) {
        Turn next = turn_after(turn, step, in_runs);
        bool is_last = !PERSISTENT || next.tile >= TILES;
        if constexpr (PERSISTENT || PREFETCHES)
            work.next = points_of(next.tile < TILES ? next.tile : turn.tile, next.tile < TILES ? next.first + group : turn.first + group, loc, attn);
        prefetch_points(work.next);
        stage.begin(value, tile_number(turn.tile)); /* the whole block, idle warps too */
        if (STAGES && is_idle(turn))
            break;
        aim_lane(work.lane, stage, value, turn.tile, group, sub);
        if constexpr (AT_ONCE)
            take_weights(work.weights);
        else if constexpr (LOGITS)
            work.log_sum = log_sum_of_item<GROUP>(work.points.attn + (long long)work.points.item * (L * P), threadIdx.x % GROUP, group & 1);
        Sums sums = {};
        if (!WARPS_ARE_FREE || warp_has_queries(turn)) {
            add_levels<0>(sums, work, stage);
            store_item(out, sums, turn.tile, turn.first + group, work.points.item, work.lane, sub);
        } else if (PERSISTENT) {
            fetch_next_tile(work);
        }
        if (is_last || (!STAGES && is_idle(next)))
            break;
        if (SCHEDULE == SCHEDULE_aligned)
            __syncthreads();
        turn = next;
        work.points = work.next;
    }
}

#if LEVELS == LEVELS_runtime
#define TABLE , const int *table
#else
#define TABLE
constexpr LevelTable table = {};
#endif

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
#if ALGO == ALGO_coarse_smem
    msda_coarse_smem(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out TABLE)
#else
    msda_direct(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out TABLE)
#endif
{
    gather(value, loc, attn, out, table);
}
