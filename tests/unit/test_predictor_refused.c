/* What may not answer: variants and defaults that do not run on the asked shape, or computed wrong results with one of its texts. */
#include "tuner/predictor/predictor.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/predictor/predictor_internal.h"

static mt_error err;
static const mt_predictor_options usual = {.max = 8, .within = 1.10};

/* All that is fast on the nearest shape may not run here. */
START_TEST(a_shape_whose_fast_variants_may_not_run_is_passed_over)
{
    double shapes[] = {0, 1, 3}, slowdown[] = {0, 0.8, NAN, NAN, 0.1, 0.2, 0, NAN, 0.05}, of_default[] = {1, 1, 1}, asked = 0.1;
    mt_rule_feature features[] = {{1, false}};
    bool is_usable[] = {true, true, true};
    mt_rule rule = {.shape_count = 3, .variant_count = 3, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable};
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 0);
    mt_rule_refuse(&search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 1 && search.variant == 1);
    mt_rule_refuse(&search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 1 && search.variant == 2);
    mt_rule_refuse(&search);
    ck_assert(!mt_rule_next(&rule, &asked, &search));
    slowdown[3] = 0;
    slowdown[4] = slowdown[5] = slowdown[8] = 0.9; /* nothing is better anywhere */
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_next(&rule, &asked, &search);
    mt_rule_refuse(&search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 1);
}
END_TEST

/* Shapes with text 7 and one with text 8, where variant 0 and the default fail and 1 was not tried. Right with one of a text's shapes is right with the text. */
START_TEST(what_is_wrong_with_a_text_is_refused)
{
    double shapes[] = {0, 7, 1, 7, 9, 8}, slowdown[] = {0, 0.1, INFINITY, 0.1, INFINITY, NAN}, of_default[] = {1, INFINITY, INFINITY}, same[] = {0.1, 7}, other[] = {0.1, 8}, unknown[] = {0.1, 9};
    mt_rule_feature features[] = {{1, false}, {1, true}};
    bool is_usable[] = {true, true}, is_wrong[] = {false, false, true, false, true, false};
    mt_rule rule = {.shape_count = 3, .variant_count = 2, .feature_count = 2, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .is_wrong = is_wrong};
    const struct { const double *asked; size_t refused; bool default_fails; } cases[] = {{same, 0, false}, {other, 1, true}, {unknown, 0, false}};
    for (size_t i = 0; i < 3; i++) {
        mt_rule_search search;
        mt_rule_begin(&rule, cases[i].asked, &search);
        ck_assert_uint_eq(mt_rule_refuse_wrong(&rule, cases[i].asked, &search), cases[i].refused);
        ck_assert(mt_rule_default_fails(&rule, cases[i].asked) == cases[i].default_fails);
        ck_assert(mt_rule_next(&rule, cases[i].asked, &search));
        ck_assert_uint_eq(search.variant, cases[i].refused);
    }
}
END_TEST

/* Of several workloads the worst counts, so no variant is as fast as the best of each: that alone passes no shape over. */
START_TEST(a_shape_on_which_nothing_is_best_for_all_counts)
{
    double shapes[] = {0, 1}, slowdown[] = {0.5, 0.7, 0.2, 0.1}, of_default[] = {1, 1}, asked = 0.1;
    mt_rule_feature features[] = {{1, false}};
    bool is_usable[] = {true, true};
    mt_rule rule = {.shape_count = 2, .variant_count = 2, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable};
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 0);
    mt_rule_refuse(&search); /* what is left is 0.7 there, within a quarter of 0.5 */
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 1);
}
END_TEST

/* On one shape variant 2 alone may run. Elsewhere it is not within a tenth of the best, but within a quarter. */
START_TEST(what_is_nearly_the_best_may_answer_where_little_may_run)
{
    enum { N = 7, V = 3, ODD = 6 };
    double shapes[N], slowdown[N * V], of_default[N];
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL};
    mt_predictor_trial trials[N];
    mt_predictor_evaluation e;
    for (size_t i = 0; i < N; i++) {
        const double row[V] = {0.01 * (double)i, 0, 0.25};
        shapes[i] = 0.3 * (double)i;
        of_default[i] = 1;
        memcpy(slowdown + i * V, row, sizeof row);
    }
    slowdown[ODD * V] = slowdown[ODD * V + 1] = INFINITY;
    slowdown[ODD * V + 2] = 0;
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, trials, &e, &err), MT_OK);
    ck_assert_uint_eq(trials[ODD].variant, 2);
}
END_TEST

/* Where the default is expected to win it answers, but on the shape that excludes it: there it has no time. */
START_TEST(a_default_that_may_not_run_answers_nothing)
{
    enum { N = 7, V = 2, EXCLUDED = 3 };
    double shapes[N], slowdown[N * V], of_default[N] = {0};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL};
    mt_predictor_trial trials[N];
    mt_predictor_evaluation e;
    for (size_t i = 0; i < N; i++) {
        shapes[i] = 0.3 * (double)i;
        slowdown[i * V] = 0.1;
        slowdown[i * V + 1] = 0.2;
    }
    of_default[EXCLUDED] = NAN;
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, trials, &e, &err), MT_OK);
    for (size_t i = 0; i < N; i++) ck_assert_uint_eq(trials[i].variant, i == EXCLUDED ? 0 : V);
    ck_assert_uint_eq(e.alone.unknown, 0);
}
END_TEST

UNIT_MAIN("predictor_refused", a_shape_whose_fast_variants_may_not_run_is_passed_over, what_is_wrong_with_a_text_is_refused, a_shape_on_which_nothing_is_best_for_all_counts,
          what_is_nearly_the_best_may_answer_where_little_may_run, a_default_that_may_not_run_answers_nothing)
