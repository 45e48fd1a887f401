/* The engine of the model-based strategies: what it learns from its own expectations, and what failures count as. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/toy.h"
#include "tuner/search/model_search.h"

static mt_hindsight hindsight_of(double error, double deviation, double swing, int results)
{
    mt_hindsight hindsight = {0};
    for (int i = 0; i < results; i++) {
        double found = i % 2 ? swing : -swing;
        mt_hindsight_add(&hindsight, found + (i % 3 ? error : -error), deviation, found);
    }
    return hindsight;
}

START_TEST(deviations_are_calibrated)
{
    mt_hindsight none = {0}, right = hindsight_of(0.2, 0.2, 1, 40), bold = hindsight_of(0.4, 0.2, 1, 40), wild = hindsight_of(50, 0.2, 1, 100), shy = hindsight_of(0.001, 0.2, 1, 100);
    ck_assert_double_eq(mt_hindsight_scale(&none), 1);
    ck_assert_double_eq_tol(mt_hindsight_scale(&right), 1, 1e-9);
    ck_assert(mt_hindsight_scale(&bold) > 1.7 && mt_hindsight_scale(&bold) < 2);
    ck_assert_double_eq(mt_hindsight_scale(&wild), 3);
    ck_assert_double_eq(mt_hindsight_scale(&shy), 0.5);
}
END_TEST

START_TEST(a_constant_is_the_yardstick)
{
    mt_hindsight good = hindsight_of(0.5, 0.2, 1, 40), bad = hindsight_of(1.5, 0.2, 1, 40), early = hindsight_of(1.5, 0.2, 1, 8);
    ck_assert(!mt_hindsight_is_misled(&(mt_hindsight){0}));
    ck_assert(!mt_hindsight_is_misled(&good));
    ck_assert(mt_hindsight_is_misled(&bad));
    ck_assert(!mt_hindsight_is_misled(&early));
    for (int i = 0; i < 60; i++) mt_hindsight_add(&bad, i % 2, 0.2, i % 2); /* it has learned */
    ck_assert(!mt_hindsight_is_misled(&bad));
}
END_TEST

/* Below A = 8 all fails. */
static double cost_of(size_t point)
{
    return point < 8 ? INFINITY : 1000 + (double)point;
}

START_TEST(failures_are_slow_until_the_search_is)
{
    enum { FAILED = 3 };
    mt_spec *spec = toy_spec("", "[param A]\nvalues = 1..64\n");
    mt_space *space = toy_space(spec);
    mt_model_search search;
    float row[4];
    size_t place;
    ck_assert_int_eq(mt_model_search_init(&search, &(mt_search_setup){.space = space, .seed = 1, .budget = 100}, NULL), MT_OK);
    ck_assert_uint_le(search.features.count, 4);
    for (size_t point = 20; point > 8; point--) mt_model_search_tell(&search, point, cost_of(point));
    mt_model_search_tell(&search, 30, cost_of(30));
    ck_assert(mt_model_search_refresh(&search));
    ck_assert(mt_model_search_add(&search, (mt_proposal){FAILED, -0.5, 0.1}));
    mt_model_search_tell(&search, FAILED, INFINITY);
    ck_assert(mt_index_map_get(&search.ledger.places, FAILED, &place));

    ck_assert(mt_model_search_refresh(&search));
    for (size_t i = 0; i < search.ledger.count; i++) ck_assert_double_ge(search.targets[place], search.targets[i]);
    ck_assert(!mt_model_search_fit_validity(&search));

    for (size_t point = 0; point < 8; point++) {
        if (point != FAILED) mt_model_search_tell(&search, point, INFINITY);
    }
    for (size_t point = 40; point < 56; point++) mt_model_search_tell(&search, point, cost_of(point));
    ck_assert(mt_model_search_believes_failures(&search));
    ck_assert(mt_model_search_refresh(&search));
    ck_assert_double_lt(search.targets[place], 0); /* as good as was expected */
    ck_assert_double_gt(search.targets[place], search.best_target - 1);
    ck_assert(mt_model_search_fit_validity(&search));
    mt_features_of(&search.features, 4, row);
    double among_failures = mt_model_search_log_validity(&search, row);
    mt_features_of(&search.features, 47, row);
    ck_assert_double_lt(among_failures, log(0.2));
    ck_assert_double_gt(mt_model_search_log_validity(&search, row), log(0.9));

    mt_model_search_tell(&search, 8, cost_of(8)); /* better: there is progress again */
    ck_assert(!mt_model_search_believes_failures(&search));
    mt_model_search_free(&search);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* Sixty of a hundred points fail: those below a bound, or any. */
static bool fails_by_chance(uint64_t seed, bool has_reason)
{
    mt_spec *spec = toy_spec("", "[param A]\nvalues = 1..40\n[param B]\nvalues = 1..40\n");
    mt_space *space = toy_space(spec);
    mt_model_search search;
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    ck_assert_int_eq(mt_model_search_init(&search, &(mt_search_setup){.space = space, .seed = 1, .budget = 100}, NULL), MT_OK);
    for (int i = 0; i < 100; i++) {
        size_t point = (size_t)mt_rng_below(&rng, mt_space_count(space));
        double chance = mt_rng_uniform(&rng), place = (double)point / (double)mt_space_count(space);
        mt_model_search_tell(&search, point, (has_reason ? place : chance) < 0.6 ? INFINITY : 1000);
    }
    bool is = mt_model_search_fails_by_chance(&search);
    ck_assert(!is || (mt_model_search_believes_failures(&search) && !mt_model_search_fit_validity(&search)));
    mt_model_search_free(&search);
    mt_space_free(space);
    mt_spec_free(spec);
    return is;
}

START_TEST(failures_without_a_pattern_say_nothing)
{
    int chances = 0, reasons = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        chances += fails_by_chance(seed, false);
        reasons += !fails_by_chance(seed, true);
    }
    ck_assert_int_ge(chances, 18); /* it is a matter of odds */
    ck_assert_int_eq(reasons, 20);
}
END_TEST

/* Models that count what they hope for as found hope for more each time. */
START_TEST(hopes_are_no_better_than_the_best)
{
    mt_spec *spec = toy_spec("", "[param A]\nvalues = 1..64\n");
    mt_space *space = toy_space(spec);
    mt_model_search search;
    ck_assert_int_eq(mt_model_search_init(&search, &(mt_search_setup){.space = space, .seed = 1, .budget = 100}, NULL), MT_OK);
    for (size_t point = 20; point < 40; point++) mt_model_search_tell(&search, point, 1000 + (double)point);
    for (size_t point = 19; point > 0; point--) {
        ck_assert(mt_model_search_refresh(&search));
        ck_assert(mt_model_search_add(&search, (mt_proposal){point, search.best_target - 2, 0.1}));
        ck_assert_double_eq(search.ledger.items[search.ledger.count - 1].time_ns, 1020);
    }
    ck_assert(mt_model_search_refresh(&search));
    for (size_t i = 0; i < search.ledger.count; i++) ck_assert_double_ge(search.targets[i], search.best_target);
    mt_model_search_free(&search);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* How many sums and differences of logs the Gaussian process uses after 60 results that follow A alone, or the product of A and B. */
static size_t derived_in_use(bool is_product)
{
    static const char knobs[] = "[param A]\nvalues = 1,2,4,8,16,32,64,128\n[param B]\nvalues = 1,2,4,8,16,32,64,128\n[param C]\nvalues = 1,2,4,8\n";
    mt_spec *spec = toy_spec("", knobs);
    mt_space *space = toy_space(spec);
    mt_model_search search;
    mt_rng rng;
    size_t count = 0;
    mt_rng_seed(&rng, 3);
    ck_assert_int_eq(mt_model_search_init(&search, &(mt_search_setup){.space = space, .seed = 1, .budget = 100}, NULL), MT_OK);
    for (size_t i = 0; i < search.features.count; i++) ck_assert_int_eq(search.gp.is_unused[i], i >= search.features.plain_count);
    for (int i = 0; i < 60; i++) {
        size_t point = (size_t)mt_rng_below(&rng, mt_space_count(space));
        mt_point at;
        mt_proposal next;
        mt_space_at(space, point, &at);
        mt_model_search_tell(&search, point, 1000 * (1 + fabs(is_product ? at.level[1] + at.level[2] - 7.0 : at.level[1] - 3.0)));
        if (i > 20 && i % 10 == 0) ck_assert(mt_model_search_refresh(&search) && mt_propose_gp(&search, &next));
    }
    for (size_t i = search.features.plain_count; i < search.features.count; i++) count += !search.gp.is_unused[i];
    ck_assert_uint_gt(search.features.count, search.features.plain_count);
    mt_model_search_free(&search);
    mt_space_free(space);
    mt_spec_free(spec);
    return count;
}

START_TEST(derived_features_come_in_where_they_explain)
{
    ck_assert_uint_gt(derived_in_use(true), 0);
    ck_assert_uint_eq(derived_in_use(false), 0);
}
END_TEST

UNIT_MAIN("model_search", derived_features_come_in_where_they_explain, hopes_are_no_better_than_the_best, failures_without_a_pattern_say_nothing, deviations_are_calibrated, a_constant_is_the_yardstick, failures_are_slow_until_the_search_is)
