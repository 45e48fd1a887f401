/*
 * wgmma and TMA for few rows: transposed(D) = transposed(B) * transposed(A), so that the 64 rows of a warpgroup are columns of D, of
 * which there are many, and its 8, 16, ... columns are rows of D. One warp fills a ring of STAGES stages, CONSUMERS warpgroups multiply,
 * 64 or more columns of D each.
 *
 * CLUSTER_K blocks of a cluster share the steps of a tile. Their sums meet in distributed shared memory, where the ring was, and are
 * added in the order of k: the same bits every time.
 *
 *     block   CONSUMERS * 128 threads, then a warp that loads
 *     grid    CLUSTER_K * rows x columns of tiles of BM x BN x matrices, in clusters of CLUSTER_K
 *     smem    1024 + STAGES * ((BM + BN) * BK * 2 + 16)
 */
#pragma once

#define ROWS_K_INNERMOST B_K_INNERMOST
#define COLUMNS_K_INNERMOST A_K_INNERMOST

#include "cluster_ring.cuh"
#include "dependent_launch.cuh"
#include "elect.cuh"
#include "wgmma.cuh"
#include "load_tile.cuh"
#include "tile_start.cuh"
#include "transposed_store.cuh"

constexpr int WORKERS = CONSUMERS * 128, THREADS = WORKERS + 32;
constexpr int PARTS = BN / 64 / CONSUMERS; /* of 64 columns of D, per warpgroup */
constexpr int PAIRS = PARTS * BM / 4;      /* of sums, per thread */
static_assert(BN % (64 * CONSUMERS) == 0, "64 columns of D per warpgroup at least");

typedef Operand<BN, BK, B_K_INNERMOST> TileB;
typedef Operand<BM, BK, A_K_INNERMOST> TileA;
constexpr int STAGE_BYTES = TileB::BYTES + TileA::BYTES;
static_assert(CLUSTER_K == 1 || BM * BN * 4 <= STAGES * STAGE_BYTES, "the sums take the ring's place");

struct Shared {
    unsigned char *stages;
    unsigned long long *full, *empty;
};

__device__ inline Shared shared_layout(void)
{
    extern __shared__ unsigned char shared[];
    Shared s;
    s.stages = shared + (-shared_address(shared) & 1023);
    s.full = (unsigned long long *)(s.stages + STAGES * STAGE_BYTES);
    s.empty = s.full + STAGES;
    return s;
}

/* Steps of k, from `first` on. */
struct Share {
    int first, count;
};

__device__ inline Share share_of(int rank, int k)
{
    int steps = ceil_div(k, BK), each = ceil_div(steps, CLUSTER_K), first = min(rank * each, steps);
    return {first, min(each, steps - first)};
}

/* ---- the warp that loads: one lane ---- */

/* a_rows: of a box of A, which has no more than A has. What the rest of the stage holds goes to rows of D that are not there. */
__device__ inline void produce(const Shared &s, const CUtensorMap *a_map, const CUtensorMap *b_map, int row, int column, int matrix, Share share, int a_rows)
{
    unsigned bytes = TileB::BYTES + (A_K_INNERMOST ? a_rows * BK * 2 : TileA::BYTES);
    int stage = 0, lap = 0;
#pragma unroll 1
    for (int i = 0; i < share.count; i++) {
        if (lap > 0)
            mbarrier_wait(&s.empty[stage], (lap - 1) & 1);
        unsigned char *to = s.stages + stage * STAGE_BYTES;
        mbarrier_expect(&s.full[stage], bytes);
        load_tile<BN, B_K_INNERMOST>(to, b_map, column, (share.first + i) * BK, matrix, &s.full[stage]);
        load_tile<BM, A_K_INNERMOST>(to + TileB::BYTES, a_map, row, (share.first + i) * BK, matrix, &s.full[stage]);
        if (++stage == STAGES) {
            stage = 0;
            lap++;
        }
    }
}

/* ---- the warpgroups that multiply ---- */

/* A stage is released when the next one's wgmmas are issued. */
__device__ inline void multiply(const Shared &s, sum_t (&sum)[PARTS][SUMS<BM>], int group, int count)
{
    unsigned stages = shared_address(s.stages);
    unsigned long long b = TileB::descriptor(stages) + (TileB::offset(group * PARTS, 0) >> 4);
    unsigned long long a = TileA::descriptor(stages + TileB::BYTES);
    int stage = 0, lap = 0, before = 0;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        unsigned at = stage * (STAGE_BYTES >> 4);
        mbarrier_wait(&s.full[stage], lap & 1);
        wgmma_fence();
#pragma unroll
        for (int k16 = 0; k16 < BK / 16; k16++)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                wgmma<BM>(sum[part], b + at + (TileB::offset(part, k16) >> 4), a + at + (TileA::offset(0, k16) >> 4), 1);
        wgmma_commit();
        wgmma_wait<1>();
        if (i > 0 && threadIdx.x % 128 == 0)
            mbarrier_arrive(&s.empty[before]);
        before = stage;
        if (++stage == STAGES) {
            stage = 0;
            lap++;
        }
    }
    wgmma_wait<0>();
}

/* Sums of all blocks of the cluster, one after the other; each adds up every CLUSTER_K-th pair of a thread's. */
__device__ inline void add_up(const Shared &s, const Output &out, sum_t (&sum)[PARTS][SUMS<BM>], int rank, int row, int column)
{
    unsigned own = shared_address(s.stages) + threadIdx.x * 8;
    asm volatile("bar.sync 1, %0;" ::"n"(WORKERS) : "memory"); /* nobody reads the ring any more */
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        float2 pair = sum_pair(sum[i / (BM / 4)], i % (BM / 4));
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(own + i * WORKERS * 8), "f"(pair.x), "f"(pair.y) : "memory");
    }
    cluster_barrier();
#pragma unroll 1
    for (int i = rank; i < PAIRS; i += CLUSTER_K) {
        float2 part[CLUSTER_K], total = make_float2(0.0f, 0.0f);
#pragma unroll
        for (int peer = 0; peer < CLUSTER_K; peer++)
            cluster_load<8>((unsigned *)&part[peer], cluster_map(own + i * WORKERS * 8, peer));
#pragma unroll
        for (int peer = 0; peer < CLUSTER_K; peer++)
            total = make_float2(total.x + part[peer].x, total.y + part[peer].y);
        store_transposed(out, total, row + i % (BM / 4) / 2 * 8, column + i / (BM / 4) * 64 + i % 2 * 8);
    }
}

__device__ inline void consume(const Shared &s, const Output &out, Share share, int rank, int row, int column)
{
    int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4;
    sum_t sum[PARTS][SUMS<BM>];
#pragma unroll
    for (int i = 0; i < PARTS * SUMS<BM>; i++)
        sum[i / SUMS<BM>][i % SUMS<BM>] = 0;
    multiply(s, sum, group, share.count);
    column += group * PARTS * 64 + warp * 16;
    if (CLUSTER_K > 1) {
        add_up(s, out, sum, rank, row, column);
        return;
    }
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        store_transposed(out, sum_pair(sum[i / (BM / 4)], i % (BM / 4)), row + i % (BM / 4) / 2 * 8,
                         column + i / (BM / 4) * 64 + i % 2 * 8);
}

/* ---- the kernel ---- */

__device__ inline void init_barriers(const Shared &s)
{
#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        mbarrier_init(&s.full[i], 1);
        mbarrier_init(&s.empty[i], CONSUMERS);
    }
    mbarrier_init_fence();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_swapped(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, element_t *d, const element_t *c,
                 int m, int n, int k, int ldd, float alpha, float beta EXTRA_PARAMETERS)
{
    int rank = CLUSTER_K > 1 ? cluster_rank() : 0, row = first_row(blockIdx.x / CLUSTER_K, BM, m), column = first_column(blockIdx.y, BN, n);
    Shared s = shared_layout();
    Share share = share_of(rank, k);
    bool is_loader = warp_number() == CONSUMERS * 4;
    if (DEPENDENT)
        let_next_kernel_start();
    if (is_loader) {
        if (elect_one()) {
            init_barriers(s);
            if (DEPENDENT)
                wait_for_previous_kernel();
        }
        __syncwarp();
        asm volatile("bar.arrive 2, %0;" ::"n"(THREADS) : "memory"); /* the barriers are there */
        if (elect_one())
            produce(s, &a_map, &b_map, row, column, blockIdx.z, share, min(m, BM));
        __syncwarp();
    } else {
        asm volatile("bar.sync 2, %0;" ::"n"(THREADS) : "memory");
        Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
        out.go_to(blockIdx.z);
        consume(s, out, share, rank, row, column);
    }
    if (CLUSTER_K > 1) {
        if (is_loader)
            cluster_barrier(); /* the one that the others wait at before they add up */
        cluster_barrier();     /* the peers have read this block's sums */
    }
}
