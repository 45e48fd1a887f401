/*
 * tma_tile: of each sampling point the copy engine brings the four pixels, as boxes of a tensor map, with zeros for those outside.
 *
 *     team       a block, or each of its warps (BARRIERS): has a ring of STAGES slots and a barrier for each
 *     group      ITEMS items (image, query, head) per warp of a team; a step is a group's points of one level
 *     slot       [TEAM_ITEMS*P tiles], and as many records: the weights of a tile's pixels
 *     tile       [BOXES boxes of BOX_C channels x BOX_X x BOX_Y pixels], together 2 x 2 pixels of D channels
 *
 *     thread that issues:  loc, attn -> cell -> record -> expect TILE bytes -> BOXES boxes        for steps STAGES ahead
 *     a warp, per tile:    lane i multiplies bytes i*UNIT ... of it, which are of one pixel, by that pixel's weight and adds
 *                          them up over all steps of the group; the four pixels come together at the end
 *
 *     grid = ceil_div(groups, teams of a block), or BLOCKS_PER_SM per SM (SCHEDULE = persistent)
 *     smem = TEAMS * STAGES * (TEAM_ITEMS*P * (TILE + 16) + 8)
 *
 * Each point of a step arrives once at the slot's barrier, those of items beyond the last one too: no step waits for what nobody sends.
 */
#pragma once

#include "async_copy.cuh"
#include "level_size.cuh"

constexpr int WARPS = THREADS / 32;
constexpr bool BY_WARP = BARRIERS == BARRIERS_warp;
constexpr int TEAMS = BY_WARP ? WARPS : 1, TEAM_THREADS = THREADS / TEAMS;
constexpr int TEAM_ITEMS = ITEMS * (TEAM_THREADS / 32), TEAM_POINTS = TEAM_ITEMS * P;
constexpr int TILE = 4 * D * sizeof(value_t), UNIT = TILE / 32, UNIT_CHANNELS = UNIT / sizeof(value_t);
constexpr int SLOT = TEAM_POINTS * TILE;
constexpr int BOX = BOX_C * BOX_X * BOX_Y * sizeof(value_t), BOXES = TILE / BOX, BOXES_OF_PIXELS = 4 / (BOX_X * BOX_Y);
constexpr int LANES_OF_PIXEL = BOX_C * sizeof(value_t) / UNIT; /* neighbours that hold one pixel's channels of a box */
static_assert(UNIT == 4 || UNIT == 8 || UNIT == 16, "a lane's share of a tile is one load");
static_assert(BOX % 128 == 0 && D % BOX_C == 0, "boxes begin at multiples of 128 bytes");

/* Threads of a team that issue: every ISSUE_EVERY-th, or the first alone. */
constexpr int ISSUERS = ISSUE_EVERY == 0 ? 1 : TEAM_THREADS / (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY);

constexpr long long ALL_ITEMS = (long long)N * LQ * M, GROUPS = (ALL_ITEMS + TEAM_ITEMS - 1) / TEAM_ITEMS;

/* What a team has in shared memory. */
struct Ring {
    unsigned char *slots;         /* [STAGES][SLOT] */
    float4 *records;              /* [STAGES][TEAM_POINTS] weights of pixels (0,0) (0,1) (1,0) (1,1) of (row, column) */
    unsigned long long *full;     /* [STAGES] */
};

__device__ inline Ring ring_of_team(unsigned char *shared, int team)
{
    unsigned char *records = shared + TEAMS * STAGES * SLOT, *barriers = records + TEAMS * STAGES * TEAM_POINTS * 16;
    return {shared + team * STAGES * SLOT, (float4 *)records + team * STAGES * TEAM_POINTS, (unsigned long long *)barriers + team * STAGES};
}

__device__ inline void barrier_of_team(void)
{
    if constexpr (BY_WARP)
        __syncwarp();
    else
        __syncthreads();
}

/* The tile's boxes, in order of their place: columns, rows, channels. */
__device__ inline void start_tile(unsigned char *to, const CUtensorMap *map, int channel, int x, int y, int image, unsigned long long *full)
{
#pragma unroll
    for (int box = 0; box < BOXES; box++) {
        int pixels = box % BOXES_OF_PIXELS, right = BOX_X == 1 ? pixels % 2 : 0, down = BOX_Y == 1 ? pixels / (3 - BOX_X) : 0;
        tma_load_4d(to + box * BOX, map, channel + box / BOXES_OF_PIXELS * BOX_C, x + right, y + down, image, full);
    }
}

/* A point that does not count gets weights of zero and a box that lies wholly outside: nothing is read for it. */
__device__ inline void start_point(unsigned char *to, float4 &record, const TensorMaps<L> &value, const loc_t *loc, const loc_t *attn, long long item,
                                   int level, int number, unsigned long long *full)
{
    long long point = (item * L + level) * P + number;
    LevelSize size = size_of_level(level);
    Place column = place_in_border(float(loc[2 * point]), size.width), row = place_in_border(float(loc[2 * point + 1]), size.height);
    bool counts = column.scale * row.scale > 0.0f;
    float weight = counts ? float(attn[point]) : 0.0f, bottom = weight * row.fraction, top = weight - bottom;
    record = make_float4(top * (1.0f - column.fraction), top * column.fraction, bottom * (1.0f - column.fraction), bottom * column.fraction);
    mbarrier_expect(full, TILE); /* also releases the record to those who wait */
    start_tile(to, &value.m[level], (int)(item % M) * D, counts ? (int)column.cell : -2, counts ? (int)row.cell : -2, (int)(item / ((long long)LQ * M)), full);
}

/* All threads of the team. `step`: of the team's; its group is the team's (step / L)-th. */
__device__ inline void start_step(const Ring &ring, int step, long long group, const TensorMaps<L> &value, const loc_t *loc, const loc_t *attn)
{
    int thread = threadIdx.x % TEAM_THREADS, stage = step % STAGES;
    if (ISSUE_EVERY == 0 ? thread != 0 : thread % (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY) != 0)
        return;
    for (int point = ISSUE_EVERY == 0 ? 0 : thread / (ISSUE_EVERY == 0 ? 1 : ISSUE_EVERY); point < TEAM_POINTS; point += ISSUERS) {
        float4 &record = ring.records[stage * TEAM_POINTS + point];
        long long item = group * TEAM_ITEMS + point / P;
        if (item < ALL_ITEMS) {
            start_point(ring.slots + stage * SLOT + point * TILE, record, value, loc, attn, item, step % L, point % P, &ring.full[stage]);
        } else {
            record = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            mbarrier_expect(&ring.full[stage], 0);
        }
    }
}

struct alignas(UNIT) Unit {
    value_t channel[UNIT_CHANNELS];
};

/* Which of the four pixels a lane has, as a record orders them. */
__device__ inline int pixel_of_lane(int lane)
{
    int pixel = lane / LANES_OF_PIXEL % 4;
    return BOX_X == 1 && BOX_Y == 2 ? pixel % 2 * 2 + pixel / 2 : pixel; /* such boxes are columns */
}

/* One item's points of a step. Tiles of items beyond the last were not loaded, and must not be read: there may be NaN. */
__device__ inline void add_points(float (&sum)[UNIT_CHANNELS], const unsigned char *tiles, const float4 *records, int lane)
{
    const float *weights = (const float *)records + pixel_of_lane(lane);
#pragma unroll 4
    for (int p = 0; p < P; p++) {
        Unit unit = *(const Unit *)(tiles + p * TILE + lane * UNIT);
        float weight = weights[4 * p];
#pragma unroll
        for (int i = 0; i < UNIT_CHANNELS; i++)
            sum[i] = fmaf(float(unit.channel[i]), weight, sum[i]);
    }
}

/* Brings the four pixels together; the lanes of the first one store. */
__device__ inline void store_item(value_t *to, const float (&sum)[UNIT_CHANNELS], int lane)
{
    Unit unit;
#pragma unroll
    for (int i = 0; i < UNIT_CHANNELS; i++) {
        float both = sum[i] + __shfl_xor_sync(0xffffffffu, sum[i], LANES_OF_PIXEL);
        unit.channel[i] = value_t(both + __shfl_xor_sync(0xffffffffu, both, 2 * LANES_OF_PIXEL));
    }
    if (lane / LANES_OF_PIXEL % 4 == 0)
        *(Unit *)(to + lane / (4 * LANES_OF_PIXEL) * BOX_C + lane % LANES_OF_PIXEL * UNIT_CHANNELS) = unit;
}

/* The sums of a warp's items, from a slot that is full; after the last level they are stored and begin anew. */
__device__ inline void use_step(float (&sums)[ITEMS][UNIT_CHANNELS], const Ring &ring, int step, long long group, value_t *out)
{
    int lane = threadIdx.x % 32, stage = step % STAGES, first = threadIdx.x % TEAM_THREADS / 32 * ITEMS;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        long long item = group * TEAM_ITEMS + first + i;
        if (item >= ALL_ITEMS)
            return; /* the whole warp */
        int point = (first + i) * P;
        add_points(sums[i], ring.slots + stage * SLOT + point * TILE, ring.records + stage * TEAM_POINTS + point, lane);
        if (step % L == L - 1) {
            store_item(out + item * D, sums[i], lane);
#pragma unroll
            for (int c = 0; c < UNIT_CHANNELS; c++)
                sums[i][c] = 0.0f;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    msda_staged_tile(const __grid_constant__ TensorMaps<L> value, const loc_t *loc, const loc_t *attn, value_t *out)
{
    extern __shared__ __align__(128) unsigned char shared[];
    int team_of_block = BY_WARP ? threadIdx.x / 32 : 0;
    long long team = (long long)blockIdx.x * TEAMS + team_of_block, teams = (long long)gridDim.x * TEAMS;
    Ring ring = ring_of_team(shared, team_of_block);
    if (threadIdx.x % TEAM_THREADS == 0) {
        for (int stage = 0; stage < STAGES; stage++)
            mbarrier_init(&ring.full[stage], TEAM_POINTS);
        mbarrier_init_fence();
    }
    barrier_of_team();

    int steps = team < GROUPS ? (int)((GROUPS - team + teams - 1) / teams) * L : 0;
    for (int step = 0; step < smaller(STAGES, steps); step++)
        start_step(ring, step, team + step / L * teams, value, loc, attn);
    float sums[ITEMS][UNIT_CHANNELS] = {};
    for (int step = 0; step < steps; step++) {
        mbarrier_wait(&ring.full[step % STAGES], step / STAGES % 2);
        use_step(sums, ring, step, team + step / L * teams, out);
        barrier_of_team(); /* all have read the slot and its records */
        if (step + STAGES < steps)
            start_step(ring, step + STAGES, team + (step + STAGES) / L * teams, value, loc, attn);
    }
}
