#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/session/rates.h"

static double rate(const mt_metric *rates, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rates[i].name, name) == 0) return rates[i].value;
    }
    return NAN;
}

START_TEST(what_a_time_means)
{
    const mt_model model = {.flops = 4e6, .dram_bytes = 3e6, .moved_bytes = NAN, .ops = 13200, .floor_ns = NAN};
    const mt_timing timing = {.median_ns = 10000, .sm_mhz = 2000};
    mt_metric rates[MT_RATES_MAX];
    size_t count = mt_rates_metrics(&model, &timing, 132, rates);
    ck_assert_uint_eq(count, 4);
    ck_assert_double_eq_tol(rate(rates, count, "dram_bytes_per_s"), 3e11, 1);
    ck_assert_double_eq_tol(rate(rates, count, "flops_per_s"), 4e11, 1);
    ck_assert_double_eq_tol(rate(rates, count, "ops_per_s"), 1.32e9, 1);
    ck_assert_double_eq_tol(rate(rates, count, "clocks_per_op_per_sm"), 200, 1e-9); /* 100 ops per SM in 20000 clocks */
}
END_TEST

START_TEST(what_is_not_known_has_no_rate)
{
    const mt_model none = {NAN, NAN, NAN, NAN, NAN}, ops = {NAN, NAN, NAN, 10, NAN};
    const mt_timing without_clock = {.median_ns = 10000}, without_time = {0};
    mt_metric rates[MT_RATES_MAX];
    ck_assert_uint_eq(mt_rates_metrics(&none, &without_clock, 132, rates), 0);
    ck_assert_uint_eq(mt_rates_metrics(&ops, &without_time, 132, rates), 0);
    ck_assert_uint_eq(mt_rates_metrics(&ops, &without_clock, 132, rates), 1);
    ck_assert_str_eq(rates[0].name, "ops_per_s");
}
END_TEST

UNIT_MAIN("rates", what_a_time_means, what_is_not_known_has_no_rate)
