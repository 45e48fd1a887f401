/* Verdicts of diff, and what counts as the same subject. */
#include "db/exchange/diff.h"

#include "tests/unit/store_fixture.h"

static mt_diff_time time_of(double median, double low, double high)
{
    return (mt_diff_time){.variant = "A=1", .median_ns = median, .low_ns = low, .high_ns = high};
}

START_TEST(verdicts)
{
    static const struct { double a[3], b[3]; mt_diff_verdict verdict; } cases[] = {
        {{100, 99.9, 100.1}, {100, 99.9, 100.1}, MT_DIFF_SAME},
        {{100, 99.9, 100.1}, {100.5, 100.4, 100.6}, MT_DIFF_SAME},  /* told apart, but by less than 1 % */
        {{100, 99.9, 100.1}, {110, 109, 111}, MT_DIFF_SLOW},
        {{100, 99.9, 100.1}, {90, 89, 91}, MT_DIFF_FAST},
        {{100, 90, 110}, {105, 95, 115}, MT_DIFF_AMBG},             /* too wide to say either */
        {{100, 98, 102}, {100, 98, 102}, MT_DIFF_AMBG},             /* equal medians, but 4 % can't be excluded */
        {{100, NAN, NAN}, {200, 199, 201}, MT_DIFF_AMBG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_diff_ratio ratio;
        mt_diff_time a = time_of(cases[i].a[0], cases[i].a[1], cases[i].a[2]), b = time_of(cases[i].b[0], cases[i].b[1], cases[i].b[2]);
        ck_assert_msg(mt_diff_judge(&a, &b, 0.01, &ratio) == cases[i].verdict, "case %zu", i);
        ck_assert_double_eq_tol(ratio.change, cases[i].b[0] / cases[i].a[0] - 1, 1e-12);
        ck_assert(isnan(ratio.low) || (ratio.low <= ratio.change && ratio.change <= ratio.high));
    }
}
END_TEST

/* A file compared with itself or its copy; a result of another day may have the same figures. */
START_TEST(one_measurement_of_both_sides)
{
    mt_diff_time a = time_of(100, 98, 102), b = a;
    mt_diff_ratio ratio;
    a.created_unix_ms = b.created_unix_ms = 1700000000000;
    ck_assert_int_eq(mt_diff_judge(&a, &b, 0.01, &ratio), MT_DIFF_SAME);
    ck_assert(ratio.change == 0 && ratio.low == 0 && ratio.high == 0);
    b.created_unix_ms++;
    ck_assert_int_eq(mt_diff_judge(&a, &b, 0.01, &ratio), MT_DIFF_AMBG);
}
END_TEST

typedef struct seen {
    int both, only_a, only_b;
    size_t variants;
    char winner_a[32], winner_b[32];
} seen;

static mt_status on_subject(void *context, const mt_diff_subject *s, mt_error *err)
{
    seen *n = context;
    (void)err;
    n->both += s->a && s->b;
    n->only_a += s->a && !s->b;
    n->only_b += !s->a && s->b;
    n->variants += s->variant_count;
    if (s->a) snprintf(n->winner_a, sizeof n->winner_a, "%s", s->a->variant);
    if (s->b) snprintf(n->winner_b, sizeof n->winner_b, "%s", s->b->variant);
    return MT_OK;
}

static seen compare(mt_store *store, mt_diff_side a, mt_diff_side b)
{
    seen n = {0};
    mt_diff_filter filter = {0};
    a.store = b.store = store;
    ck_ok(mt_diff_run(&a, &b, &filter, on_subject, &n, &fixture_err));
    return n;
}

START_TEST(sides)
{
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store), later = fixture_session(store);
    mt_subject h100 = fixture_subject(store);
    mt_subject h200 = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", "00112233445566778899aabbccddeeff", "N=48;dtype=f16", 12080, MT_ORIGIN_MEASURED);
    mt_subject edited = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", "ff112233445566778899aabbccddeeff", "N=48;dtype=f16", 12080, MT_ORIGIN_MEASURED);
    fixture_put_ok(store, session, &h100, "A=1", 100);
    fixture_put_ok(store, session, &h100, "A=2", 90);
    fixture_put_ok(store, session, &h200, "A=1", 70);
    fixture_put_ok(store, session, &h200, "A=3", 80);
    fixture_put_ok(store, session, &edited, "A=1", 60);
    seen n = compare(store, (mt_diff_side){.gpu = "h100"}, (mt_diff_side){.gpu = "h200", .source = "00"});
    ck_assert_int_eq(n.both, 1);
    ck_assert_uint_eq(n.variants, 1);
    ck_assert_str_eq(n.winner_a, "A=2");
    ck_assert_str_eq(n.winner_b, "A=1");
    n = compare(store, (mt_diff_side){.gpu = "h100"}, (mt_diff_side){.gpu = "h200"}); /* the edited source is another subject */
    ck_assert_int_eq(n.both + 10 * n.only_b, 11);
    n = compare(store, (mt_diff_side){.source = "00", .gpu = "h200"}, (mt_diff_side){.source = "ff", .gpu = "h200"});
    ck_assert_int_eq(n.both, 1);
    n = compare(store, (mt_diff_side){.nvrtc = 13000}, (mt_diff_side){.nvrtc = 12080}); /* GPUs differ: nothing in common */
    ck_assert_int_eq(n.only_a + 10 * n.only_b + 100 * n.both, 21);
    /* A session of its own: what was newest then, and a failure takes a variant out. */
    mt_outcome bad = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 0);
    fixture_put(store, later, &h100, "A=2", &bad);
    fixture_put_ok(store, later, &h100, "A=1", 95);
    n = compare(store, (mt_diff_side){.session = session, .gpu = "h100"}, (mt_diff_side){.session = later, .gpu = "h100"});
    ck_assert_str_eq(n.winner_a, "A=2");
    ck_assert_str_eq(n.winner_b, "A=1");
    ck_assert_uint_eq(n.variants, 1);
    mt_diff_side a = {.store = store, .gpu = "h100"}, both = {.store = store, .gpu = "NVIDIA H200", .source = ""};
    mt_diff_filter filter = {0};
    a.source = "00";
    ck_fails(mt_diff_run(&a, &both, &filter, on_subject, &n, &fixture_err), MT_ERR_USAGE, "fits several");
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("diff", verdicts, one_measurement_of_both_sides, sides)
