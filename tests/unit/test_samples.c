/* Samples and rounds: times from 0 to 1e16 ns, whoever brings them. What else there is, is left out and named; the sound rows are there. */
#include <zstd.h>

#include "db/exchange/recording/recording.h"
#include "db/store/measurement.h"
#include "tests/unit/merge_fixture.h"

static const float bad[] = {-1, -3e25f, 2e16f, 1e38f, INFINITY, -INFINITY, NAN};
enum { BAD = sizeof bad / sizeof *bad };

static void pack(float second, char hex[200])
{
    const float ns[] = {5, second, 7};
    unsigned char packed[64];
    size_t size = ZSTD_compress(packed, sizeof packed, ns, sizeof ns, 1);
    ck_assert(!ZSTD_isError(size));
    for (size_t i = 0; i < size; i++) snprintf(hex + 2 * i, 3, "%02x", packed[i]);
}

START_TEST(a_tuner_does_not_store_them)
{
    for (size_t i = 0; i < BAD; i++) {
        mt_store *store = fixture_open();
        mt_subject subject = fixture_subject(store);
        int64_t session = fixture_session(store), rows = fixture_number("SELECT count(*) FROM measurement");
        float ns[] = {5, bad[i], 7};
        mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 6);
        outcome.sample_ns = ns;
        mt_result result = {.subject = &subject, .variant = "A=1", .launch_json = "{}", .outcome = &outcome};
        fixture_stderr_begin();
        ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err)); /* the session goes on */
        const char *said = fixture_stderr_end();
        ck_assert_msg(strstr(said, "samples holds a number that is no time from 0 to 1e+16 ns; the row of A=1 is left out"), "%g: %s", (double)bad[i], said);
        ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), rows);
        mt_store_close(store);
    }
}
END_TEST

#define LINE1 "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"h100\",\"name\":\"H100\",\"facts\":{\"cc\":90}},\"kernel\":{\"name\":\"k\",\"key\":\"c0ffee\",\"spec\":{}}," \
              "\"shape\":{\"name\":\"s\",\"key\":\"N=1\"},\"workload\":{\"name\":\"w\",\"key\":\"w\"},\"regime\":\"cold\"," \
              "\"toolchain\":{\"nvrtc\":12080,\"driver\":12080,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":1751400000000}\n"

START_TEST(an_import_leaves_them_out)
{
    static const char *const samples[] = {"-1", "-3e25", "2e16", "1e39", "9e999", "-9e999", "null", "1e400"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mt_store *store = NULL;
        char text[2000];
        ck_ok(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &fixture_err));
        int length = snprintf(text, sizeof text, LINE1 "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":2,\"s\":[5,%s]}\n{\"v\":\"A=2\",\"k\":\"ok\",\"ns\":5,\"n\":2,\"s\":[0,1e16]}\n", samples[i]);
        fixture_stderr_begin();
        mt_status st = mt_recording_import_bytes(store, text, (size_t)length, "x.jsonl", MT_ORIGIN_IMPORTED, NULL, &fixture_err);
        const char *said = fixture_stderr_end();
        ck_assert_msg(st == MT_OK, "%s: %s", samples[i], fixture_err.message);
        ck_assert_msg(strstr(said, "x.jsonl:2: is left out: \"s\" does not hold \"n\" samples of 0 to 1e16 ns"), "%s: %s", samples[i], said);
        ck_assert_ptr_null(strstr(said, "x.jsonl:3"));
        mt_store_close(store);
    }
}
END_TEST

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(int *)context;
    return MT_OK;
}

/* A file of such rows: merging it, and reading it as a stranger's. */
static void expect_left_out(const char *damage, const char *named)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    int rows = 0;
    fixture_sql(damage);
    remove(out_path("out"));
    mt_merge *merging = begin(merge_out, false, &store);
    fixture_stderr_begin();
    ck_ok(merge_file(merging, merge_out, part_path(1), &counts));
    ck_assert_msg(strstr(fixture_stderr_end(), named), "%s", damage);
    finish(merging, store);
    ck_assert_int_gt(counts.measurements, 0);
    fixture_stderr_begin();
    ck_ok(mt_store_open(part_path(1), MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_query_measurements(store, &(mt_filter){.with_samples = true}, count_row, &rows, &fixture_err));
    mt_store_close(store);
    ck_assert_msg(strstr(fixture_stderr_end(), named), "%s", damage);
    ck_assert_int_gt(rows, 0);
}

START_TEST(files_that_hold_them)
{
    for (size_t i = 0; i < BAD; i++) {
        char packed[200], sql[400];
        pack(bad[i], packed);
        remove(part_path(1));
        make_part(1);
        snprintf(sql, sizeof sql, "UPDATE measurement SET samples = x'%s', sample_count = 3 WHERE id = 2", packed);
        expect_left_out(sql, "row 2 of measurement is left out: samples is damaged; expected sample_count packed times from 0 to 1e16 ns");
        remove(part_path(1));
        make_part(1);
        snprintf(sql, sizeof sql, "UPDATE finalist SET round_ns = x'%s'", packed);
        expect_left_out(sql, "row 1 of finalist is left out: round_ns is damaged; expected packed times from 0 to 1e16 ns");
    }
}
END_TEST

FIXTURE_MAIN("samples", a_tuner_does_not_store_them, an_import_leaves_them_out, files_that_hold_them)
