/* What may not answer: variants and defaults that do not run on the asked shape, or computed wrong results with one of its texts. */
#include "tuner/predictor/predictor.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/predictor/predictor_internal.h"

static mt_error err;
static const mt_predictor_options usual = {.max = 8, .within = 1.10};

/* Shapes with text 7 and one with text 8, where variant 0 and the default fail and 1 was not tried. Right with one of a text's shapes is right with the text. */
START_TEST(what_is_wrong_with_a_text_is_refused)
{
    double shapes[] = {0, 7, 1, 7, 9, 8}, slowdown[] = {0, 0.2, INFINITY, 0.2, INFINITY, NAN}, of_default[] = {1, INFINITY, INFINITY}, same[] = {0.1, 7}, other[] = {0.1, 8}, unknown[] = {0.1, 9};
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
        ck_assert(mt_rule_next(&rule, &search));
        ck_assert_uint_eq(search.variant, cases[i].refused);
    }
}
END_TEST

/* On one shape variant 2 alone may run. Elsewhere it is not within a tenth of the best, but within a quarter. */
START_TEST(what_is_nearly_the_best_may_answer_where_little_may_run)
{
    enum { N = 7, V = 3, ODD = 6 };
    double shapes[N], slowdown[N * V], of_default[N];
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
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
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
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
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor_trial trials[N];
    mt_predictor_evaluation e;
    for (size_t i = 0; i < N; i++) {
        shapes[i] = 0.3 * (double)i;
        slowdown[i * V] = 0.1;
        slowdown[i * V + 1] = 0.2;
    }
    of_default[EXCLUDED] = NAN;
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
    for (size_t i = 0; i < N; i++) ck_assert_uint_eq(trials[i].variant, i == EXCLUDED ? 0 : V);
    ck_assert_uint_eq(e.alone.unknown, 0);
}
END_TEST

UNIT_MAIN("predictor_refused", what_is_wrong_with_a_text_is_refused, what_is_nearly_the_best_may_answer_where_little_may_run, a_default_that_may_not_run_answers_nothing)
