/*
 * Gradients of ref_msda (ref_msda.h) in plain C and double: what the backward kernels and their reference kernel are proved against. Written from
 * the definition there, by its product rule; tests/unit/test_ref_msda_backward.c holds it against finite differences of ref_msda.
 *
 *     e = sum over all elements of grad_out * out,  grad_out [N][Lq][M*D]
 *
 *     de/dvalue[pixel] = sum over points of attn * hat(y - i) * hat(x - j) * grad_out
 *     de/dattn         = sum over pixels and channels of hat(y - i) * hat(x - j) * value * grad_out
 *     de/dloc.x        = attn * width * sum over pixels and channels of hat(y - i) * hat'(x - j) * value * grad_out, and likewise for y
 *
 * The hat has kinks: its derivative there is the one to the right, 1 on [-1, 0) and -1 on [0, 1). A point that does not count (not -1 < x < width, or
 * not so for y; NaN) has gradients of zero, whatever its weight; so a point exactly a pixel outside has none, though its right derivative may be another.
 *
 * Beside a kink, the least rounding of a coordinate changes a gradient by as much as itself. Kernels define theirs by fmaf(loc, size, -1/2) in f32;
 * REF_MSDA_F32 takes that one number from there, and all the rest in double.
 */
#pragma once

#include "tests/ref/ref_msda.h"

enum ref_msda_coordinates { REF_MSDA_EXACT, REF_MSDA_F32 };

/* Of the caller, laid out as value, loc and attn; all of them are written. */
struct ref_msda_gradients {
    double *value, *loc, *attn;
};

/* Arrays must not overlap. */
void ref_msda_backward(const struct ref_msda_shape *shape, enum ref_msda_coordinates coordinates, const double *value, const double *loc, const double *attn,
                       const double *grad_out, struct ref_msda_gradients gradients);
