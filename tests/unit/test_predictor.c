/* Portfolio, weights, and the whole with shapes held out: on small tables that can be worked out otherwise, and on made-up performance surfaces whose truth is known. */
#include "tuner/predictor/predictor.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/base/rng.h"
#include "tuner/predictor/predictor_internal.h"

static mt_error err;

/* ---- made-up surfaces ---- */

enum { SHAPES = 40, VARIANTS = 12, VALUES = 4 /* N, M, D integers; dtype text */ };

/* Variant v likes a size, tile-like; D decides between two families; M is only volume. */
typedef struct surface {
    double shapes[SHAPES * VALUES], slowdown[SHAPES * VARIANTS], default_slowdown[SHAPES];
    bool is_text[VALUES];
    size_t name[VALUES];
    mt_predictor_data data;
} surface;

static double time_of(double n, double d, size_t v)
{
    double likes = (double)(v % 6) * 2, family = v / 6 ? 1 : -1;
    double off = n - likes;
    return 0.012 * off * off + 0.05 * (family * (d - 6) > 0 ? family * (d - 6) : 0);
}

static void make_surface(surface *s, size_t count, uint64_t seed, double noise)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < count; i++) {
        double n = mt_rng_uniform(&rng) * 11, m = mt_rng_uniform(&rng) * 11, d = 4 + mt_rng_uniform(&rng) * 4, best = INFINITY;
        double *x = s->shapes + i * VALUES;
        x[0] = n, x[1] = m, x[2] = d, x[3] = 7;
        for (size_t v = 0; v < VARIANTS; v++) {
            s->slowdown[i * VARIANTS + v] = time_of(n, d, v) + noise * mt_rng_uniform(&rng);
            best = fmin(best, s->slowdown[i * VARIANTS + v]);
        }
        for (size_t v = 0; v < VARIANTS; v++) s->slowdown[i * VARIANTS + v] -= best;
        s->default_slowdown[i] = s->slowdown[i * VARIANTS + 2];
    }
    for (size_t f = 0; f < VALUES; f++) s->name[f] = f;
    s->is_text[3] = true;
    s->data = (mt_predictor_data){.shape_count = count, .variant_count = VARIANTS, .feature_count = VALUES, .shapes = s->shapes, .is_text = s->is_text, .name = s->name, .slowdown = s->slowdown,
                               .default_slowdown = s->default_slowdown};
}

static const mt_predictor_options usual = {.max = 8, .within = 1.10};
static surface ground;

/* ---- portfolio ---- */

/* The fewest by looking at every subset. */
static size_t fewest(const mt_predictor_data *data, double within)
{
    size_t best = SIZE_MAX;
    for (uint32_t set = 0; set < 1u << data->variant_count; set++) {
        bool serves_all = true;
        for (size_t i = 0; i < data->shape_count && serves_all; i++) {
            bool is_served = false;
            for (size_t v = 0; v < data->variant_count; v++) is_served = is_served || ((set >> v & 1) && mt_predictor_cell(data, i, v) <= within + 1e-9);
            serves_all = is_served;
        }
        size_t size = (size_t)__builtin_popcount(set);
        if (serves_all && size < best) best = size;
    }
    return best;
}

START_TEST(the_portfolio_is_the_smallest)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        mt_predictor predictor = {0};
        make_surface(&ground, 10 + seed % 8, seed, 0.1);
        mt_predictor_choose(&ground.data, NULL, 8, log2(1.05), &predictor);
        ck_assert(predictor.is_exact);
        ck_assert_uint_eq(predictor.unserved, 0);
        ck_assert_uint_eq(predictor.member_count, fewest(&ground.data, log2(1.05)));
        ck_assert(predictor.worst <= log2(1.05) + 1e-9);
    }
}
END_TEST

/* Cells that are not known serve nothing; failures neither; a limit leaves shapes unserved and says so. */
START_TEST(the_portfolio_knows_what_it_lacks)
{
    double slowdown[] = {0, NAN, INFINITY, NAN, 0, NAN, INFINITY, NAN, 0}, of_default[] = {1, 1, 1}, shapes[] = {0, 1, 2};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {3, 3, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor predictor = {0};
    mt_predictor_choose(&data, NULL, 8, log2(1.1), &predictor);
    ck_assert_uint_eq(predictor.member_count, 3);
    mt_predictor_choose(&data, NULL, 2, log2(1.1), &predictor);
    ck_assert_uint_eq(predictor.member_count, 2);
    ck_assert_uint_eq(predictor.unserved, 1);
    const bool is_left_out[] = {true, false, true};
    mt_predictor_choose(&data, is_left_out, 8, log2(1.1), &predictor);
    ck_assert_uint_eq(predictor.member_count, 1);
    ck_assert_uint_eq(predictor.members[0], 1);
}
END_TEST

/* Of a shape whose workloads have different winners no variant may be near each one's best: its best single variant is served all the same, and the shape counted as apart. */
START_TEST(the_portfolio_tells_what_no_single_variant_reaches)
{
    double slowdown[] = {log2(1.3), log2(1.35), log2(1.05), 1, 2, 1}, of_default[] = {1, 1, 1}, shapes[] = {0, 1, 2};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {3, 2, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor predictor = {0};
    mt_predictor_choose(&data, NULL, 8, log2(1.1), &predictor);
    ck_assert_uint_eq(predictor.member_count, 2);
    ck_assert_uint_eq(predictor.unserved, 0);
    ck_assert_uint_eq(predictor.apart, 2);
    ck_assert_double_eq_tol(predictor.worst, 1, 1e-12);
    const bool is_left_out[] = {true, false, true};
    mt_predictor_choose(&data, is_left_out, 8, log2(1.1), &predictor);
    ck_assert_uint_eq(predictor.apart, 0);
    double fails[] = {INFINITY, NAN};
    const mt_predictor_data none = {1, 2, 1, shapes, is_text, name, fails, of_default, NULL, NULL};
    mt_predictor_choose(&none, NULL, 8, log2(1.1), &predictor);
    ck_assert(predictor.unserved == 1 && predictor.apart == 1);
}
END_TEST

/* ---- weights ---- */

START_TEST(weights_follow_what_matters)
{
    mt_rule_feature features[VALUES];
    bool is_learned;
    make_surface(&ground, 30, 3, 0);
    mt_predictor_prior(&ground.data, NULL, features);
    ck_assert_double_eq_tol(features[0].weight, 1, 0.05); /* nothing goes together here but by chance */
    ck_assert(mt_predictor_learn(&ground.data, NULL, features, &is_learned));
    ck_assert_msg(features[0].weight > 20 * features[1].weight, "N %g, M %g, D %g", features[0].weight, features[1].weight, features[2].weight);
    ck_assert_msg(features[2].weight > 20 * features[1].weight, "N %g, M %g, D %g", features[0].weight, features[1].weight, features[2].weight);
    ck_assert(features[1].weight > 0);
    ck_assert(is_learned);
}
END_TEST

START_TEST(few_shapes_keep_the_prior)
{
    mt_rule_feature features[VALUES], prior[VALUES];
    bool is_learned;
    make_surface(&ground, 4, 3, 0);
    mt_predictor_prior(&ground.data, NULL, prior);
    memcpy(features, prior, sizeof features);
    ck_assert(mt_predictor_learn(&ground.data, NULL, features, &is_learned));
    ck_assert(!is_learned);
    for (size_t i = 0; i < VALUES; i++) ck_assert_double_eq(features[i].weight, prior[i].weight);
}
END_TEST

/* ---- the whole ---- */

START_TEST(left_out_shapes_are_served_well)
{
    mt_predictor_trial trials[SHAPES];
    mt_predictor_evaluation e;
    make_surface(&ground, 24, 11, 0.02);
    ck_assert_int_eq(mt_predictor_evaluate(&ground.data, &usual, NULL, trials, &e, &err), MT_OK);
    ck_assert_uint_eq(e.predictor.count, 24);
    ck_assert_msg(exp2(e.predictor.mean) <= 1.08, "geomean %g worst %g; default %g; volume %g", exp2(e.predictor.mean), exp2(e.predictor.worst), exp2(e.by_default.mean), exp2(e.by_volume.mean));
    ck_assert(e.predictor.mean < 0.5 * e.by_default.mean);
    ck_assert(e.predictor.mean < e.by_volume.mean);
}
END_TEST

/* Shapes of one family are left out together: two that are the same but for their family do not tell each other's best. */
START_TEST(families_are_left_out_as_one)
{
    enum { N = 12, V = 6 };
    double shapes[N], slowdown[N * V], of_default[N];
    size_t family[N];
    const bool is_text[] = {false};
    const size_t name[] = {0};
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor_trial alone[N], together[N];
    mt_predictor_evaluation e, of_families;
    for (size_t i = 0; i < N; i++) {
        family[i] = i / 2;
        shapes[i] = (double)(i / 2) + 0.1 * (double)(i % 2);
        for (size_t v = 0; v < V; v++) slowdown[i * V + v] = v == i / 2 ? 0 : 0.2;
        of_default[i] = 1;
    }
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, alone, &e, &err), MT_OK);
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, family, together, &of_families, &err), MT_OK);
    ck_assert_double_eq_tol(e.predictor.mean, 0, 1e-12);
    ck_assert_double_eq_tol(of_families.predictor.mean, 0.2, 1e-12);
    for (size_t i = 0; i < N; i++) {
        ck_assert_uint_eq(family[alone[i].nearest], family[i]);
        ck_assert_uint_ne(family[together[i].nearest], family[i]);
    }
}
END_TEST

/* An answer that was not measured on the shape left out is counted, and hides no other. */
START_TEST(answers_that_were_not_measured_are_told)
{
    mt_predictor_trial trials[SHAPES];
    mt_predictor_evaluation e;
    make_surface(&ground, 24, 11, 0.02);
    ck_assert_int_eq(mt_predictor_evaluate(&ground.data, &usual, NULL, trials, &e, &err), MT_OK);
    size_t answer = trials[5].variant;
    ground.slowdown[5 * VARIANTS + answer] = NAN;
    ground.default_slowdown[7] = NAN; /* the predictor alone needs no default there */
    ck_assert_int_eq(mt_predictor_evaluate(&ground.data, &usual, NULL, trials, &e, &err), MT_OK);
    ck_assert_uint_eq(trials[5].variant, answer);
    ck_assert_uint_eq(e.alone.unknown, 1);
    ck_assert_uint_eq(e.alone.count, 23);
    ck_assert_uint_eq(e.predictor.count, 22);
}
END_TEST

/* What is said of shapes that the fit never saw is, on the average, what happens; nine of ten keep their bound, give or take one in twenty. */
START_TEST(expectations_hold)
{
    double said = 0, happened = 0;
    size_t count = 0, bounded = 0, within = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        mt_predictor_trial trials[SHAPES];
        mt_predictor_evaluation e;
        make_surface(&ground, 16, 100 + seed, 0.05);
        ck_assert_int_eq(mt_predictor_evaluate(&ground.data, &usual, NULL, trials, &e, &err), MT_OK);
        bounded += e.bounded;
        within += e.within;
        for (size_t i = 0; i < 16; i++) {
            if (!isfinite(trials[i].expected)) continue;
            if (!isnan(trials[i].most)) ck_assert(trials[i].most >= trials[i].expected);
            said += trials[i].expected;
            happened += trials[i].slowdown;
            count++;
        }
    }
    ck_assert_uint_gt(count, 60);
    ck_assert_msg(bounded > 60 && (double)within >= 0.85 * (double)bounded, "%zu of %zu", within, bounded);
    ck_assert_msg(fabs(said - happened) / (double)count < log2(1.04), "said %g, happened %g", exp2(said / (double)count), exp2(happened / (double)count));
}
END_TEST

/* Four values that say the same count as one beside an independent one; alone, nothing changes. */
START_TEST(values_that_go_together_share_a_weight)
{
    enum { N = 8, VALUES_HERE = 5 };
    double shapes[N * VALUES_HERE], slowdown[N] = {0}, of_default[N] = {0};
    const bool is_text[VALUES_HERE] = {false};
    const size_t name[VALUES_HERE] = {0, 1, 2, 3, 4};
    bool left_out[N] = {false};
    mt_rule_feature features[VALUES_HERE];
    for (size_t i = 0; i < N; i++) {
        for (size_t f = 0; f < 4; f++) shapes[i * VALUES_HERE + f] = (double)(i / 2) * (double)(f + 1);
        shapes[i * VALUES_HERE + 4] = (double)(i % 2) * 3;
    }
    const mt_predictor_data data = {N, 1, VALUES_HERE, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor_prior(&data, NULL, features);
    for (size_t f = 0; f < 4; f++) ck_assert_double_eq_tol(features[f].weight, 0.25, 1e-6);
    ck_assert_double_eq_tol(features[4].weight, 1, 1e-6);
    for (size_t i = 1; i < N; i++) left_out[i] = true;
    mt_predictor_prior(&data, left_out, features); /* one shape tells nothing */
    for (size_t f = 0; f < VALUES_HERE; f++) ck_assert_double_eq(features[f].weight, 1);
}
END_TEST

/* What runs elsewhere is slow on shape 4, whose own winner fails elsewhere. Its neighbours know better, and are heard as well. */
START_TEST(an_odd_shape_does_not_decide)
{
    enum { N = 9, FAMILIES = 3, SPECIAL = 3, V = 4 };
    double shapes[N], slowdown[N * V], of_default[N];
    const bool is_text[] = {false};
    const size_t name[] = {0};
    mt_predictor_trial trials[N];
    mt_predictor_evaluation e;
    for (size_t i = 0; i < N; i++) {
        shapes[i] = (double)i;
        for (size_t v = 0; v < FAMILIES; v++) slowdown[i * V + v] = (i % FAMILIES == v ? 0 : 0.05) + (i == 4 ? 0.42 : 0);
        slowdown[i * V + SPECIAL] = i == 4 ? 0 : INFINITY;
        of_default[i] = i == 4 ? 0.4 : 0.5;
    }
    const mt_predictor_data data = {N, V, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
    for (size_t i = 0; i < N; i++) {
        if (i != 4) ck_assert_msg(trials[i].slowdown <= 0.05 + 1e-9, "shape %zu: %g", i, trials[i].slowdown);
    }
}
END_TEST

/* The special winner of the shape next to it would fail on the asked one: by volume, too, the next shape answers then. */
START_TEST(nearest_by_volume_passes_over_what_fails)
{
    double shapes[] = {0, 1, 3}, slowdown[] = {0, INFINITY, INFINITY, 0, 0.2, INFINITY}, of_default[] = {0.5, 0.5, 0.5};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    mt_predictor_trial trials[3];
    mt_predictor_evaluation e;
    const mt_predictor_data data = {3, 2, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
    ck_assert_double_eq_tol(trials[0].by_volume, 0, 1e-9); /* variant 0, from shape 2 and not from 1 */
    ck_assert(isnan(trials[1].by_volume));                 /* nobody has what runs there */
    ck_assert_uint_eq(e.alone.count + e.alone.unknown, 3);
}
END_TEST

/* Of several that are the best on the nearest shape the mean: the order of the columns would know the asked shape. */
START_TEST(nearest_by_volume_tells_equals_apart_by_nothing)
{
    double shapes[] = {0, 1, 3}, slowdown[] = {0, 0.4, 0.9, 0, 0, 0.1, 0.2, 0.3, 0}, of_default[] = {1, 1, 1};
    const bool is_text[] = {false};
    const size_t name[] = {0};
    mt_predictor_trial trials[3];
    mt_predictor_evaluation e;
    const mt_predictor_data data = {3, 3, 1, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
    ck_assert_double_eq_tol(trials[0].by_volume, 0.2, 1e-9); /* variants 0 and 1 are equal on shape 1 */
    ck_assert_double_eq_tol(trials[1].by_volume, 0, 1e-9);   /* shape 0 has one best */
}
END_TEST

/* Which variant is best hangs on one value that varies little, beside another that says nothing. */
START_TEST(what_decides_is_found)
{
    enum { N = 20 };
    static double shapes[N * 2], slowdown[N * 2], of_default[N];
    const bool is_text[] = {false, false};
    const size_t name[] = {0, 1};
    mt_rng rng;
    mt_rng_seed(&rng, 9);
    for (size_t i = 0; i < N; i++) {
        shapes[2 * i] = mt_rng_uniform(&rng) * 2;
        shapes[2 * i + 1] = mt_rng_uniform(&rng) * 20;
        bool high = shapes[2 * i] > 1;
        slowdown[2 * i] = high ? 0.5 : 0;
        slowdown[2 * i + 1] = high ? 0 : 0.5;
        of_default[i] = 0.6;
    }
    const mt_predictor_data data = {N, 2, 2, shapes, is_text, name, slowdown, of_default, NULL, NULL};
    mt_predictor predictor;
    mt_predictor_trial trials[N];
    mt_predictor_evaluation e;
    ck_assert_int_eq(mt_predictor_build(&data, NULL, &usual, &predictor, &err), MT_OK);
    ck_assert(predictor.is_learned);
    ck_assert_msg(predictor.features[0].weight > 100 * predictor.features[1].weight, "%g %g", predictor.features[0].weight, predictor.features[1].weight);
    ck_assert_int_eq(mt_predictor_evaluate(&data, &usual, NULL, trials, &e, &err), MT_OK);
    ck_assert_msg(e.predictor.mean < 0.2 * e.by_default.mean, "%g", exp2(e.predictor.mean)); /* shapes at the edge err */
}
END_TEST

UNIT_MAIN("predictor", the_portfolio_is_the_smallest, the_portfolio_knows_what_it_lacks, the_portfolio_tells_what_no_single_variant_reaches, weights_follow_what_matters,
          few_shapes_keep_the_prior, left_out_shapes_are_served_well, families_are_left_out_as_one, answers_that_were_not_measured_are_told, expectations_hold,
          values_that_go_together_share_a_weight, an_odd_shape_does_not_decide, nearest_by_volume_passes_over_what_fails, nearest_by_volume_tells_equals_apart_by_nothing, what_decides_is_found)
