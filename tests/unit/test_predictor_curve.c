/* Curves over distance: the mean rises as the points do, the quantile keeps its promise, both go on beyond their reach. */
#include <math.h>

#include "tests/unit/unit.h"
#include "tuner/base/rng.h"
#include "tuner/predictor/predictor_internal.h"

START_TEST(a_mean_rises_with_its_points)
{
    mt_rng rng;
    mt_predictor_point points[500];
    mt_rule_curve curve;
    mt_rng_seed(&rng, 5);
    for (size_t i = 0; i < 500; i++) {
        points[i].distance = mt_rng_uniform(&rng) * 8;
        points[i].value = 0.1 * points[i].distance + 0.2 * (mt_rng_uniform(&rng) - 0.5);
    }
    mt_predictor_fit_mean(points, 500, &curve);
    ck_assert_uint_le(curve.count, MT_RULE_KNOTS);
    double last = 0;
    for (double d = 0; d <= curve.reach; d += 0.01) {
        double value = mt_rule_curve_at(&curve, d);
        ck_assert(value >= last - 1e-12);
        if (d > 1) ck_assert_double_eq_tol(value, 0.1 * d, 0.1);
        last = value;
    }
}
END_TEST

/* Beyond what was held out a loss grows in proportion to the distance. */
START_TEST(curves_are_extrapolated)
{
    const mt_rule_curve curve = {.distance = {1, 2}, .value = {0.1, 0.3}, .count = 2, .reach = 3}, at_once = {.distance = {0}, .value = {0.2}, .count = 1, .reach = 0}, none = {.count = 0};
    const struct { double distance, value; } cases[] = {{0, 0}, {0.5, 0.05}, {1, 0.1}, {1.5, 0.2}, {2, 0.3}, {3, 0.3}, {6, 0.6}, {30, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) ck_assert_double_eq_tol(mt_rule_curve_at(&curve, cases[i].distance), cases[i].value, 1e-12);
    ck_assert_double_eq_tol(mt_rule_curve_at(&at_once, 0), 0.2, 1e-12);
    ck_assert_double_eq_tol(mt_rule_curve_at(&at_once, 5), 0.2, 1e-12); /* no distance to be in proportion to */
    ck_assert(isnan(mt_rule_curve_at(&none, 0)));
}
END_TEST

/* Losses as they come: most are small, a few are great, whatever the distance. */
static void draw(mt_rng *rng, mt_predictor_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) points[i] = (mt_predictor_point){0.3 + 5 * mt_rng_uniform(rng), -0.1 * log(1 - mt_rng_uniform(rng))};
}

/* Of points like those that it was fitted to, at most a tenth are above, however few there were (nine at least). 400 fits each: by chance the share goes up by 0.01 at most. */
START_TEST(a_quantile_keeps_its_promise)
{
    enum { FITS = 400, FRESH = 50, MOST = 700 };
    static const size_t counts[] = {9, 15, 20, 39, 100, MOST};
    mt_rng rng;
    mt_rng_seed(&rng, 7);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t above = 0;
        for (int fit = 0; fit < FITS; fit++) {
            mt_predictor_point points[MOST], fresh[FRESH];
            mt_rule_curve curve;
            draw(&rng, points, counts[c]);
            draw(&rng, fresh, FRESH);
            ck_assert(mt_predictor_fit_quantile(points, counts[c], 0.9, &curve));
            for (size_t i = 1; i < curve.count; i++) ck_assert(curve.distance[i] >= curve.distance[i - 1] && curve.value[i] >= curve.value[i - 1]);
            for (size_t i = 0; i < FRESH; i++) above += fresh[i].value > mt_rule_curve_at(&curve, fresh[i].distance);
        }
        double share = (double)above / (FITS * FRESH), allowed = 0.11 + 0.5 / (double)counts[c]; /* some are nearer than the nearest of few points */
        ck_assert_msg(share <= allowed, "%zu points: %g above", counts[c], share);
    }
}
END_TEST

START_TEST(too_little_gives_no_curve)
{
    mt_rule_curve curve;
    mt_predictor_fit_mean(NULL, 0, &curve);
    ck_assert(isnan(mt_rule_curve_at(&curve, 0)));
    ck_assert(mt_predictor_fit_quantile(NULL, 0, 0.9, &curve));
    ck_assert(isnan(mt_rule_curve_at(&curve, 0)));
    mt_predictor_point few[9] = {{1, 0.1}};
    ck_assert(mt_predictor_fit_quantile(few, 8, 0.9, &curve)); /* the greatest of eight is exceeded by more than one of ten */
    ck_assert(isnan(mt_rule_curve_at(&curve, 1)));
    ck_assert(mt_predictor_fit_quantile(few, 9, 0.9, &curve));
    ck_assert_double_eq_tol(mt_rule_curve_at(&curve, 1), 0.1, 1e-12);
}
END_TEST

UNIT_MAIN("predictor_curve", a_mean_rises_with_its_points, curves_are_extrapolated, a_quantile_keeps_its_promise, too_little_gives_no_curve)
