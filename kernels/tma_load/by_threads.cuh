/*
 * ld_global, cp_async: every thread loads pieces of VEC bytes and looks after the borders.
 *
 *     ld_global   THROUGH = smem: through registers into shared memory; registers: summed up where they arrive
 *     cp_async    straight into shared memory; the hardware writes zeros for pixels outside
 */
#pragma once

#include "group.cuh"

#include "shared_address.cuh"

constexpr int PIECES = TILE / VEC; /* of a tile */

template <int BYTES>
struct alignas(BYTES) Bytes {
    unsigned short x[BYTES / 2];
};
typedef Bytes<VEC> Piece;

/* Byte of the image where piece `number` of a tile lies; -1 outside. */
__device__ inline long long piece_at(Corner corner, int number)
{
    int pixel = number * VEC / PIXEL, x = pixel % 2, y = pixel / 2;
    bool inside = is_column_inside(corner, x) && is_row_inside(corner, y);
    return inside ? (long long)pixel_at(corner, x, y) * PIXEL + number * VEC % PIXEL : -1;
}

__device__ inline const char *image_at(const char *value, Group group)
{
    return value + (long long)group.image * S * PIXEL;
}

#if ALGO == ALGO_cp_async

__device__ inline void start_group(char *slot, const char *value, const int2 *at, Group group)
{
    const char *image = image_at(value, group);
    for (int i = threadIdx.x; i < group.count * PIECES; i += THREADS) {
        long long from = piece_at(corner_at(at, group, i / PIECES), i % PIECES);
#if VEC == 16
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(slot + i * VEC)), "l"(__cvta_generic_to_global(image + (from < 0 ? 0 : from))), "r"(from < 0 ? 0 : 16) : "memory");
#else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(shared_address(slot + i * VEC)), "l"(__cvta_generic_to_global(image + (from < 0 ? 0 : from))), "r"(from < 0 ? 0 : VEC), "n"(VEC) : "memory");
#endif
    }
}

/* Ends a group's copies, also where there are none: the wait counts. */
__device__ inline void end_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ inline void wait_group(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    __syncthreads();
}

#else

__device__ inline Piece load_piece(const char *image, const int2 *at, Group group, int number)
{
    long long from = piece_at(corner_at(at, group, number / PIECES), number % PIECES);
    Piece piece = {};
    if (from >= 0)
        piece = *(const Piece *)(image + from);
    return piece;
}

__device__ inline void load_group(char *slot, const char *value, const int2 *at, Group group)
{
    const char *image = image_at(value, group);
#pragma unroll 4
    for (int i = threadIdx.x; i < group.count * PIECES; i += THREADS)
        *(Piece *)(slot + i * VEC) = load_piece(image, at, group, i);
    __syncthreads();
}

/* 32 lanes or fewer have a tile between them; all lanes stay to the end. */
__device__ inline void sum_group(unsigned *out, const char *value, const int2 *at, Group group)
{
    constexpr int LANES = PIECES < 32 ? PIECES : 32, TILES_AT_ONCE = THREADS / LANES;
    static_assert((LANES & (LANES - 1)) == 0, "lanes are added up by halves");
    const char *image = image_at(value, group);
    int lane = threadIdx.x % LANES;
    for (int first = 0; first < group.count; first += TILES_AT_ONCE) {
        int tile = first + threadIdx.x / LANES;
        unsigned sum = 0;
        for (int number = lane; number < PIECES && tile < group.count; number += LANES) {
            Piece piece = load_piece(image, at, group, tile * PIECES + number);
            for (int k = 0; k < VEC / 4; k++)
                sum += (piece.x[2 * k] | (unsigned)piece.x[2 * k + 1] << 16) * weight(number * (VEC / 4) + k);
        }
        sum = add_up<LANES>(sum);
        if (lane == 0 && tile < group.count)
            out[out_at(group, tile)] = sum;
    }
}

#endif
