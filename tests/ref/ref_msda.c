/* See ref_msda.h. Slow and plain on purpose. */
#include "ref_msda.h"

#include <math.h>

size_t ref_msda_pixels(const struct ref_msda_shape *shape)
{
    size_t pixels = 0;
    for (size_t l = 0; l < shape->levels; l++)
        pixels += shape->height[l] * shape->width[l];
    return pixels;
}

static double hat(double t)
{
    return fmax(0.0, 1.0 - fabs(t));
}

/* First and one past the last pixel centre closer than 1 to `position`, in [0, size). Empty for NaN and far away. */
static void support(double position, size_t size, size_t *first, size_t *end)
{
    *first = *end = 0;
    if (!(position > -1.0 && position < (double)size))
        return;
    *first = position < 0.0 ? 0 : (size_t)position;
    *end = *first + 2 < size ? *first + 2 : size;
}

/* Adds weight * the sample at (x, y), pixel coordinates, to sum[channels]. stride: elements from pixel to pixel. */
static void add_sample(double *sum, size_t channels, const double *level, size_t height, size_t width, size_t stride,
                       double x, double y, double weight)
{
    size_t row, rows_end, column, columns_end;
    support(y, height, &row, &rows_end);
    support(x, width, &column, &columns_end);
    for (size_t i = row; i < rows_end; i++)
        for (size_t j = column; j < columns_end; j++) {
            double share = hat(y - (double)i) * hat(x - (double)j);
            for (size_t d = 0; share > 0.0 && d < channels; d++)
                sum[d] += weight * share * level[(i * width + j) * stride + d];
        }
}

/* All points of one (image, query, head). value: of the image and head; loc, attn: of the item. */
static void sample_item(const struct ref_msda_shape *shape, const double *value, const double *loc, const double *attn,
                        double *sum)
{
    size_t stride = shape->heads * shape->channels, start = 0;
    for (size_t d = 0; d < shape->channels; d++)
        sum[d] = 0.0;
    for (size_t l = 0; l < shape->levels; l++) {
        size_t height = shape->height[l], width = shape->width[l];
        for (size_t p = 0; p < shape->points; p++) {
            size_t point = l * shape->points + p;
            double x = loc[2 * point] * (double)width - 0.5, y = loc[2 * point + 1] * (double)height - 0.5;
            add_sample(sum, shape->channels, value + start * stride, height, width, stride, x, y, attn[point]);
        }
        start += height * width;
    }
}

void ref_softmax(double *logits, size_t rows, size_t length)
{
    for (double *row = logits; row < logits + rows * length; row += length) {
        double top = row[0], sum = 0.0;
        for (size_t i = 1; i < length; i++)
            top = fmax(top, row[i]);
        for (size_t i = 0; i < length; i++)
            sum += exp(row[i] - top);
        for (size_t i = 0; i < length; i++)
            row[i] = exp(row[i] - top) / sum;
    }
}

void ref_msda(const struct ref_msda_shape *shape, const double *value, const double *loc, const double *attn, double *out)
{
    size_t image_elements = ref_msda_pixels(shape) * shape->heads * shape->channels;
    size_t item_points = shape->levels * shape->points, item = 0;
    for (size_t n = 0; n < shape->images; n++)
        for (size_t q = 0; q < shape->queries; q++)
            for (size_t m = 0; m < shape->heads; m++, item++)
                sample_item(shape, value + n * image_elements + m * shape->channels, loc + item * item_points * 2,
                            attn + item * item_points, out + item * shape->channels);
}
