/* Coordinates computed in f16 (kernels/msda_coords): which points fall into another cell. Rounding to half is emulated here, from its definition. */
#include "tests/unit/unit.h"
#include "tuner/base/rng.h"

#include <math.h>
#include <stdbool.h>

/* x rounded to the nearest half, ties to even; for magnitudes in [0, 65504). A double holds all that is rounded here exactly. */
static double to_half(double x)
{
    if (x == 0.0) return x;
    int exponent;
    (void)frexp(fabs(x), &exponent);                     /* |x| in [2^(exponent-1), 2^exponent) */
    const int step = (exponent < -13 ? -13 : exponent) - 11; /* halves there are 2^step apart; below 2^-14 all are 2^-24 apart */
    return ldexp(nearbyint(ldexp(x, -step)), step);
}

START_TEST(halves_are_rounded_to_nearest_even)
{
    ck_assert(to_half(1.0) == 1.0);
    ck_assert(to_half(-0.5) == -0.5);
    ck_assert(to_half(2049.0) == 2048.0); /* ties go to even */
    ck_assert(to_half(2051.0) == 2052.0);
    ck_assert(to_half(159.94) == 160.0 - 0.125 + 0.125); /* 1/8 apart from 128 on */
    ck_assert(to_half(159.93) == 159.875);
    ck_assert(to_half(0.1) == 0.0999755859375);
    ck_assert(to_half(ldexp(1.0, -24)) == ldexp(1.0, -24)); /* the smallest one */
    ck_assert(to_half(ldexp(1.0, -26)) == 0.0);
}
END_TEST

static double coordinate_f16(double location, int size)
{
    return to_half(to_half(to_half(location) * size) - 0.5);
}

typedef struct mismatch {
    double percent, most; /* of points in another cell; pixels off */
} mismatch;

/* `is_given_f16`: locations are halves already; else the f16 way rounds them first and the exact one does not. */
static mismatch mismatch_of(int height, int width, bool is_given_f16)
{
    enum { POINTS = 400000 };
    mt_rng rng;
    mt_rng_seed(&rng, 7);
    int other = 0;
    double most = 0.0;
    for (int i = 0; i < POINTS; i++) {
        double x = mt_rng_uniform(&rng), y = mt_rng_uniform(&rng);
        if (is_given_f16) x = to_half(x), y = to_half(y);
        const double column = x * width - 0.5, row = y * height - 0.5, column_f16 = coordinate_f16(x, width), row_f16 = coordinate_f16(y, height);
        other += floor(column) != floor(column_f16) || floor(row) != floor(row_f16);
        most = fmax(most, fmax(fabs(column - column_f16), fabs(row - row_f16)));
    }
    return (mismatch){ 100.0 * other / POINTS, most };
}

/* KERNELS: 4.6 % at W = 160, and coordinates up to 0.06 pixels off. Binomial: one standard deviation of 400,000 points is 0.033 %. */
START_TEST(cells_differ_by_4_6_percent_at_160_columns)
{
    const mismatch level0 = mismatch_of(92, 160, true), level1 = mismatch_of(46, 80, true), level3 = mismatch_of(12, 20, true), rounded = mismatch_of(92, 160, false);
    ck_assert_msg(level0.percent > 4.3 && level0.percent < 4.9, "%.3f %%", level0.percent);
    ck_assert_msg(level0.most > 0.06 && level0.most <= 0.0625, "%.4f pixels", level0.most);
    ck_assert_msg(level1.percent > 2.2 && level1.percent < 2.5, "%.3f %%", level1.percent);
    ck_assert_msg(level3.percent > 0.5 && level3.percent < 0.8, "%.3f %%", level3.percent);
    ck_assert_msg(rounded.percent > 4.9 && rounded.percent < 5.5 && rounded.most > 0.095, "%.3f %%, %.4f pixels", rounded.percent, rounded.most);
}
END_TEST

UNIT_MAIN("coords16", halves_are_rounded_to_nearest_even, cells_differ_by_4_6_percent_at_160_columns)
