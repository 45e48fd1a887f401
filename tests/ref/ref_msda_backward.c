/* See ref_msda_backward.h. Slow and plain on purpose. */
#include "ref_msda_backward.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* What a pixel centre at distance t weighs, and how that changes with t. */
static double hat(double t)
{
    return fmax(0.0, 1.0 - fabs(t));
}

static double hat_slope(double t)
{
    if (t >= -1.0 && t < 0.0) return 1.0;
    return t >= 0.0 && t < 1.0 ? -1.0 : 0.0;
}

static double coordinate(double location, size_t size, enum ref_msda_coordinates how)
{
    return how == REF_MSDA_F32 ? (double)fmaf((float)location, (float)size, -0.5f) : location * (double)size - 0.5;
}

static bool counts(double at, size_t size)
{
    return at > -1.0 && at < (double)size;
}

/* One point of one level: the level's values and their gradients (elements `stride` apart from pixel to pixel), a row of grad_out, and where its own
 * gradients go. */
typedef struct point {
    size_t height, width, channels, stride;
    const double *level, *grad_out;
    double *grad_level;
    double x, y, weight;
    double by_x, by_y, by_weight;
} point;

static void add_pixel(point *p, size_t row, size_t column)
{
    double above = hat(p->y - (double)row), beside = hat(p->x - (double)column), dot = 0.0;
    size_t pixel = (row * p->width + column) * p->stride;
    for (size_t d = 0; d < p->channels; d++) {
        if (above * beside > 0.0) p->grad_level[pixel + d] += p->weight * above * beside * p->grad_out[d];
        dot += p->level[pixel + d] * p->grad_out[d];
    }
    p->by_weight += above * beside * dot;
    p->by_x += p->weight * (double)p->width * above * hat_slope(p->x - (double)column) * dot;
    p->by_y += p->weight * (double)p->height * beside * hat_slope(p->y - (double)row) * dot;
}

/* The two rows and columns around the point that the level has; at a kink the second one's hat is zero, its slope is not. */
static void add_point(point *p)
{
    if (!counts(p->x, p->width) || !counts(p->y, p->height)) return;
    ptrdiff_t top = (ptrdiff_t)floor(p->y), left = (ptrdiff_t)floor(p->x);
    for (ptrdiff_t row = top; row <= top + 1; row++)
        for (ptrdiff_t column = left; column <= left + 1; column++)
            if (row >= 0 && row < (ptrdiff_t)p->height && column >= 0 && column < (ptrdiff_t)p->width) add_pixel(p, (size_t)row, (size_t)column);
}

void ref_msda_backward(const struct ref_msda_shape *shape, enum ref_msda_coordinates coordinates, const double *value, const double *loc, const double *attn,
                       const double *grad_out, struct ref_msda_gradients gradients)
{
    size_t stride = shape->heads * shape->channels, of_image = ref_msda_pixels(shape) * stride, items = shape->images * shape->queries * shape->heads;
    memset(gradients.value, 0, shape->images * of_image * sizeof(double));
    for (size_t item = 0, i = 0; item < items; item++) {
        size_t first = item / (shape->queries * shape->heads) * of_image + item % shape->heads * shape->channels;
        for (size_t l = 0; l < shape->levels; first += shape->height[l] * shape->width[l] * stride, l++)
            for (size_t k = 0; k < shape->points; k++, i++) {
                point p = {.height = shape->height[l], .width = shape->width[l], .channels = shape->channels, .stride = stride, .weight = attn[i]};
                p.level = value + first;
                p.grad_level = gradients.value + first;
                p.grad_out = grad_out + item * shape->channels;
                p.x = coordinate(loc[2 * i], p.width, coordinates);
                p.y = coordinate(loc[2 * i + 1], p.height, coordinates);
                add_point(&p);
                gradients.loc[2 * i] = p.by_x;
                gradients.loc[2 * i + 1] = p.by_y;
                gradients.attn[i] = p.by_weight;
            }
    }
}
