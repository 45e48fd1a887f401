/* What must never be offered where nothing tuned answers exactly: variants that nobody validated, or that computed wrong results somewhere. */
#include "tests/unit/fallback_fixture.h"

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

START_TEST(test_wrong_elsewhere) { refuses_what_was_elsewhere(MT_OUTCOME_WRONG_RESULT); }
END_TEST

START_TEST(test_out_of_bounds_elsewhere) { refuses_what_was_elsewhere(MT_OUTCOME_OUT_OF_BOUNDS); }
END_TEST

START_TEST(test_wrote_input_elsewhere) { refuses_what_was_elsewhere(MT_OUTCOME_WROTE_INPUT); }
END_TEST

FIXTURE_MAIN("tunelookup_refused", test_refused_offers, test_unvalidated, test_wrong_for_a_type, test_wrong_elsewhere, test_out_of_bounds_elsewhere, test_wrote_input_elsewhere)
