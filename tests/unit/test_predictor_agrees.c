/* The tuner tries what the library will do: on a made-up surface both choose the same and expect the same, to the last digits. */
#include "tests/unit/fallback_fixture.h"

#include "tuner/base/rng.h"

enum { ASKED = 60 };
static const char *const variants[] = {plain, plain64, wide, "ALGO=wide;B=32;C=2", "ALGO=wide;B=64;C=1", wide64};
enum { VARIANTS = sizeof variants / sizeof *variants };

static int64_t block_size(const char *variant)
{
    return strstr(variant, "B=64") ? 64 : 32;
}

/* "4,5,5": a list of `length` elements, the first of which is h. */
static const char *shape_key(int64_t n, int64_t h, int length)
{
    static const char *const rest[] = {"", ",", ",5", ",5,5", ",5,5,5"};
    static char key[64];
    snprintf(key, sizeof key, "H=%lld%s;N=%lld;dtype=f16", (long long)h, rest[length], (long long)n);
    return key;
}

/* Times follow the blocks, and which knobs suit the shape; some were not measured. */
static void put_tuned(lookup_writer *w, mt_rng *rng, int64_t n, int64_t h, int length)
{
    for (size_t v = 0; v < VARIANTS; v++) {
        double blocks = (double)((n + block_size(variants[v]) - 1) / block_size(variants[v])), likes = fabs(log2((double)h) - (double)v);
        double time = 1000 * (1 + 0.03 * likes + 0.01 * mt_rng_uniform(rng)) * pow(blocks > 132 ? blocks / 132 : 1, 0.45);
        if (mt_rng_uniform(rng) < 0.9) lookup_put(w, shape_key(n, h, length), "default", variants[v], time);
    }
    if (w->subject.shape) ck_ok(mt_store_comparison_point(w->store, &w->subject, "default", plain, &fixture_err));
}

static void make_database(void)
{
    mt_rng rng;
    mt_rng_seed(&rng, 3);
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 10; octave <= 16; octave++)
        for (int64_t h = 1; h <= 16; h *= 4) put_tuned(&w, &rng, (INT64_C(1) << octave) - h, h, octave % 2 ? 1 : 3);
    lookup_end(&w);
    fixture_sql("UPDATE device SET facts_json = '{\"cc\":90,\"sm_count\":132}'; UPDATE measurement SET launch_json = (SELECT json_object('launches', json_array(json_object('grid', json_array("
                "(CAST(substr(h.key, instr(h.key, 'N=') + 2) AS INTEGER) + b.size - 1) / b.size, 1, 1)))) FROM subject s JOIN shape h ON h.id = s.shape_id, "
                "(SELECT id, CASE WHEN text LIKE '%B=64%' THEN 64 ELSE 32 END size FROM variant) b WHERE s.id = measurement.subject_id AND b.id = measurement.variant_id)");
    w.store = fixture_open();
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    mt_store_close(w.store);
}

typedef struct tuner_side {
    mt_store *store;
    mt_predictor_table table;
    mt_predictor predictor;
    char *texts[MT_RULE_VARIANTS];
} tuner_side;

static mt_status keep_group(void *context, const mt_portfolio_group_info *row, mt_error *err)
{
    (void)err;
    *(mt_portfolio_group *)context = row->group;
    return MT_OK;
}

static void load(tuner_side *t)
{
    mt_portfolio_group group;
    const mt_predictor_options options = {MT_PREDICTOR_AUTO_MAX, MT_PREDICTOR_WITHIN};
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &t->store, &fixture_err));
    ck_ok(mt_query_groups(t->store, &(mt_filter){0}, keep_group, &group, &fixture_err));
    ck_ok(mt_predictor_table_load(t->store, &group, MT_PREDICTOR_WITHIN, &t->table, &fixture_err));
    ck_ok(mt_predictor_build(&t->table.data, NULL, &options, &t->predictor, &fixture_err));
    for (size_t v = 0; v < t->table.variant_count; v++) ck_ok(mt_query_variant_text(t->store, t->table.variants[v], &t->texts[v], &fixture_err));
}

static void unload(tuner_side *t)
{
    for (size_t v = 0; v < t->table.variant_count; v++) mt_free(t->texts[v]);
    mt_predictor_table_free(&t->table);
    mt_store_close(t->store);
}

/* As the library is asked; whether the default is expected to be faster. */
static mt_rule_expectation choose(const tuner_side *t, int64_t n, int64_t h, int length, const char **variant)
{
    double features[MT_RULE_FEATURES], costs[MT_RULE_VARIANTS];
    mt_rule rule = mt_predictor_rule(&t->table.data, NULL, &t->predictor);
    mt_rule_search search;
    ck_assert_uint_eq(mt_rule_of_key(shape_key(n, h, length), t->table.kinds, features, NULL, NULL), rule.feature_count);
    for (size_t v = 0; v < rule.variant_count; v++) costs[v] = mt_rule_wave_cost((double)((n + block_size(t->texts[v]) - 1) / block_size(t->texts[v])), 132);
    mt_rule_begin(&rule, features, &search);
    mt_rule_set_costs(&rule, costs, &search);
    ck_assert(mt_rule_next(&rule, &search));
    *variant = t->texts[search.variant];
    return mt_rule_expect(&rule, &search);
}

/* Asked with lists of lengths that were tuned, 1 and 3, and that were not. */
START_TEST(test_both_sides_choose_the_same)
{
    static tuner_side t;
    mt_rng rng;
    size_t offers = 0, moved = 0;
    make_database();
    load(&t);
    ck_assert_msg(t.predictor.cost_weight > 0.1 && t.predictor.is_learned, "%g", t.predictor.cost_weight);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plans[5];
    for (size_t length = 1; length <= 4; length++) ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "dtype=f16", "H[0]", "H[1]", "H[2]", "H[3]"}, 2 + length, &plans[length]));
    mt_rng_seed(&rng, 4);
    for (int i = 0; i < ASKED; i++) {
        const int64_t values[] = {(int64_t)exp2(10 + 6 * mt_rng_uniform(&rng)), (int64_t)exp2(8 * mt_rng_uniform(&rng)), 5, 5, 5};
        const int length = 1 + i % 4;
        const char *variant;
        tunelookup_result r;
        mt_rule_expectation expected = choose(&t, values[0], values[1], length, &variant);
        ck_lookup(tunelookup_find(plans[length], values, &r));
        moved += strstr(lookup_explain(&r), "change: ") != NULL;
        if (r.match == TUNELOOKUP_MATCH_DEFAULT) {
            ck_assert(expected.advantage < 0);
            ck_assert_double_eq_tol(r.expected_slowdown, exp2(expected.of_default), 1e-6);
            continue;
        }
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
        ck_assert_str_eq(r.variant, variant);
        ck_assert_double_eq_tol(log2(r.expected_slowdown), expected.slowdown, 1e-7);
        ck_assert_double_eq_tol(log2(r.slowdown_bound), expected.most, 1e-7);
        ck_assert((strstr(lookup_explain(&r), "far: ") != NULL) == expected.is_far);
        offers++;
    }
    ck_assert_msg(offers > ASKED / 2 && moved >= 10, "%zu offers, %zu moved by their waves", offers, moved);
    tunelookup_close(db);
    unload(&t);
}
END_TEST

FIXTURE_MAIN("predictor_agrees", test_both_sides_choose_the_same)
