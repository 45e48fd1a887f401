/*
 * The problem of a compiled variant: what kernels/msda/shape.cuh says of the forward, and its gradients.
 *
 *     value      [N][S][M][D]          value_t   loc, attn: as there; attn holds weights
 *     grad_out   [N][Lq][M*D]          value_t   derivatives of some number e by out
 *     grad_value [N][S][M][D]          grad_t    of e by value: f32, f16, bf16
 *     grad_loc   [N][Lq][M][L][P][2]   loc_t
 *     grad_attn  [N][Lq][M][L][P]      loc_t
 *
 * A point lies in the cell between four pixels (row, column) ... (row + 1, column + 1); with `down` and `right` its
 * distances from the upper left one, corner weights w and d[c] = sum over channels of grad_out * value at corner c:
 *
 *     grad_value at corner c += attn * w[c] * grad_out          corners outside the level are no pixels
 *     grad_attn               = sum over c of w[c] * d[c]
 *     grad_loc.x              = attn * W * ((1 - down) * (d[1] - d[0]) + down * (d[3] - d[2]))
 *     grad_loc.y              = attn * H * ((1 - right) * (d[2] - d[0]) + right * (d[3] - d[1]))
 *
 * The sample is not smooth across the borders of cells. So which cell a point is in belongs to the definition: pixel
 * coordinates are fmaf(loc, size, -1/2) in f32, rounded once, and a point on a border lies in the cell right of or below
 * it. Points that do not count (not -1 < coordinate < size, NaN too) have gradients of zero, whatever their weight.
 *
 * Everything that grows with N or counts elements is 64 bits; an image has less than 2^31 points.
 */
#pragma once

#include "../msda/shape.cuh"

static_assert(!LOGITS, "the softmax's own gradient is the caller's");

#if SHAPE_grad_dtype == SHAPE_grad_dtype_f16
typedef half grad_t;
#elif SHAPE_grad_dtype == SHAPE_grad_dtype_bf16
#include <cuda_bf16.h>
typedef __nv_bfloat16 grad_t;
#else
typedef float grad_t;
#endif

constexpr int POINTS = L * P; /* of an item: an image's query and head */
constexpr long long ITEMS_IN_ALL = (long long)N * LQ * M, VALUES = (long long)N * S * M * D;
constexpr int PIXEL = M * D; /* elements from a pixel to the next */
static_assert((long long)LQ * M * POINTS < 1ll << 31, "an image's points are counted in 31 bits");

/* An unsigned type of so many bytes. */
template <int BYTES>
struct Word;
template <>
struct Word<2> {
    typedef unsigned short type;
};
template <>
struct Word<4> {
    typedef unsigned type;
};
template <>
struct Word<8> {
    typedef uint2 type;
};
template <>
struct Word<16> {
    typedef uint4 type;
};

/* A point's place, as it is stored. */
struct alignas(2 * sizeof(loc_t)) Location {
    loc_t x, y;
};

__device__ inline Location load_location(const loc_t *at)
{
    typename Word<sizeof(Location)>::type bits = __ldg((const typename Word<sizeof(Location)>::type *)at);
    return *(Location *)&bits;
}

/* A level at run time. */
struct Level {
    int height, width, start;
};

__device__ inline Level level_at(int level)
{
    Level at = {level_height(0), level_width(0), level_start(0)};
#pragma unroll
    for (int l = 1; l < L; l++)
        if (level == l)
            at = {level_height(l), level_width(l), level_start(l)};
    return at;
}

/* Where a point lies: its cell's upper left pixel, which may be outside by one, and the distances from it. */
struct Cell {
    int row, column;
    float down, right;
};

__device__ inline float pixel_coordinate(loc_t location, int size)
{
    return fmaf(float(location), (float)size, -0.5f);
}

/* False for NaN. */
__device__ inline bool counts(float x, float y, const Level &level)
{
    return x > -1.0f && x < level.width && y > -1.0f && y < level.height;
}

/* Of a point that counts. */
__device__ inline Cell cell_of(float x, float y)
{
    float column = floorf(x), row = floorf(y);
    return {(int)row, (int)column, y - row, x - column};
}

/* Corners are numbered 0 1 above 2 3. */
__device__ inline bool has_pixel(const Cell &cell, int corner, const Level &level)
{
    int row = cell.row + corner / 2, column = cell.column + corner % 2;
    return row >= 0 && row < level.height && column >= 0 && column < level.width;
}

/* Number of a corner's pixel in S; that of one outside means nothing. */
__device__ inline int pixel_number(const Cell &cell, int corner, const Level &level)
{
    return level.start + (cell.row + corner / 2) * level.width + cell.column + corner % 2;
}

__device__ inline float corner_weight(const Cell &cell, int corner)
{
    return (corner / 2 ? cell.down : 1.0f - cell.down) * (corner % 2 ? cell.right : 1.0f - cell.right);
}

/* What a point contributes to its own gradients, of one lane's channels or of all: linear in the four dots. */
struct PointGradient {
    float x, y, attn;
};

__device__ inline PointGradient point_gradient(const float (&dot)[4], const Cell &cell, const Level &level, float attn)
{
    float upper = dot[1] - dot[0], lower = dot[3] - dot[2], left = dot[2] - dot[0], right = dot[3] - dot[1];
    float top = fmaf(cell.right, upper, dot[0]), bottom = fmaf(cell.right, lower, dot[2]);
    return {attn * level.width * fmaf(cell.down, lower - upper, upper), attn * level.height * fmaf(cell.right, right - left, left),
            fmaf(cell.down, bottom - top, top)};
}
