/*
 * wgmma and TMA, warp-specialised, for fp8: one thread of a producer warpgroup fills a ring of STAGES stages of 128 of k, CONSUMERS warpgroups multiply. MODE,
 * WALK, CLUSTER_M and CLUSTER_N are those of ../gemm/ring.cuh: tiles shared by rows or taken in turns, a block per tile or blocks that walk, halves loaded
 * for both blocks of a cluster. The producer's warpgroup gives its registers to the consumers.
 *
 * Where sums are promoted, each 64 rows of a tile are multiplied for one stage, then added to the sums in f32, times the scales if these are of blocks. Other
 * consumers keep the tensor cores busy meanwhile; with PARTS = 2 so does the next stage.
 *
 *     block     CONSUMERS * 128 threads, then 128 of the producer
 *     grid      WALK = once: a block per tile, ORDER x columns x groups; persistent: any number of clusters
 *     smem      1024 + STAGES * ((BM + BN) * 128 + 16) + 16 KiB per consumer warpgroup, + STAGES * (4 * BM + 16) for scales of blocks
 */
#pragma once

#include "async_copy.cuh"
#include "bulk_store.cuh"
#include "cluster.cuh"
#include "cluster_ring.cuh"
#include "dependent_launch.cuh"
#include "elect.cuh"
#include "fp8_wgmma.cuh"
#include "epilogue.cuh"

constexpr int BK = 128; /* bytes: a row of a swizzled box */
#include "tiles.cuh"

#ifndef PARTS
#define PARTS 1
#endif

constexpr bool PINGPONG = MODE == MODE_pingpong, DEPENDENT = PDL == PDL_on;
#include "turns.cuh"
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N, THREADS = CONSUMERS * 128 + 128;
constexpr int ROW_BLOCKS = BM / 64 / (PINGPONG ? 1 : CONSUMERS); /* of 64 rows, per warpgroup */
constexpr int STAGE_ARRIVALS = (PINGPONG ? 1 : CONSUMERS) * 4 * CLUSTER; /* of each warp, at all blocks of the cluster */
static_assert(BM % 64 == 0 && ROW_BLOCKS >= 1, "64 rows per warpgroup at least");

typedef Operand<BM, BK / 2, true> TileA;
typedef Operand<BN, BK / 2, true> TileB;
constexpr int STAGE_BYTES = TileA::BYTES + TileB::BYTES;
constexpr int SCALE_BYTES = BLOCK_SCALES ? BM * 4 + 16 : 0; /* of a stage: its rows', and four steps' of its columns */
typedef sum_t Sums[ROW_BLOCKS][SUMS<BN>];

struct Shared {
    unsigned char *stages;
    unsigned slots;
    unsigned char *scales;
    unsigned long long *full, *empty;
};

__device__ inline Shared shared_layout(void)
{
    extern __shared__ unsigned char shared[];
    Shared s;
    s.stages = shared + (-shared_address(shared) & 1023);
    unsigned char *slots = s.stages + STAGES * STAGE_BYTES;
    s.slots = shared_address(slots);
    s.scales = slots + CONSUMERS * 4 * 2 * SLOT_BYTES;
    s.full = (unsigned long long *)(s.scales + STAGES * SCALE_BYTES);
    s.empty = s.full + STAGES;
    return s;
}

/* ---- the producer ---- */

/* R rows by 128 bytes from (row, k); of SHARERS blocks that share them, `part` is this one. */
template <int R, int SHARERS>
__device__ inline void load_rows(unsigned char *to, const CUtensorMap *map, int row, int k, unsigned long long *full, int part)
{
    if (SHARERS == 1)
        tma_load_2d(to, map, k, row, full);
    else
        tma_multicast_2d(to + part * (R / SHARERS) * BK, map, k, row + part * (R / SHARERS), full, (1 << CLUSTER) - 1);
}

/* Of blocks: those of A begin at [step][work.m], those of B at [work.n / 128][step]. */
struct Scales {
    const float *a, *b;
    int ld_a, ld_b;

    /* Rows behind the last have none, and are not stored. */
    __device__ int row_bytes(const Work &work) const
    {
        return min(BM, ld_a - work.m) * 4;
    }

    __device__ void load(unsigned char *to, const Work &work, int step, unsigned long long *full) const
    {
        bulk_load(to, a + (long long)step * ld_a + work.m, row_bytes(work), full);
        bulk_load(to + BM * 4, b + (long long)(work.n / SCALED) * ld_b + step / 4 * 4, 16, full);
    }
};

__device__ inline void produce(const Shared &s, const CUtensorMap *a_map, const CUtensorMap *b_map, const Scales &scales, Walk walk)
{
    int rank = CLUSTER > 1 ? cluster_rank() : 0;
    Work work;
    Turn turn = {0, 0};
    while (walk.next(work)) {
#pragma unroll 1
        for (int step = 0; step < work.steps; step++, turn.advance(1)) {
            if (turn.lap > 0)
                mbarrier_wait(&s.empty[turn.stage], (turn.lap - 1) & 1);
            unsigned char *stage = s.stages + turn.stage * STAGE_BYTES;
            mbarrier_expect(&s.full[turn.stage], STAGE_BYTES + (BLOCK_SCALES ? scales.row_bytes(work) + 16 : 0));
            load_rows<BM, CLUSTER_N>(stage, a_map, work.m, step * BK, &s.full[turn.stage], rank / CLUSTER_M);
            load_rows<BN, CLUSTER_M>(stage + TileA::BYTES, b_map, work.n, step * BK, &s.full[turn.stage], rank % CLUSTER_M);
            if (BLOCK_SCALES)
                scales.load(s.scales + turn.stage * SCALE_BYTES, work, step, &s.full[turn.stage]);
        }
    }
}

/* ---- consumers ---- */

/* Nobody arrives for a stage that is not used again (of all `total` steps of the block): so when a block has all its data, nobody touches its shared
 * memory any more, and it may exit while its peer still multiplies. */
__device__ inline void release(const Shared &s, Turn turn, int total)
{
    int lane = threadIdx.x % 32;
    if (CLUSTER == 1) {
        if (lane == 0)
            mbarrier_arrive(&s.empty[turn.stage]);
    } else if (lane < CLUSTER && turn.is_used_again(total)) {
        mbarrier_arrive_remote(cluster_map(shared_address(&s.empty[turn.stage]), lane));
    }
}

/* 64 rows of one stage. */
__device__ inline void multiply_rows(sum_t (&sum)[SUMS<BN>], unsigned long long a, unsigned long long b, int add)
{
#pragma unroll
    for (int k32 = 0; k32 < BK / 32; k32++)
        wgmma_fp8<BN>(sum, a + (TileA::offset(0, k32) >> 4), b + (TileB::offset(0, k32) >> 4), k32 > 0 ? 1 : add);
}

/* What a warpgroup multiplies, as descriptors of the first stage. */
struct Operands {
    unsigned long long a, b;

    __device__ Operands(const Shared &s, int group)
    {
        unsigned stages = shared_address(s.stages);
        a = TileA::descriptor(stages) + (TileA::offset(PINGPONG ? 0 : group * ROW_BLOCKS, 0) >> 4);
        b = TileB::descriptor(stages + TileA::BYTES);
    }

    __device__ unsigned long long rows(Turn turn, int block) const
    {
        return a + turn.stage * (STAGE_BYTES >> 4) + (TileA::offset(block, 0) >> 4);
    }

    __device__ unsigned long long columns(Turn turn) const
    {
        return b + turn.stage * (STAGE_BYTES >> 4);
    }
};

#if SHAPE_accumulate == SHAPE_accumulate_fast

/* All steps of a work. A stage is released when the next one's wgmmas are issued. */
__device__ inline void multiply(const Shared &s, Sums &sum, int steps, int group, Turn &turn, int total)
{
    Operands from(s, group);
    Turn before = turn;
    for (int i = 0; i < steps; i++, turn.advance(1)) {
        mbarrier_wait(&s.full[turn.stage], turn.lap & 1);
        wgmma_fence();
#pragma unroll
        for (int block = 0; block < ROW_BLOCKS; block++)
            multiply_rows(sum[block], from.rows(turn, block), from.columns(turn), i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (i > 0)
            release(s, before, total);
        before = turn;
    }
    give_turn(group);
    wgmma_wait<0>();
    release(s, before, total);
}

#else

/* What is done with the sums next stays behind this point: wgmma writes them after its statement. */
__device__ inline void hold(sum_t (&sum)[SUMS<BN>])
{
#pragma unroll
    for (int i = 0; i < SUMS<BN>; i++)
        asm volatile("" : HELD(sum[i])::"memory");
}

/* The scales of a step: of this thread's rows, two of each 64, and of the tile's columns. `own`: the thread's first row in the tile. */
struct Factors {
    float row[2 * ROW_BLOCKS], column;

    __device__ void read(const Shared &s, Turn turn, int own, int step)
    {
        if (!BLOCK_SCALES)
            return;
        const float *scales = (const float *)(s.scales + turn.stage * SCALE_BYTES);
#pragma unroll
        for (int i = 0; i < 2 * ROW_BLOCKS; i++)
            row[i] = scales[own + i / 2 * 64 + i % 2 * 8];
        column = scales[BM + step % 4];
    }
};

/* What was multiplied for one step and 64 rows, two of which are this thread's. */
__device__ inline void add_part(sum_t (&sum)[SUMS<BN>], sum_t (&part)[SUMS<BN>], const Factors &factors, int block)
{
    float upper = factors.row[2 * block] * factors.column, lower = factors.row[2 * block + 1] * factors.column;
    hold(part);
#pragma unroll
    for (int i = 0; i < SUMS<BN>; i++)
        sum[i] = BLOCK_SCALES ? fmaf(part[i], i / 2 % 2 ? lower : upper, sum[i]) : sum[i] + part[i];
}

__device__ inline void start_part(const Operands &from, sum_t (&part)[SUMS<BN>], Turn turn, int block)
{
    wgmma_fence();
    multiply_rows(part, from.rows(turn, block), from.columns(turn), 0);
    wgmma_commit();
}

#if PARTS == 1

/* All steps of a work: what each one gave is added to the sums in f32. */
__device__ inline void multiply(const Shared &s, Sums &sum, int steps, int group, Turn &turn, int total, int own)
{
    Operands from(s, group);
    sum_t part[SUMS<BN>];
    Factors factors;
#pragma unroll 1
    for (int step = 0; step < steps; step++, turn.advance(1)) {
        mbarrier_wait(&s.full[turn.stage], turn.lap & 1);
        factors.read(s, turn, own, step);
#pragma unroll
        for (int block = 0; block < ROW_BLOCKS; block++) {
            start_part(from, part, turn, block);
            wgmma_wait<0>();
            if (block == ROW_BLOCKS - 1)
                release(s, turn, total);
            add_part(sum[block], part, factors, block);
        }
    }
    give_turn(group);
}

#else

/* One of the two parts: what begins with start() is added by finish(). */
struct Part {
    sum_t sum[SUMS<BN>];
    Factors factors;

    __device__ void start(const Shared &s, const Operands &from, int own, int step, Turn &begun)
    {
        mbarrier_wait(&s.full[begun.stage], begun.lap & 1);
        factors.read(s, begun, own, step);
        start_part(from, sum, begun, 0);
        begun.advance(1);
    }

    __device__ void finish(const Shared &s, Sums &all, Turn &turn, int total)
    {
        release(s, turn, total);
        turn.advance(1);
        add_part(all[0], sum, factors, 0);
    }
};

/* The same with two parts: one step is multiplied while the one before is added. No branch lies between, or ptxas waits for all. */
__device__ inline void multiply(const Shared &s, Sums &sum, int steps, int group, Turn &turn, int total, int own)
{
    static_assert(ROW_BLOCKS == 1, "registers for two parts of 64 rows");
    Operands from(s, group);
    Part even, odd;
    Turn begun = turn;
    even.start(s, from, own, 0, begun);
    int step = 1;
#pragma unroll 1
    for (; step + 1 < steps; step += 2) {
        odd.start(s, from, own, step, begun);
        wgmma_wait<1>();
        even.finish(s, sum, turn, total);
        even.start(s, from, own, step + 1, begun);
        wgmma_wait<1>();
        odd.finish(s, sum, turn, total);
    }
    if (step < steps) {
        odd.start(s, from, own, step, begun);
        wgmma_wait<1>();
        even.finish(s, sum, turn, total);
        give_turn(group);
        wgmma_wait<0>();
        odd.finish(s, sum, turn, total);
    } else {
        give_turn(group);
        wgmma_wait<0>();
        even.finish(s, sum, turn, total);
    }
}

#endif

__device__ inline void set_to_zero(Sums &sum)
{
#pragma unroll
    for (int block = 0; block < ROW_BLOCKS; block++)
#pragma unroll
        for (int i = 0; i < SUMS<BN>; i++)
            sum[block][i] = 0.0f;
}

#endif

__device__ inline void consume(const Shared &s, Output out, const Scales &scales, Walk walk)
{
    int group = threadIdx.x / 128, warp = threadIdx.x / 32, total = walk.all_steps();
    Work work;
    Turn turn = {0, 0};
    if (PINGPONG && group == 1) {
        give_turn(1);
        if (walk.next(work))
            turn.advance(work.steps);
    }
    if (!BLOCK_SCALES)
        out.alpha = __ldg(scales.a) * __ldg(scales.b);
    while (walk.next(work)) {
        int row = (PINGPONG ? 0 : group * ROW_BLOCKS) * 64 + warp % 4 * 16; /* the warp's first in the tile */
        Sums sum;
        wait_for_turn(group);
#if SHAPE_accumulate == SHAPE_accumulate_fast
        multiply(s, sum, work.steps, group, turn, total);
#else
        set_to_zero(sum);
        multiply(s, sum, work.steps, group, turn, total, row + (int)threadIdx.x % 32 / 4);
#endif
#pragma unroll
        for (int block = 0; block < ROW_BLOCKS; block++)
            store_rows<BN>(out, sum[block], work.m + row + block * 64, work.n, s.slots + warp * 2 * SLOT_BYTES);
        if (PINGPONG && walk.next(work))
            turn.advance(work.steps);
    }
#if EPILOGUE == EPILOGUE_tma
    if (elect_one())
        bulk_wait_read<0>();
#endif
}

/* ---- the kernel ---- */

__device__ inline void init_barriers(const Shared &s)
{
    if (elect_one()) {
#pragma unroll
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&s.full[i], 1);
            mbarrier_init(&s.empty[i], STAGE_ARRIVALS);
        }
        mbarrier_init_fence();
    }
    __syncwarp();
}

/* Registers per thread. A lone consumer has enough as it is. */
__device__ inline void give_registers(void)
{
    if (CONSUMERS == 2)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (CONSUMERS == 3)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
}

__device__ inline void take_registers(void)
{
    if (CONSUMERS == 2)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if (CONSUMERS == 3)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_fp8_ring(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap d_map,
                  const float *scale_a, const float *scale_b, element_t *d, int m, int n, int k, int ldd, int ld_scale_a, int ld_scale_b)
{
    int producer = warp_number() - CONSUMERS * 4; /* negative: a consumer */
    Shared s = shared_layout();
    Scales scales = {scale_a, scale_b, ld_scale_a, ld_scale_b};
    /* A tile's columns have one scale, and its rows' begin at 16 bytes: the last tiles, too, begin at multiples of their size. */
    Walk walk(BLOCK_SCALES ? align_up(m, BM) : m, BLOCK_SCALES ? align_up(n, BN) : n, k, 0, MATRICES);
    if (DEPENDENT)
        let_next_kernel_start();
    if (producer == 0)
        init_barriers(s);
    if (CLUSTER > 1)
        cluster_arrive_relaxed();
    __syncthreads();
    if (producer < 0) {
        take_registers();
        if (DEPENDENT)
            wait_for_previous_kernel(); /* it may have made the scales */
        Output out = {d, nullptr, &d_map, m, n, ldd, 1.0f, 0.0f EXTRA_FIELD};
        consume(s, out, scales, walk);
        if (CLUSTER > 1)
            cluster_wait(); /* over since long: whoever arrives must wait once */
    } else {
        give_registers();
        if (CLUSTER > 1)
            cluster_wait(); /* the peer's barriers are there too */
        if (producer == 0 && elect_one()) {
            if (DEPENDENT)
                wait_for_previous_kernel();
            produce(s, &a_map, &b_map, scales, walk);
        }
    }
}
