/*
 * mma.sync straight from global memory: no shared memory before the sums, no barriers, no copies to wait for. WARPS
 * warps share K: each multiplies the whole tile of BM x BN, CHUNK of k at a time, with all loads of a chunk in flight.
 * For small problems, where latency is everything.
 *
 *     block   WARPS * 32       grid   rows x columns of tiles       smem   WARPS * BM * (BN + 8) * 4
 *
 * A dot product takes its terms in any order, and rows of a tile may be permuted. So a lane loads pieces as wide as they
 * lie in memory and gives them to mma as if they were where its fragment wants them. Of 32 of k, lane (g, t) (g = lane / 4,
 * t = lane % 4) has the eight from 8 t; the mma of half h takes 8 t + 4 h + 0..3.
 *
 *     k innermost    one load of 8 of k per row: rows 8 i + g
 *     k outermost    one load per k: rows V g + 0 .. V g + V - 1, V = R / 8; fragment row g of block i is row V g + i
 */
#pragma once

#include "dependent_launch.cuh"
#include "epilogue.cuh"
#include "mma.cuh"

constexpr int THREADS = WARPS * 32, BLOCKS_32 = CHUNK / 32, PITCH = BN + 8;

/* R rows by CHUNK of k; pair[b][h][i][p]: of 32-block b, half h, row i of the lane, k 8 t + 4 h + 2 p and + 1. */
template <int R>
struct Fragment {
    unsigned pair[BLOCKS_32][2][R / 8][2];
};

__device__ inline unsigned pair_of(element_t low, element_t high)
{
    return (unsigned)*(unsigned short *)&low | (unsigned)*(unsigned short *)&high << 16;
}

/* COUNT elements, aligned to their size. */
template <int COUNT>
__device__ inline void load_whole(unsigned (&to)[COUNT / 2], const element_t *from)
{
    if constexpr (COUNT == 8) {
        uint4 all = __ldg((const uint4 *)from);
        to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
    } else if constexpr (COUNT == 4) {
        uint2 all = __ldg((const uint2 *)from);
        to[0] = all.x, to[1] = all.y;
    } else {
        to[0] = __ldg((const unsigned *)from);
    }
}

/* The first `left` of them; the others are zero and not read. */
template <int COUNT>
__device__ inline void load_edge(unsigned (&to)[COUNT / 2], const element_t *from, int left)
{
    for (int i = 0; i < COUNT / 2; i++)
        to[i] = pair_of(2 * i < left ? from[2 * i] : element_t(0.0f), 2 * i + 1 < left ? from[2 * i + 1] : element_t(0.0f));
}

/* WHOLE: nothing of it lies outside. */
template <bool WHOLE, int R, bool K_INNERMOST>
__device__ inline void load_fragment(Fragment<R> &to, const element_t *from, long long ld, int row, int k, int rows, int ks)
{
    constexpr int V = R / 8;
    int g = threadIdx.x % 32 / 4, first = k + threadIdx.x % 4 * 8;
    const element_t *lane = from + (K_INNERMOST ? (row + g) * ld + first : first * ld + row + g * V);
#pragma unroll
    for (int b = 0; b < BLOCKS_32; b++) {
        if constexpr (K_INNERMOST) {
#pragma unroll
            for (int i = 0; i < R / 8; i++) {
                unsigned piece[4];
                if (WHOLE)
                    load_whole<8>(piece, lane + i * 8 * ld + b * 32);
                else
                    load_edge<8>(piece, lane + i * 8 * ld + b * 32, row + i * 8 + g < rows ? ks - first - b * 32 : 0);
#pragma unroll
                for (int p = 0; p < 4; p++)
                    to.pair[b][p / 2][i][p % 2] = piece[p];
            }
        } else {
#pragma unroll
            for (int p = 0; p < 4; p++) {
                unsigned low[V / 2], high[V / 2];
                int kk = b * 32 + p * 2;
                if (WHOLE) {
                    load_whole<V>(low, lane + kk * ld);
                    load_whole<V>(high, lane + (kk + 1) * ld);
                } else {
                    load_edge<V>(low, lane + kk * ld, first + kk < ks ? rows - row - g * V : 0);
                    load_edge<V>(high, lane + (kk + 1) * ld, first + kk + 1 < ks ? rows - row - g * V : 0);
                }
#pragma unroll
                for (int i = 0; i < V; i++)
                    to.pair[b][p / 2][i][p % 2] = __byte_perm(low[i / 2], high[i / 2], i % 2 ? 0x7632 : 0x5410);
            }
        }
    }
}

__device__ inline void multiply_chunk(sum_t (&sum)[BM / 16][SUMS<BN>], const Fragment<BM> &a, const Fragment<BN> &b)
{
#pragma unroll
    for (int block = 0; block < BLOCKS_32; block++)
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < BM / 16; i++)
#pragma unroll
                for (int j = 0; j < BN / 8; j++) {
                    const unsigned(*rows)[2] = &a.pair[block][half][2 * i];
                    mma(&sum[i][j * SUMS<8>], {rows[0][0], rows[1][0], rows[0][1], rows[1][1]}, b.pair[block][half][j]);
                }
}

/* Of the tile, what fragment row g (0..7) of block i of 8 rows is. */
template <int R, bool K_INNERMOST>
__device__ inline int row_of(int i, int g)
{
    return K_INNERMOST ? i * 8 + g : g * (R / 8) + i;
}

/* A warp's sums as a tile of BM rows of PITCH floats. */
__device__ inline void store_sums(float *tile, const sum_t (&sum)[BM / 16][SUMS<BN>])
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < BM / 8; i++)
#pragma unroll
        for (int j = 0; j < BN / 8; j++) {
            float2 pair = sum_pair(sum[i / 2], 2 * j + i % 2);
            float *row = tile + row_of<BM, A_K_INNERMOST>(i, g) * PITCH;
            if (B_K_INNERMOST) {
                *(float2 *)(row + j * 8 + t * 2) = pair;
            } else {
                row[row_of<BN, false>(j, t * 2)] = pair.x;
                row[row_of<BN, false>(j, t * 2 + 1)] = pair.y;
            }
        }
}

/* Adds up the warps' tiles, always in the same order, and stores 8 columns per thread and round. */
__device__ inline void store_tile(const Output &out, const float *tiles, int row, int column)
{
    for (int item = threadIdx.x; item < BM * BN / 8; item += THREADS) {
        int r = item / (BN / 8), piece = item % (BN / 8);
        float sum[8] = {};
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            const float4 *part = (const float4 *)(tiles + (warp * BM + r) * PITCH + piece * 8);
            float4 low = part[0], high = part[1];
            sum[0] += low.x, sum[1] += low.y, sum[2] += low.z, sum[3] += low.w;
            sum[4] += high.x, sum[5] += high.y, sum[6] += high.z, sum[7] += high.w;
        }
        int y = row + r, x = column + piece * 8;
        uint4 all;
        all.x = finished_pair(out, make_float2(sum[0], sum[1]), y, x);
        all.y = finished_pair(out, make_float2(sum[2], sum[3]), y, x + 2);
        all.z = finished_pair(out, make_float2(sum[4], sum[5]), y, x + 4);
        all.w = finished_pair(out, make_float2(sum[6], sum[7]), y, x + 6);
        if (y < out.m && x < out.n)
            *(uint4 *)(out.d + (long long)y * out.ldd + x) = all;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_registers(const element_t *from_a, const element_t *from_b, element_t *d, const element_t *c, int m, int n, int k,
                   int lda, int ldb, int ldd, float alpha, float beta)
{
    extern __shared__ __align__(16) float tiles[];
    int warp = threadIdx.x / 32, row = blockIdx.x * BM, column = blockIdx.y * BN;
    sum_t sum[BM / 16][SUMS<BN>] = {};
    if (DEPENDENT) {
        let_next_kernel_start();
        wait_for_previous_kernel();
    }
    for (int first = warp * CHUNK; first < k; first += WARPS * CHUNK) {
        Fragment<BM> a;
        Fragment<BN> b;
        if (row + BM <= m && column + BN <= n && first + CHUNK <= k) {
            load_fragment<true, BM, A_K_INNERMOST>(a, from_a, lda, row, first, m, k);
            load_fragment<true, BN, B_K_INNERMOST>(b, from_b, ldb, column, first, n, k);
        } else {
            load_fragment<false, BM, A_K_INNERMOST>(a, from_a, lda, row, first, m, k);
            load_fragment<false, BN, B_K_INNERMOST>(b, from_b, ldb, column, first, n, k);
        }
        multiply_chunk(sum, a, b);
    }
    store_sums(tiles + warp * BM * PITCH, sum);
    __syncthreads();
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta};
    store_tile(out, tiles, row, column);
}
