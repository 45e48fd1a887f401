/* Which of a kernel's defaults answers where nothing tuned does. */
#include "tests/unit/lookup_fixture.h"

static tunelookup_db *open_db(unsigned flags)
{
    tunelookup_db *db = NULL;
    ck_lookup(tunelookup_open(fixture_db, flags, &db));
    return db;
}

static tunelookup_result find(const tunelookup_plan *plan, int64_t n)
{
    tunelookup_result result;
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ n, 3, 5 }, &result));
    return result;
}

/* The first default that is legal and never wrong answers; a wrong one is offered on no GPU. */
START_TEST(test_defaults_in_order)
{
    static const char *const names[] = { "N", "H[0]", "H[1]", "dtype=f16" };
    tunelookup_device a100 = lookup_h100, ampere = lookup_h100;
    tunelookup_plan *plan;
    char spec[4096];
    const char *before = strstr(lookup_spec, "\"constraints\"");
    snprintf(spec, sizeof spec, "%.*s\"defaults\":[\"wide\",\"plain\"],%s", (int)(before - lookup_spec), lookup_spec, before);
    a100.name = "NVIDIA A100-SXM4-80GB";
    a100.cc = 80;
    ampere.name = "NVIDIA H200";
    lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=64", 10);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    ck_lookup(tunelookup_prepare(db, &a100, "toy", names, 4, &plan)); /* wide requires 9.0 */
    tunelookup_result r = find(plan, 128);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_assert_str_eq(r.variant, "ALGO=plain;B=32");
    ck_assert_msg(strstr(lookup_explain(&r), "default:  not the first of the kernel's: wide: ") != NULL, "%s", lookup_explain(&r));
    ampere.cc = 100;
    ck_lookup(tunelookup_prepare(db, &ampere, "toy", names, 4, &plan));
    r = find(plan, 128);
    ck_assert_str_eq(r.variant, "ALGO=wide;B=32;C=1");
    tunelookup_close(db);
    w = lookup_begin(spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=64", 10);
    fixture_put(w.store, w.session, &w.subject, "ALGO=wide;B=32;C=1", &(mt_outcome){ .kind = MT_OUTCOME_WRONG_RESULT });
    lookup_end(&w);
    db = open_db(0);
    ck_lookup(tunelookup_prepare(db, &ampere, "toy", names, 4, &plan));
    r = find(plan, 128);
    ck_assert_msg(strcmp(r.variant, "ALGO=plain;B=32") == 0, "%s", lookup_explain(&r));
    ck_assert_msg(strstr(lookup_explain(&r), "default:  not the first of the kernel's: wide: it was wrong, or other bits each time") != NULL, "%s", lookup_explain(&r));
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_defaults", test_defaults_in_order)
