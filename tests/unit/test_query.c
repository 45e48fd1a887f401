/* Reading: rows come back as written, filters, summaries, hostile content. */
#include "tests/unit/store_fixture.h"

#include "db/store/open/device_match.h"
#include "db/store/measurement.h"

typedef struct seen {
    int count;
    char variants[256];
    mt_measurement_row last; /* texts are gone when this is read; numbers stay */
    float samples[8];
    char text[64], launch[128], gpu[64];
    mt_status answer;
} seen;

static mt_status see(void *context, const mt_measurement_row *row, mt_error *err)
{
    seen *all = context;
    all->count++;
    strncat(all->variants, row->variant, sizeof all->variants - strlen(all->variants) - 2);
    strcat(all->variants, " ");
    all->last = *row;
    snprintf(all->text, sizeof all->text, "%s", row->outcome.text ? row->outcome.text : "(null)");
    snprintf(all->launch, sizeof all->launch, "%s", row->launch_json ? row->launch_json : "(null)");
    snprintf(all->gpu, sizeof all->gpu, "%s", row->gpu_key);
    for (uint32_t i = 0; row->outcome.sample_ns && i < row->outcome.timing.samples && i < 8; i++) all->samples[i] = row->outcome.sample_ns[i];
    return all->answer == MT_OK ? MT_OK : MT_FAIL(err, all->answer, "stop");
}

static seen measurements(mt_store *store, const mt_filter *filter)
{
    seen all = {0};
    ck_ok(mt_query_measurements(store, filter, see, &all, &fixture_err));
    return all;
}

START_TEST(rows_come_back_as_written)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    float samples[3] = {99.5f, 100.25f, 1e9f};
    mt_outcome o = fixture_outcome(MT_OUTCOME_OK, 100.125);
    o.sample_ns = samples;
    char hostile[] = "<script>\n\x01\"'--;DROP TABLE device";
    o.text = hostile;
    fixture_put(store, session, &s, "A=1;B='\"", &o);
    mt_filter with_samples = {.with_samples = true};
    seen all = measurements(store, &with_samples);
    ck_assert_int_eq(all.count, 1);
    const mt_measurement_row *r = &all.last;
    ck_assert_int_eq(r->session, session);
    ck_assert_int_eq(r->origin, MT_ORIGIN_MEASURED);
    ck_assert_int_eq(r->nvrtc_version, 13000);
    ck_assert_double_eq(r->model_flops, 1.4212915200e10);
    ck_assert_double_nan(r->model_dram_bytes);
    ck_assert_int_eq(r->evaluation, 1);
    ck_assert_str_eq(all.text, hostile);
    ck_assert_str_eq(all.launch, "{\"launches\": [{\"grid\": [1, 2, 3], \"cluster\": [2, 1, 1]}]}");
    const mt_outcome *q = &r->outcome;
    ck_assert_int_eq(q->kind, o.kind);
    ck_assert_mem_eq(&q->timing, &o.timing, sizeof o.timing);
    ck_assert_str_eq(q->accuracy.output, "out");
    ck_assert_double_eq(q->accuracy.norm_error, o.accuracy.norm_error);
    ck_assert_uint_eq(q->accuracy.worst_index, o.accuracy.worst_index);
    ck_assert_double_nan(q->accuracy.worst_value);
    ck_assert(isinf(q->accuracy.worst_reference) && q->accuracy.worst_reference < 0);
    ck_assert_uint_eq(q->accuracy.nan_mismatches, 2);
    ck_assert_mem_eq(&q->resources, &o.resources, sizeof o.resources);
    ck_assert_str_eq(q->cubin.hex, o.cubin.hex);
    ck_assert(q->cubin_cached);
    ck_assert_int_eq(q->compile_ns + q->wait_ns + q->validate_ns + q->time_ns, 190006000);
    for (int i = 0; i < 3; i++) ck_assert_float_eq(all.samples[i], samples[i]);
    ck_assert_ptr_null(measurements(store, NULL).last.outcome.sample_ns); /* not asked for */
    mt_store_close(store);
}
END_TEST

START_TEST(untimed_rows_have_no_times)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    mt_outcome o = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 5);
    fixture_put(store, fixture_session(store), &s, "A=1", &o);
    mt_outcome bare = {.kind = MT_OUTCOME_COMPILE_ERROR, .text = "no"};
    fixture_put(store, fixture_session(store), &s, "A=2", &bare);
    seen all = measurements(store, NULL);
    ck_assert_str_eq(all.variants, "A=1 A=2 ");
    ck_assert_double_eq(all.last.outcome.timing.median_ns, 0);
    ck_assert_uint_eq(all.last.outcome.timing.samples, 0);
    ck_assert_str_eq(all.last.outcome.accuracy.output, "");
    ck_assert_double_eq(all.last.outcome.accuracy.worst_value, 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement WHERE median_ns IS NULL AND sample_count IS NULL"), 2);
    mt_store_close(store);
}
END_TEST

/* Two GPUs, two kernel states, two shapes, a recorded row. */
static mt_store *make_mixture(void)
{
    static const char *const keys[][4] = {{"h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "k1", "N=1"},
                                          {"h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "k1", "N=2"},
                                          {"h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "k2", "N=1"},
                                          {"h100-pcie|cc90|sm114|80g", "NVIDIA H100 PCIe", "k1", "N=1"},
                                          {"h200|cc90|sm132|141g", "NVIDIA H200", "k1", "N=1"}};
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    for (int i = 0; i < 5; i++) {
        char variant[16];
        snprintf(variant, sizeof variant, "V=%d", i);
        mt_subject s = fixture_subject_of(store, keys[i][0], keys[i][1], keys[i][2], keys[i][3], 13000,
                                          i == 4 ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED);
        if (i == 1) s.l2 = MT_L2_WARM;
        fixture_put_ok(store, session, &s, variant, 100 + i);
        ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    }
    return store;
}

START_TEST(filters)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED, measured = MT_ORIGIN_MEASURED;
    static const mt_l2 warm = MT_L2_WARM;
    const struct {
        mt_filter filter;
        const char *variants;
    } cases[] = {{{0}, "V=0 V=1 V=2 V=3 V=4 "},
                 {{.gpu = "h100"}, "V=0 V=1 V=2 V=3 "},
                 {{.gpu = "H100-PCIe"}, "V=3 "},
                 {{.gpu = "nvidia h100 pcie"}, "V=3 "},
                 {{.gpu = "h200|cc90|sm132|141g"}, "V=4 "},
                 {{.gpu = "h10"}, ""},
                 {{.gpu = ""}, ""},
                 {{.gpu = "h100-sxm-more"}, ""},
                 {{.kernel = "msda"}, "V=0 V=1 V=2 V=3 V=4 "},
                 {{.kernel = "MSDA"}, ""},
                 {{.kernel_key = "k2"}, "V=2 "},
                 {{.shape = "N=2"}, "V=1 "},
                 {{.shape_key = "N=1", .gpu = "h100", .kernel_key = "k1"}, "V=0 V=3 "},
                 {{.workload = "local15"}, "V=0 V=1 V=2 V=3 V=4 "},
                 {{.workload_key = "sigma=2"}, ""},
                 {{.origin = &recorded}, "V=4 "},
                 {{.origin = &measured, .l2 = &warm}, "V=1 "}};
    mt_store *store = make_mixture();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen all = measurements(store, &cases[i].filter);
        ck_assert_msg(strcmp(all.variants, cases[i].variants) == 0, "case %zu: %s", i, all.variants);
        int64_t counts[MT_OUTCOME_KIND_COUNT];
        ck_ok(mt_query_outcome_counts(store, &cases[i].filter, counts, &fixture_err));
        ck_assert_int_eq(counts[MT_OUTCOME_OK], all.count);
        seen best = {0};
        ck_ok(mt_query_best(store, &cases[i].filter, see, &best, &fixture_err));
        ck_assert_int_eq(best.count, all.count); /* one row a subject here */
    }
    mt_store_close(store);
}
END_TEST

START_TEST(device_names)
{
    const char *key = "h100-sxm-mig-1g.10gb|cc90|sm16|10g", *name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb";
    ck_assert(mt_device_matches("h100", key, name));
    ck_assert(mt_device_matches("H100-SXM", key, name));
    ck_assert(mt_device_matches("h100-sxm-mig-1g.10gb", key, name));
    ck_assert(mt_device_matches(key, key, name));
    ck_assert(mt_device_matches(name, key, name));
    ck_assert(!mt_device_matches("h100-sxm-mi", key, name));
    ck_assert(!mt_device_matches("h100-sxm-mig-1g.10gb|", key, name));
    ck_assert(!mt_device_matches("h100-sxm|cc90|sm114|80g", "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3"));
    ck_assert(!mt_device_matches("", "", "x"));
    ck_assert(mt_device_matches("NVIDIA H100 80GB HBM3", "h100-sxm|cc90", "another spelling"));
}
END_TEST

START_TEST(best_is_ordered)
{
    mt_store *store = make_mixture();
    seen best = {0};
    ck_ok(mt_query_best(store, NULL, see, &best, &fixture_err));
    ck_assert_str_eq(best.variants, "V=0 V=1 V=2 V=3 V=4 "); /* GPUs with one subject behind the one with three */
    fixture_sql("UPDATE measurement SET outcome = 'wrong_result' WHERE id = (SELECT measurement_id FROM best ORDER BY subject_id LIMIT 1)"); /* whoever wrote that: it wins nothing */
    best = (seen){0};
    ck_ok(mt_query_best(store, NULL, see, &best, &fixture_err));
    ck_assert_int_eq(best.count, 4);
    mt_store_close(store);
}
END_TEST

typedef struct devices {
    int count;
    char text[256];
} devices;

static mt_status see_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    (void)err;
    devices *all = context;
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%s:%lld ", row->name, (long long)measurements);
    ck_assert_ptr_nonnull(strstr(row->facts_json, "132"));
    all->count++;
    return MT_OK;
}

START_TEST(device_list)
{
    mt_store *store = make_mixture();
    devices all = {0}, some = {0};
    ck_ok(mt_query_devices(store, NULL, see_device, &all, &fixture_err));
    ck_assert_str_eq(all.text, "NVIDIA H100 PCIe:1 NVIDIA H100 80GB HBM3:3 NVIDIA H200:1 ");
    mt_origin recorded = MT_ORIGIN_RECORDED;
    ck_ok(mt_query_devices(store, &recorded, see_device, &some, &fixture_err));
    ck_assert_str_eq(some.text, "NVIDIA H200:1 ");
    mt_store_close(store);
}
END_TEST

static mt_status see_session(void *context, const mt_session_info *info, mt_error *err)
{
    (void)err;
    int *count = context;
    ck_assert_str_eq(info->command, "msda-tune");
    ck_assert_str_eq(info->strategy, "auto");
    ck_assert_int_eq(info->seed, 7);
    ck_assert_int_gt(info->started_unix_ms, 1700000000000);
    if (*count == 0) {
        ck_assert_str_eq(info->state, "interrupted");
        ck_assert_int_ge(info->ended_unix_ms, info->started_unix_ms);
        ck_assert_int_eq(info->worker_restarts, 1);
        ck_assert_int_eq(info->evaluated, 2);
        ck_assert_int_eq(info->known, 3);
        ck_assert_int_eq(info->failed, 4);
        ck_assert_str_eq(info->times_json, "{}");
        ck_assert_ptr_null(info->warnings);
    } else {
        ck_assert_str_eq(info->state, "running");
        ck_assert_int_eq(info->ended_unix_ms, 0);
        ck_assert_int_eq(info->process_id, getpid());
        ck_assert_str_ne(info->boot_id, "");
    }
    ++*count;
    return MT_OK;
}

START_TEST(sessions)
{
    mt_store *store = fixture_open();
    int count = 0;
    mt_session_end_row end = {.state = "interrupted", .worker_restarts = 1, .evaluated = 2, .known = 3, .failed = 4, .times_json = "{}"};
    ck_ok(mt_store_session_end(store, fixture_session(store), &end, &fixture_err));
    fixture_session(store);
    ck_ok(mt_query_sessions(store, see_session, &count, &fixture_err));
    ck_assert_int_eq(count, 2);
    mt_store_close(store);
}
END_TEST

/* The last session that measured something decides, as it stands: running, interrupted or at its end. */
START_TEST(cut_short)
{
    static const struct { const char *state; bool is_cut_short; } ends[] = {{"interrupted", true}, {"done", false}, {"interrupted", true}, {"failed", false}};
    mt_store *store = fixture_open();
    mt_subject subject = fixture_subject(store);
    const mt_filter filter = {.kernel = "msda", .shape_key = "N=48;dtype=f16"}, other = {.kernel = "msda", .shape_key = "N=49;dtype=f16"};
    bool is = true;
    ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
    ck_assert(!is); /* nothing was measured */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int64_t session = fixture_session(store);
        fixture_put_ok(store, session, &subject, "ALGO=a", 1000);
        ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
        ck_assert_msg(is, "session %zu runs", i);
        ck_ok(mt_store_session_end(store, session, &(mt_session_end_row){.state = ends[i].state, .times_json = "{}"}, &fixture_err));
        ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
        ck_assert_msg(is == ends[i].is_cut_short, "%s", ends[i].state);
    }
    int64_t session = fixture_session(store);
    fixture_put_ok(store, session, &subject, "ALGO=a", 1000);
    ck_ok(mt_store_refresh_best(store, &subject, &fixture_err));
    fixture_sql("UPDATE best SET updated_unix_ms = (SELECT max(created_unix_ms) FROM measurement)");
    ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
    ck_assert(is); /* killed */
    fixture_sql("UPDATE best SET updated_unix_ms = updated_unix_ms + 1"); /* a session that found all of it known */
    ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
    ck_assert(!is);
    fixture_session(store); /* without a measurement of it */
    ck_ok(mt_query_is_cut_short(store, &filter, &is, &fixture_err));
    ck_assert(!is);
    ck_ok(mt_query_is_cut_short(store, &other, &is, &fixture_err));
    ck_assert(!is);
    mt_store_close(store);
}
END_TEST

/* A callback may use the store, and stop. */
static mt_status see_and_use(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row;
    seen inner = {0};
    mt_status st = mt_query_measurements(context, NULL, see, &inner, err);
    if (st == MT_OK) fixture_subject(context);
    ck_assert_int_eq(inner.count, 5);
    return st;
}

START_TEST(callbacks_may_query_and_stop)
{
    mt_store *store = make_mixture();
    ck_ok(mt_query_measurements(store, NULL, see_and_use, store, &fixture_err));
    seen all = {.answer = MT_ERR_INTERRUPTED};
    mt_filter with_samples = {.with_samples = true};
    ck_fails(mt_query_measurements(store, &with_samples, see, &all, &fixture_err), MT_ERR_INTERRUPTED, "stop");
    ck_assert_int_eq(all.count, 1);
    mt_store_close(store);
}
END_TEST

/* A file that somebody wrote by hand: each is refused in words, none is believed. */
START_TEST(impossible_columns)
{
    static const struct {
        const char *sql, *part;
    } cases[] = {{"UPDATE measurement SET outcome = 'splendid'", "outcome"},
                 {"UPDATE measurement SET outcome = 'ok', median_ns = 'fast'", "median_ns"},
                 {"UPDATE measurement SET median_ns = 1, registers = -1", "registers"},
                 {"UPDATE measurement SET registers = 5000000000", "registers"},
                 {"UPDATE measurement SET registers = 'x'", "registers"},
                 {"UPDATE measurement SET registers = 1, time_ns = -5", "time_ns"},
                 {"UPDATE measurement SET time_ns = 1, accuracy_output = zeroblob(9)", "accuracy_output"},
                 {"UPDATE measurement SET accuracy_output = hex(zeroblob(100))", "accuracy_output"},
                 {"UPDATE measurement SET accuracy_output = NULL, samples = x'00'", "samples"},
                 {"UPDATE measurement SET samples = x'28b52ffd2000010000'", "samples"},
                 {"UPDATE measurement SET sample_count = 4000000000", "samples"}};
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 10);
    mt_filter filter = {.with_samples = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen all = {0};
        fixture_sql(cases[i].sql);
        ck_fails(mt_query_measurements(store, &filter, see, &all, &fixture_err), MT_ERR_DB, cases[i].part);
    }
    mt_store_close(store);
}
END_TEST

START_TEST(samples_pack_and_unpack)
{
    mt_store *store = fixture_open();
    enum { COUNT = 100000 };
    float *samples = malloc(COUNT * sizeof *samples), *back = NULL;
    for (int i = 0; i < COUNT; i++) samples[i] = (float)(i % 977) * 1.1f;
    void *blob = NULL;
    size_t size = 0;
    ck_ok(mt_samples_pack(store, samples, COUNT, &blob, &size, &fixture_err));
    ck_assert_uint_lt(size, COUNT * sizeof *samples / 2);
    ck_ok(mt_samples_unpack(store, blob, size, COUNT, &back, &fixture_err));
    ck_assert_mem_eq(samples, back, COUNT * sizeof *samples);
    mt_free(back);
    ck_fails(mt_samples_unpack(store, blob, size, COUNT - 1, &back, &fixture_err), MT_ERR_DB, "damaged");
    ck_fails(mt_samples_unpack(store, blob, size / 2, COUNT, &back, &fixture_err), MT_ERR_DB, "damaged");
    mt_free(blob);
    ck_ok(mt_samples_pack(store, NULL, 3, &blob, &size, &fixture_err));
    ck_assert_ptr_null(blob);
    free(samples);
    mt_store_close(store);
}
END_TEST

/* Read as JSON: a word in a text, another spelling and a damaged text say nothing. */
START_TEST(programmatic_launches)
{
    static const struct { const char *launch; bool is; } cases[] = {
        {"{\"launches\":[{\"entry\":\"a\"},{\"entry\":\"b\", \"programmatic\" : true}]}", true}, {"{\"launches\":[{\"entry\":\"a\",\"programmatic\":true}]}", true},
        {"{\"launches\":[{\"entry\":\"a\",\"programmatic\":false}]}", false}, {"{\"launches\":[{\"entry\":\"\\\"programmatic\\\":true\"}]}", false},
        {"{\"launches\":[\"programmatic\"],\"programmatic\":true}", false}, {"{\"launches\":[]}", false}, {NULL, false}};
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_outcome ok = fixture_outcome(MT_OUTCOME_OK, 10);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_result result = {.subject = &s, .variant = "A=1", .launch_json = cases[i].launch, .evaluation = 1, .outcome = &ok};
        ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err));
        ck_assert_msg(measurements(store, NULL).last.is_programmatic == cases[i].is, "%s", cases[i].launch);
    }
    mt_store_close(store);
}
END_TEST

/* The defaults of a state of a kernel, out of its programs; "" where these are not known, or are no programs. */
START_TEST(usual_knobs)
{
    static const struct {
        const char *programs, *usual;
    } cases[] = {
        {"{\"params\": [{\"name\": \"ALGO\", \"values\": [\"a\", \"b\"], \"default\": 1}, {\"name\": \"N\", \"values\": [1, 2], \"default\": 0}]}", "ALGO=b;N=1"},
        {"{}", ""},
        {"{\"params\": 7}", ""},
        {"{\"params\": [7, {\"name\": \"N\", \"values\": [1], \"default\": 9}]}", ""},
        {"not JSON", ""},
    };
    mt_store *store = fixture_open();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char key[MT_HASH_HEX_SIZE] = "", *usual = NULL, sql[512];
        snprintf(key, sizeof key, "%031zx0", i);
        mt_subject s = fixture_subject_of(store, "g", "G", key, "N=1", 13000, MT_ORIGIN_MEASURED);
        (void)s;
        snprintf(sql, sizeof sql, "UPDATE kernel SET spec_json = '%s' WHERE key = '%s'", cases[i].programs, key);
        fixture_sql(sql);
        ck_ok(mt_query_usual(store, "msda", key, &usual, &fixture_err));
        ck_assert_str_eq(usual, cases[i].usual);
        mt_free(usual);
    }
    char *usual = NULL;
    ck_ok(mt_query_usual(store, "nothing", "0", &usual, &fixture_err));
    ck_assert_str_eq(usual, "");
    mt_free(usual);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("query", usual_knobs, programmatic_launches, rows_come_back_as_written, untimed_rows_have_no_times, filters, device_names, best_is_ordered, device_list, sessions, cut_short,
             callbacks_may_query_and_stop, impossible_columns, samples_pack_and_unpack)
