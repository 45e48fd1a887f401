/* The parts of the model-based strategies: ledger, features, forest, Gaussian process. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/toy.h"
#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"
#include "tuner/search/offspring.h"

static mt_spec *spec;
static mt_space *space;

static void open_space(const char *knobs)
{
    spec = toy_spec("", knobs);
    space = toy_space(spec);
}

static void close_space(void)
{
    mt_space_free(space);
    mt_spec_free(spec);
}

START_TEST(ledger_keeps_track)
{
    mt_ledger ledger;
    mt_rng rng;
    size_t point, elite[3], drawn = 0;
    open_space("[param A]\nvalues = 1..50\n");
    mt_rng_seed(&rng, 1);
    mt_ledger_init(&ledger, space);
    ck_assert(mt_ledger_ask(&ledger, 7, NAN) && mt_ledger_ask(&ledger, 8, NAN));
    mt_ledger_tell(&ledger, 8, 5);
    mt_ledger_tell(&ledger, 30, 3); /* not asked */
    mt_ledger_tell(&ledger, 31, INFINITY);
    mt_ledger_tell(&ledger, 32, 4);
    mt_ledger_tell(&ledger, 33, 4);
    ck_assert_uint_eq(ledger.pending_count, 1);
    ck_assert_uint_eq(mt_ledger_told(&ledger), 5);
    ck_assert_uint_eq(ledger.items[ledger.best].point, 30);
    ck_assert_uint_eq(mt_ledger_elite(&ledger, elite, 3), 3);
    ck_assert_uint_eq(ledger.items[elite[0]].point, 30);
    ck_assert_uint_eq(ledger.items[elite[1]].point, 32); /* of equals, the earlier */
    ck_assert_uint_eq(ledger.items[elite[2]].point, 33);
    for (; mt_ledger_draw(&ledger, &rng, &point); drawn++) ck_assert(!mt_ledger_knows(&ledger, point) && mt_ledger_ask(&ledger, point, NAN));
    ck_assert_uint_eq(drawn, 44);
    mt_ledger_free(&ledger);
    close_space();
}
END_TEST

static size_t find(const char *text)
{
    mt_point point;
    size_t index;
    mt_error err = {0};
    ck_assert_msg(mt_point_parse(spec, text, &point, &err) == MT_OK, "%s", err.message);
    ck_assert(mt_space_find(space, &point, &index));
    return index;
}

START_TEST(features_of_conditional_knobs)
{
    mt_features features;
    mt_rng rng;
    float on[32], off[32];
    open_space("[param T]\nvalues = 64,32,256\n[param MODE]\nvalues = x, y, z\n[param DEEP]\nvalues = 1,2,4,8\nwhen = MODE == y\n[param LONE]\nvalues = 7\n[param FLAG]\nvalues = no, yes\n");
    mt_rng_seed(&rng, 1);
    ck_assert_int_eq(mt_features_init(&features, space, NULL, NULL, &rng, NULL), MT_OK);
    /* T; three indicators of MODE; DEEP; FLAG; the sum and the difference of T and DEEP. ALGO and LONE say nothing. */
    ck_assert_uint_eq(features.plain_count, 6);
    ck_assert_uint_eq(features.count, 8);
    mt_features_of(&features, find("ALGO=plain;T=256;MODE=y;DEEP=8;LONE=7;FLAG=yes"), on);
    mt_features_of(&features, find("ALGO=plain;T=32;MODE=x;LONE=7;FLAG=no"), off);
    ck_assert_float_eq_tol(on[0], 1, 1e-6f);
    ck_assert_float_eq_tol(off[0], 0, 1e-6f); /* by value, not by the file's order */
    ck_assert_float_eq_tol(off[1] - on[1], 0.5f, 1e-6f);
    ck_assert_float_eq_tol(on[2] - off[2], 0.5f, 1e-6f);
    ck_assert_float_eq(off[3], on[3]);
    ck_assert_float_eq_tol(on[4], 1, 1e-6f);
    ck_assert_float_eq_tol(off[4], 0.5f, 1e-6f); /* inactive: neutral */
    ck_assert_float_eq_tol(on[6], 1, 1e-6f);     /* 256 · 8 is the most work */
    ck_assert_float_eq_tol(off[6], 0.5f, 1e-6f);
    ck_assert_float_eq_tol(off[7], 0.5f, 1e-6f);
    mt_features_free(&features);
    close_space();
}
END_TEST

/* Fractions are texts to the source, and numbers to the models; one name among them makes them names. */
START_TEST(features_of_fractions)
{
    mt_features features;
    mt_rng rng;
    float low[32], high[32];
    open_space("[param F]\nvalues = 2.5, 0.5, 1\n[param G]\nvalues = 0.5, 1.5, some\n");
    mt_rng_seed(&rng, 1);
    ck_assert_int_eq(mt_features_init(&features, space, NULL, NULL, &rng, NULL), MT_OK);
    ck_assert_uint_eq(features.count, 4); /* F, and three names of G */
    mt_features_of(&features, find("ALGO=plain;F=0.5;G=some"), low);
    mt_features_of(&features, find("ALGO=plain;F=2.5;G=0.5"), high);
    ck_assert_float_eq_tol(low[0], 0, 1e-6f);
    ck_assert_float_eq_tol(high[0], 1, 1e-6f);
    mt_features_free(&features);
    close_space();
}
END_TEST

START_TEST(offspring_is_valid)
{
    mt_rng rng;
    size_t found = 0;
    open_space("[param T]\nvalues = 32,64,128\n[param MODE]\nvalues = x, y\n[param DEEP]\nvalues = 1,2,4,8\nwhen = MODE == y\n[constraint c]\nexpr = MODE == x || T * DEEP <= 256\n");
    mt_rng_seed(&rng, 4);
    for (int i = 0; i < 500; i++) {
        size_t a, b, child, neighbour;
        ck_assert(mt_space_sample(space, &rng, &a) && mt_space_sample(space, &rng, &b));
        if (mt_offspring(space, &rng, a, b, 0, &child)) {
            mt_point p, q, c;
            mt_space_at(space, a, &p);
            mt_space_at(space, b, &q);
            mt_space_at(space, child, &c);
            for (size_t k = 0; k < spec->param_count; k++) ck_assert(c.level[k] == p.level[k] || c.level[k] == q.level[k]); /* without mutation nothing is new */
            found++;
        }
        ck_assert(mt_random_neighbour(space, &rng, a, &neighbour));
        ck_assert_uint_ne(neighbour, a);
    }
    ck_assert_uint_gt(found, 450);
    close_space();
}
END_TEST

enum { ROWS = 60, WIDTH = 3 };

static double smooth(const float *row)
{
    return sin(3 * (double)row[0]) + (double)row[1] * (double)row[1];
}

static void make_rows(float *rows, double *targets, mt_rng *rng, double (*function)(const float *))
{
    for (size_t i = 0; i < ROWS * WIDTH; i++) rows[i] = (float)mt_rng_uniform(rng);
    for (size_t i = 0; i < ROWS; i++) targets[i] = function(rows + i * WIDTH);
}

static double stairs(const float *row)
{
    return (row[0] > 0.5f ? 2 : 0) + (row[1] > 0.3f ? 1 : 0);
}

START_TEST(forest_learns_stairs)
{
    mt_forest forest = {0};
    mt_rng rng;
    float rows[ROWS * WIDTH], at[WIDTH] = {0.9f, 0.9f, 0.5f};
    double targets[ROWS], mean, again, deviation;
    mt_rng_seed(&rng, 2);
    make_rows(rows, targets, &rng, stairs);
    mt_rng same = rng;
    ck_assert(mt_forest_fit(&forest, rows, WIDTH, targets, ROWS, NULL, &rng));
    mt_forest_predict(&forest, at, &mean, &deviation);
    ck_assert_double_eq_tol(mean, 3, 0.2);
    ck_assert(mt_forest_fit(&forest, rows, WIDTH, targets, ROWS, NULL, &same));
    mt_forest_predict(&forest, at, &again, &deviation);
    ck_assert_double_eq(mean, again);
    for (size_t i = 0; i < ROWS; i++) { /* leaves of one row: what was seen is known */
        mt_forest_predict(&forest, rows + i * WIDTH, &mean, &deviation);
        ck_assert_double_eq_tol(mean, targets[i], 1e-5);
        ck_assert_double_eq_tol(deviation, 0.01, 1e-4);
    }
    ck_assert(mt_forest_fit(&forest, rows, WIDTH, targets, 1, NULL, &rng));
    mt_forest_predict(&forest, at, &mean, &deviation);
    ck_assert_double_eq_tol(mean, targets[0], 1e-5);
    ck_assert(!mt_forest_fit(&forest, rows, WIDTH, targets, 0, NULL, &rng));
    mt_forest_free(&forest);
}
END_TEST

/* The pool's fast single-precision path against the plain one, points appended one by one against all at once. */
START_TEST(gp_two_ways)
{
    enum { POOL = 300 };
    mt_gp gp;
    mt_rng rng;
    float rows[ROWS * WIDTH], *pool = calloc(POOL * WIDTH, sizeof *pool);
    double targets[ROWS], scratch[ROWS], errors = 0, first[POOL];
    mt_rng_seed(&rng, 3);
    make_rows(rows, targets, &rng, smooth);
    for (size_t i = 0; i < (size_t)POOL * WIDTH; i++) pool[i] = (float)mt_rng_uniform(&rng);
    ck_assert(mt_gp_init(&gp, WIDTH, ROWS, POOL));
    ck_assert(mt_gp_fit(&gp, rows, targets, ROWS));
    ck_assert_double_lt(gp.inverse_length[2], gp.inverse_length[0]); /* the third feature says nothing */
    mt_gp_set_pool(&gp, pool, POOL);
    mt_gp_append(&gp, rows, ROWS);
    mt_gp_predict(&gp, targets);
    for (size_t i = 0; i < POOL; i++) {
        double mean, deviation;
        mt_gp_at(&gp, pool + i * WIDTH, scratch, &mean, &deviation);
        ck_assert_double_eq_tol(mean, gp.means[i], 2e-2);
        ck_assert_double_eq_tol(deviation, gp.deviations[i], 2e-2);
        errors += fabs(gp.means[i] - smooth(pool + i * WIDTH)) / POOL;
        first[i] = gp.means[i];
    }
    ck_assert_double_lt(errors, 0.02);
    mt_gp_set_pool(&gp, pool, POOL);
    for (size_t i = 0; i < ROWS; i++) mt_gp_append(&gp, rows + i * WIDTH, 1);
    mt_gp_predict(&gp, targets);
    for (size_t i = 0; i < POOL; i++) ck_assert_double_eq_tol(first[i], gp.means[i], 1e-9);
    mt_gp_free(&gp);
    free(pool);
}
END_TEST

enum { LEVELS = 8 };

/* Feature 0: one of eight values; of names, what a value means has nothing to do with where it stands. */
static void make_levels(float *rows, double *targets, mt_rng *rng, bool has_order)
{
    static const double meaning[LEVELS] = {0.9, -1, 0.8, -0.7, 1.1, -1.2, -0.9, 1};
    for (size_t i = 0; i < ROWS; i++) {
        size_t level = (size_t)mt_rng_below(rng, LEVELS);
        rows[i * 2] = (float)level / (LEVELS - 1);
        rows[i * 2 + 1] = (float)mt_rng_uniform(rng);
        targets[i] = (has_order ? (double)level / 4 - 1 : meaning[level]) + 0.3 * (double)rows[i * 2 + 1];
    }
}

START_TEST(gp_tells_names_from_places)
{
    float rows[ROWS * 2];
    double targets[ROWS], scratch[ROWS], mean, deviation;
    for (int has_order = 0; has_order < 2; has_order++) {
        mt_gp gp;
        mt_rng rng;
        mt_rng_seed(&rng, 5);
        make_levels(rows, targets, &rng, has_order);
        ck_assert(mt_gp_init(&gp, 2, ROWS, 1));
        gp.may_lack_order[0] = true;
        for (int i = 0; i < 3; i++) ck_assert(mt_gp_fit(&gp, rows, targets, ROWS));
        ck_assert_int_eq(gp.lacks_order[0], !has_order);
        ck_assert(!gp.lacks_order[1]); /* was not allowed to */
        ck_assert_float_eq(mt_gp_distance(&gp, 0, 0, 1) / mt_gp_distance(&gp, 0, 0, 0.5f), has_order ? 2 : 1);
        mt_gp_set_pool(&gp, rows, 1);
        mt_gp_append(&gp, rows, ROWS);
        mt_gp_predict(&gp, targets);
        mt_gp_at(&gp, rows, scratch, &mean, &deviation);
        ck_assert_double_eq_tol(mean, gp.means[0], 2e-2); /* both paths take names alike */
        ck_assert_double_eq_tol(mean, targets[0], 5e-2);
        mt_gp_free(&gp);
    }
}
END_TEST

/* Feature 1 is optional: it comes in where it explains results (`matters`), and stays out where it does not. */
START_TEST(optional_features_come_in_where_they_explain)
{
    float rows[ROWS * 2];
    double targets[ROWS];
    for (int matters = 0; matters < 2; matters++) {
        mt_gp gp;
        mt_rng rng;
        mt_rng_seed(&rng, 7);
        for (size_t i = 0; i < ROWS; i++) {
            rows[i * 2] = (float)mt_rng_uniform(&rng);
            rows[i * 2 + 1] = (float)mt_rng_below(&rng, 3) / 2;
            targets[i] = 2 * (double)rows[i * 2] + (matters ? 3 * (double)rows[i * 2 + 1] : 0);
        }
        ck_assert(mt_gp_init(&gp, 2, ROWS, 1));
        gp.is_optional[1] = gp.is_unused[1] = true;
        for (int i = 0; i < 3; i++) ck_assert(mt_gp_fit(&gp, rows, targets, ROWS));
        ck_assert_int_eq(gp.is_unused[1], !matters);
        ck_assert(!gp.is_unused[0]);
        mt_gp_free(&gp);
    }
}
END_TEST

START_TEST(forest_of_names)
{
    float rows[ROWS * 2];
    double targets[ROWS], mean, deviation;
    const bool lacks_order[2] = {true, false};
    mt_forest forest = {0};
    mt_rng rng;
    mt_rng_seed(&rng, 6);
    make_levels(rows, targets, &rng, false);
    ck_assert(mt_forest_fit(&forest, rows, 2, targets, ROWS, lacks_order, &rng));
    for (size_t i = 0; i < ROWS; i++) {
        mt_forest_predict(&forest, rows + i * 2, &mean, &deviation);
        ck_assert_double_eq_tol(mean, targets[i], 0.05); /* rows of one name may share a leaf */
    }
    /* A value between two seen ones is like neither: with an order, it would be like one of the two. */
    float between[2] = {0.5f, 0.5f};
    mt_forest_predict(&forest, between, &mean, &deviation);
    ck_assert_double_gt(deviation, 0.4);
    mt_forest_free(&forest);
}
END_TEST

START_TEST(improvement_far_below)
{
    ck_assert_double_eq_tol(mt_log_improvement(0, 0, 1), log(0.3989422804), 1e-6);
    ck_assert_double_eq_tol(mt_log_improvement(0, 4.999, 1), mt_log_improvement(0, 5.001, 1), 0.1); /* the two formulas meet */
    ck_assert(isfinite(mt_log_improvement(0, 100, 1)));
    ck_assert_double_gt(mt_log_improvement(0, 50, 1), mt_log_improvement(0, 60, 1));
}
END_TEST

UNIT_MAIN("models", ledger_keeps_track, features_of_conditional_knobs, features_of_fractions, offspring_is_valid, forest_learns_stairs, gp_two_ways, gp_tells_names_from_places, optional_features_come_in_where_they_explain, forest_of_names, improvement_far_below)
