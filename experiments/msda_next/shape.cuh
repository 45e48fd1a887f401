/*
 * The problem of a compiled variant: types and sizes, all baked.
 *
 *     value [N][S][M][D]        value_t: f16, bf16, f32   level l begins at pixel START_l, rows of W_l pixels
 *     loc   [N][Lq][M][L][P][2] loc_t: f32, f16           (x, y); the level is [0,1] x [0,1]
 *     attn  [N][Lq][M][L][P]    loc_t                     weights, or logits that a softmax over L*P makes weights
 *     out   [N][Lq][M*D]        value_t
 *
 *     out[n][q][m*D + d] = sum over l, p of attn[n][q][m][l][p] * value_l(loc[n][q][m][l][p])[n][m][d]
 *
 * value_l(x, y) interpolates bilinearly between pixel centres: column x*W_l - 1/2, row y*H_l - 1/2. Pixels outside
 * the level are zero. So a point counts if -1 < column < W_l and -1 < row < H_l; every other one (NaN and infinity
 * too) adds nothing, and nothing is read for it outside `value`.
 *
 * Offsets into an image are 32 bits in pixels and queries*heads; everything that grows with N or is counted in
 * elements or bytes is 64 bits.
 */
#pragma once

#include <cuda_fp16.h>

/* The experiment's knobs (msda_next.ini); these values give the code of kernels/msda. */
#ifndef FOLD
#define FOLD 0
#endif
#ifndef TRIM
#define TRIM 0
#endif
#ifndef COARSE
#define COARSE_last 1
#define COARSE_first 2
#define COARSE COARSE_last
#endif
#ifndef SWAPPED
#define SWAPPED_bit 1
#define SWAPPED_sign 2
#define SWAPPED SWAPPED_bit
#endif
#ifndef WIDEN
#define WIDEN_add 1
#define WIDEN_mma 2
#define WIDEN WIDEN_add
#endif
#ifndef FETCH
#define FETCH_last 1
#define FETCH_first 2
#define FETCH FETCH_last
#endif

constexpr int N = SHAPE_N, M = SHAPE_M, D = SHAPE_D, P = SHAPE_P, LQ = SHAPE_Lq, L = SHAPE_H_LEN, S = SHAPE_S;

#if SHAPE_dtype == SHAPE_dtype_f16
typedef half value_t;
#elif SHAPE_dtype == SHAPE_dtype_bf16
#include <cuda_bf16.h>
typedef __nv_bfloat16 value_t;
#else
typedef float value_t;
#endif

#if SHAPE_loc_dtype == SHAPE_loc_dtype_f16
typedef half loc_t;
#elif SHAPE_loc_dtype == SHAPE_loc_dtype_f32
typedef float loc_t;
#else
#error "locations are f32 or f16: bf16 would move them by up to 0.3 pixels"
#endif

#if SHAPE_attn == SHAPE_attn_logits
constexpr bool LOGITS = true;
#else
constexpr bool LOGITS = false;
#endif

/* Fold to constants where `level` is one (unrolled loops over levels). */
__device__ constexpr int level_height(int level)
{
    constexpr int heights[] = {SHAPE_H};
    return heights[level];
}

__device__ constexpr int level_width(int level)
{
    constexpr int widths[] = {SHAPE_W};
    return widths[level];
}

/* The level's first pixel in S. */
__device__ constexpr int level_start(int level)
{
    constexpr int starts[] = {SHAPE_START};
    return starts[level];
}

__device__ constexpr bool levels_are_in_order()
{
    for (int l = 0; l < L; l++)
        if (level_start(l) + (long long)level_height(l) * level_width(l) > (l + 1 < L ? level_start(l + 1) : S))
            return false;
    return level_start(0) >= 0;
}
static_assert(levels_are_in_order(), "levels must not overlap, nor reach beyond S");

__device__ constexpr bool levels_at_least_2x2()
{
    for (int l = 0; l < L; l++)
        if (level_height(l) < 2 || level_width(l) < 2)
            return false;
    return true;
}

__device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ constexpr int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Pixels of the levels before this one: the number of a level's first query where the queries are the pixels. */
__device__ constexpr int pixels_before(int level)
{
    int pixels = 0;
    for (int l = 0; l < level; l++)
        pixels += level_height(l) * level_width(l);
    return pixels;
}

/*
 * One axis of a sampling point: the two neighbouring pixels `cell` and `cell + 1`, the second one's share `fraction`,
 * and `scale`, what the zeros outside leave of the sum. Both pixels are inside the level:
 *
 *        -1        0         1               size-2    size-1     size
 *     ----|---------|---------|---- ... ---------|---------|---------|----
 *       0 | 0 .. 1  |    1                            1    | 1 .. 0  | 0      scale
 *
 * Branch-free, for all of float: NaN and infinities come out with scale 0 and a cell inside the level.
 * A level of one pixel has no cell + 1; its fraction is 0, and callers must not step to it.
 */
struct Place {
    float cell, fraction, scale;
};

__device__ inline Place place(float position, float size)
{
    Place at;
    float pixel = fmaf(position, size, -0.5f);
    at.cell = fminf(fmaxf(floorf(pixel), 0.0f), fmaxf(size - 2.0f, 0.0f)); /* fmaxf(NaN, 0) is 0 */
    float beyond = pixel - at.cell;
    at.fraction = __saturatef(beyond); /* saturate(NaN) is 0 */
    if (!levels_at_least_2x2())
        at.fraction = fminf(at.fraction, size - 1.0f);
    at.scale = __saturatef(1.0f - fabsf(beyond - at.fraction));
    return at;
}

/* The same where zeros surround the level in memory: `cell` is -1 ... size-1, and nothing needs scaling but to 0 or 1. */
__device__ inline Place place_in_border(float position, float size)
{
    Place at;
    float pixel = fmaf(position, size, -0.5f);
    at.cell = fminf(fmaxf(floorf(pixel), -1.0f), size - 1.0f); /* fmaxf(NaN, -1) is -1 */
    at.fraction = __saturatef(pixel - at.cell);
    at.scale = pixel > -1.0f && pixel < size ? 1.0f : 0.0f;
    return at;
}
