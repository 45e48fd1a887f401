/* The independent reference itself: cases that a person can work out, and what must hold for any input. */
#include <float.h>
#include <math.h>

#include "tests/ref/ref_msda.h"
#include "tests/unit/unit.h"
#include "tuner/base/rng.h"

static void near(double value, double expected)
{
    ck_assert_msg(fabs(value - expected) <= 1e-13 * fmax(1.0, fabs(expected)), "%.17g instead of %.17g", value, expected);
}

/* One point with weight 1 on one level of one channel. */
static double sample(size_t height, size_t width, const double *value, double x, double y)
{
    const struct ref_msda_shape shape = {1, 1, 1, 1, 1, 1, &height, &width};
    const double loc[] = {x, y}, attn[] = {1};
    double out = NAN; /* it must be written, also by a point that adds nothing */
    ref_msda(&shape, value, loc, attn, &out);
    return out;
}

/* The location of pixel coordinate `at`: 0 is the first pixel's centre, size - 1 the last one's. */
static double location(double at, size_t size)
{
    return (at + 0.5) / (double)size;
}

static const double grid[] = {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}; /* 3 rows of 4 */

static double on_grid(double row, double column)
{
    return sample(3, 4, grid, location(column, 4), location(row, 3));
}

START_TEST(pixel_centres)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) near(on_grid((double)i, (double)j), grid[4 * i + j]);
}
END_TEST

START_TEST(between_pixels)
{
    near(on_grid(0, 0.5), 1.5);
    near(on_grid(0.5, 3), 22);
    near(on_grid(1.5, 1.5), (20 + 30 + 200 + 300) / 4.0);
    near(on_grid(0.25, 0.75), 0.75 * (0.25 * 1 + 0.75 * 2) + 0.25 * (0.25 * 10 + 0.75 * 20));
}
END_TEST

/* The level ends half a pixel beyond its outermost centres; there half a pixel's hat is left, at a corner a quarter. */
START_TEST(borders_and_corners)
{
    near(sample(3, 4, grid, 0, 0), 1 / 4.0);
    near(sample(3, 4, grid, 1, 0), 4 / 4.0);
    near(sample(3, 4, grid, 0, 1), 100 / 4.0);
    near(sample(3, 4, grid, 1, 1), 400 / 4.0);
    near(sample(3, 4, grid, 0, location(1, 3)), 10 / 2.0);
    near(sample(3, 4, grid, 1, location(2, 3)), 400 / 2.0);
    near(sample(3, 4, grid, location(2, 4), 0), 3 / 2.0);
}
END_TEST

START_TEST(beyond_the_border)
{
    near(on_grid(1, -0.75), 0.25 * 10);
    near(on_grid(1, 3.75), 0.25 * 40);
    near(on_grid(-0.75, 2), 0.25 * 3);
    near(on_grid(2.75, 2), 0.25 * 300);
    near(on_grid(-0.5, -0.75), 0.5 * 0.25 * 1);
    near(on_grid(2.5, 3.75), 0.5 * 0.25 * 400);
    near(on_grid(-0.5, 0.5), 0.5 * 1.5); /* outside in one axis, between pixels in the other */
}
END_TEST

START_TEST(a_pixel_outside_is_nothing)
{
    static const double tiny = 1.0 / (1 << 20);
    ck_assert_double_eq(sample(2, 4, grid, -0.125, 0.25), 0); /* column -1 exactly */
    ck_assert_double_eq(sample(2, 4, grid, 1.125, 0.25), 0);  /* column 4 */
    ck_assert_double_eq(sample(2, 4, grid, 0.125, -0.25), 0); /* row -1 */
    ck_assert_double_eq(sample(2, 4, grid, 0.125, 1.25), 0);  /* row 2 */
    near(sample(2, 4, grid, -0.125 + tiny, 0.25), 4 * tiny * 1);
    near(sample(2, 4, grid, 1.125 - tiny, 0.75), 4 * tiny * 40);
    near(sample(2, 4, grid, 0.875, 1.25 - tiny), 2 * tiny * 40);
    ck_assert_double_eq(sample(2, 4, grid, -0.125 - tiny, 0.25), 0);
    ck_assert_double_eq(sample(2, 4, grid, 0.125, 1.25 + tiny), 0);
}
END_TEST

START_TEST(one_pixel)
{
    static const double value[] = {8};
    static const struct {
        double x, y, expected;
    } cases[] = {{0.5, 0.5, 8}, {0, 0.5, 4}, {1, 0.5, 4}, {0, 0, 2}, {1, 1, 2}, {0.25, 0.5, 6}, {-0.25, 0.5, 2}, {1.25, 1.25, 0.5}, {-0.5, 0.5, 0}, {0.5, 1.5, 0}, {2, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) near(sample(1, 1, value, cases[i].x, cases[i].y), cases[i].expected);
}
END_TEST

START_TEST(one_row_and_one_column)
{
    near(sample(1, 4, grid, location(1.5, 4), 0.5), 2.5);
    near(sample(1, 4, grid, location(1.5, 4), 0), 1.25);
    near(sample(4, 1, grid, 0.5, location(2.25, 4)), 0.75 * 3 + 0.25 * 4);
    near(sample(4, 1, grid, 1.25, location(0, 4)), 0.25 * 1);
}
END_TEST

static const double wild[] = {NAN, -NAN, INFINITY, -INFINITY, 1e30, -1e30, DBL_MAX, -DBL_MAX, 65504, -65504, 2, -1};
enum { WILD_COUNT = sizeof wild / sizeof wild[0] };

START_TEST(wild_locations_add_nothing)
{
    for (size_t i = 0; i < WILD_COUNT; i++) {
        ck_assert_double_eq(sample(3, 4, grid, wild[i], 0.5), 0);
        ck_assert_double_eq(sample(3, 4, grid, 0.5, wild[i]), 0);
        ck_assert_double_eq(sample(1, 1, grid, 0.5, wild[i]), 0);
        for (size_t k = 0; k < WILD_COUNT; k++) ck_assert_double_eq(sample(3, 4, grid, wild[i], wild[k]), 0);
    }
}
END_TEST

/* Nor do they spoil their neighbours, whatever weighs them. */
START_TEST(wild_points_among_good_ones)
{
    const size_t height = 3, width = 4;
    const struct ref_msda_shape shape = {1, 1, 1, 1, 1, 4, &height, &width};
    const double loc[] = {NAN, 0.5, location(1, 4), location(1, 3), 0.5, INFINITY, location(2, 4), location(0, 3)}, attn[] = {NAN, 0.5, INFINITY, 2};
    double out = NAN;
    ref_msda(&shape, grid, loc, attn, &out);
    near(out, 0.5 * 20 + 2 * 3);
}
END_TEST

START_TEST(bad_values_spread_from_where_they_count)
{
    const double value[] = {1, NAN, 3, INFINITY};
    ck_assert_double_eq(sample(1, 4, value, location(0, 4), 0.5), 1);
    ck_assert_double_eq(sample(1, 4, value, location(2, 4), 0.5), 3);
    ck_assert(isnan(sample(1, 4, value, location(0.5, 4), 0.5)));
    ck_assert_double_eq(sample(1, 4, value, location(2.5, 4), 0.5), INFINITY);
    ck_assert_double_eq(sample(1, 4, value, location(4, 4), 0.5), 0);
}
END_TEST

START_TEST(levels_points_and_weights)
{
    const size_t height[] = {2, 1}, width[] = {2, 3};
    const struct ref_msda_shape shape = {1, 1, 1, 1, 2, 2, height, width};
    const double value[] = {1, 2, 3, 4, /* second level */ 50, 60, 70};
    const double loc[] = {0.25, 0.25, 0.5, 0.5, /* second level */ 0.5, 0.5, 1, 0.5}, attn[] = {1, 0.5, -2, 0.25};
    double out = NAN;
    ck_assert_uint_eq(ref_msda_pixels(&shape), 7);
    ref_msda(&shape, value, loc, attn, &out);
    near(out, 1 * 1 + 0.5 * 2.5 - 2 * 60 + 0.25 * 35);
}
END_TEST

/* Every (image, query, head) looks at one pixel's centre; every element of value tells its own place. */
START_TEST(layout)
{
    enum { N = 2, Q = 3, M = 2, D = 3, L = 2, S = 2 * 3 + 1 * 2 };
    const size_t height[] = {2, 1}, width[] = {3, 2};
    const struct ref_msda_shape shape = {N, Q, M, D, L, 1, height, width};
    double value[N * S * M * D], loc[N * Q * M * L * 2], attn[N * Q * M * L], out[N * Q * M * D];
    for (size_t i = 0; i < N * S * M * D; i++) value[i] = (double)i;
    for (size_t i = 0; i < N * Q * M * D; i++) out[i] = NAN;
    for (size_t item = 0; item < N * Q * M; item++) {
        size_t pixel = item % 6;
        loc[4 * item] = location((double)(pixel % 3), 3), loc[4 * item + 1] = location((double)(pixel / 3), 2);
        loc[4 * item + 2] = location((double)(item % 2), 2), loc[4 * item + 3] = 0.5;
        attn[2 * item] = 1, attn[2 * item + 1] = 1000;
    }
    ref_msda(&shape, value, loc, attn, out);
    for (size_t item = 0; item < N * Q * M; item++) {
        size_t image = item / (Q * M), head = item % M;
        for (size_t d = 0; d < D; d++) {
            size_t first = ((image * S + item % 6) * M + head) * D + d, second = ((image * S + 6 + item % 2) * M + head) * D + d;
            near(out[item * D + d], (double)first + 1000.0 * (double)second);
        }
    }
}
END_TEST

/* ---- for any input ---- */

enum { IMAGES = 2, QUERIES = 9, HEADS = 2, CHANNELS = 3, LEVELS = 4, POINTS = 5 };
static const size_t heights[LEVELS] = {5, 3, 1, 1}, widths[LEVELS] = {8, 2, 4, 1};
static const struct ref_msda_shape any = {IMAGES, QUERIES, HEADS, CHANNELS, LEVELS, POINTS, heights, widths};
enum { PIXELS = 40 + 6 + 4 + 1, VALUES = IMAGES * PIXELS * HEADS * CHANNELS, ITEMS = IMAGES * QUERIES * HEADS, WEIGHTS = ITEMS * LEVELS * POINTS, OUTS = ITEMS * CHANNELS };
static double values[3][VALUES], locations[2 * WEIGHTS], weights[3][WEIGHTS], outs[3][OUTS];

static void fill(mt_rng *rng, double *data, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++) data[i] = low + (high - low) * mt_rng_uniform(rng);
}

/* Three sets of values and weights, the third a combination of the first two; locations inside and well outside. */
static void make_any(uint64_t seed, double a, double b)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    fill(&rng, locations, 2 * WEIGHTS, -0.8, 1.8);
    for (size_t i = 0; i < 2; i++) {
        fill(&rng, values[i], VALUES, -1, 1);
        fill(&rng, weights[i], WEIGHTS, -1, 1);
    }
    for (size_t i = 0; i < VALUES; i++) values[2][i] = a * values[0][i] + b * values[1][i];
    for (size_t i = 0; i < WEIGHTS; i++) weights[2][i] = a * weights[0][i] + b * weights[1][i];
}

START_TEST(linear_in_values_and_weights)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        make_any(seed, 3, -0.5);
        for (size_t k = 0; k < 3; k++) ref_msda(&any, values[k], locations, weights[0], outs[k]);
        for (size_t i = 0; i < OUTS; i++) near(outs[2][i], 3 * outs[0][i] - 0.5 * outs[1][i]);
        for (size_t k = 0; k < 3; k++) ref_msda(&any, values[0], locations, weights[k], outs[k]);
        for (size_t i = 0; i < OUTS; i++) near(outs[2][i], 3 * outs[0][i] - 0.5 * outs[1][i]);
    }
}
END_TEST

static double hat(double t)
{
    return fabs(t) < 1 ? 1 - fabs(t) : 0;
}

/* The definition of ref_msda.h as it stands there: all pixels of all levels, for one output. */
static double by_definition(size_t item, size_t d)
{
    double sum = 0;
    const double *image = values[0] + item / (QUERIES * HEADS) * PIXELS * HEADS * CHANNELS;
    for (size_t l = 0, start = 0; l < LEVELS; start += heights[l] * widths[l], l++)
        for (size_t p = 0; p < POINTS; p++)
            for (size_t pixel = 0; pixel < heights[l] * widths[l]; pixel++) {
                size_t point = (item * LEVELS + l) * POINTS + p;
                double x = locations[2 * point] * (double)widths[l] - 0.5, y = locations[2 * point + 1] * (double)heights[l] - 0.5;
                double share = hat(y - (double)(pixel / widths[l])) * hat(x - (double)(pixel % widths[l]));
                sum += weights[0][point] * share * image[((start + pixel) * HEADS + item % HEADS) * CHANNELS + d];
            }
    return sum;
}

START_TEST(agrees_with_the_definition)
{
    for (uint64_t seed = 100; seed < 110; seed++) {
        make_any(seed, 1, 1);
        ref_msda(&any, values[0], locations, weights[0], outs[0]);
        for (size_t i = 0; i < OUTS; i++) near(outs[0][i], by_definition(i / CHANNELS, i % CHANNELS));
    }
}
END_TEST

/* Between pixel centres bilinear interpolation gives back what is itself linear in row and column. */
START_TEST(reproduces_a_plane)
{
    enum { HEIGHT = 6, WIDTH = 9 };
    double plane[HEIGHT * WIDTH];
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    for (size_t i = 0; i < HEIGHT * WIDTH; i++) plane[i] = 2 + 3 * (double)(i / WIDTH) - 0.7 * (double)(i % WIDTH);
    for (size_t i = 0; i < 1000; i++) {
        double row = mt_rng_uniform(&rng) * (HEIGHT - 1), column = mt_rng_uniform(&rng) * (WIDTH - 1);
        near(sample(HEIGHT, WIDTH, plane, location(column, WIDTH), location(row, HEIGHT)), 2 + 3 * row - 0.7 * column);
    }
}
END_TEST

START_TEST(softmax_of_rows)
{
    double logits[] = {0, 0, 0, log(1), log(2), log(5), 1000, 1000, -1000};
    const double weights_of[] = {1 / 3.0, 1 / 3.0, 1 / 3.0, 0.125, 0.25, 0.625, 0.5, 0.5, 0};
    ref_softmax(logits, 3, 3);
    for (size_t i = 0; i < 9; i++) near(logits[i], weights_of[i]);
}
END_TEST

UNIT_MAIN("ref_msda", softmax_of_rows, pixel_centres, between_pixels, borders_and_corners, beyond_the_border, a_pixel_outside_is_nothing, one_pixel, one_row_and_one_column,
          wild_locations_add_nothing, wild_points_among_good_ones, bad_values_spread_from_where_they_count, levels_points_and_weights, layout,
          linear_in_values_and_weights, agrees_with_the_definition, reproduces_a_plane)
