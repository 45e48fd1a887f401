/*
 * Input generators. Random numbers are hashes of (seed, what, number): the same on every machine, in any order.
 *
 * Locations, by WORKLOAD_dist:
 *     uniform   anywhere in [0,1] x [0,1]
 *     local     the query's reference point + WORKLOAD_sigma pixels of the level * normal deviate
 * The reference point of query q, by SHAPE_queries:
 *     grid      centre of cell (q / W_0, q mod W_0) of a grid of W_0 columns
 *     levels    centre of pixel q: the queries are the pixels of the levels (an encoder)
 *     free      anywhere, per image and query (a decoder)
 */
#pragma once

typedef unsigned long long u64;

/* Mixes 64 bits so that each input bit turns over half of the output bits. */
__device__ inline u64 mix(u64 x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

enum Stream { STREAM_LOCATION = 1, STREAM_REFERENCE, STREAM_LOGIT };

/* Two independent numbers in (0,1). */
__device__ inline float2 random_pair(u64 seed, Stream stream, u64 number)
{
    u64 bits = mix(mix(seed * 8 + stream) + number);
    return make_float2(((unsigned)(bits >> 40) + 0.5f) * 0x1p-24f, ((unsigned)(bits & 0xffffff) + 0.5f) * 0x1p-24f);
}

/* Two independent normal deviates (Box and Muller). */
__device__ inline float2 normal_pair(u64 seed, Stream stream, u64 number)
{
    float2 u = random_pair(seed, stream, number);
    float radius = sqrtf(-2.0f * __logf(u.x)), sine, cosine;
    __sincosf(6.2831853f * u.y, &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

__device__ inline float2 pixel_centre(int pixel, int height, int width)
{
    return make_float2((pixel % width + 0.5f) / width, (pixel / width + 0.5f) / height);
}

/* query counts over all images: n*Lq + q. */
__device__ inline float2 reference_point(u64 seed, u64 query)
{
#if SHAPE_queries == SHAPE_queries_grid
    return pixel_centre(query % LQ, ceil_div(LQ, level_width(0)), level_width(0));
#elif SHAPE_queries == SHAPE_queries_levels
    static_assert(LQ == pixels_before(L), "queries = levels: one query per pixel");
    int q = query % LQ, level = 0;
    for (int l = 1; l < L; l++)
        level += q >= pixels_before(l);
    return pixel_centre(q - pixels_before(level), level_height(level), level_width(level));
#else
    return random_pair(seed, STREAM_REFERENCE, query);
#endif
}

__device__ inline float2 random_location(u64 seed, u64 point)
{
#if WORKLOAD_dist == WORKLOAD_dist_uniform
    return random_pair(seed, STREAM_LOCATION, point);
#else
    int level = point / P % L;
    float2 centre = reference_point(seed, point / ((u64)P * L * M));
    float2 step = normal_pair(seed, STREAM_LOCATION, point);
    float sigma = WORKLOAD_sigma;
    return make_float2(centre.x + sigma * step.x / level_width(level), centre.y + sigma * step.y / level_height(level));
#endif
}

/* data: [N][Lq][M][L][P][2] */
extern "C" __global__ void init_locations(loc_t *data, u64 count, u64 seed)
{
    u64 threads = (u64)gridDim.x * blockDim.x;
    for (u64 point = (u64)blockIdx.x * blockDim.x + threadIdx.x; point < count / 2; point += threads) {
        float2 at = random_location(seed, point);
        data[2 * point] = loc_t(at.x);
        data[2 * point + 1] = loc_t(at.y);
    }
}

/* data: [N][Lq][M][L][P], logits that are uniform in (0,2), or their softmax over L*P. */
extern "C" __global__ void init_attn(loc_t *data, u64 count, u64 seed)
{
    u64 threads = (u64)gridDim.x * blockDim.x;
    for (u64 item = (u64)blockIdx.x * blockDim.x + threadIdx.x; item < count / (L * P); item += threads) {
        u64 first = item * (L * P);
        float sum = 0.0f;
        for (int i = 0; i < L * P && LOGITS; i++)
            data[first + i] = loc_t(2.0f * random_pair(seed, STREAM_LOGIT, first + i).x);
        for (int i = 0; i < L * P && !LOGITS; i++)
            sum += __expf(2.0f * random_pair(seed, STREAM_LOGIT, first + i).x);
        for (int i = 0; i < L * P && !LOGITS; i++)
            data[first + i] = loc_t(__expf(2.0f * random_pair(seed, STREAM_LOGIT, first + i).x) / sum);
    }
}

/* data: [L][3], height, width and first pixel of each level: what variants with run-time level shapes read. */
extern "C" __global__ void init_levels(int *data, u64 count, u64)
{
    for (int level = blockIdx.x * blockDim.x + threadIdx.x; level < count / 3; level += gridDim.x * blockDim.x) {
        data[3 * level] = level_height(level);
        data[3 * level + 1] = level_width(level);
        data[3 * level + 2] = level_start(level);
    }
}
