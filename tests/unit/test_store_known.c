/* What is known of a subject, and what of a file is not believed. */
#include "tests/unit/known_fixture.h"

START_TEST(known_takes_every_outcome_and_the_newest_row)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_MAJOR).count, 0);
    int run = 0;
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        char variant[32];
        run += mt_outcome_is_run((mt_outcome_kind)kind);
        snprintf(variant, sizeof variant, "K=%02d", kind);
        mt_outcome outcome = fixture_outcome((mt_outcome_kind)kind, 100 + kind);
        char why[300];
        memset(why, 'x', sizeof why);
        why[mt_outcome_is_failure((mt_outcome_kind)kind) ? 100 : 299] = '\0';
        if (kind % 2) outcome.text = why;
        fixture_put(store, session, &s, variant, &outcome);
    }
    fixture_put_ok(store, session, &s, "K=01", 50);
    seen all = known_of(store, &s, MT_REUSE_MAJOR);
    ck_assert_int_eq(all.count, run + 1); /* of those that did not run K=01 alone, which ran later */
    for (int i = 0; i < all.count; i++) {
        ck_assert_int_eq(isinf(all.median_ns[i]) != 0, mt_outcome_is_failure(all.kind[i]));
        ck_assert_uint_eq(strlen(all.text[i]), mt_outcome_is_failure(all.kind[i]) && all.kind[i] % 2 ? 100 : 0);
        if (strcmp(all.variant[i], "K=01") == 0) ck_assert_double_eq(all.median_ns[i], 50);
    }
    seen stopped = {.answer = MT_ERR_INTERRUPTED};
    ck_fails(mt_store_known(store, &s, MT_REUSE_ANY, see_known, &stopped, &fixture_err), MT_ERR_INTERRUPTED, "stop");
    ck_assert_int_eq(stopped.count, 1);
    mt_store_close(store);
}
END_TEST

/* Not only one's own file is read so, but also what --known names. */
START_TEST(known_refuses_what_no_tuner_writes)
{
    static const struct { const char *outcome, *median, *words; } cases[] = {
        {"ok", "-5.0", "measurement 1 is ok with the median_ns \"-5.0\"; expected a number above 0"},
        {"ok", "0.0", "expected a number above 0"},
        {"ok", "9e999", "expected a number above 0"},
        {"ok", "'fast'", "median_ns \"fast\""},
        {"ok", "NULL", "median_ns \"\""},
        {"censored", "NULL", "measurement 1 is censored with"},
        {"fine", "10.0", "measurement 1 has the unknown outcome \"fine\""},
    };
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    seen none = {0};
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 10);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE measurement SET outcome = '%s', median_ns = %s", cases[i].outcome, cases[i].median);
        fixture_sql(sql);
        ck_fails(mt_store_known(store, &s, MT_REUSE_ANY, see_known, &none, &fixture_err), MT_ERR_DB, cases[i].words);
    }
    ck_assert_int_eq(none.count, 0);
    mt_store_close(store);
}
END_TEST

START_TEST(known_by_toolchain)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    fixture_put_ok(store, session, &s, "A=1", 10);
    mt_toolchain_row minor = {13010, 13000, "sm_90a"}, major = {12080, 13000, "sm_90a"}, driver = {13000, 12080, "sm_90a"},
                     arch = {13000, 13000, "sm_90"};
    const struct {
        const mt_toolchain_row *row;
        int by_major, by_exact;
    } cases[] = {{&minor, 1, 0}, {&major, 0, 0}, {&driver, 0, 0}, {&arch, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_subject other = s;
        ck_ok(mt_store_toolchain(store, cases[i].row, &other.toolchain, &fixture_err));
        ck_assert_int_eq(known_of(store, &other, MT_REUSE_MAJOR).count, cases[i].by_major);
        ck_assert_int_eq(known_of(store, &other, MT_REUSE_EXACT).count, cases[i].by_exact);
        ck_assert_int_eq(known_of(store, &other, MT_REUSE_ANY).count, 1);
        ck_assert_int_eq(known_of(store, &other, MT_REUSE_NONE).count, 0);
    }
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_EXACT).count, 1);
    mt_store_close(store);
}
END_TEST

static int64_t session_with(mt_store *store, const char *headers)
{
    int64_t id;
    const mt_session_row row = {.command = "tune", .strategy = "random", .space_path = "x.ini", .headers = headers, .origin = MT_ORIGIN_MEASURED};
    ck_ok(mt_store_session_begin(store, &row, &id, &fixture_err));
    return id;
}

/* One compiler, headers of two toolkits. Of rows without the digest nobody can tell. */
START_TEST(known_by_headers)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store), same = s, other = s, none = s;
    same.headers = "one", other.headers = "two", none.headers = "";
    fixture_put_ok(store, session_with(store, "one"), &s, "A=1", 10);
    ck_assert_int_eq(known_of(store, &same, MT_REUSE_MAJOR).count, 1);
    ck_assert_int_eq(known_of(store, &same, MT_REUSE_EXACT).count, 1);
    ck_assert_int_eq(known_of(store, &other, MT_REUSE_MAJOR).count, 0);
    ck_assert_int_eq(known_of(store, &other, MT_REUSE_EXACT).count, 0);
    ck_assert_int_eq(known_of(store, &none, MT_REUSE_MAJOR).count, 0);
    ck_assert_int_eq(known_of(store, &other, MT_REUSE_ANY).count, 1);
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_MAJOR).count, 1);
    fixture_put_ok(store, session_with(store, NULL), &s, "A=2", 20);
    fixture_put_ok(store, session_with(store, "two"), &s, "A=1", 30);
    ck_assert_int_eq(known_of(store, &other, MT_REUSE_MAJOR).count, 2);
    ck_assert_double_eq(known_of(store, &same, MT_REUSE_MAJOR).median_ns[0], 10); /* the newest of these headers */
    mt_store_close(store);
}
END_TEST

/* What differs in any part of the subject is not known. */
START_TEST(known_by_subject)
{
    static const char h100[] = "h100-sxm|cc90|sm132|80g", key[] = "00112233445566778899aabbccddeeff", shape[] = "N=48;dtype=f16";
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store), warm = s, recorded = s;
    warm.l2 = MT_L2_WARM;
    recorded.origin = MT_ORIGIN_RECORDED;
    const mt_subject others[] = {
        warm,
        recorded,
        fixture_subject_of(store, h100, "NVIDIA H100 80GB HBM3", "edited", shape, 13000, MT_ORIGIN_MEASURED),
        fixture_subject_of(store, h100, "NVIDIA H100 80GB HBM3", key, "N=49;dtype=f16", 13000, MT_ORIGIN_MEASURED),
        fixture_subject_of(store, "h100-pcie|cc90", "NVIDIA H100 PCIe", key, shape, 13000, MT_ORIGIN_MEASURED),
    };
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 10);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) ck_assert_int_eq(known_of(store, &others[i], MT_REUSE_ANY).count, 0);
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_ANY).count, 1);
    mt_store_close(store);
}
END_TEST

START_TEST(lifting_makes_a_variant_unknown_again)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store), lifted;
    mt_outcome fault = fixture_outcome(MT_OUTCOME_GPU_FAULT, 0);
    fixture_put(store, session, &s, "A=1", &fault);
    fixture_put(store, session, &s, "A=2", &fault);
    ck_ok(mt_store_strike(store, &s, "A=1", "fault", &fixture_err));
    ck_ok(mt_store_strike(store, &s, "A=2", "fault", &fixture_err));
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_MAJOR).count, 2);
    ck_ok(mt_store_lift_strikes(store, &s, "A=1", &lifted, &fixture_err));
    ck_assert_int_eq(lifted, 1);
    seen all = {0};
    ck_ok(mt_store_quarantined(store, &s, see_text, &all, &fixture_err));
    ck_assert_int_eq(all.count, 1);
    ck_assert_str_eq(all.variant[0], "A=2");
    all = known_of(store, &s, MT_REUSE_MAJOR);
    ck_assert_int_eq(all.count, 1);
    ck_assert_str_eq(all.variant[0], "A=2");
    usleep(3000);
    fixture_put_ok(store, session, &s, "A=1", 10);
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_MAJOR).count, 2);
    ck_ok(mt_store_lift_strikes(store, &s, NULL, &lifted, &fixture_err));
    ck_assert_int_eq(lifted, 1);
    mt_store_close(store);
}
END_TEST

static void put_timed(mt_store *store, int64_t session, const mt_subject *s, const char *variant, double median_ns, uint32_t batch)
{
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, median_ns);
    outcome.timing.batch = batch;
    fixture_put(store, session, s, variant, &outcome);
}

/* Beside a best in graphs a time by events holds launch latency: what may be faster than it looks is timed again. */
START_TEST(latency_is_not_known)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store), recorded = fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "00112233445566778899aabbccddeeff", "N=48;dtype=f16", 13000, MT_ORIGIN_RECORDED);
    int64_t session = fixture_session(store);
    uint32_t batch;
    const mt_subject *subjects[] = {&s, &recorded};
    for (size_t i = 0; i < 2; i++) {
        ck_ok(mt_store_best_batch(store, subjects[i], &batch, &fixture_err));
        ck_assert_uint_eq(batch, 0);
        put_timed(store, session, subjects[i], "A=1", 9e3, 1);
        ck_ok(mt_store_refresh_best(store, subjects[i], &fixture_err));
        ck_ok(mt_store_best_batch(store, subjects[i], &batch, &fixture_err));
        ck_assert_uint_eq(batch, 1);
        ck_assert_int_eq(known_of(store, subjects[i], MT_REUSE_ANY).count, 1); /* by the same method as the best */
        put_timed(store, session, subjects[i], "A=2", 6e3, 20);
        put_timed(store, session, subjects[i], "A=3", 20e3, 1); /* slow by either method */
        ck_ok(mt_store_refresh_best(store, subjects[i], &fixture_err));
        ck_ok(mt_store_best_batch(store, subjects[i], &batch, &fixture_err));
        ck_assert_uint_eq(batch, 20);
        ck_assert_int_eq(known_of(store, subjects[i], MT_REUSE_ANY).count, i ? 3 : 2); /* a recording can't be timed again */
    }
    put_timed(store, session, &s, "A=1", 6.5e3, 20);
    ck_assert_int_eq(known_of(store, &s, MT_REUSE_ANY).count, 3);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("store_known", known_takes_every_outcome_and_the_newest_row, known_refuses_what_no_tuner_writes, known_by_toolchain, known_by_headers, known_by_subject, lifting_makes_a_variant_unknown_again,
             latency_is_not_known)
