/* Table current_result, against a plain account of what was stored: random histories, merges, files that lie. */
#include "tests/unit/merge_fixture.h"
#include "tests/unit/sound_fixture.h"

#include "db/store/current.h"
#include "tuner/base/rng.h"

enum { SUBJECTS = 2, VARIANTS = 4, HISTORIES = 8, STEPS = 60 };

/* What ought to be there: ids of measurements, 0 = none. */
typedef struct account { int64_t rows, ran[SUBJECTS][VARIANTS], newest[SUBJECTS][VARIANTS]; } account;

static const char *variant_of(int v)
{
    static char text[16];
    snprintf(text, sizeof text, "A=%d", v);
    return text;
}

static mt_subject subject_of(mt_store *store, int s)
{
    return fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "00112233445566778899aabbccddeeff", s ? "N=2;dtype=f16" : "N=1;dtype=f16", 13000, MT_ORIGIN_MEASURED);
}

static void put_any(mt_store *store, int64_t session, mt_rng *rng, account *a)
{
    int s = (int)mt_rng_below(rng, SUBJECTS), v = (int)mt_rng_below(rng, VARIANTS);
    mt_outcome_kind kind = (mt_outcome_kind)mt_rng_below(rng, MT_OUTCOME_KIND_COUNT);
    mt_subject subject = subject_of(store, s);
    mt_outcome outcome = fixture_outcome(kind, 10 + (double)mt_rng_below(rng, 100));
    fixture_put(store, session, &subject, variant_of(v), &outcome);
    a->newest[s][v] = ++a->rows;
    if (mt_outcome_is_run(kind)) a->ran[s][v] = a->rows;
}

/* Some rows that are taken back. */
static void put_in_vain(mt_store *store, int64_t session, mt_rng *rng, account a)
{
    ck_ok(mt_store_begin(store, &fixture_err));
    for (uint64_t i = 1 + mt_rng_below(rng, 3); i > 0; i--) put_any(store, session, rng, &a);
    mt_store_rollback(store);
}

static void compare(const account *a)
{
    char sql[400];
    int64_t count = 0;
    for (int s = 0; s < SUBJECTS; s++) {
        for (int v = 0; v < VARIANTS; v++) {
            if (!a->newest[s][v]) continue;
            count++;
            snprintf(sql, sizeof sql, "SELECT count(*) FROM current_result c JOIN measurement m ON m.id = c.newest_id AND m.subject_id = c.subject_id AND m.variant_id = c.variant_id "
                     "WHERE c.newest_id = %lld AND ifnull(c.measurement_id, 0) = %lld", (long long)a->newest[s][v], (long long)a->ran[s][v]);
            ck_assert_msg(fixture_number(sql) == 1, "subject %d, variant %d: %s", s, v, sql);
        }
    }
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM current_result"), count);
}

static void write_history(uint64_t seed, account *a)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    for (int i = 0; i < STEPS; i++) {
        if (mt_rng_below(&rng, 8) == 0) put_in_vain(store, session, &rng, *a);
        else put_any(store, session, &rng, a);
    }
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}

START_TEST(histories_are_kept)
{
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        account a = {0};
        use_db(part_path(0));
        unlink(fixture_db);
        write_history(seed, &a);
        compare(&a);
    }
}
END_TEST

/* Merging adds rows, and deals ids out anew at the end; what was merged is right before that end too, in case it never comes. */
START_TEST(merged_histories_are_kept)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        mt_merge_counts counts = {0};
        mt_store *store = NULL;
        for (int part = 0; part < 3; part++) {
            use_db(part_path(part));
            unlink(fixture_db);
            write_history(100 * seed + (uint64_t)part, &(account){0});
            fixture_sql("UPDATE measurement SET created_unix_ms = 1 + (id * 7919) % 101"); /* time contradicts the order of storing */
        }
        use_db(part_path(3));
        unlink(fixture_db);
        mt_merge *merge = begin(fixture_db, false, &store);
        for (int part = 0; part < 3; part++) ck_ok(merge_unchecked(merge, part_path(part), &counts));
        ck_ok(mt_current_check(store, &fixture_err));
        finish(merge, store);
        ck_assert_int_gt(fixture_number("SELECT count(*) FROM measurement"), 100);
    }
}
END_TEST

START_TEST(the_check_finds_what_is_stale)
{
    static const char *const damages[] = {"DELETE FROM current_result WHERE variant_id = 2", "UPDATE current_result SET measurement_id = 1, newest_id = 1 WHERE variant_id = 2",
                                          "UPDATE current_result SET measurement_id = NULL WHERE variant_id = 2", "INSERT INTO current_result VALUES (1, 3, 1, 1)"};
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    for (int v = 1; v <= 2; v++) fixture_put_ok(store, session, &s, variant_of(v), 10);
    fixture_sql("CREATE TABLE sound AS SELECT * FROM current_result; INSERT INTO variant VALUES (3, 1, 'A=3')");
    ck_ok(fixture_check(store, &fixture_err));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        fixture_sql(damages[i]);
        ck_fails(fixture_check(store, &fixture_err), MT_ERR_DB, i < 3 ? "which measurement of variant 2 of subject 1" : "which measurement of variant 3 of subject 1");
        fixture_sql("DELETE FROM current_result; INSERT INTO current_result SELECT * FROM sound");
    }
    mt_store_close(store);
}
END_TEST

typedef struct medians { int count; double ns[8]; } medians;

static mt_status see_median(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    medians *seen = context;
    seen->ns[seen->count++] = row->outcome.timing.median_ns;
    return MT_OK;
}

static medians fastest(void)
{
    mt_store *store = NULL;
    medians seen = {0};
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_query_fastest(store, &(mt_filter){0}, 8, see_median, &seen, &fixture_err));
    mt_store_close(store);
    return seen;
}

/* A stranger's file: a result is never another variant's, and where a row is left out the one before it counts. */
START_TEST(strangers_files_are_not_believed)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    fixture_put_ok(store, session, &s, "A=1", 10);
    fixture_put_ok(store, session, &s, "A=1", 20);
    fixture_put_ok(store, session, &s, "A=2", 30);
    mt_store_close(store);
    ck_assert_int_eq(fastest().count, 2);
    fixture_sql("UPDATE current_result SET measurement_id = 3 WHERE variant_id = 1");
    fixture_stderr_begin();
    medians seen = fastest();
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "current_result does not say which measurement of variant 1"));
    ck_assert_int_eq(seen.count, 2);
    ck_assert_double_eq(seen.ns[0], 20);
    fixture_sql("UPDATE measurement SET registers = 'many' WHERE id = 2"); /* rows are left out, and results found by what remains */
    fixture_stderr_begin();
    seen = fastest();
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "measurement"));
    ck_assert_int_eq(seen.count, 2);
    ck_assert_double_eq(seen.ns[0], 10);
}
END_TEST

FIXTURE_MAIN("current", histories_are_kept, merged_histories_are_kept, the_check_finds_what_is_stale, strangers_files_are_not_believed)
