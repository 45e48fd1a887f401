/*
 * What computing coordinates in f16 costs in accuracy, and what it gains in time: one plain kernel, compiled with either arithmetic.
 *
 *     coords_f32, coords_f16   LANES lanes per (image, query, head), 8 channels each (16 bytes); each lane computes all coordinates itself and gathers
 *                              from L1 and L2; weights and sums in f32
 *
 *     query, head:  lane 0 [channels 0..7] lane 1 [8..15] ...    4 loads of 16 bytes per point and lane
 *
 * grid = ceil_div(N*Lq*M*LANES, THREADS)
 *
 * kernels/msda/shape.cuh says what is computed; reference and inputs are msda's.
 */
#include "shape.cuh"

#if MT_SUPPORT
#include "reference.cuh"
#include "inputs.cuh"
#else
#include "coords.cuh"

constexpr int LANE_CHANNELS = 16 / sizeof(value_t), LANES = D / LANE_CHANNELS;
static_assert(D % LANE_CHANNELS == 0 && !LOGITS, "lanes of 16 bytes, and weights as they are");

struct alignas(16) LaneChannels {
    value_t channel[LANE_CHANNELS];
};

__device__ inline void add_pixel(float (&sum)[LANE_CHANNELS], const value_t *at, float weight)
{
    uint4 bits = __ldg((const uint4 *)at);
#pragma unroll
    for (int i = 0; i < LANE_CHANNELS; i++)
        sum[i] = fmaf(float(((const value_t *)&bits)[i]), weight, sum[i]);
}

/* As shape.cuh's place, from a coordinate in pixels. */
__device__ inline Place place_at(float pixel, float size)
{
    Place at;
    at.cell = fminf(fmaxf(floorf(pixel), 0.0f), fmaxf(size - 2.0f, 0.0f));
    float beyond = pixel - at.cell;
    at.fraction = __saturatef(beyond);
    if (!levels_at_least_2x2())
        at.fraction = fminf(at.fraction, size - 1.0f);
    at.scale = __saturatef(1.0f - fabsf(beyond - at.fraction));
    return at;
}

__device__ inline float2 coordinates(const loc_t *location, int height, int width)
{
#if ALGO == ALGO_coords_f16
    return coordinates_f16(__floats2half2_rn(float(location[0]), float(location[1])), height, width);
#else
    return coordinates_f32(float(location[0]), float(location[1]), height, width);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) msda_coords(const value_t *value, const loc_t *loc, const loc_t *attn, value_t *out)
{
    long long lane = (long long)blockIdx.x * THREADS + threadIdx.x, item = lane / LANES; /* a block may begin within an item: LANES need not divide THREADS */
    if (item >= (long long)N * LQ * M)
        return;
    int channel = (int)(item % M) * D + (int)(lane % LANES) * LANE_CHANNELS;
    const value_t *image = value + item / ((long long)LQ * M) * ((long long)S * M * D) + channel;
    float sum[LANE_CHANNELS] = {};
#pragma unroll 1
    for (int level = 0; level < L; level++) {
        int height = level_height(level), width = level_width(level);
#pragma unroll 4
        for (int p = 0; p < P; p++) {
            long long point = (item * L + level) * P + p;
            float2 at = coordinates(loc + 2 * point, height, width);
            Place column = place_at(at.x, width), row = place_at(at.y, height);
            float scale = column.scale * row.scale, weight = scale > 0.0f ? float(attn[point]) * scale : 0.0f;
            float bottom = weight * row.fraction, top = weight - bottom;
            const value_t *upper = image + (long long)(level_start(level) + (int)row.cell * width + (int)column.cell) * (M * D);
            const value_t *lower = upper + (height > 1 ? width * (M * D) : 0);
            int right = width > 1 ? M * D : 0;
            add_pixel(sum, upper, top * (1.0f - column.fraction));
            add_pixel(sum, upper + right, top * column.fraction);
            add_pixel(sum, lower, bottom * (1.0f - column.fraction));
            add_pixel(sum, lower + right, bottom * column.fraction);
        }
    }
    LaneChannels channels;
#pragma unroll
    for (int i = 0; i < LANE_CHANNELS; i++)
        channels.channel[i] = value_t(sum[i]);
    *(LaneChannels *)(out + item / M * (M * D) + channel) = channels;
}
#endif
