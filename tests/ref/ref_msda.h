/*
 * Multi-scale deformable attention, forward, in plain C and double: what the kernels and the reference kernel are
 * proved against. Written from the definition, not from the kernels.
 *
 *     value  [N][S][M][D]         S = sum of height[l] * width[l], level after level, rows of width[l] pixels
 *     loc    [N][Lq][M][L][P][2]  (x, y); a level is [0,1] x [0,1], whatever its size
 *     attn   [N][Lq][M][L][P]     weights; where a caller has logits: ref_softmax of its rows of L*P
 *     out    [N][Lq][M*D]
 *
 *     out[n][q][m*D + d] = sum over levels l, points p, pixels (i, j) of l of
 *         attn * hat(y*height - 1/2 - i) * hat(x*width - 1/2 - j) * value[n][(l,i,j)][m][d],   hat(t) = max(0, 1 - |t|)
 *
 * which is bilinear interpolation between pixel centres with zeros around the level. Edge cases, and what they give:
 *
 *     a point a whole pixel or more outside, NaN, infinite, huge    adds nothing, whatever its weight (0 * NaN is 0 here)
 *     a point less than a pixel outside                             adds the share of the pixels inside
 *     a level of one row, column or pixel                           as any other; its hat is still two pixels wide
 *     coordinate on a pixel centre                                  that pixel alone, also on the border
 *     NaN or infinite values                                        spread only from pixels whose hats are positive;
 *                                                                   kernels may spread them from the neighbours as well
 *     f16 inputs                                                    convert them to double exactly; rounding them is the
 *                                                                   caller's business, not an error of the kernel
 *
 * Any size of at least 1; arrays may exceed 2^31 elements.
 */
#pragma once

#include <stddef.h>

struct ref_msda_shape {
    size_t images, queries, heads, channels, levels, points; /* N Lq M D L P */
    const size_t *height, *width;                            /* [levels] */
};

/* Pixels of all levels: S. */
size_t ref_msda_pixels(const struct ref_msda_shape *shape);

/* Turns each of `rows` rows of `length` logits into weights, in place: exp(x) over the row's sum of them. */
void ref_softmax(double *logits, size_t rows, size_t length);

/* Writes all of out. Arrays are the caller's and must not overlap. */
void ref_msda(const struct ref_msda_shape *shape, const double *value, const double *loc, const double *attn, double *out);
