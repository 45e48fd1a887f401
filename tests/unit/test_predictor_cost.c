/* What blocks cost: learned by the tuner, followed by the rule. */
#include "tuner/predictor/predictor.h"

#include <math.h>

#include "tests/unit/unit.h"
#include "tuner/predictor/predictor_internal.h"

/* Two shapes, two variants: blocks of the first grow fourfold from the nearest shape to the asked one, those of the second stay. So the mean is 1 octave, and each moves by a quarter of what it is off. */
START_TEST(a_time_moves_with_its_cost)
{
    const double shapes[] = {0, 9}, slowdown[] = {0, 0.2, 0.3, 0}, of_default[] = {1, 1}, cost[] = {0, 1, 2, 1}, asked = 0.1;
    const mt_rule_feature features[] = {{1, false}};
    const bool is_usable[] = {true, true};
    mt_rule rule = {.shape_count = 2, .variant_count = 2, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .cost = cost, .cost_weight = 0.25};
    mt_rule_search search;
    ck_assert_double_eq_tol(mt_rule_wave_cost(528, 132), 2, 1e-9);
    ck_assert(mt_rule_wave_cost(40, 132) == 0);
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(mt_rule_next(&rule, &search) && search.variant == 0); /* no costs known */
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_set_costs(&rule, (const double[]){2, 1}, &search);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 0), 0.25, 1e-12);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 1), -0.05, 1e-12);
    ck_assert(mt_rule_next(&rule, &search) && search.nearest == 0 && search.variant == 1);
    rule.error = rule.most = (mt_rule_curve){.distance = {1}, .value = {0}, .count = 1, .reach = 1};
    mt_rule_expectation expected = mt_rule_expect(&rule, &search);
    ck_assert(expected.slowdown == 0 && expected.most == 0); /* nothing is faster than the best */
    ck_assert_double_eq_tol(expected.of_default, 1, 1e-12);
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_set_costs(&rule, (const double[]){NAN, 1}, &search);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 0), 0, 1e-12);
}
END_TEST

/* The usual growth is that of variants that may answer: the lookup knows no others. */
START_TEST(variants_that_may_not_answer_have_no_part)
{
    const double shapes[] = {0}, slowdown[] = {0, 0, 0}, of_default[] = {1}, cost[] = {0, 0, 0}, asked = 0.1;
    const mt_rule_feature features[] = {{1, false}};
    const bool is_usable[] = {true, true, false};
    mt_rule rule = {.shape_count = 1, .variant_count = 3, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .cost = cost, .cost_weight = 1};
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_set_costs(&rule, (const double[]){2, 1, 9}, &search);
    ck_assert_double_eq_tol(search.usual[0], 1.5, 1e-12);
}
END_TEST

/* A made-up surface on which times follow the square root of the cost, then one on which they do not follow it. */
START_TEST(the_weight_of_a_cost_is_learned)
{
    enum { N = 12, V = 6 };
    double shapes[N], slowdown[N * V], cost[N * V], of_default[N] = {0};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_rule_feature features[] = {{1, false}};
    mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, cost, NULL};
    for (int costs = 1; costs >= 0; costs--) {
        for (size_t i = 0; i < N; i++) {
            shapes[i] = (double)i;
            for (size_t v = 0; v < V; v++) {
                double octaves = v < 3 ? (double)i - (double)v : 1; /* the latter start as many blocks as there is room for */
                cost[i * V + v] = octaves > 0 ? octaves : 0;
                slowdown[i * V + v] = 0.05 * (double)((i * 7 + v * 3) % 5) / 5 + (costs ? 0.5 * cost[i * V + v] - 0.5 : 0);
            }
        }
        for (size_t i = 0; i < N; i++) {
            double best = INFINITY;
            for (size_t v = 0; v < V; v++) best = fmin(best, slowdown[i * V + v]);
            for (size_t v = 0; v < V; v++) slowdown[i * V + v] -= best;
        }
        double weight = mt_predictor_learn_cost_weight(&data, NULL, features);
        ck_assert_msg(costs ? weight > 0.4 && weight <= 0.5 : weight < 0.03, "%g", weight);
    }
    data.cost = NULL;
    ck_assert(mt_predictor_learn_cost_weight(&data, NULL, features) == 0);
}
END_TEST

/* The tuned shape knows no time of the third variant; costs say that it is good there, so it is listed, and that it is the best on the asked one. */
START_TEST(corrected_costs_decide)
{
    const double shapes[] = {0}, slowdown[] = {0, 0.5, NAN}, of_default[] = {1}, cost[] = {3, 3.5, 3.1}, asked = 0.1;
    const mt_rule_feature features[] = {{1, false}};
    const bool is_usable[] = {true, true, true};
    mt_rule rule = {.shape_count = 1, .variant_count = 3, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .cost = cost, .cost_weight = 1};
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_list(&rule, &search);
    ck_assert(!search.is_listed[2]); /* without costs that decide, what has no time near by is not offered */
    rule.costs_decide = true;
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_list(&rule, &search);
    ck_assert_double_eq_tol(search.predicted[2], 0.1, 1e-12);
    mt_rule_set_costs(&rule, (const double[]){5, 4.75, 4.5}, &search);
    ck_assert(mt_rule_next(&rule, &search) && search.variant == 2 && search.predicted[2] == 0);
    ck_assert(mt_rule_next(&rule, &search) && search.variant == 1);
    ck_assert_double_eq_tol(search.predicted[1], 0.25, 1e-12);
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_set_costs(&rule, (const double[]){5, NAN, 5.5}, &search);
    ck_assert(mt_rule_next(&rule, &search) && search.variant == 0); /* a cost that is not known is none */
    ck_assert(mt_rule_next(&rule, &search) && search.variant == 2 && !mt_rule_next(&rule, &search));
}
END_TEST

/* More variants than a list has room for: those that were refused since leave their places to the next ones. */
START_TEST(refused_variants_leave_the_list)
{
    enum { V = MT_RULE_LISTED + 3 };
    double slowdown[V], cost[V];
    bool is_usable[V];
    const double shapes[] = {0}, of_default[] = {0}, asked = 0.1;
    const mt_rule_feature features[] = {{1, false}};
    for (size_t v = 0; v < V; v++) {
        slowdown[v] = cost[v] = 0.01 * (double)v;
        is_usable[v] = true;
    }
    const mt_rule rule = {.shape_count = 1, .variant_count = V, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                          .cost = cost, .cost_weight = 1, .costs_decide = true};
    mt_rule_search search;
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_list(&rule, &search);
    ck_assert(search.is_listed[0] && !search.is_listed[MT_RULE_LISTED]);
    search.is_refused[0] = search.is_refused[5] = true;
    mt_rule_list(&rule, &search);
    ck_assert(!search.is_listed[0] && !search.is_listed[5] && search.is_listed[MT_RULE_LISTED + 1] && !search.is_listed[MT_RULE_LISTED + 2]);
}
END_TEST

/* The default was the best of all on the tuned shape; a model that knows other shapes has the word on this one. */
START_TEST(where_costs_decide_the_default_is_no_rival)
{
    const double shapes[] = {0}, slowdown[] = {0.2, 0.5}, of_default[] = {0}, cost[] = {3, 3.5}, asked = 2;
    const mt_rule_feature features[] = {{1, false}};
    const bool is_usable[] = {true, true};
    mt_rule rule = {.shape_count = 1, .variant_count = 2, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .cost = cost, .cost_weight = 1, .error = {.distance = {1}, .value = {0.05}, .count = 1, .reach = 4}, .most = {.distance = {1}, .value = {0.1}, .count = 1, .reach = 4}};
    mt_rule_search search;
    for (int decide = 0; decide < 2; decide++) {
        rule.costs_decide = decide;
        mt_rule_begin(&rule, &asked, &search);
        mt_rule_set_costs(&rule, (const double[]){5, 4.75}, &search);
        ck_assert(mt_rule_next(&rule, &search));
        mt_rule_expectation expected = mt_rule_expect(&rule, &search);
        ck_assert(decide ? isnan(expected.of_default) && expected.slowdown == 0.05 : expected.advantage < 0);
    }
}
END_TEST

UNIT_MAIN("predictor_cost", corrected_costs_decide, refused_variants_leave_the_list, where_costs_decide_the_default_is_no_rival, a_time_moves_with_its_cost, variants_that_may_not_answer_have_no_part, the_weight_of_a_cost_is_learned)
