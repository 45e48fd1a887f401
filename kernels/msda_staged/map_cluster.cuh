/*
 * smem_cluster: a block keeps CPB channels of one head of a whole image in its shared memory; a cluster of CLUSTER blocks so has
 * CLUSTER*CPB channels, and every block reads all of them through distributed shared memory. (msda's variant of this name is its simplest
 * case: one tile per cluster, one map.)
 *
 *     tile       (image n, head m, column c): channels m*D + c*CLUSTER*CPB ... of image n; one per cluster, or several one after the other
 *     block r    holds channels r*CPB ... of those, and works on every CLUSTER-th slice of the queries
 *     thread     one (query, peer): the CPB channels that block `peer` of the cluster holds
 *
 *     rank 0  [S][CPB] <--.   .--> the threads of each block read the maps of all blocks: the coordinates of a query
 *     rank 1  [S][CPB] <---><----> are computed CLUSTER times instead of D/CPB times, and its loc and attn are read
 *     ...                         by one block instead of all
 *
 *     STAGES = 1   stage 0 | sample 0 | stage 1 | sample 1 ...         the whole block does both
 *     STAGES = 2   stage 0 | sample 0 | sample 1 | sample 2 ...        two maps; |: a barrier of the cluster. STAGERS warps of each block
 *                            stage 1    stage 2    stage 3             stage (cp_async: all threads start copies, then sample)
 *
 *     grid    = tiles * CLUSTER, or as many whole clusters as BLOCKS_PER_SM blocks per SM make (SCHEDULE = persistent); cluster = CLUSTER
 *     smem    = STAGES maps of MAP bytes, ring of slots, barriers (map_staging.cuh)
 *
 * A block must not exit, nor overwrite a map, while others may read it: a barrier of the cluster ends each tile.
 */
#pragma once

#include "cluster.cuh"
#include "level_size.cuh"
#include "map_staging.cuh"

constexpr int COLUMNS = D / (CLUSTER * CPB); /* tiles per head */
constexpr int TILES = N * M * COLUMNS;
constexpr int SAMPLERS = BESIDE ? THREADS - STAGER_THREADS : THREADS;
static_assert(D % (CLUSTER * CPB) == 0, "whole tiles per head");
static_assert(SAMPLERS % CLUSTER == 0, "a thread keeps its peer");
static_assert((long long)N * M * D < 0x7fffffff, "tiles are counted in 31 bits");

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

__device__ inline void add_point(float (&sum)[CPB], unsigned map, float x, float y, float weight, LevelSize size)
{
    Place column = place(x, size.width), row = place(y, size.height);
    float scale = column.scale * row.scale;
    weight = scale > 0.0f ? weight * scale : 0.0f; /* not NaN * 0; and no branch, so that the loads of all points overlap */
    int upper = size.start + (int)row.cell * size.width + (int)column.cell;
    int lower = size.height > 1 ? upper + size.width : upper, right = size.width > 1;
    float bottom = weight * row.fraction, top = weight - bottom;
    add_pixel(sum, map, upper, top * (1.0f - column.fraction));
    add_pixel(sum, map, upper + right, top * column.fraction);
    add_pixel(sum, map, lower, bottom * (1.0f - column.fraction));
    add_pixel(sum, map, lower + right, bottom * column.fraction);
}

/*
 * The CPB channels in `map` of one query; loc and attn: its points. Two chunks at a time are whole 32-byte sectors: L1 is too small to keep
 * the rest of a sector for later.
 */
__device__ inline void sample_query(float (&sum)[CPB], unsigned map, const loc_t *loc, const loc_t *attn)
{
    float log_sum = LOGITS ? log_sum_of_item<1>(attn, 0, 0) : 0.0f;
#pragma unroll 1
    for (int level = 0; level < L; level++) {
        LevelSize size = size_of_level(level);
#pragma unroll 2
        for (int p = 0; p < P; p += CHUNK) {
            Chunk chunk = load_chunk(loc, attn, level * P + p);
#pragma unroll
            for (int i = 0; i < CHUNK; i++)
                add_point(sum, map, chunk_x(chunk, i), chunk_y(chunk, i), chunk_weight(chunk, i, log_sum), size);
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

struct Tile {
    int image, head, channel; /* of M*D, the first of the cluster's */
};

__device__ inline Tile tile_at(int number)
{
    int head = number / COLUMNS % M;
    return {number / (COLUMNS * M), head, head * D + number % COLUMNS * (CLUSTER * CPB)};
}

/* `thread`: of the block's SAMPLERS. */
__device__ inline void sample_tile(unsigned map, Tile tile, int rank, int thread, const loc_t *loc, const loc_t *attn, value_t *out)
{
    int peer = thread % CLUSTER;
    if constexpr (CLUSTER > 1)
        map = cluster_map(map, peer);
    for (int query = (rank * SAMPLERS + thread) / CLUSTER; query < LQ; query += SAMPLERS) {
        long long item = ((long long)tile.image * LQ + query) * M + tile.head;
        float sum[CPB] = {};
        sample_query(sum, map, loc + item * (L * P * 2), attn + item * (L * P));
        store_channels(out + (item - tile.head) * D + tile.channel + peer * CPB, sum);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
#if STAGING == STAGING_tma
    msda_staged_cluster(const __grid_constant__ TensorMaps<L> value, const loc_t *loc, const loc_t *attn, value_t *out)
#else
    msda_staged_cluster(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out)
#endif
{
    extern __shared__ __align__(128) unsigned char shared[];
    Stager stager(shared + STAGES * MAP);
    int rank = CLUSTER > 1 ? cluster_rank() : 0, clusters = gridDim.x / CLUSTER;
    bool stages = !BESIDE || threadIdx.x < STAGER_THREADS, samples = !BESIDE || !stages;

    for (int number = blockIdx.x / CLUSTER, turn = 0; number < TILES; number += clusters, turn++) {
        unsigned char *map = shared + turn % STAGES * MAP;
        Tile tile = tile_at(number);
        if (STAGES == 1 || turn == 0) {
            if (stages)
                stager.stage(map, value, {tile.image, tile.channel + rank * CPB});
            if (STAGING == STAGING_cp_async)
                cp_async_wait<0>();
            barrier_of_all_readers();
        }
        if (STAGES > 1 && stages && number + clusters < TILES) {
            Tile next = tile_at(number + clusters);
            stager.stage(shared + (turn + 1) % STAGES * MAP, value, {next.image, next.channel + rank * CPB});
        }
        if (samples)
            sample_tile(shared_address(map), tile, rank, threadIdx.x - (THREADS - SAMPLERS), loc, attn, out);
        if (STAGES > 1 && STAGING == STAGING_cp_async)
            cp_async_wait<0>();
        barrier_of_all_readers(); /* peers may still read this block's map; the next one is full */
    }
}
