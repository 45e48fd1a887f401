/* The rule itself, as both sides evaluate it: features, distances, what near shapes say, which variant comes next, what is expected of it. */
#include "db/rule.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

static const mt_rule_feature one_feature[] = {{1, false}};

/* ---- logarithms, features, distance ---- */

START_TEST(logarithms_without_libm)
{
    for (int64_t v = 1; v < 100000; v += 7) ck_assert_double_eq_tol(mt_rule_log2(v), log2((double)v), 1e-8);
    ck_assert_double_eq_tol(mt_rule_log2(INT64_MAX), 63, 1e-8);
    ck_assert(mt_rule_log2(0) < mt_rule_log2(1));
    ck_assert(mt_rule_log2(-1) < mt_rule_log2(0));
    ck_assert(mt_rule_log2(-8) < mt_rule_log2(-1));
    ck_assert(isfinite(mt_rule_log2(INT64_MIN)));
    for (double x = -20; x < 20; x += 0.37) ck_assert_double_eq_tol(mt_rule_exp2(x) / exp2(x), 1, 1e-8);
}
END_TEST

/* Equal volumes, other shapes. */
START_TEST(a_distance_is_no_volume)
{
    double a[3], b[3], c[3];
    const int64_t flat[3] = {1024, 1, 1}, square[3] = {32, 32, 1}, near[3] = {1000, 1, 1};
    const mt_rule_feature features[3] = {{1, false}, {1, false}, {1, false}};
    for (size_t i = 0; i < 3; i++) {
        mt_rule_of_int(flat[i], &a[i]);
        mt_rule_of_int(square[i], &b[i]);
        mt_rule_of_int(near[i], &c[i]);
    }
    ck_assert_double_eq_tol(mt_rule_distance(features, 3, a, b), sqrt(50), 1e-6);
    ck_assert(mt_rule_distance(features, 3, a, c) < 0.05);
    ck_assert(mt_rule_distance(features, 3, a, a) == 0);
    double x[MT_RULE_LIST_FEATURES], y[MT_RULE_LIST_FEATURES];
    const int64_t down[3] = {1024, 1, 1}, up[3] = {1, 1, 1024};
    mt_rule_of_list(down, 3, x);
    mt_rule_of_list(up, 3, y);
    mt_rule_feature five[MT_RULE_LIST_FEATURES];
    for (size_t i = 0; i < MT_RULE_LIST_FEATURES; i++) five[i] = (mt_rule_feature){0.2, false};
    ck_assert(mt_rule_distance(five, MT_RULE_LIST_FEATURES, x, y) > 1);
    const mt_rule_feature text[1] = {{1, true}};
    mt_rule_of_text("f16", 3, x);
    mt_rule_of_text("f32", 3, y);
    ck_assert_double_eq_tol(mt_rule_distance(text, 1, x, y), MT_RULE_TEXT_OCTAVES, 1e-9);
}
END_TEST

/* Keys are compared by what they hold; those of another version of a file are farthest. */
START_TEST(distance_of_keys)
{
    const char *kinds = "list,int,string";
    ck_assert_double_eq(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=4,2;N=8;t=f16", kinds), 0);
    ck_assert_double_eq_tol(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=4,2;N=16;t=f16", kinds), 1, 1e-6);
    ck_assert_double_eq_tol(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=4,2;N=8;t=f32", kinds), MT_RULE_TEXT_OCTAVES, 1e-6);
    double list = mt_rule_key_distance("H=4,2;N=8;t=f16", "H=8,4;N=8;t=f16", kinds);
    ck_assert(list > 0.5 && list < 1);
    ck_assert(isinf(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=4,2;M=8;t=f16", kinds)));
    ck_assert(isinf(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=4,2;N=8", kinds)));
    ck_assert(isinf(mt_rule_key_distance("H=4,2;N=8;t=f16", "H=x;N=8;t=f16", kinds)));
}
END_TEST

/* ---- what near shapes say ---- */

enum { SHAPES = 3, VARIANTS = 4 };
static const double places[SHAPES] = {0, 0.25, 9};
static const bool all_usable[VARIANTS] = {true, true, true, true}, none_usable[VARIANTS] = {false};

static mt_rule rule_of(const double *slowdown, const double *of_default)
{
    return (mt_rule){.shape_count = SHAPES, .variant_count = VARIANTS, .feature_count = 1, .features = one_feature, .shapes = places, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = all_usable};
}

/* Asked is the first shape's place: the second one's word counts half, the third one's nothing. What was not measured or failed counts as a quarter; what has no time near by is not offered. */
START_TEST(a_prediction_is_a_weighted_mean)
{
    const double slowdown[SHAPES * VARIANTS] = {0.3, NAN, INFINITY, NAN, 0, 0.3, 0, NAN, 0, 0, 0, 0}, of_default[SHAPES] = {1, 1, 1}, asked = 0;
    mt_rule rule = rule_of(slowdown, of_default);
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    ck_assert_double_eq_tol(search.weight[1], 0.5, 1e-9);
    ck_assert(search.weight[2] == 0);
    const struct { size_t variant, witness; double predicted; } offers[] = {{0, 0, 0.3 / 1.5}, {2, 1, MT_RULE_UNKNOWN_LOG2 / 1.5}, {1, 1, (MT_RULE_UNKNOWN_LOG2 + 0.15) / 1.5}};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(mt_rule_next(&rule, &search));
        ck_assert_uint_eq(search.nearest, 0);
        ck_assert_uint_eq(search.variant, offers[i].variant);
        ck_assert_uint_eq(search.witness, offers[i].witness);
        ck_assert_double_eq_tol(search.predicted[search.variant], offers[i].predicted, 1e-8);
    }
    ck_assert(!mt_rule_next(&rule, &search));
    ck_assert(!mt_rule_next(&rule, &search));
    rule.is_usable = none_usable;
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(!mt_rule_next(&rule, &search));
}
END_TEST

/* Whatever is left of the shapes answers, however far it is; without any there is nothing to say. */
START_TEST(shapes_that_are_left_out_do_not_exist)
{
    const double slowdown[SHAPES * VARIANTS] = {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1}, of_default[SHAPES] = {1, 1, 1}, asked = 0;
    bool is_left_out[SHAPES] = {false};
    mt_rule rule = rule_of(slowdown, of_default);
    mt_rule_search search;
    rule.is_left_out = is_left_out;
    for (size_t i = 0; i < SHAPES; i++) {
        mt_rule_begin(&rule, &asked, &search);
        ck_assert(mt_rule_next(&rule, &search));
        ck_assert(search.nearest == i && search.variant == i);
        is_left_out[i] = true;
    }
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(search.nearest == SIZE_MAX);
    ck_assert(!mt_rule_next(&rule, &search));
}
END_TEST

/* ---- what is expected ---- */

/* At half the knot's distance half of its value; beyond the reach in proportion, and told. The bound is never less than what is expected. */
START_TEST(expectations_grow_with_distance)
{
    const double slowdown[SHAPES * VARIANTS] = {0.1, NAN, NAN, NAN, 0.1, NAN, NAN, NAN, 0.1, NAN, NAN, NAN}, of_default[SHAPES] = {0.5, 0.5, 0.5};
    const struct { double asked, error, most; bool is_far; } cases[] = {{0, 0, 0, false}, {-0.5, 0.1, 0.2, false}, {-1, 0.2, 0.4, false}, {-2, 0.4, 0.4, false}, {-2.001, 0.4002, 0.4002, true}, {-8, 1.6, 1.6, true}};
    mt_rule rule = rule_of(slowdown, of_default);
    mt_rule_search search;
    rule.error = (mt_rule_curve){.distance = {1, 2}, .value = {0.2, 0.4}, .count = 2, .reach = 2};
    rule.most = (mt_rule_curve){.distance = {1}, .value = {0.4}, .count = 1, .reach = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_rule_begin(&rule, &cases[i].asked, &search);
        ck_assert(mt_rule_next(&rule, &search));
        mt_rule_expectation expected = mt_rule_expect(&rule, &search);
        ck_assert_double_eq_tol(expected.slowdown, 0.1 + cases[i].error, 1e-9);
        ck_assert(expected.is_far == cases[i].is_far);
        ck_assert_double_eq_tol(expected.most, 0.1 + cases[i].most, cases[i].is_far ? 1e-3 : 1e-9);
        ck_assert_double_eq_tol(expected.advantage, 0.4 - cases[i].error, 1e-9);
    }
    rule.error.value[0] = rule.error.value[1] = rule.most.value[0] = 0; /* nothing was ever lost, but farther away that is no promise */
    mt_rule_begin(&rule, &cases[5].asked, &search);
    ck_assert(mt_rule_next(&rule, &search));
    ck_assert_double_eq_tol(mt_rule_expect(&rule, &search).slowdown, 0.1, 1e-12);
    ck_assert_double_eq_tol(mt_rule_expect(&rule, &search).most, 0.1 + 6 * MT_RULE_FAR_LOG2, 1e-12);
    rule.error.value[0] = 0.2;
    rule.error.value[1] = 0.4;
    rule.most.value[0] = 0.01; /* a few great losses raised the mean */
    mt_rule_begin(&rule, &cases[2].asked, &search);
    ck_assert(mt_rule_next(&rule, &search));
    mt_rule_expectation expected = mt_rule_expect(&rule, &search);
    ck_assert_double_eq_tol(expected.most, expected.slowdown, 1e-12);
}
END_TEST

/* Nothing was held out: nothing is said, but that very near to a tuned shape its time beside the default's decides. */
START_TEST(without_anything_held_out_only_what_is_close_is_compared)
{
    const double slowdown[SHAPES * VARIANTS] = {0, NAN, NAN, NAN, 0, NAN, NAN, NAN, 0, NAN, NAN, NAN}, of_default[SHAPES] = {0.4, 0.4, 0.4}, next = -0.2, off = -0.3;
    mt_rule rule = rule_of(slowdown, of_default);
    mt_rule_search search;
    for (int i = 0; i < 2; i++) {
        mt_rule_begin(&rule, i ? &off : &next, &search);
        ck_assert(mt_rule_next(&rule, &search));
        mt_rule_expectation expected = mt_rule_expect(&rule, &search);
        ck_assert(isnan(expected.slowdown) && isnan(expected.most) && !expected.is_far);
        if (i) ck_assert(isnan(expected.advantage));
        else ck_assert_double_eq_tol(expected.advantage, 0.4, 1e-9);
    }
}
END_TEST

/* The default is a variant like others, over the shapes that know it; where it fails on the nearest one, anything is better. */
START_TEST(the_default_is_predicted_too)
{
    const double slowdown[SHAPES * VARIANTS] = {0, NAN, NAN, NAN, 0, NAN, NAN, NAN, 0, NAN, NAN, NAN}, asked = 0;
    const struct { double of_default[SHAPES], expected; } cases[] = {{{0.3, 0, 9}, 0.2}, {{0.3, INFINITY, 9}, 0.3}, {{NAN, 0.5, 9}, 0.5}, {{NAN, NAN, 9}, NAN}, {{INFINITY, 0, 0}, INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_rule rule = rule_of(slowdown, cases[i].of_default);
        mt_rule_search search;
        mt_rule_begin(&rule, &asked, &search);
        ck_assert(mt_rule_next(&rule, &search));
        double of_default = mt_rule_expect(&rule, &search).of_default;
        ck_assert_msg(of_default == cases[i].expected || fabs(of_default - cases[i].expected) < 1e-9 || (isnan(of_default) && isnan(cases[i].expected)), "%zu: %g", i, of_default);
    }
}
END_TEST

UNIT_MAIN("predictor_rule", logarithms_without_libm, a_distance_is_no_volume, distance_of_keys, a_prediction_is_a_weighted_mean, shapes_that_are_left_out_do_not_exist, expectations_grow_with_distance,
          without_anything_held_out_only_what_is_close_is_compared, the_default_is_predicted_too)
