/* What must never be offered where nothing tuned answers exactly: variants that nobody validated, or that computed wrong results somewhere. */
#include "tests/unit/fallback_fixture.h"

#include <time.h>

/* What the asked shape or the device excludes gives way to the next. */
START_TEST(test_refused_offers)
{
    tunelookup_device small = lookup_h100;
    smooth(MT_ORIGIN_MEASURED);
    small.smem_optin = 100; /* constraint fits: B · C ≤ smem_optin */
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &small);
    tunelookup_result r = find(plan, 1500);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_str_eq(r.variant, plain64);
    ck_says(&r, "refused:  a variant of shape shape: breaks constraint fits here");
    r = find(plan, 2048); /* its own row is refused: the steps below answer */
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_says(&r, "the variant tuned for this GPU and shape is refused: breaks constraint fits");
    r = find(plan, 2000000); /* and here the shape excludes all */
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE);
    ck_says(&r, "default:  it may not run here: breaks constraint small");
    tunelookup_close(db);
}
END_TEST

/* A variant that was wrong on the nearest shape is no answer, whatever it did elsewhere. */
START_TEST(test_unvalidated)
{
    smooth(MT_ORIGIN_MEASURED);
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    mt_shape_row shape = {.name = "shape", .key = "H=3,5;N=2048;dtype=f16"}, workload = {.name = "default", .key = "default"};
    ck_ok(mt_store_shape(w.store, w.subject.kernel, &shape, &w.subject.shape, &fixture_err));
    ck_ok(mt_store_workload(w.store, w.subject.kernel, &workload, &w.subject.workload, &fixture_err));
    fixture_put(w.store, w.session, &w.subject, wide64, &(mt_outcome){.kind = MT_OUTCOME_WRONG_RESULT});
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 2500);
    ck_assert_msg(strcmp(r.variant, wide64) != 0, "%s", lookup_explain(&r));
    tunelookup_close(db);
}
END_TEST

/* One tuned bf16 shape tells that two variants, the default among them, are wrong in bf16: no bf16 shape gets them from f16 shapes that are nearer. */
START_TEST(test_wrong_for_a_type)
{
    const char *const names[] = {"N", "H[0]", "H[1]", "dtype=bf16"}, *const wrong[] = {plain, plain64};
    smooth(MT_ORIGIN_MEASURED);
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=16;dtype=bf16", "default", wide64, 500);
    for (size_t i = 0; i < 2; i++) fixture_put(w.store, w.session, &w.subject, wrong[i], &(mt_outcome){.kind = MT_OUTCOME_WRONG_RESULT});
    ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", plain, &fixture_err));
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", names, LOOKUP_NAMES, &plan));
    for (int64_t n = 32; n <= 65536; n *= 2) {
        tunelookup_result r = find(plan, n);
        ck_assert_msg(strcmp(r.variant, wide64) == 0, "%s", lookup_explain(&r));
        ck_says(&r, "refused:  1 of the variants computed wrong results");
        ck_says(&r, "default:  it fails on the tuned shapes with one of this shape's strings");
    }
    ck_assert_str_eq(find(prepare(db, &lookup_h100), 100).variant, plain64); /* f16 as before */
    tunelookup_close(db);
}
END_TEST

/* A later good result takes back no wrong one, unless it is of other code. */
static void put_with_code(lookup_writer *w, mt_outcome_kind kind, const char *code, double median_ns)
{
    mt_outcome outcome = kind == MT_OUTCOME_OK ? fixture_outcome(kind, median_ns) : (mt_outcome){.kind = kind};
    snprintf(outcome.cubin.hex, sizeof outcome.cubin.hex, "%s", code);
    fixture_put(w->store, w->session, &w->subject, plain64, &outcome);
    ck_ok(mt_store_refresh_best(w->store, &w->subject, &fixture_err));
}

static bool is_offered_after(mt_outcome_kind kind, const char *code, const char *later)
{
    remove(fixture_db);
    smooth(MT_ORIGIN_MEASURED);
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", wide64, 720);
    put_with_code(&w, kind, code, 0);
    put_with_code(&w, MT_OUTCOME_OK, later, 600);
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 64);
    bool is_offered = strcmp(r.variant, plain64) == 0;
    if (!is_offered) {
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT); /* the next best is the winner */
        ck_assert_str_eq(r.variant, wide64);
        ck_assert_str_ne(find(prepare(db, &lookup_h100), 65).variant, plain64);
    }
    tunelookup_close(db);
    return is_offered;
}

START_TEST(test_wrong_once)
{
    static const char one[] = "0123456789abcdef0123456789abcdef", other[] = "1123456789abcdef0123456789abcdef";
    static const mt_outcome_kind wrong[] = {MT_OUTCOME_WRONG_RESULT, MT_OUTCOME_OUT_OF_BOUNDS, MT_OUTCOME_WROTE_INPUT, MT_OUTCOME_NONDETERMINISTIC};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert(!is_offered_after(wrong[i], one, one));
        ck_assert(!is_offered_after(wrong[i], "", other)); /* nobody knows of which code it was */
        ck_assert(is_offered_after(wrong[i], one, other));
    }
    ck_assert(is_offered_after(MT_OUTCOME_TIMEOUT, one, one));
    ck_assert(is_offered_after(MT_OUTCOME_GPU_FAULT, one, one));
}
END_TEST

/* However many variants were wrong, each of them is known, and in time: 150,000 of them, in the order that is worst for putting each in its place, and behind them the one that would be offered. */
START_TEST(test_many_wrong)
{
    smooth(MT_ORIGIN_MEASURED);
    fixture_sql("INSERT INTO variant (kernel_id, text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) SELECT 1, printf('ALGO=plain;B=%06d', 900000 - i) FROM n;"
                "INSERT INTO measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome) SELECT 1, id, 1, 1, 1, 1, 'wrong_result' FROM variant "
                "ORDER BY text NOT LIKE '%;B=______', id;"
                "DELETE FROM measurement WHERE outcome = 'wrong_result' AND variant_id IN (SELECT id FROM variant WHERE text NOT LIKE '%;B=______' AND text <> 'ALGO=plain;B=64')");
    tunelookup_db *db = open_db(0);
    clock_t begin = clock();
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_assert_int_lt((clock() - begin) / CLOCKS_PER_SEC, 10 * UNIT_SLOWNESS);
    for (int64_t n = 20; n <= 100; n += 20) ck_assert_str_ne(find(plan, n).variant, plain64);
    ck_assert_str_ne(find(plan, 16).variant, plain64); /* where it was wrong, and its row still says that it won */
    tunelookup_close(db);
}
END_TEST

/* What computed wrong results on another GPU is no answer here either, not even from a near shape on which this GPU found it right. */
static void refuses_what_was_elsewhere(mt_outcome_kind kind)
{
    smooth(MT_ORIGIN_MEASURED);
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    const mt_device_row other = {.key = "a100-sxm|cc80|sm108|80g", .name = "NVIDIA A100-SXM4-80GB", .facts_json = "{\"cc\":80}"};
    ck_ok(mt_store_device(w.store, &other, &w.subject.device, &fixture_err));
    lookup_put(&w, "H=3,5;N=77;dtype=f16", "default", plain, 500);
    fixture_put(w.store, w.session, &w.subject, plain64, &(mt_outcome){.kind = kind});
    finish(&w);
    tunelookup_db *db = open_db(0);
    for (int64_t n = 20; n <= 100; n += 20) {
        tunelookup_result r = find(prepare(db, &lookup_h100), n);
        ck_assert_msg(strcmp(r.variant, plain64) != 0, "%lld: %s", (long long)n, lookup_explain(&r));
    }
    tunelookup_close(db);
}

static const mt_outcome_kind unsafe[] = {MT_OUTCOME_WRONG_RESULT, MT_OUTCOME_OUT_OF_BOUNDS, MT_OUTCOME_WROTE_INPUT, MT_OUTCOME_NONDETERMINISTIC,
                                         MT_OUTCOME_GPU_FAULT, MT_OUTCOME_CRASHED, MT_OUTCOME_TIMEOUT, MT_OUTCOME_QUARANTINED};
enum { UNSAFE = sizeof unsafe / sizeof *unsafe };

START_TEST(test_unsafe_elsewhere)
{
    for (int i = 0; i < UNSAFE; i++) {
        refuses_what_was_elsewhere(unsafe[i]);
        remove(fixture_db);
    }
}
END_TEST

/* The default, too, is handed out on no GPU; then the next default answers, in the space's order. What ran well later is forgiven, and so is what says nothing against the variant elsewhere. */
START_TEST(test_unsafe_default)
{
    static const char own[] = "ALGO=wide;B=32;C=1";
    static const mt_outcome_kind harmless[] = {MT_OUTCOME_ILLEGAL, MT_OUTCOME_LAUNCH_ERROR, MT_OUTCOME_COMPILE_ERROR, MT_OUTCOME_CENSORED, MT_OUTCOME_EXCLUDED, MT_OUTCOME_COMPILER_KILLED};
    enum { HARMLESS = sizeof harmless / sizeof *harmless };
    const char *before = strstr(lookup_spec, "\"constraints\"");
    char spec[4096];
    tunelookup_device blackwell = lookup_h100;
    snprintf(spec, sizeof spec, "%.*s\"defaults\":[\"wide\",\"plain\"],%s", (int)(before - lookup_spec), lookup_spec, before);
    blackwell.name = "NVIDIA B200";
    blackwell.cc = 100;
    for (int i = 0; i < UNSAFE + 2 + HARMLESS; i++) {
        lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
        lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", plain64, 10);
        mt_outcome_kind kind = i < UNSAFE ? unsafe[i] : i < UNSAFE + 2 ? MT_OUTCOME_GPU_FAULT : harmless[i - UNSAFE - 2];
        bool is_striking = i == UNSAFE, is_forgiven = i == UNSAFE + 1;
        if (is_striking) ck_ok(mt_store_strike(w.store, &w.subject, own, "fault", &fixture_err)); /* and the session ended before it could say so in a row */
        else fixture_put(w.store, w.session, &w.subject, own, &(mt_outcome){.kind = kind, .timing = {.median_ns = 1e9, .low_ns = 1e9, .high_ns = 1e9}});
        if (is_forgiven) fixture_put_ok(w.store, w.session, &w.subject, own, 2000);
        finish(&w);
        tunelookup_db *db = open_db(0);
        tunelookup_result r = find(prepare(db, &blackwell), 128);
        const char *expected = i <= UNSAFE ? plain : own;
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_DEFAULT && strcmp(r.variant, expected) == 0, "%d: %s:\n%s", i, mt_outcome_name(kind), lookup_explain(&r));
        tunelookup_close(db);
        remove(fixture_db);
    }
}
END_TEST

/* The winner of one workload that is not safe on the same shape with another: that one's winner answers both, also a plan that asks for the first. On another shape of the same strings, where it won too, it
 * answers unless what it did was to compute or write what it should not. */
static void refuses_winners(mt_outcome_kind kind, bool is_wrong)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16", other_shape[] = "H=3,5;N=65;dtype=f16", bf16[] = "H=3,5;N=65;dtype=bf16";
    const char *said = is_wrong ? "is refused: it computed wrong results or other bits each time, or wrote where it may not, on a shape with these strings"
                                : "is refused: another row of this very shape (of another workload, cache state, GPU or file) says that it is not safe: a fault";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, bf16, "one", plain64, 100);
    lookup_put(&w, other_shape, "one", plain64, 100);
    lookup_put(&w, shape, "one", plain64, 100);
    lookup_put(&w, shape, "two", wide64, 200);
    fixture_put(w.store, w.session, &w.subject, plain64, &(mt_outcome){.kind = kind});
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    tunelookup_result r = find(plan, 64);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_msg(strcmp(r.variant, wide64) == 0, "%s", lookup_explain(&r));
    r = find(plan, 65);
    ck_assert_msg((strcmp(r.variant, plain64) == 0) != is_wrong, "%s: %s", mt_outcome_name(kind), lookup_explain(&r));
    if (is_wrong) ck_says(&r, said);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=bf16"}, 4, &plan));
    r = find(plan, 65);
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_EXACT && strcmp(r.variant, plain64) == 0, "%s", lookup_explain(&r));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=f16", "workload=one"}, 5, &plan));
    r = find(plan, 64);
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_EXACT && strcmp(r.variant, wide64) == 0, "%s", lookup_explain(&r));
    ck_says(&r, "note:     no row of this shape answers for workload one; its row of other workloads does\n");
    tunelookup_close(db);
}

START_TEST(test_winners_that_are_not_safe_elsewhere)
{
    enum { WRONG = 4 /* of unsafe[]: they compute or write what they should not */ };
    for (int i = 0; i < UNSAFE; i++) {
        refuses_winners(unsafe[i], i < WRONG);
        remove(fixture_db);
    }
}
END_TEST

/* What the tuner calls illegal is not handed out: a grid whose blocks wait for each other and do not all fit, a launch that counts on more blocks per SM than fit. Where the caller does not know the GPU so well, the answer stands. */
START_TEST(test_launches_that_do_not_fit)
{
    static const struct { const char *members; int64_t n; bool fits; } cases[] = {
        {"\"resident\":true", 64 * 132 * 32, true}, {"\"resident\":true", 64 * 132 * 32 + 1, false}, {"\"cooperative\":true", 64 * 132 * 32 + 1, false}, {"\"programmatic\":true", 64 * 132 * 32 + 1, true},
        {"\"blocks_per_sm\":\"32\"", 4096, true}, {"\"blocks_per_sm\":\"33\"", 4096, false}, {"\"blocks_per_sm\":\"$N 128 /\"", 4096, true}, {"\"blocks_per_sm\":\"$N 64 /\"", 4096, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(lookup_spec, "\"cluster\":[]}");
        char spec[4096], shape[64];
        tunelookup_device vague = lookup_h100;
        vague.threads_per_sm = 0;
        snprintf(spec, sizeof spec, "%.*s%s,%s", (int)(at - lookup_spec), lookup_spec, cases[i].members, at);
        snprintf(shape, sizeof shape, "H=3,5;N=%lld;dtype=f16", (long long)cases[i].n);
        lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
        lookup_put(&w, shape, "default", plain64, 100);
        finish(&w);
        tunelookup_db *db = open_db(0);
        tunelookup_result r = find(prepare(db, &lookup_h100), cases[i].n);
        ck_assert_msg((r.match == TUNELOOKUP_MATCH_EXACT) == cases[i].fits, "%zu: %s", i, lookup_explain(&r));
        r = find(prepare(db, &vague), cases[i].n);
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_EXACT, "%zu: %s", i, lookup_explain(&r));
        tunelookup_close(db);
        remove(fixture_db);
    }
}
END_TEST

/* A row of a text that is no variant of the kernel hides no winner of the shape, however fast it says that it is. */
START_TEST(test_no_variant_of_the_kernel)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16";
    static const char *const texts[] = {"nonsense", "X=1", "ALGO=gone;B=32", "B=32", "ALGO=plain;B=x", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char sql[200];
        lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
        lookup_put(&w, shape, "one", plain64, 100);
        lookup_put(&w, shape, "two", wide, 0.01);
        lookup_end(&w);
        snprintf(sql, sizeof sql, "UPDATE variant SET text = '%s' WHERE text = '%s'", texts[i], wide); /* a stranger's file: what writes rows refuses such a text */
        fixture_sql(sql);
        tunelookup_db *db = open_db(0);
        tunelookup_result r = find(prepare(db, &lookup_h100), 64);
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_EXACT && strcmp(r.variant, plain64) == 0, "%s: %s", texts[i], lookup_explain(&r));
        tunelookup_close(db);
        fixture_sql("DELETE FROM best; DELETE FROM answer; DELETE FROM measurement; DELETE FROM variant");
    }
}
END_TEST

FIXTURE_MAIN("tunelookup_refused", test_winners_that_are_not_safe_elsewhere, test_no_variant_of_the_kernel, test_refused_offers, test_unvalidated, test_wrong_for_a_type, test_wrong_once, test_many_wrong, test_unsafe_elsewhere, test_unsafe_default, test_launches_that_do_not_fit)
