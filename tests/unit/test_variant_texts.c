/* A variant's text is the kernel's own: knobs in canonical form, and those that its stored expressions know. Rows of others are left out and named, by import and merge alike, and the next winner answers. */
#include "db/exchange/recording/recording.h"
#include "tests/unit/lookup_fixture.h"
#include "tests/unit/merge_fixture.h"

#define SHAPE "H=3,5;N=64;dtype=f16"
static const char sound[] = "ALGO=plain;B=64";
static const struct { const char *text, *form, *known; } cases[] = { /* form: what a text's own rule says; known: what the kernel's expressions do */
    {"nonsense", "expected knobs as NAME=value;NAME=value", "nonsense, expected NAME=value"},
    {"ALGO=plain;ALGO=wide", "expected knobs as NAME=value", NULL},
    {"B=64;ALGO=plain", "expected knobs as NAME=value", NULL},
    {"ALGO=plain;B=64;", "expected knobs as NAME=value", NULL},
    {"ALGO=plain;B 2=64", "expected knobs as NAME=value", "which the kernel's expressions do not know"},
    {"ALGO=plain;Z=1", NULL, "its variant has Z=1, which the kernel's expressions do not know"},
    {"ALGO=gone;B=64", NULL, "its variant has ALGO=gone, which is none of the kernel's"},
    {"ALGO=plain;B=many", NULL, "its variant has B=many, which takes whole numbers, not this"},
    {"B=64", NULL, "its variant does not say which ALGO"},
    {"", NULL, "its variant does not say which ALGO"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void expect_winner(const char *path)
{
    tunelookup_db *db = NULL;
    tunelookup_plan *plan;
    tunelookup_result r;
    ck_lookup(tunelookup_open(path, 0, &db));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){64, 3, 5}, &r));
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_EXACT && strcmp(r.variant, sound) == 0, "%s", lookup_explain(&r));
    tunelookup_close(db);
}

static bool says_why(const char *said, size_t i)
{
    return strstr(said, " is left out: ") && ((cases[i].form && strstr(said, cases[i].form)) || (cases[i].known && strstr(said, cases[i].known)));
}

static void import_case(size_t i)
{
    char text[8000];
    bool is_first = strcmp(cases[i].text, sound) < 0;
    const char *texts[] = {is_first ? cases[i].text : sound, is_first ? sound : cases[i].text};
    mt_store *store = fixture_open();
    int length = snprintf(text, sizeof text,
                          "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"%s\",\"name\":\"%s\",\"facts\":{\"cc\":90}},\"kernel\":{\"name\":\"toy\",\"key\":\"%s\",\"spec\":%s},"
                          "\"shape\":{\"name\":\"s\",\"key\":\"" SHAPE "\"},\"workload\":{\"name\":\"default\",\"key\":\"default\"},\"regime\":\"cold\","
                          "\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":1751400000000,\"default\":\"%s\"}\n"
                          "{\"v\":\"%s\",\"k\":\"ok\",\"ns\":%s}\n{\"v\":\"%s\",\"k\":\"ok\",\"ns\":%s}\n",
                          lookup_gpu_key, lookup_h100.name, lookup_kernel_key, lookup_spec, cases[i].text, texts[0], is_first ? "0.001" : "100", texts[1], is_first ? "100" : "0.001");
    fixture_stderr_begin();
    mt_status st = mt_recording_import_bytes(store, text, (size_t)length, "x.jsonl", MT_ORIGIN_MEASURED, NULL, &fixture_err);
    const char *said = fixture_stderr_end();
    ck_assert_msg(st == MT_OK, "%s: %s", cases[i].text, fixture_err.message);
    ck_assert_msg(says_why(said, i) && strstr(said, is_first ? "x.jsonl:2: is left" : "x.jsonl:3: is left"), "%s: %s", cases[i].text, said);
    ck_assert_msg(strstr(said, "x.jsonl:1: is left out: \"default\": "), "%s: %s", cases[i].text, said);
    mt_store_close(store);
    expect_winner(fixture_db);
}

START_TEST(imports)
{
    for (size_t i = 0; i < CASES; i++) {
        char path[192];
        snprintf(path, sizeof path, "%s/import%zu.sqlite", fixture_folder, i);
        use_db(path);
        import_case(i);
    }
}
END_TEST

START_TEST(merges)
{
    for (size_t i = 0; i < CASES; i++) {
        char sql[200];
        mt_store *store = NULL;
        mt_merge_counts counts = {0};
        use_db(part_path(1));
        remove(fixture_db);
        lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
        lookup_put(&w, SHAPE, "default", sound, 100);
        lookup_put(&w, SHAPE, "default", "ALGO=wide;B=32;C=1", 0.001);
        lookup_end(&w);
        snprintf(sql, sizeof sql, "UPDATE variant SET text = '%s' WHERE text <> '%s'", cases[i].text, sound);
        fixture_sql(sql);
        remove(out_path("out"));
        mt_merge *merging = begin(merge_out, false, &store);
        fixture_stderr_begin();
        ck_ok(merge_file(merging, merge_out, part_path(1), &counts));
        const char *said = fixture_stderr_end();
        ck_assert_msg(says_why(said, i) && strstr(said, "row 2 of variant is left out: "), "%s: %s", cases[i].text, said);
        finish(merging, store);
        ck_assert_int_eq(counts.measurements, 1);
        expect_winner(merge_out);
    }
}
END_TEST

/* Where no expressions are stored, as of another tool's results, any knob goes. */
START_TEST(of_an_unknown_kernel)
{
    mt_store *store = fixture_open();
    static const char text[] = "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"h100\",\"name\":\"H100\",\"facts\":{\"cc\":90}},\"kernel\":{\"name\":\"k\",\"key\":\"c0ffee\",\"spec\":{}},"
                               "\"shape\":{\"name\":\"s\",\"key\":\"N=1\"},\"workload\":{\"name\":\"w\",\"key\":\"w\"},\"regime\":\"cold\",\"toolchain\":{\"nvrtc\":0,\"driver\":0,\"arch\":\"\"},"
                               "\"recorded_unix_ms\":1751400000000}\n{\"v\":\"block_size_x=64;use_padding=0\",\"k\":\"ok\",\"ns\":5}\n";
    ck_ok(mt_recording_import_bytes(store, text, sizeof text - 1, "x.jsonl", MT_ORIGIN_IMPORTED, NULL, &fixture_err));
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 1);
}
END_TEST

FIXTURE_MAIN("variant_texts", imports, merges, of_an_unknown_kernel)
