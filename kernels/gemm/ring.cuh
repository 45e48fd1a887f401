/*
 * wgmma and TMA, warp-specialised: one lane of each producer warp fills a ring of STAGES stages, consumer warpgroups
 * multiply. MODE = coop: all consumer warpgroups share a tile of BM x BN, by rows. MODE = pingpong: each has a tile of
 * its own, in turns, so that one multiplies while the other stores. In a cluster (CLUSTER_M or CLUSTER_N = 2) the
 * blocks below or beside each other load one half each of what they share, for both.
 *
 * TAIL: the last steps of a tile are multiplied for one half of the columns, then for the other; the first half is
 * stored meanwhile. PRODUCERS = 4: one of them loads; they are a warpgroup that gives its registers to the consumers.
 *
 *     block     CONSUMERS * 128 threads, then PRODUCERS warps
 *     grid      WALK = once: a block per tile, ORDER x columns x groups; persistent: any number of clusters
 *     smem      1024 + STAGES * (BM + BN) * BK * 2, + 16 KiB per consumer warpgroup unless EPILOGUE = direct,
 *               + 16 * STAGES
 *
 * Barriers of a stage: full (one arrival and the bytes of the stage), and empty (one arrival of each consumer warpgroup
 * that this block's loads go to). stream_k.cuh uses the same kernel for parts of tiles.
 */
#pragma once

#include "async_copy.cuh"
#include "bulk_store.cuh"
#include "cluster.cuh"
#include "cluster_ring.cuh"
#include "dependent_launch.cuh"
#include "elect.cuh"
#include "wgmma.cuh"
#include "epilogue.cuh"
#include "box.cuh"
#include "tiles.cuh"

#if ALGO == ALGO_stream_k
#define CLUSTER_M 1
#define CLUSTER_N 1
constexpr bool PINGPONG = false;
#else
constexpr bool PINGPONG = MODE == MODE_pingpong;
#endif
#ifndef TAIL
#define TAIL 0
#endif
#include "turns.cuh"
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N, THREADS = CONSUMERS * 128 + PRODUCERS * 32;
constexpr bool REASSIGNS = PRODUCERS == 4; /* a whole warpgroup gives registers to the consumers */
constexpr int LOADERS = REASSIGNS ? 1 : PRODUCERS;
constexpr int ROW_BLOCKS = BM / 64 / (PINGPONG ? 1 : CONSUMERS); /* of 64 rows, per warpgroup */
constexpr int STAGE_ARRIVALS = (PINGPONG ? 1 : CONSUMERS) * CLUSTER;
static_assert(BM % 64 == 0 && ROW_BLOCKS >= 1, "64 rows per warpgroup at least");
static_assert(CLUSTER_M == 1 || CLUSTER_N == 1, "a cluster is a row or a column of tiles");

typedef Operand<BM, BK, A_K_INNERMOST> TileA;
typedef Operand<BN, BK, B_K_INNERMOST> TileB;
constexpr int STAGE_BYTES = TileA::BYTES + TileB::BYTES;

struct Shared {
    unsigned char *stages;
    unsigned slots;
    unsigned long long *full, *empty;
};

__device__ inline Shared shared_layout(void)
{
    extern __shared__ unsigned char shared[];
    Shared s;
    s.stages = shared + (-shared_address(shared) & 1023);
    unsigned char *slots = s.stages + STAGES * STAGE_BYTES;
    s.slots = shared_address(slots);
    s.full = (unsigned long long *)(slots + (EPILOGUE == EPILOGUE_direct ? 0 : CONSUMERS * 4 * 2 * SLOT_BYTES));
    s.empty = s.full + STAGES;
    return s;
}

/* ---- producers ---- */

/* One box, or this block's share of one that all blocks of the cluster get. */
template <int PARTS>
__device__ inline void load_part(unsigned char *to, const CUtensorMap *map, int x, int y, int matrix, unsigned long long *full)
{
    if (PARTS == 1)
        load_box(to, map, x, y, matrix, full);
    else
        multicast_box(to, map, x, y, matrix, full, (1 << CLUSTER) - 1);
}

/* The R x BK tile from row `row` of m (n) and column k; of PARTS blocks that share it, `part` is this one. */
template <int R, bool K_INNERMOST, int PARTS>
__device__ inline void load_tile(unsigned char *to, const CUtensorMap *map, int row, int k, int matrix, unsigned long long *full, int part)
{
    if (K_INNERMOST) {
#pragma unroll
        for (int sub = 0; sub < BK / 64; sub++)
            load_part<PARTS>(to + (sub * R + part * (R / PARTS)) * 128, map, k + sub * 64, row + part * (R / PARTS), matrix, full);
    } else {
#pragma unroll
        for (int chunk = 0; chunk < R / 64; chunk++)
            load_part<PARTS>(to + (chunk * BK + part * (BK / PARTS)) * 128, map, row + chunk * 64, k + part * (BK / PARTS), matrix, full);
    }
}

__device__ inline void produce(const Shared &s, const CUtensorMap *a_map, const CUtensorMap *b_map, Walk walk, int own)
{
    int rank = CLUSTER > 1 ? cluster_rank() : 0;
    Work work;
    Turn turn = {0, 0};
    for (int i = 0; walk.next(work);) {
        for (int step = work.step; step < work.step + work.steps; step++, i++, turn.advance(1)) {
            if (LOADERS > 1 && i % LOADERS != own)
                continue;
            if (turn.lap > 0)
                mbarrier_wait(&s.empty[turn.stage], (turn.lap - 1) & 1);
            unsigned char *stage = s.stages + turn.stage * STAGE_BYTES;
            mbarrier_expect(&s.full[turn.stage], STAGE_BYTES);
            load_tile<BM, A_K_INNERMOST, CLUSTER_N>(stage, a_map, work.m, step * BK, work.matrix, &s.full[turn.stage], rank / CLUSTER_M);
            load_tile<BN, B_K_INNERMOST, CLUSTER_M>(stage + TileA::BYTES, b_map, work.n, step * BK, work.matrix, &s.full[turn.stage],
                                                    rank % CLUSTER_M);
        }
    }
}

/* ---- consumers ---- */

/* Nobody arrives for a stage that is not used again: so when a block has all its data, nobody touches its shared memory
 * any more, and it may exit while its peers still multiply. */
__device__ inline void release(const Shared &s, Turn turn, int total)
{
    int thread = threadIdx.x % 128;
    if (CLUSTER == 1) {
        if (thread == 0)
            mbarrier_arrive(&s.empty[turn.stage]);
    } else if (thread < CLUSTER && turn.is_used_again(total)) {
        mbarrier_arrive_remote(cluster_map(shared_address(&s.empty[turn.stage]), thread));
    }
}

/* `steps` steps of one work, by consumer warpgroup `group`. A stage is released when the next one's wgmmas are issued. */
__device__ inline void multiply(const Shared &s, sum_t (&sum)[ROW_BLOCKS][SUMS<BN>], int steps, int group, Turn &turn,
                                int total, int &add)
{
    unsigned stages = shared_address(s.stages);
    unsigned long long a = TileA::descriptor(stages) + (TileA::offset(PINGPONG ? 0 : group * ROW_BLOCKS, 0) >> 4);
    unsigned long long b = TileB::descriptor(stages + TileA::BYTES);
    Turn before = turn;
    for (int i = 0; i < steps; i++, turn.advance(1)) {
        unsigned stage = turn.stage * (STAGE_BYTES >> 4);
        mbarrier_wait(&s.full[turn.stage], turn.lap & 1);
        wgmma_fence();
#pragma unroll
        for (int k16 = 0; k16 < BK / 16; k16++) {
#pragma unroll
            for (int block = 0; block < ROW_BLOCKS; block++)
                wgmma<BN>(sum[block], a + stage + (TileA::offset(block, k16) >> 4), b + stage + (TileB::offset(0, k16) >> 4), add);
            add = 1;
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (i > 0)
            release(s, before, total);
        before = turn;
    }
    give_turn(group);
    wgmma_wait<0>();
    if (TAIL == 0 || steps > 0)
        release(s, before, total);
}

#if TAIL > 0

/* A warpgroup's sums in two halves, by columns. */
constexpr int HALF_N = BN / 2;
constexpr int HALF_OFFSET = B_K_INNERMOST ? HALF_N * 128 : HALF_N / 64 * BK * 128; /* in a stage of B */
static_assert(ROW_BLOCKS == 1 && !PINGPONG && HALF_N % 64 == 0, "64 rows, and whole boxes of columns");

template <int HALF>
__device__ inline sum_t (&half_of(sum_t (&sum)[ROW_BLOCKS][SUMS<BN>]))[SUMS<HALF_N>]
{
    return *(sum_t(*)[SUMS<HALF_N>])(sum[0] + HALF * SUMS<HALF_N>);
}

/* What is done with the sums next stays behind this point: wgmma writes them after its statement. */
__device__ inline void hold(sum_t (&sum)[SUMS<HALF_N>])
{
#pragma unroll
    for (int i = 0; i < SUMS<HALF_N>; i++)
        asm volatile("" : HELD(sum[i])::"memory");
}

/* The TAIL steps from `turn` on, one half. */
template <int HALF>
__device__ inline void multiply_half(const Shared &s, sum_t (&sum)[ROW_BLOCKS][SUMS<BN>], int group, Turn turn, int add)
{
    unsigned stages = shared_address(s.stages);
    unsigned long long a = TileA::descriptor(stages) + (TileA::offset(group, 0) >> 4);
    unsigned long long b = TileB::descriptor(stages + TileA::BYTES) + (HALF * HALF_OFFSET >> 4);
#pragma unroll(HALF == 0 ? 1 : TAIL) /* the second half is one group: no branch may end it */
    for (int i = 0; i < TAIL; i++, turn.advance(1)) {
        unsigned stage = turn.stage * (STAGE_BYTES >> 4);
        if (HALF == 0)
            mbarrier_wait(&s.full[turn.stage], turn.lap & 1);
        if (HALF == 0 || i == 0)
            wgmma_fence();
#pragma unroll
        for (int k16 = 0; k16 < BK / 16; k16++) {
            wgmma<HALF_N>(half_of<HALF>(sum), a + stage + (TileA::offset(0, k16) >> 4),
                          b + stage + (TileB::offset(0, k16) >> 4), add);
            add = 1;
        }
    }
    wgmma_commit();
}

/* A whole work; the last TAIL steps half by half, so that the first half is stored while the second one is multiplied. */
__device__ inline void multiply_and_store(const Shared &s, const Output &out, int steps, int group, Turn &turn, int total, int row,
                                          int column)
{
    sum_t sum[ROW_BLOCKS][SUMS<BN>];
    unsigned slots = s.slots + threadIdx.x / 32 * 2 * SLOT_BYTES;
    int add = 0;
    multiply(s, sum, steps - TAIL, group, turn, total, add);
    multiply_half<0>(s, sum, group, turn, add);
    multiply_half<1>(s, sum, group, turn, add);
    wgmma_wait<1>();
    hold(half_of<0>(sum));
    store_rows<HALF_N>(out, half_of<0>(sum), row, column, slots);
    wgmma_wait<0>();
    hold(half_of<1>(sum));
#pragma unroll 1
    for (int i = 0; i < TAIL; i++, turn.advance(1))
        release(s, turn, total);
    store_rows<HALF_N>(out, half_of<1>(sum), row, column + HALF_N, slots);
}

#endif

/* Partial sums go to scratch in the order in which the threads hold them: [slot][i][thread] of float2. */
__device__ inline void store_partial(float2 *partial, const sum_t (&sum)[ROW_BLOCKS][SUMS<BN>], int slot)
{
    float2 *to = partial + (long long)slot * (BM * BN / 2) + threadIdx.x;
#pragma unroll
    for (int block = 0; block < ROW_BLOCKS; block++)
#pragma unroll
        for (int i = 0; i < BN / 4; i++)
            to[(block * (BN / 4) + i) * (CONSUMERS * 128)] = sum_pair(sum[block], i);
}

__device__ inline void consume(const Shared &s, const Output &out, float2 *partial, Walk walk)
{
    int group = threadIdx.x / 128, warp = threadIdx.x / 32, total = walk.all_steps();
    Work work;
    Turn turn = {0, 0};
    if (PINGPONG && group == 1) {
        give_turn(1);
        if (walk.next(work))
            turn.advance(work.steps);
    }
    while (walk.next(work)) {
        int row = work.m + (PINGPONG ? 0 : group * ROW_BLOCKS) * 64 + warp % 4 * 16;
#if TAIL > 0
        multiply_and_store(s, out, work.steps, group, turn, total, row, work.n);
#else
        sum_t sum[ROW_BLOCKS][SUMS<BN>];
        int add = 0;
        wait_for_turn(group);
        multiply(s, sum, work.steps, group, turn, total, add);
        if (work.slot >= 0) {
            store_partial(partial, sum, work.slot);
        } else {
            Output own = out;
            own.go_to(work.matrix);
#pragma unroll
            for (int block = 0; block < ROW_BLOCKS; block++)
                store_rows<BN>(own, sum[block], row + block * 64, work.n, s.slots + warp * 2 * SLOT_BYTES);
        }
#endif
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

/* The barriers are there for everybody in the block. Who made them does not wait. */
__device__ inline void announce_barriers(bool is_maker)
{
    if (is_maker)
        asm volatile("bar.arrive 1, %0;" ::"n"(THREADS) : "memory");
    else
        asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

#if ALGO == ALGO_stream_k
#define RING_ENTRY gemm_stream_k
#define PARTIAL_PARAMETERS , float2 *partial, int per_block
#else
#define RING_ENTRY gemm_ring
#define PARTIAL_PARAMETERS
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    RING_ENTRY(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
               const __grid_constant__ CUtensorMap d_map, element_t *d, const element_t *c, int m, int n, int k, int ldd,
               float alpha, float beta EXTRA_PARAMETERS PARTIAL_PARAMETERS)
{
#if ALGO == ALGO_ring
    float2 *partial = nullptr;
    int per_block = 0;
#endif
    int producer = warp_number() - CONSUMERS * 4; /* negative: a consumer */
    Shared s = shared_layout();
    Walk walk(m, n, k, per_block, MATRICES);
    if (DEPENDENT)
        let_next_kernel_start();
    if (producer == 0)
        init_barriers(s);
    if (CLUSTER > 1)
        cluster_arrive_relaxed();
    announce_barriers(producer == 0);
    if (producer < 0) {
        if (REASSIGNS)
            asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        Output out = {d, c, &d_map, m, n, ldd, alpha, beta EXTRA_FIELD};
        consume(s, out, partial, walk);
        if (CLUSTER > 1)
            cluster_wait(); /* over since long: whoever arrives must wait once */
    } else {
        if (REASSIGNS)
            asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (CLUSTER > 1)
            cluster_wait(); /* the peers' barriers are there too */
        if (producer < LOADERS && elect_one()) {
            if (DEPENDENT)
                wait_for_previous_kernel();
            produce(s, &a_map, &b_map, walk, producer);
        }
    }
}
