/*
 * Bringing rows into shared memory, three ways of one shape:
 *
 *     async   (ALGO = async_staged)              pieces of 16 bytes by many threads, cp.async
 *     bulk    (ALGO = bulk_staged, COPY = bulk)  one cp.async.bulk by one thread, which completes on an mbarrier
 *     tma     (ALGO = bulk_staged, COPY = tma)   boxes of BOX_ROWS rows by one thread, on an mbarrier
 *
 * A ring of STAGES slots: start_rows(slot n), start_rows(slot n+1) ... wait_rows(slot n). `MEMBERS` threads take part (a block or
 * a warp), all of them call, with their number. Rows are multiples of 16 bytes.
 */
#pragma once

#include "shape.cuh"

#include "async_copy.cuh"

#if ALGO == ALGO_async_staged
constexpr bool BY_THREADS = true, BY_BOXES = false;
typedef const char *source_t;
#elif COPY == COPY_bulk
constexpr bool BY_THREADS = false, BY_BOXES = false;
typedef const char *source_t;
#else
constexpr bool BY_THREADS = false, BY_BOXES = true;
typedef const CUtensorMap *source_t;
#endif
static_assert(ROW % 16 == 0, "copies move multiples of 16 bytes");

#if ROWS == ROWS_pairs
constexpr int SLOT_ROWS = smaller(S, 2), BOX = SLOT_ROWS;
#else
#ifndef BOX_ROWS
#define BOX_ROWS 1
#endif
constexpr int BOX = BY_BOXES ? BOX_ROWS : 1, SLOT_ROWS = ceil_div(S, BOX) * BOX;
#endif
constexpr int SLOT = ceil_div(SLOT_ROWS * ROW, 128) * 128;
static_assert(!BY_BOXES || BOX == SLOT_ROWS || BOX * ROW % 128 == 0, "boxes begin at multiples of 128 bytes");

/* Starts SLOT_ROWS rows (of the whole trajectory: S), the first of which is `row`. */
template <int MEMBERS>
__device__ inline void start_rows(char *slot, source_t source, int trajectory, int row, unsigned long long *full, int member)
{
    constexpr int COUNT = SLOT_ROWS < S ? SLOT_ROWS : S;
    long long first = (long long)trajectory * S + row;
    if constexpr (BY_THREADS) {
        const char *from = (const char *)source + first * ROW;
        for (int at = member * 16; at < COUNT * ROW; at += MEMBERS * 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(slot + at)), "l"(__cvta_generic_to_global(from + at)) : "memory");
    } else if (member == 0) {
        if constexpr (BY_BOXES) {
            mbarrier_expect(full, SLOT_ROWS * ROW); /* rows behind the last one arrive as zeros */
            for (int box = 0; box < SLOT_ROWS; box += BOX)
                tma_load_3d(slot + box * ROW, (const CUtensorMap *)source, 0, row + box, trajectory, full);
        } else {
            mbarrier_expect(full, COUNT * ROW);
            bulk_load(slot, (const char *)source + first * ROW, COUNT * ROW, full);
        }
    }
}

/* Ends what the calling thread started for one slot, also where that was nothing: the wait counts. */
__device__ inline void commit_rows(void)
{
    if constexpr (BY_THREADS)
        asm volatile("cp.async.commit_group;" ::: "memory");
}

/* The oldest of STAGES slots; a barrier of the members must follow where copies are by threads. */
__device__ inline void wait_rows(unsigned long long *full, unsigned phase)
{
    if constexpr (BY_THREADS)
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    else
        mbarrier_wait(full, phase);
}

/* One thread; a block barrier must follow. */
__device__ inline void init_ring(unsigned long long *full, int count)
{
    if constexpr (!BY_THREADS) {
        for (int i = 0; i < count; i++)
            mbarrier_init(&full[i], 1);
        mbarrier_init_fence();
    }
}
