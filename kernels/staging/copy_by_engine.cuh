/*
 * bulk, tma: one thread tells the copy engine what to bring.
 *
 *     runs      copies of PIECE_ROWS rows of 256 bytes straight into the map, all at once; bulk: bytes of `planes`; tma: boxes of
 *               {64 words, PIECE_ROWS rows, 1 map}, the last of which is filled with zeros beyond the map
 *     strided   the engine moves 16 bytes at least, and the map wants 4 of each pixel's: so copies of RUN pixels come into a ring of SLOTS slots,
 *               and threads pick out theirs. bulk: whole pixels, C*2 bytes each; tma: boxes of {8 channels, RUN pixels}, 16 bytes each
 *
 * smem = the map (rounded up to whole boxes), the ring
 */
#pragma once

#include "async_copy.cuh"

#if ALGO == ALGO_tma
typedef CUtensorMap source_t;
#else
typedef const char *source_t;
#endif

#if PATTERN == PATTERN_runs

constexpr int COPIES = (ROWS + PIECE_ROWS - 1) / PIECE_ROWS, COPY = PIECE_ROWS * ROW;

/* All threads of the block. */
__device__ inline void copy_map(unsigned char *to, const source_t &source, int map)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
        mbarrier_expect(&full, ALGO == ALGO_tma ? COPIES * COPY : ROWS * ROW);
        for (int copy = 0; copy < COPIES; copy++) {
#if ALGO == ALGO_tma
            tma_load_3d(to + copy * COPY, &source, 0, copy * PIECE_ROWS, map, &full);
#else
            int rows = ROWS - copy * PIECE_ROWS < PIECE_ROWS ? ROWS - copy * PIECE_ROWS : PIECE_ROWS;
            bulk_load(to + copy * COPY, source + ((long long)map * ROWS + copy * PIECE_ROWS) * ROW, rows * ROW, &full);
#endif
        }
    }
    __syncthreads(); /* the barrier is set up */
    mbarrier_wait(&full, 0);
}

#else

constexpr int SLOTS = 4, COPIES = (S + RUN - 1) / RUN;
constexpr int SLOT_PIXEL = ALGO == ALGO_tma ? 16 : C * 2, SLOT = RUN * SLOT_PIXEL;
constexpr int MAP_SPACE = ROWS * ROW; /* the ring lies behind */

__device__ inline void start_copy(unsigned char *slot, const source_t &source, int map, int copy, unsigned long long *full)
{
#if ALGO == ALGO_tma
    mbarrier_expect(full, SLOT); /* pixels beyond the image arrive as zeros */
    tma_load_3d(slot, &source, map % PARTS / 4 * 8, copy * RUN, map / PARTS, full);
#else
    int bytes = (S - copy * RUN < RUN ? S - copy * RUN : RUN) * C * 2;
    mbarrier_expect(full, bytes);
    bulk_load(slot, source + ((long long)(map / PARTS) * S + copy * RUN) * (C * 2), bytes, full);
#endif
}

/* All threads of the block. */
__device__ inline void copy_map(unsigned char *to, const source_t &source, int map)
{
    __shared__ unsigned long long full[SLOTS];
    unsigned char *ring = to + MAP_SPACE;
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < SLOTS; slot++)
            mbarrier_init(&full[slot], 1);
        mbarrier_init_fence();
        for (int copy = 0; copy < SLOTS && copy < COPIES; copy++)
            start_copy(ring + copy * SLOT, source, map, copy, &full[copy]);
    }
    __syncthreads();
    int word = (ALGO == ALGO_tma ? map % PARTS % 4 : map % PARTS) * 4;
    for (int copy = 0; copy < COPIES; copy++) {
        unsigned char *slot = ring + copy % SLOTS * SLOT;
        mbarrier_wait(&full[copy % SLOTS], copy / SLOTS % 2);
        for (int i = threadIdx.x; i < RUN && copy * RUN + i < S; i += THREADS)
            ((unsigned *)to)[copy * RUN + i] = *(const unsigned *)(slot + i * SLOT_PIXEL + word);
        __syncthreads(); /* all have read the slot */
        if (threadIdx.x == 0 && copy + SLOTS < COPIES)
            start_copy(slot, source, map, copy + SLOTS, &full[copy % SLOTS]);
    }
}

#endif
