/* What blocks cost: learned by the tuner, followed by the rule. */
#include "tuner/predictor/predictor.h"

#include <math.h>

#include "tests/unit/unit.h"
#include "tuner/predictor/predictor_internal.h"

/* Two shapes, two variants: blocks of the first grow fourfold from the nearest shape to the asked one, those of the second stay. So the mean is 1 octave, and each moves by half the cost of 2. */
START_TEST(a_time_moves_with_its_turns)
{
    double shapes[] = {0, 4}, slowdown[] = {0, 0.2, 0.3, 0}, of_default[] = {1, 1}, turns[] = {0, 1, 2, 1}, asked = 0.5;
    mt_rule_feature features[] = {{1, false}};
    bool is_usable[] = {true, true};
    mt_rule rule = {.shape_count = 2, .variant_count = 2, .feature_count = 1, .features = features, .shapes = shapes, .slowdown = slowdown, .default_slowdown = of_default, .is_usable = is_usable,
                    .turns = turns, .turn_cost = 0.25};
    mt_rule_search search;
    double said, advantage;
    ck_assert_double_eq_tol(mt_rule_turns(528, 132), 2, 1e-9);
    ck_assert(mt_rule_turns(40, 132) == 0);
    mt_rule_begin(&rule, &asked, &search);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 0); /* no turns known */
    mt_rule_begin(&rule, &asked, &search);
    mt_rule_set_turns(&rule, (const double[]){2, 1}, &search);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 0), 0.25, 1e-12);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 1), -0.05, 1e-12);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 1, 0), 0.3, 1e-12);
    ck_assert(mt_rule_next(&rule, &asked, &search) && search.nearest == 0 && search.variant == 1);
    rule.slowdown_curve = rule.loss_curve = (mt_rule_curve){.distance = {1}, .value = {0}, .count = 1, .reach = 1};
    mt_rule_expect(&rule, &search, &said, &advantage);
    ck_assert(said == 0); /* nothing is faster than the best */
    ck_assert_double_eq_tol(advantage, 1, 1e-12);
    mt_rule_set_turns(&rule, (const double[]){NAN, 1}, &search);
    ck_assert_double_eq_tol(mt_rule_moved(&rule, &search, 0, 0), 0, 1e-12);
}
END_TEST

/* A made-up surface on which turns cost the square root of a time, then one on which they cost nothing. */
START_TEST(the_cost_of_turns_is_learned)
{
    enum { N = 12, V = 6 };
    double shapes[N], slowdown[N * V], turns[N * V], of_default[N] = {0};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_rule_feature features[] = {{1, false}};
    mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, turns};
    for (int costs = 1; costs >= 0; costs--) {
        for (size_t i = 0; i < N; i++) {
            shapes[i] = (double)i;
            for (size_t v = 0; v < V; v++) {
                double octaves = v < 3 ? (double)i - (double)v : 1; /* the latter start as many blocks as there is room for */
                turns[i * V + v] = octaves > 0 ? octaves : 0;
                slowdown[i * V + v] = 0.05 * (double)((i * 7 + v * 3) % 5) / 5 + (costs ? 0.5 * turns[i * V + v] - 0.5 : 0);
            }
        }
        for (size_t i = 0; i < N; i++) {
            double best = INFINITY;
            for (size_t v = 0; v < V; v++) best = fmin(best, slowdown[i * V + v]);
            for (size_t v = 0; v < V; v++) slowdown[i * V + v] -= best;
        }
        double cost = mt_predictor_learn_turn_cost(&data, NULL, features);
        ck_assert_msg(costs ? cost > 0.4 && cost <= 0.5 : cost < 0.03, "%g", cost);
    }
    data.turns = NULL;
    ck_assert(mt_predictor_learn_turn_cost(&data, NULL, features) == 0);
}
END_TEST

UNIT_MAIN("predictor_waves", a_time_moves_with_its_turns, the_cost_of_turns_is_learned)
