/* Portfolios in the database: what is read, chosen and stored, and what stays. */
#include "tests/unit/lookup_fixture.h"

#include "db/store/query_page.h"
#include "tuner/predictor/table.h"

static mt_portfolio_group group;

static void put(lookup_writer *w, int n, const char *workload, const char *variant, double time)
{
    char shape[64];
    snprintf(shape, sizeof shape, "H=3,5;N=%d;dtype=f16", n);
    lookup_put(w, shape, workload, variant, time);
    group = (mt_portfolio_group){w->subject.kernel, w->subject.device, w->subject.l2, w->subject.origin};
}

static void put_failure(lookup_writer *w, const char *variant, mt_outcome_kind kind)
{
    fixture_put(w->store, w->session, &w->subject, variant, &(mt_outcome){.kind = kind});
}

/* As portfolio --measure does. */
static void put_excluded(lookup_writer *w, const char *variant)
{
    mt_outcome outcome = {.kind = MT_OUTCOME_EXCLUDED};
    ck_ok(mt_query_spec_digest(w->store, w->subject.kernel, outcome.spec_digest, &fixture_err));
    fixture_put(w->store, w->session, &w->subject, variant, &outcome);
}

START_TEST(test_table)
{
    mt_predictor_table table;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put(&w, 4, "one", "ALGO=plain;B=32", 100);
    put(&w, 4, "one", "ALGO=plain;B=64", 105);
    put(&w, 4, "one", "ALGO=wide;B=32;C=1", 200); /* serves no shape: no column */
    put_failure(&w, "ALGO=wide;B=64;C=1", MT_OUTCOME_WRONG_RESULT);
    ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=64", &fixture_err));
    put(&w, 4, "two", "ALGO=plain;B=32", 130);
    put(&w, 4, "two", "ALGO=plain;B=64", 100);
    put(&w, 64, "one", "ALGO=wide;B=64;C=1", 50);
    put_excluded(&w, "ALGO=plain;B=32");
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    const mt_predictor_data *data = &table.data;
    ck_assert_uint_eq(table.subject_count, 3);
    ck_assert_uint_eq(data->shape_count, 2);
    ck_assert_uint_eq(data->variant_count, 3);
    ck_assert_uint_eq(data->feature_count, MT_RULE_LIST_FEATURES + 2);
    ck_assert_double_eq_tol(data->shapes[MT_RULE_LIST_FEATURES], 2, 1e-6); /* log2 of N */
    ck_assert(isnan(data->default_slowdown[0])); /* known for one workload only */
    ck_assert(isnan(data->default_slowdown[1]));
    size_t inf = 0, nan = 0, worst = 0;
    for (size_t i = 0; i < 6; i++) {
        inf += isinf(data->slowdown[i]);
        nan += isnan(data->slowdown[i]);
        worst += fabs(data->slowdown[i] - log2(1.3)) < 1e-6; /* the worse of two workloads */
    }
    ck_assert_uint_eq(inf, 2); /* the wrong result and the excluded one */
    ck_assert_uint_eq(nan, 1);
    ck_assert_uint_eq(worst, 1);
    char name[64];
    mt_predictor_feature_name(&table, 1, name, sizeof name);
    ck_assert_str_eq(name, "H.sum");
    mt_predictor_feature_name(&table, MT_RULE_LIST_FEATURES, name, sizeof name);
    ck_assert_str_eq(name, "N");
    mt_predictor_table_free(&table);
    lookup_end(&w);
}
END_TEST

/* A shape with other values than the kernel's expressions name is left out and told of, and the others make the portfolio, whichever came first; with none left there is none. */
START_TEST(test_odd_shapes)
{
    static const char *const odd[] = {"M=4", "H=3,5;M=4;dtype=f16", "H=3,5;N=many;dtype=f16", "H=3,5;N=4", "A=1;H=3,5;N=4;dtype=f16", ""};
    for (size_t i = 0; i <= sizeof odd / sizeof *odd; i++) {
        mt_predictor_table table;
        lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
        if (i < sizeof odd / sizeof *odd) lookup_put(&w, odd[i], "one", "ALGO=plain;B=32", 100);
        put(&w, 4, "one", "ALGO=plain;B=32", 100);
        put(&w, 64, "one", "ALGO=wide;B=64;C=1", 50);
        fixture_stderr_begin();
        ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
        const char *said = fixture_stderr_end();
        ck_assert_uint_eq(table.shape_count, 2);
        ck_assert_uint_eq(table.subject_count, 2);
        bool is_odd = i < sizeof odd / sizeof *odd;
        ck_assert_msg(!is_odd == !*said, "%s", said);
        if (is_odd) ck_assert_msg(strstr(said, "1 tuned shape is left out: shape shape has other values than the kernel's expressions name (H,N,dtype)") != NULL, "%s", said);
        mt_predictor_table_free(&table);
        lookup_end(&w);
        if (i == 0) fixture_sql("DELETE FROM best WHERE subject_id > 1");
        if (i == 0) {
            mt_store *store = fixture_open();
            ck_fails(mt_predictor_table_load(store, &group, 1.1, &table, &fixture_err), MT_ERR_UNSUPPORTED, "has other values than the kernel's expressions name");
            mt_store_close(store);
        }
        remove(fixture_db);
    }
}
END_TEST

/* How many cells, and the default on the last shape, are said to fail. */
static size_t count_failures(mt_store *store, bool *default_fails)
{
    mt_predictor_table table;
    size_t count = 0;
    ck_ok(mt_predictor_table_load(store, &group, 1.1, &table, &fixture_err));
    for (size_t i = 0; i < table.subject_count * table.variant_count; i++) count += isinf(table.cells[i].slowdown) && table.cells[i].measurement;
    *default_fails = isinf(table.subjects[table.subject_count - 1].default_slowdown);
    mt_predictor_table_free(&table);
    return count;
}

/* Cells and defaults of the stored portfolio that are told as excluded. */
static int64_t stored_exclusions(mt_store *store)
{
    ck_ok(mt_predictor_refresh(store, &group, NULL, &fixture_err));
    ck_ok(mt_store_commit(store, &fixture_err)); /* so that others see it */
    int64_t count = fixture_number("SELECT (SELECT count(*) FROM portfolio_cell WHERE outcome = 'excluded') + (SELECT count(*) FROM portfolio_shape WHERE default_outcome = 'excluded')");
    ck_ok(mt_store_begin(store, &fixture_err));
    return count;
}

/* The search space is edited, the kernel is not: what the old constraints excluded may be valid now, so nothing is known of it. */
START_TEST(test_excluded_by_other_expressions)
{
    bool default_fails;
    int64_t id;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put(&w, 4, "one", "ALGO=plain;B=32", 100);
    put(&w, 4, "one", "ALGO=plain;B=64", 105);
    put(&w, 64, "one", "ALGO=plain;B=64", 50);
    ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=32", &fixture_err));
    put_excluded(&w, "ALGO=plain;B=32");
    ck_assert_uint_eq(count_failures(w.store, &default_fails), 1);
    ck_assert(default_fails);
    ck_assert_int_eq(stored_exclusions(w.store), 2);

    char *edited = mt_strdup(lookup_spec);
    memcpy(strstr(edited, "1000000"), "9000000", 7);
    ck_ok(mt_store_kernel(w.store, &(mt_kernel_row){.name = "toy", .key = lookup_kernel_key, .spec_json = edited}, &id, &fixture_err));
    mt_free(edited);
    ck_assert_uint_eq(count_failures(w.store, &default_fails), 0);
    ck_assert(!default_fails);
    ck_assert_int_eq(stored_exclusions(w.store), 0);

    put_excluded(&w, "ALGO=plain;B=32"); /* still so */
    ck_assert_uint_eq(count_failures(w.store, &default_fails), 1);
    ck_assert(default_fails);
    lookup_end(&w);
}
END_TEST

/* A compiler that was killed in a later session is no verdict: the older times stay. */
START_TEST(test_what_did_not_run_hides_nothing)
{
    mt_predictor_table table;
    size_t known = 0;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put(&w, 4, "one", "ALGO=plain;B=32", 100);
    put(&w, 64, "one", "ALGO=plain;B=64", 50);
    put(&w, 64, "one", "ALGO=plain;B=32", 54);
    ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=32", &fixture_err));
    put_failure(&w, "ALGO=plain;B=32", MT_OUTCOME_COMPILER_KILLED);
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    for (size_t i = 0; i < table.subject_count * table.variant_count; i++) known += isfinite(table.cells[i].slowdown);
    ck_assert_uint_eq(known, 3);
    ck_assert(isfinite(table.subjects[1].default_slowdown));
    mt_predictor_table_free(&table);
    ck_ok(mt_predictor_refresh(w.store, &group, NULL, &fixture_err));
    ck_ok(mt_store_commit(w.store, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_shape WHERE default_outcome = 'ok'"), 1);
    ck_ok(mt_store_begin(w.store, &fixture_err));
    lookup_end(&w);
}
END_TEST

START_TEST(test_limits_stay)
{
    bool is_asked;
    int64_t max;
    double within;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 0; octave < 4; octave++) {
        put(&w, 1 << octave, "one", "ALGO=plain;B=32", octave % 2 ? 100 : 150);
        put(&w, 1 << octave, "one", "ALGO=plain;B=64", octave % 2 ? 150 : 100);
    }
    ck_ok(mt_predictor_refresh(w.store, &group, NULL, &fixture_err));
    ck_ok(mt_query_portfolio_limits(w.store, &group, &is_asked, &max, &within, &fixture_err));
    ck_assert(!is_asked);
    ck_ok(mt_predictor_refresh(w.store, &group, &(mt_predictor_options){1, 1.2}, &fixture_err));
    ck_ok(mt_predictor_refresh(w.store, &group, NULL, &fixture_err)); /* a session */
    ck_ok(mt_query_portfolio_limits(w.store, &group, &is_asked, &max, &within, &fixture_err));
    ck_assert(is_asked && max == 1 && within == 1.2);
    lookup_end(&w);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio"), 1);
    ck_assert_int_eq(fixture_number("SELECT unserved_count FROM portfolio"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_variant WHERE position > 0"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_cell"), 8);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_shape"), 4);
    ck_assert_int_eq(fixture_number("SELECT json_valid(rule_json) AND json_extract(rule_json, '$.weights[1].name') = 'N' FROM portfolio"), 1);
    ck_assert_int_eq(fixture_number("SELECT held_out_count FROM portfolio"), 4);
}
END_TEST

static mt_status keep_info(void *context, const mt_portfolio_info *info, mt_error *err)
{
    mt_portfolio_info *kept = context;
    (void)err;
    *kept = *info;
    return MT_OK;
}

/* What the report tells: shapes, not shapes with workloads; those on which no member is near each workload's best, as the predictor counts them. */
START_TEST(test_info)
{
    mt_portfolio_info info = {0};
    mt_predictor_table table;
    mt_predictor predictor = {0};
    const mt_predictor_options options = {8, 1.1};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int i = 0; i < 2; i++) { /* each workload has its winner, or one of the two serves both */
        put(&w, 4, i ? "two" : "one", "ALGO=plain;B=32", i ? 150 : 100);
        put(&w, 4, i ? "two" : "one", "ALGO=plain;B=64", i ? 100 : 140);
        put(&w, 8, i ? "two" : "one", "ALGO=plain;B=32", 105);
        put(&w, 8, i ? "two" : "one", "ALGO=plain;B=64", 100);
    }
    put(&w, 16, "one", "ALGO=plain;B=32", 100);
    put(&w, 16, "one", "ALGO=plain;B=64", 500);
    put(&w, 16, "two", "ALGO=plain;B=64", 100); /* no member has a time with both */
    ck_ok(mt_predictor_refresh(w.store, &group, &options, &fixture_err));
    ck_ok(mt_query_portfolios(w.store, &(mt_filter){0}, keep_info, &info, &fixture_err));
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    ck_ok(mt_predictor_build(&table.data, NULL, &options, &predictor, &fixture_err));
    ck_assert_int_eq(info.shapes, 3);
    ck_assert_int_eq(info.apart, 2);
    ck_assert_uint_eq(predictor.apart, 2);
    ck_assert_int_eq(info.unserved, (int64_t)predictor.unserved);
    mt_predictor_table_free(&table);
    lookup_end(&w);
}
END_TEST

START_TEST(test_more_shapes_than_fit)
{
    mt_predictor_table table;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int n = 1; n <= MT_RULE_SHAPES + 5; n++) put(&w, n, "one", "ALGO=plain;B=32", 100);
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    ck_assert_uint_eq(table.shape_count, MT_RULE_SHAPES);
    ck_assert_uint_eq(table.left_out, 5);
    mt_predictor_table_free(&table);
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    lookup_end(&w);
}
END_TEST

/* The pick of a final is the winner though others have less time; those must not take the columns of other shapes' winners. */
START_TEST(test_winners_come_first)
{
    mt_predictor_table table;
    char variant[64], *text;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int i = 0; i < MT_RULE_VARIANTS + 8; i++) { /* on two shapes, so that they serve more than the other winner does */
        snprintf(variant, sizeof variant, "ALGO=plain;B=%d", 100 + i);
        put(&w, 4, "one", variant, 100);
        put(&w, 8, "one", variant, 100 + 0.1 * i);
    }
    put(&w, 64, "one", "ALGO=plain;B=64", 50);
    put(&w, 4, "one", "ALGO=wide;B=32;C=1", 101);
    lookup_end(&w);
    fixture_sql("UPDATE best SET measurement_id = (SELECT m.id FROM measurement m JOIN variant v ON v.id = m.variant_id WHERE v.text = 'ALGO=wide;B=32;C=1') "
                "WHERE subject_id = (SELECT min(id) FROM subject)"); /* as a final leaves it */
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &w.store, &fixture_err));
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    ck_assert_uint_eq(table.variant_count, MT_RULE_VARIANTS);
    bool has_wide = false, has_alone = false;
    for (size_t v = 0; v < table.variant_count; v++) {
        ck_ok(mt_query_variant_text(w.store, table.variants[v], &text, &fixture_err));
        has_wide = has_wide || strcmp(text, "ALGO=wide;B=32;C=1") == 0;
        has_alone = has_alone || strcmp(text, "ALGO=plain;B=64") == 0;
        mt_free(text);
    }
    ck_assert(has_wide && has_alone);
    mt_predictor_table_free(&table);
    mt_store_close(w.store);
}
END_TEST

static void put_timed(lookup_writer *w, const char *variant, double median_ns, uint32_t batch)
{
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, median_ns);
    outcome.timing.batch = batch;
    fixture_put(w->store, w->session, &w->subject, variant, &outcome);
}

/* What was timed by events beside a best in graphs can't be compared with it: no cell, so that it is measured again; the default gets the benefit of the doubt. */
START_TEST(test_launch_latency)
{
    mt_predictor_table table;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put(&w, 4, "one", "ALGO=plain;B=32", 6e3);
    put(&w, 4, "one", "ALGO=plain;B=64", 6.3e3);
    put(&w, 64, "one", "ALGO=plain;B=64", 6e3);
    put_timed(&w, "ALGO=plain;B=32", 9.6e3, 1);
    ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=32", &fixture_err));
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    ck_assert_uint_eq(table.variant_count, 2);
    size_t none = 0;
    for (size_t i = 0; i < 4; i++) none += !table.cells[i].measurement;
    ck_assert_uint_eq(none, 1);
    ck_assert_double_eq_tol(table.subjects[1].default_slowdown, 1.1, 1e-9); /* 3 µs less */
    mt_predictor_table_free(&table);
    ck_ok(mt_predictor_refresh(w.store, &group, NULL, &fixture_err));
    lookup_end(&w);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_cell"), 3);
    ck_assert_int_eq(fixture_number("SELECT round(default_ns) FROM portfolio_shape WHERE default_ns IS NOT NULL"), 6600); /* as the lookup reads it */
}
END_TEST

/* Shapes that agree in the values named are one family; a name that shapes do not have is refused. */
START_TEST(test_families)
{
    static const struct { const char *names; size_t expected[4]; const char *problem; } cases[] = {
        {"N", {0, 1, 0, 3}, NULL}, {"dtype", {0, 0, 2, 0}, NULL}, {"N,dtype", {0, 1, 2, 3}, NULL}, {"H", {0, 0, 0, 3}, NULL}, {"K", {0}, "shapes have no value 'K'"}, {"N,", {0, 1, 0, 3}, NULL},
    };
    static const char *const shapes[] = {"H=3,5;N=4;dtype=f16", "H=3,5;N=8;dtype=f16", "H=3,5;N=4;dtype=f32", "H=3,6;N=9;dtype=f16"};
    mt_predictor_table table;
    size_t family[MT_RULE_SHAPES];
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (size_t i = 0; i < 4; i++) lookup_put(&w, shapes[i], "one", "ALGO=plain;B=32", 100);
    group = (mt_portfolio_group){w.subject.kernel, w.subject.device, w.subject.l2, w.subject.origin};
    ck_ok(mt_predictor_table_load(w.store, &group, 1.1, &table, &fixture_err));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        mt_status st = mt_predictor_families(&table, cases[c].names, family, &fixture_err);
        if (cases[c].problem) ck_assert(st == MT_ERR_NOT_FOUND && strstr(fixture_err.message, cases[c].problem));
        for (size_t i = 0; i < 4 && !cases[c].problem; i++) ck_assert_msg(st == MT_OK && family[i] == cases[c].expected[i], "%s, shape %zu: %zu", cases[c].names, i, family[i]);
    }
    mt_predictor_table_free(&table);
    lookup_end(&w);
}
END_TEST

/* Without winners there is nothing to answer with. */
START_TEST(test_winners_gone)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put(&w, 4, "one", "ALGO=plain;B=32", 100);
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    put_failure(&w, "ALGO=plain;B=32", MT_OUTCOME_WRONG_RESULT);
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    ck_ok(mt_predictor_refresh(w.store, &group, NULL, &fixture_err));
    lookup_end(&w);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio"), 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_cell"), 0);
}
END_TEST

FIXTURE_MAIN("portfolio", test_table, test_odd_shapes, test_excluded_by_other_expressions, test_what_did_not_run_hides_nothing, test_limits_stay, test_info, test_more_shapes_than_fit, test_winners_come_first, test_launch_latency, test_families, test_winners_gone)
