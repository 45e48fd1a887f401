/*
 * From sums to D: alpha, beta, rounding, and the way to memory. Works per warp: 16 rows by N columns (sums.cuh); nothing is shared with other warps, so there is nothing to wait for.
 *
 *     direct   4-byte stores from the fragment
 *     vector   through shared memory, 16-byte stores
 *     tma      through shared memory, a TMA store of 64 columns by 16 rows
 *
 * A slot has 16 rows of 128 bytes; its 16-byte pieces are permuted by row as swizzle 128 does.
 */
#pragma once

#include "async_copy.cuh"
#include "box.cuh"
#include "elect.cuh"
#include "fused.cuh"
#include "sums.cuh"

constexpr int SLOT_BYTES = 16 * 128;

struct Output {
    element_t *d;
    const element_t *c;
    const CUtensorMap *map; /* tma alone */
    int m, n, ldd;
    float alpha, beta;
#if IS_FUSED
    Extra extra;
    int matrix = 0; /* d and c are those of this one */
#else
    enum { matrix = 0 };
#endif

    /* From the first matrix to another one. */
    __device__ void go_to(int other)
    {
#if IS_FUSED
        d += other * extra.stride_d;
        c += other * extra.stride_d;
        matrix = other;
#endif
    }
};

/* One element before it is rounded. */
__device__ inline float finished(const Output &out, float sum, int row, int column)
{
    float value = out.alpha * sum;
    bool is_inside = row < out.m && column < out.n;
#if IS_FUSED
    float of_c = READS_C && is_inside ? float(out.c[(long long)row * out.ldd + column]) : 0.0f;
    return fused(value, of_c, ADDS_BIAS && is_inside ? float(out.extra.bias[column]) : 0.0f, out.beta);
#else
    if (READS_C && is_inside)
        value += out.beta * float(out.c[(long long)row * out.ldd + column]);
    return value;
#endif
}

/* What is added to the pair at (row, column). */
__device__ inline float2 addend(const Output &out, int row, int column)
{
    const element_t *c = out.c + (long long)row * out.ldd + column;
    float2 pair = make_float2(0.0f, 0.0f);
    if (row < out.m && column < out.n)
        pair.x = out.beta * float(c[0]);
    if (row < out.m && column + 1 < out.n)
        pair.y = out.beta * float(c[1]);
    return pair;
}

__device__ inline unsigned finished_pair(const Output &out, float2 sum, int row, int column)
{
#if IS_FUSED
    float2 of_c = READS_C ? pair_at(out.c + (long long)min(row, out.m - 1) * out.ldd, column, out.n) : make_float2(0.0f, 0.0f);
    float2 of_bias = ADDS_BIAS ? pair_at(out.extra.bias, column, out.n) : make_float2(0.0f, 0.0f);
    return pack(fused(out.alpha * sum.x, of_c.x, of_bias.x, out.beta), fused(out.alpha * sum.y, of_c.y, of_bias.y, out.beta));
#else
    if (!READS_C)
        return pack(out.alpha * sum.x, out.alpha * sum.y);
    float2 more = addend(out, row, column);
    return pack(out.alpha * sum.x + more.x, out.alpha * sum.y + more.y);
#endif
}

__device__ inline void store_pair(const Output &out, unsigned pair, int row, int column)
{
    if (row < out.m && column < out.n)
        *(unsigned *)(out.d + (long long)row * out.ldd + column) = pair;
}

/* The last piece of a row whose end is in its middle: direct stores reach whole pairs only. */
__device__ inline void store_padding(const Output &out, int row, int column)
{
    if (row < out.m && column >= out.n && column < align_up(out.n, 8))
        *(unsigned *)(out.d + (long long)row * out.ldd + column) = 0;
}

template <int N>
__device__ inline void store_direct(const Output &out, const sum_t (&d)[SUMS<N>], int row, int column)
{
    int lane = threadIdx.x % 32;
    row += lane / 4;
    column += lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        int r = row + i % 2 * 8, c = column + i / 2 * 8;
        store_pair(out, finished_pair(out, sum_pair(d, i), r, c), r, c);
        store_padding(out, r, c);
    }
}

__device__ inline unsigned slot_piece(unsigned slot, int row, int piece)
{
    return slot + row * 128 + ((piece ^ (row & 7)) << 4);
}

/* COUNT (2 or 4) matrices 8 x 8 of one warp instruction: lane l gives the row l % 8 of matrix l / 8 (stmatrix needs sm_90). */
template <int COUNT>
__device__ inline void put_pairs(unsigned slot, int piece, const unsigned (&pair)[4])
{
    int lane = threadIdx.x % 32;
#if __CUDA_ARCH__ >= 900
    if constexpr (COUNT == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(slot_piece(slot, lane % 16, piece)),
                     "r"(pair[0]), "r"(pair[1])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         slot_piece(slot, lane % 16, piece + lane / 16)),
                     "r"(pair[0]), "r"(pair[1]), "r"(pair[2]), "r"(pair[3])
                     : "memory");
#else
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(slot_piece(slot, lane / 4 + i % 2 * 8, piece + i / 2) + lane % 4 * 4),
                     "r"(pair[i])
                     : "memory");
#endif
}

/* COUNT / 2 pieces of eight columns of the fragment, from piece j behind its column `first` on. */
template <int N, int COUNT>
__device__ inline void fill_pieces(const Output &out, const sum_t (&d)[SUMS<N>], int first, int j, unsigned slot, int row, int column)
{
    unsigned pair[4];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        pair[i] = finished_pair(out, sum_pair(d, first / 4 + 2 * j + i), row + i % 2 * 8, column + (j + i / 2) * 8);
    put_pairs<COUNT>(slot, j, pair);
}

/* WIDTH columns of the fragment, from its column `first`, to the warp's slot; they are D's from (row, column). */
template <int N, int WIDTH>
__device__ inline void fill_slot(const Output &out, const sum_t (&d)[SUMS<N>], int first, unsigned slot, int row, int column)
{
    int lane = threadIdx.x % 32;
    int r = row + lane / 4, c = column + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < WIDTH / 8 - 1; j += 2)
        fill_pieces<N, 4>(out, d, first, j, slot, r, c);
    if (WIDTH % 16 != 0)
        fill_pieces<N, 2>(out, d, first, WIDTH / 8 - 1, slot, r, c);
}

template <int WIDTH>
__device__ inline void store_slot(const Output &out, unsigned slot, int row, int column)
{
    constexpr int PIECES = WIDTH / 8;
#pragma unroll
    for (int i = threadIdx.x % 32; i < 16 * PIECES; i += 32) {
        int r = i / PIECES, piece = i % PIECES;
        int4 value;
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "r"(slot_piece(slot, r, piece)));
        if (row + r < out.m && column + piece * 8 < out.n)
            *(int4 *)(out.d + (long long)(row + r) * out.ldd + column + piece * 8) = value;
    }
}

#if EPILOGUE != EPILOGUE_direct

/* From the fragment's column FIRST on, 64 columns (or what is left) at a time, with the warp's two slots in turns. */
template <int N, int FIRST>
__device__ inline void store_by_slots(const Output &out, const sum_t (&d)[SUMS<N>], int row, int column, unsigned slots)
{
    constexpr int WIDTH = N - FIRST < 64 ? N - FIRST : 64;
    constexpr bool ALTERNATES = N > 64 && N % 128 == 0; /* then the next caller begins with the slot that was filled first */
    unsigned slot = slots + FIRST / 64 % 2 * SLOT_BYTES;
#if EPILOGUE == EPILOGUE_tma
    static_assert(N % 64 == 0, "a box has 64 columns");
    if (elect_one()) /* always the same lane */
        bulk_wait_read<(ALTERNATES ? 1 : 0)>(); /* one slot, or two in turns */
    __syncwarp();
#endif
    fill_slot<N, WIDTH>(out, d, FIRST, slot, row, column + FIRST);
#if EPILOGUE == EPILOGUE_tma
    async_proxy_fence();
    __syncwarp();
    if (elect_one()) {
        store_box(out.map, column + FIRST, row, out.matrix, slot);
        bulk_commit();
    }
#else
    __syncwarp();
    store_slot<WIDTH>(out, slot, row, column + FIRST);
#if __CUDA_ARCH__ < 900
    __syncwarp(); /* the slot's next filling waits until all lanes have read it */
#else
    if (N > 64 && !ALTERNATES)
        __syncwarp();
#endif
#endif
    if constexpr (FIRST + WIDTH < N)
        store_by_slots<N, FIRST + WIDTH>(out, d, row, column, slots);
}

#endif

/* slots: the warp's two slots (one for N <= 64). A tma caller ends with bulk_wait_read<0>() in the lane that elect_one() names. */
template <int N>
__device__ inline void store_rows(const Output &out, const sum_t (&d)[SUMS<N>], int row, int column, unsigned slots)
{
#if EPILOGUE == EPILOGUE_direct
    store_direct<N>(out, d, row, column);
#else
    store_by_slots<N, 0>(out, d, row, column, slots);
#endif
}
