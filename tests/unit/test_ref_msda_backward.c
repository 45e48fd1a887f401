/* The independent gradients against finite differences of the independent forward, and cases that a person can work out. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/ref/ref_msda_backward.h"
#include "tests/unit/unit.h"
#include "tuner/base/rng.h"

static void near(double value, double expected, double tolerance)
{
    ck_assert_msg(fabs(value - expected) <= tolerance * fmax(1.0, fabs(expected)), "%.17g instead of %.17g", value, expected);
}

static double location(double at, size_t size)
{
    return (at + 0.5) / (double)size;
}

/* ---- one point ---- */

static const double grid[] = {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}; /* 3 rows of 4 */

typedef struct one {
    double value[12], x, y, weight;
} one;

/* Gradients of weight * sample at (row, column) of the grid of one channel, times `gradient`. */
static one of_point(double row, double column, double weight, double gradient)
{
    const size_t height = 3, width = 4;
    const struct ref_msda_shape shape = {1, 1, 1, 1, 1, 1, &height, &width};
    const double loc[] = {location(column, 4), location(row, 3)};
    double grad_loc[2] = {NAN, NAN};
    one out;
    for (size_t i = 0; i < 12; i++) out.value[i] = NAN; /* they must be written */
    out.weight = NAN;
    ref_msda_backward(&shape, REF_MSDA_EXACT, grid, loc, &weight, &gradient, (struct ref_msda_gradients){out.value, grad_loc, &out.weight});
    out.x = grad_loc[0];
    out.y = grad_loc[1];
    return out;
}

START_TEST(inside_a_cell)
{
    one at = of_point(0.25, 1.5, 2, 3);
    near(at.weight, 3 * (0.75 * 2.5 + 0.25 * 25), 1e-12);
    near(at.x, 3 * 2 * 4 * (0.75 * (3 - 2) + 0.25 * (30 - 20)), 1e-12);
    near(at.y, 3 * 2 * 3 * (25 - 2.5), 1e-12);
    for (size_t i = 0; i < 12; i++) near(at.value[i], i == 1 || i == 2 ? 6 * 0.75 * 0.5 : i == 5 || i == 6 ? 6 * 0.25 * 0.5 : 0, 1e-12);
}
END_TEST

START_TEST(outside_by_less_than_a_pixel)
{
    one at = of_point(2.5, -0.25, 1, 1); /* corners: only pixel (2, 0) */
    near(at.weight, 0.5 * 0.75 * 100, 1e-12);
    near(at.x, 4 * 0.5 * 100, 1e-12);
    near(at.y, 3 * 0.75 * -100, 1e-12);
    for (size_t i = 0; i < 12; i++) near(at.value[i], i == 8 ? 0.375 : 0, 1e-12);
}
END_TEST

/* On a pixel's centre the cell to the right and below counts; on the last column that is outside, where zeros are. */
START_TEST(at_a_kink_the_right_derivative)
{
    one at = of_point(1, 1, 1, 1), last = of_point(2, 3, 1, 1);
    near(at.x, 4 * (30 - 20), 1e-12);
    near(at.y, 3 * (200 - 20), 1e-12);
    near(at.weight, 20, 1e-12);
    near(last.x, 4 * -400, 1e-12);
    near(last.y, 3 * -400, 1e-12);
    for (size_t i = 0; i < 12; i++) near(at.value[i], i == 5, 1e-12);
}
END_TEST

START_TEST(points_that_do_not_count)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, DBL_MAX, -DBL_MAX, -1, 4, 65504};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
        for (size_t k = 0; k < 2; k++) {
            one at = of_point(k ? 1 : wild[i], k ? wild[i] : 1, k ? NAN : 1, 1);
            ck_assert_double_eq(at.x, 0);
            ck_assert_double_eq(at.y, 0);
            ck_assert_double_eq(at.weight, 0);
            for (size_t pixel = 0; pixel < 12; pixel++) ck_assert_double_eq(at.value[pixel], 0);
        }
}
END_TEST

/* ---- finite differences ---- */

enum { IMAGES = 2, QUERIES = 5, HEADS = 2, CHANNELS = 3, LEVELS = 4, POINTS = 3 };
static const size_t heights[LEVELS] = {5, 3, 1, 1}, widths[LEVELS] = {8, 2, 4, 1};
static const struct ref_msda_shape any = {IMAGES, QUERIES, HEADS, CHANNELS, LEVELS, POINTS, heights, widths};
enum { PIXELS = 40 + 6 + 4 + 1, VALUES = IMAGES * PIXELS * HEADS * CHANNELS, ITEMS = IMAGES * QUERIES * HEADS, WEIGHTS = ITEMS * LEVELS * POINTS, OUTS = ITEMS * CHANNELS };
static double value[VALUES], loc[2 * WEIGHTS], attn[WEIGHTS], grad_out[OUTS], grad_value[VALUES], grad_loc[2 * WEIGHTS], grad_attn[WEIGHTS];

/* e, what the gradients are of. */
static double energy(void)
{
    static double out[OUTS];
    double sum = 0;
    ref_msda(&any, value, loc, attn, out);
    for (size_t i = 0; i < OUTS; i++) sum += grad_out[i] * out[i];
    return sum;
}

static double moved(double *number, double by)
{
    double before = *number, result;
    *number = before + by;
    result = energy();
    *number = before;
    return result;
}

/* e is linear in each value and weight, and between kinks in each coordinate: then differences are exact but for rounding. */
static double central(double *number, double step)
{
    return (moved(number, step) - moved(number, -step)) / (2 * step);
}

static double to_the_right(double *number, double step)
{
    return (moved(number, step) - moved(number, 0)) / step;
}

static void make_any(uint64_t seed)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 0; i < VALUES; i++) value[i] = 2 * mt_rng_uniform(&rng) - 1;
    for (size_t i = 0; i < OUTS; i++) grad_out[i] = 2 * mt_rng_uniform(&rng) - 1;
    for (size_t i = 0; i < WEIGHTS; i++) attn[i] = 2 * mt_rng_uniform(&rng) - 1;
}

static size_t size_of(size_t coordinate)
{
    size_t level = coordinate / (2 * POINTS) % LEVELS;
    return coordinate % 2 ? heights[level] : widths[level];
}

/* Coordinates from well outside to well outside, none nearer to a kink than a hundredth of a pixel. */
static void place_between_kinks(uint64_t seed)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 0; i < 2 * WEIGHTS; i++) {
        size_t size = size_of(i);
        double cell = (double)mt_rng_below(&rng, size + 3) - 2;
        loc[i] = location(cell + 0.01 + 0.98 * mt_rng_uniform(&rng), size);
    }
}

static void backward(enum ref_msda_coordinates coordinates)
{
    for (size_t i = 0; i < VALUES; i++) grad_value[i] = NAN;
    for (size_t i = 0; i < WEIGHTS; i++) grad_loc[2 * i] = grad_loc[2 * i + 1] = grad_attn[i] = NAN;
    ref_msda_backward(&any, coordinates, value, loc, attn, grad_out, (struct ref_msda_gradients){grad_value, grad_loc, grad_attn});
}

START_TEST(agrees_with_finite_differences)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        make_any(seed);
        place_between_kinks(seed + 1000);
        backward(REF_MSDA_EXACT);
        for (size_t i = 0; i < VALUES; i++) near(grad_value[i], central(&value[i], 0.5), 1e-11);
        for (size_t i = 0; i < WEIGHTS; i++) near(grad_attn[i], central(&attn[i], 0.5), 1e-11);
        for (size_t i = 0; i < 2 * WEIGHTS; i++) near(grad_loc[i], central(&loc[i], 0.001 / (double)size_of(i)), 1e-9);
    }
}
END_TEST

/* Pixel centres, also of the border. Sizes are powers of two here where they must be, so that a coordinate is exactly on its kink. */
START_TEST(agrees_at_kinks_from_the_right)
{
    mt_rng rng;
    mt_rng_seed(&rng, 7);
    make_any(7);
    for (size_t i = 0; i < 2 * WEIGHTS; i++) {
        size_t size = size_of(i);
        bool is_exact = (size & (size - 1)) == 0;
        loc[i] = location(is_exact ? (double)mt_rng_below(&rng, size) : (double)mt_rng_below(&rng, size) + 0.3, size);
    }
    backward(REF_MSDA_EXACT);
    for (size_t i = 0; i < 2 * WEIGHTS; i++) near(grad_loc[i], to_the_right(&loc[i], 0.001 / (double)size_of(i)), 1e-9);
}
END_TEST

/* f32 coordinates: the same but for their rounding, where no kink is near. */
START_TEST(rounded_coordinates)
{
    static double exact[2 * WEIGHTS];
    make_any(11);
    place_between_kinks(12);
    for (size_t i = 0; i < 2 * WEIGHTS; i++) loc[i] = (float)loc[i];
    backward(REF_MSDA_EXACT);
    memcpy(exact, grad_loc, sizeof exact);
    backward(REF_MSDA_F32);
    for (size_t i = 0; i < 2 * WEIGHTS; i++) near(grad_loc[i], exact[i], 1e-5);
}
END_TEST

UNIT_MAIN("ref_msda_backward", inside_a_cell, outside_by_less_than_a_pixel, at_a_kink_the_right_derivative, points_that_do_not_count,
          agrees_with_finite_differences, agrees_at_kinks_from_the_right, rounded_coordinates)
