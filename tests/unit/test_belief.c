/* A prior: the author's belief orders the first points and is the models' mean; results overrule it. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/toy.h"
#include "tuner/search/belief.h"
#include "tuner/search/strategy.h"

enum { SIDE = 40, SEEDS = 8, BUDGET = 120 };

static mt_spec *spec;
static mt_space *space;

static double cost_of(size_t point)
{
    double a = (double)(point / SIDE % SIDE), b = (double)(point % SIDE);
    if (point % 11 == 5) return INFINITY;
    return 1000 + 40 * fabs(a - 27) + 25 * fabs(b - 9) + 200 * sin(a) * sin(b);
}

static double right(const void *context, size_t point)
{
    (void)context;
    return isinf(cost_of(point)) ? NAN : 7 * cost_of(point);
}

static double inverted(const void *context, size_t point)
{
    (void)context;
    return isinf(cost_of(point)) ? 1 : 1e9 / cost_of(point);
}

static double none(const void *context, size_t point)
{
    (void)context;
    (void)point;
    return NAN;
}

static void open_space(void)
{
    spec = toy_spec("", "[param A]\nvalues = 1..40\n[param B]\nvalues = 1..40\n");
    space = toy_space(spec);
    ck_assert_uint_eq(mt_space_count(space), SIDE * SIDE);
}

static void close_space(void)
{
    mt_space_free(space);
    mt_spec_free(spec);
}

/* Evaluations until a point within 5 % of the best is found. */
static size_t needed(mt_prior *prior, uint64_t seed)
{
    const mt_strategy *strategy = mt_strategy_find("mixed");
    double least = INFINITY;
    size_t point, count = 0;
    void *state = NULL;
    for (size_t i = 0; i < SIDE * SIDE; i++) least = fmin(least, cost_of(i));
    ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = seed, .budget = BUDGET, .prior = prior}, &state, NULL), MT_OK);
    while (count < BUDGET && strategy->ask(state, &point, 1) == 1) {
        double cost = cost_of(point);
        count++;
        strategy->tell(state, point, cost);
        if (cost <= 1.05 * least) break;
    }
    strategy->destroy(state);
    return count;
}

static double mean_needed(mt_prior *prior)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) sum += (double)needed(prior, seed) / SEEDS;
    return sum;
}

START_TEST(a_right_prior_is_followed_and_a_wrong_one_overruled)
{
    open_space();
    double without = mean_needed(NULL), with = mean_needed(right), against = mean_needed(inverted);
    ck_assert_msg(with <= 1, "%.1f evaluations with a prior that is right", with);
    ck_assert_msg(without > 3, "%.1f evaluations without a prior: nothing is tested", without);
    ck_assert_msg(against <= without + 10, "%.1f evaluations with a prior that is wrong, %.1f without one", against, without);
    close_space();
}
END_TEST

/* How many of the first eight points are no faster than the one before: belief alone gives them in the order of their times. */
static size_t in_order(size_t budget)
{
    const mt_strategy *strategy = mt_strategy_find("mixed");
    size_t point, count = 0;
    double before = 0;
    void *state = NULL;
    ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 1, .budget = budget, .prior = right}, &state, NULL), MT_OK);
    for (size_t i = 0; i < 8 && strategy->ask(state, &point, 1) == 1; i++) {
        count += cost_of(point) >= before;
        before = cost_of(point);
        strategy->tell(state, point, before);
    }
    strategy->destroy(state);
    return count;
}

/* A longer search looks twice in its first sample whether the belief is right. */
START_TEST(a_short_search_has_no_room_for_doubt)
{
    open_space();
    ck_assert_uint_eq(in_order(8), 8);
    ck_assert_uint_lt(in_order(BUDGET), 8);
    close_space();
}
END_TEST

START_TEST(a_prior_without_an_idea_is_none)
{
    open_space();
    for (uint64_t seed = 0; seed < 2; seed++) ck_assert_uint_eq(needed(none, seed), needed(NULL, seed));
    close_space();
}
END_TEST

/* What is believed fastest comes first, and no two points that differ in one knob alone. */
START_TEST(the_first_points_are_spread)
{
    mt_features features;
    mt_belief belief = {0};
    mt_ledger ledger;
    mt_rng rng;
    size_t points[MT_BELIEVED_POINTS], count = 0;
    open_space();
    mt_rng_seed(&rng, 1);
    mt_ledger_init(&ledger, space);
    ck_assert_int_eq(mt_features_init(&features, space, right, NULL, &rng, NULL), MT_OK);
    while (count < MT_BELIEVED_POINTS && mt_belief_next(&belief, &features, &ledger, &rng, &points[count])) count++;
    ck_assert_uint_eq(count, MT_BELIEVED_POINTS);
    for (size_t i = 1; i < count; i++) {
        ck_assert(cost_of(points[i]) >= cost_of(points[i - 1]));
        for (size_t k = 0; k < i; k++) ck_assert(points[i] / SIDE % SIDE != points[k] / SIDE % SIDE && points[i] % SIDE != points[k] % SIDE);
    }
    ck_assert(!mt_belief_next(&belief, &features, &ledger, &rng, &points[0]));
    mt_features_free(&features);
    mt_ledger_free(&ledger);
    close_space();
}
END_TEST

/* The slope: 1 before results say otherwise, 0 where they contradict. */
START_TEST(results_decide_what_a_belief_is_worth)
{
    mt_features features;
    mt_ledger ledger;
    mt_rng rng;
    float rows[64 * 8];
    double targets[64], slopes[2];
    mt_prior *const priors[] = {right, inverted};
    open_space();
    for (size_t kind = 0; kind < 2; kind++) {
        mt_belief belief = {0};
        mt_rng_seed(&rng, 1);
        mt_ledger_init(&ledger, space);
        ck_assert_int_eq(mt_features_init(&features, space, priors[kind], NULL, &rng, NULL), MT_OK);
        ck_assert_uint_le(features.count, 8);
        for (size_t i = 0; i < 64; i++) {
            size_t point = i * 23;
            if (isinf(cost_of(point))) point += 1;
            mt_features_of(&features, point, rows + i * features.count);
            mt_ledger_tell(&ledger, point, cost_of(point));
            targets[i] = -2000 / cost_of(point);
        }
        mt_belief_learn(&belief, &features, &ledger, rows, 1, targets);
        slopes[kind] = belief.slope;
        mt_features_free(&features);
        mt_ledger_free(&ledger);
    }
    ck_assert_msg(slopes[0] > 0.8, "%f", slopes[0]);
    ck_assert_msg(slopes[1] == 0, "%f", slopes[1]);
    close_space();
}
END_TEST

UNIT_MAIN("belief", a_right_prior_is_followed_and_a_wrong_one_overruled, a_short_search_has_no_room_for_doubt, a_prior_without_an_idea_is_none, the_first_points_are_spread, results_decide_what_a_belief_is_worth)
