/*
 * smem_cluster: a block keeps CPB channels of one head of a whole image in its shared memory; a cluster of CLUSTER
 * blocks so has CLUSTER*CPB channels, and every block reads all of them through distributed shared memory.
 *
 *     cluster    (image n, head m, column c): channels m*D + c*CLUSTER*CPB ... of image n
 *     block r    holds channels r*CPB ... of those, and works on every CLUSTER-th slice of the queries
 *     thread     one (query, peer): the CPB channels that block `peer` of the cluster holds
 *
 *     rank 0  [S][CPB] <--.   .--> the threads of each block read the maps of all blocks: the coordinates of a query
 *     rank 1  [S][CPB] <---><----> are computed CLUSTER times instead of D/CPB times, and its loc and attn are read
 *     ...                         by one block instead of all
 *
 *     grid = N * M * COLUMNS * CLUSTER, cluster = CLUSTER
 *     smem = ring of slots, map, barriers (staging.cuh)
 *
 * The map gets there by STAGING, see staging.cuh. A block must not exit while others may read its shared memory.
 */
#pragma once

#include "chunk.cuh"
#include "cluster.cuh"
#include "staging.cuh"

constexpr int COLUMNS = D / (CLUSTER * CPB); /* clusters per head */
static_assert(D % (CLUSTER * CPB) == 0, "whole clusters per head");
static_assert(THREADS % CLUSTER == 0, "a thread keeps its peer");

__device__ inline void barrier_of_all_readers(void)
{
    if constexpr (CLUSTER > 1)
        cluster_barrier();
    else
        __syncthreads();
}

/* CPB channels of a pixel, from this block's shared memory or, in a cluster, from any peer's. */
struct alignas(CPB_BYTES) PixelChannels {
    unsigned word[CPB_BYTES / 4];
};

__device__ inline PixelChannels load_pixel(unsigned map, int pixel)
{
    PixelChannels channels;
    unsigned at = map + pixel * CPB_BYTES;
    if constexpr (CLUSTER > 1)
        cluster_load<CPB_BYTES>(channels.word, at);
    else
        channels = *(const PixelChannels *)__cvta_shared_to_generic(at);
    return channels;
}

__device__ inline void add_pixel(float (&sum)[CPB], unsigned map, int pixel, float weight)
{
    PixelChannels channels = load_pixel(map, pixel);
#pragma unroll
    for (int i = 0; i < CPB; i++)
        sum[i] = fmaf(float(((const value_t *)channels.word)[i]), weight, sum[i]);
}

__device__ inline void add_point(float (&sum)[CPB], unsigned map, float x, float y, float weight, int height, int width,
                                 int start)
{
    Place column = place(x, width), row = place(y, height);
    float scale = column.scale * row.scale;
    weight = scale > 0.0f ? weight * scale : 0.0f; /* not NaN * 0; and no branch, so that the loads of all points overlap */
    int upper = start + (int)row.cell * width + (int)column.cell;
    int lower = height > 1 ? upper + width : upper, right = width > 1;
    float bottom = weight * row.fraction, top = weight - bottom;
    add_pixel(sum, map, upper, top * (1.0f - column.fraction));
    add_pixel(sum, map, upper + right, top * column.fraction);
    add_pixel(sum, map, lower, bottom * (1.0f - column.fraction));
    add_pixel(sum, map, lower + right, bottom * column.fraction);
}

/*
 * The CPB channels in `map` of one query; loc and attn: its points. Two chunks at a time are whole 32-byte sectors:
 * L1 is too small to keep the rest of a sector for later.
 */
__device__ inline void sample_query(float (&sum)[CPB], unsigned map, const loc_t *loc, const loc_t *attn)
{
    float log_sum = LOGITS ? log_sum_of_item<1>(attn, 0, 0) : 0.0f;
#pragma unroll 1
    for (int level = 0; level < L; level++) {
        int height = level_height(level), width = level_width(level), start = level_start(level);
#pragma unroll 2
        for (int p = 0; p < P; p += CHUNK) {
            Chunk chunk = load_chunk(loc, attn, level * P + p);
#pragma unroll
            for (int i = 0; i < CHUNK; i++)
                add_point(sum, map, chunk_x(chunk, i), chunk_y(chunk, i), chunk_weight(chunk, i, log_sum), height, width, start);
        }
    }
}

__device__ inline void store_channels(value_t *to, const float (&sum)[CPB])
{
    PixelChannels channels;
#pragma unroll
    for (int i = 0; i < CPB; i++)
        ((value_t *)channels.word)[i] = value_t(sum[i]);
    *(PixelChannels *)to = channels;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
#if STAGING == STAGING_tma
    msda_smem_cluster(const __grid_constant__ TensorMaps<L> value, const loc_t *loc, const loc_t *attn, value_t *out)
#else
    msda_smem_cluster(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out)
#endif
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *map = shared + RING;
    int rank = CLUSTER > 1 ? cluster_rank() : 0;
    int cluster = blockIdx.x / CLUSTER, column = cluster % COLUMNS, head = cluster / COLUMNS % M;
    int image = cluster / (COLUMNS * M), channel = head * D + column * CLUSTER * CPB;

    stage_map(map, shared, value, image, channel + rank * CPB);
    barrier_of_all_readers();

    int peer = threadIdx.x % CLUSTER;
    unsigned peer_map = shared_address(map);
    if constexpr (CLUSTER > 1)
        peer_map = cluster_map(peer_map, peer);
    for (int query = (rank * THREADS + threadIdx.x) / CLUSTER; query < LQ; query += THREADS) {
        long long item = ((long long)image * LQ + query) * M + head;
        float sum[CPB] = {};
        sample_query(sum, peer_map, loc + item * (L * P * 2), attn + item * (L * P));
        store_channels(out + (item - head) * D + channel + peer * CPB, sum);
    }
    barrier_of_all_readers(); /* peers may still read this block's map */
}
