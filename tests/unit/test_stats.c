#include "tests/normal.h"
#include "tests/unit/unit.h"
#include "tuner/base/stats.h"

#include <math.h>

START_TEST(sorting)
{
    double samples[] = {3, NAN, -1, INFINITY, 2, -INFINITY, 2};
    mt_stats_sort(samples, 7);
    const double expected[] = {-INFINITY, -1, 2, 2, 3, INFINITY};
    for (int i = 0; i < 6; i++) ck_assert(samples[i] == expected[i]);
    ck_assert(isnan(samples[6]));
    mt_stats_sort(NULL, 0);
}
END_TEST

START_TEST(quantiles)
{
    const double sorted[] = {1, 2, 4, 8};
    ck_assert_double_eq(mt_stats_quantile(sorted, 4, 0), 1);
    ck_assert_double_eq(mt_stats_quantile(sorted, 4, 1), 8);
    ck_assert_double_eq_tol(mt_stats_quantile(sorted, 4, 0.25), 1.75, 1e-12); /* as R's type 7 */
    ck_assert_double_eq_tol(mt_stats_quantile(sorted, 4, 0.9), 6.8, 1e-12);
    ck_assert_double_eq(mt_stats_median(sorted, 4), 3);
    ck_assert_double_eq(mt_stats_median(sorted, 3), 2);
    ck_assert_double_eq(mt_stats_median(sorted, 1), 1);
    const double wild[] = {1, 2, INFINITY};
    ck_assert_double_eq(mt_stats_median(wild, 3), 2);
}
END_TEST

START_TEST(moments)
{
    const double samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
    ck_assert_double_eq(mt_stats_mean(samples, 8), 5);
    ck_assert_double_eq_tol(mt_stats_stddev(samples, 8), 2.138089935299395, 1e-12);
    ck_assert_double_eq(mt_stats_stddev(samples, 1), 0);
}
END_TEST

/* Ranks from the tables of the sign test's interval (95 %, 99 %). */
START_TEST(median_interval_ranks)
{
    static const struct { size_t count; double confidence; size_t rank; } cases[] = {
        {6, 0.95, 1}, {8, 0.95, 1}, {9, 0.95, 2}, {10, 0.95, 2}, {15, 0.95, 4}, {20, 0.95, 6}, {25, 0.95, 8}, {30, 0.95, 10}, {40, 0.95, 14},
        {100, 0.95, 40}, {8, 0.99, 1}, {20, 0.99, 4}, {1, 0.95, 1}, {5, 0.95, 1}, {2, 0.5, 1}};
    double sorted[100];
    for (int i = 0; i < 100; i++) sorted[i] = i + 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double low, high;
        mt_stats_median_interval(sorted, cases[i].count, cases[i].confidence, &low, &high);
        ck_assert_msg(low == (double)cases[i].rank, "n=%zu: low %g", cases[i].count, low);
        ck_assert_double_eq(high, (double)(cases[i].count + 1 - cases[i].rank));
    }
}
END_TEST

START_TEST(median_interval_large)
{
    static double sorted[100000];
    for (int i = 0; i < 100000; i++) sorted[i] = i + 1;
    double low, high;
    mt_stats_median_interval(sorted, 100000, 0.95, &low, &high);
    ck_assert_double_eq_tol(low, 50000 - 1.96 * sqrt(100000) / 2, 2); /* the normal approximation is good here */
    ck_assert_double_eq(high, 100001 - low);
}
END_TEST

START_TEST(median_interval_covers)
{
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    int covered = 0;
    for (int trial = 0; trial < 4000; trial++) {
        double samples[15], low, high;
        for (int i = 0; i < 15; i++) samples[i] = draw_normal(&rng);
        mt_stats_sort(samples, 15);
        mt_stats_median_interval(samples, 15, 0.95, &low, &high);
        covered += low <= 0 && 0 <= high;
    }
    ck_assert_int_ge(covered, 3800 + 20); /* exact: 96.5 % = 3859 ± 12 */
    ck_assert_int_le(covered, 3900);
}
END_TEST

UNIT_MAIN("stats", sorting, quantiles, moments, median_interval_ranks, median_interval_large, median_interval_covers)
