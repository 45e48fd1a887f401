/* Writing: rows, steps, intents, strikes, winners, cubins, transactions. */
#include "db/store/query_internal.h"

#include <unistd.h>
#include "tests/unit/known_fixture.h"
#include "tests/unit/sound_fixture.h"

#include <sys/wait.h>

static mt_status take_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    snprintf(context, 64, "%s", row->variant);
    return MT_OK;
}

/* The winner's variant, "" = none. */
static void best_of(mt_store *store, const mt_subject *subject, char variant[64])
{
    variant[0] = '\0';
    ck_ok(mt_store_refresh_best(store, subject, &fixture_err));
    ck_ok(mt_query_best(store, NULL, take_row, variant, &fixture_err));
}

START_TEST(find_or_insert_gives_stable_ids)
{
    mt_store *store = fixture_open();
    mt_subject a = fixture_subject(store), b = fixture_subject(store);
    ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
    mt_subject other = fixture_subject_of(store, "h100-pcie|cc90|sm114|80g", "NVIDIA H100 PCIe", "ff", "N=1", 12080, MT_ORIGIN_RECORDED);
    ck_assert_int_ne(a.device, other.device);
    ck_assert_int_ne(a.kernel, other.kernel);
    ck_assert_int_ne(a.shape, other.shape);
    ck_assert_int_ne(a.workload, other.workload); /* the same key, but of another kernel */
    ck_assert_int_ne(a.toolchain, other.toolchain);
    mt_store_close(store);
    store = fixture_open();
    b = fixture_subject(store);
    ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
    mt_store_close(store);
}
END_TEST

START_TEST(newer_texts_replace_older_ones)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t id;
    mt_shape_row renamed = {.name = "seed48", .key = "N=48;dtype=f16"};
    ck_ok(mt_store_shape(store, s.kernel, &renamed, &id, &fixture_err));
    ck_assert_int_eq(id, s.shape);
    mt_device_row bare = {.key = "h100-sxm|cc90|sm132|80g", .name = "NVIDIA H100 80GB HBM3", .facts_json = NULL};
    ck_ok(mt_store_device(store, &bare, &id, &fixture_err));
    mt_kernel_row kernel = {.name = "msda", .key = "00112233445566778899aabbccddeeff", .spec_json = "{\"new\":1}"};
    ck_ok(mt_store_kernel(store, &kernel, &id, &fixture_err));
    ck_assert_int_eq(id, s.kernel);
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM shape WHERE name = 'seed48'"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM device WHERE facts_json LIKE '%132%'"), 1); /* no facts do not erase facts */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM kernel WHERE spec_json = '{\"new\":1}'"), 1);
}
END_TEST

START_TEST(step_appends_and_moves_the_intent)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_intent intent = {.subject = &s, .variant = "A=1", .boot_id = "boot-1", .worker_pid = 42};
    ck_ok(mt_store_step(store, session, NULL, &intent, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 1);
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 1000);
    mt_result result = {.subject = &s, .variant = "A=1", .evaluation = 1, .outcome = &outcome};
    mt_intent next = {.subject = &s, .variant = "A=2", .boot_id = "boot-1", .worker_pid = 42};
    ck_ok(mt_store_step(store, session, &result, &next, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent i JOIN variant v ON v.id = i.variant_id WHERE v.text = 'A=2'"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 1);
    result.variant = "A=2";
    ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 0);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(step_with_bad_ids_leaves_nothing)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 1000);
    mt_subject bad = s;
    bad.toolchain = 999;
    mt_result result = {.subject = &bad, .variant = "A=1", .outcome = &outcome};
    ck_fails(mt_store_step(store, session, &result, NULL, &fixture_err), MT_ERR_DB, "FOREIGN KEY");
    ck_assert_msg(strstr(fixture_err.message, fixture_db) != NULL, "%s", fixture_err.message);
    result.subject = &s;
    ck_fails(mt_store_step(store, 999, &result, NULL, &fixture_err), MT_ERR_DB, "FOREIGN KEY");
    ck_assert_int_eq(fixture_number("SELECT (SELECT count(*) FROM measurement) + (SELECT count(*) FROM variant)"), 0);
    ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err)); /* and the store goes on working */
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(nested_transactions)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    ck_ok(mt_store_begin(store, &fixture_err));
    fixture_put_ok(store, session, &s, "A=1", 10);
    mt_subject bad = s;
    bad.toolchain = 999;
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 5);
    mt_result result = {.subject = &bad, .variant = "A=2", .outcome = &outcome};
    ck_assert_int_ne(mt_store_step(store, session, &result, NULL, &fixture_err), MT_OK); /* undoes itself only */
    fixture_put_ok(store, session, &s, "A=3", 10);
    ck_ok(mt_store_commit(store, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 2);
    ck_ok(mt_store_begin(store, &fixture_err));
    mt_subject fresh = fixture_subject_of(store, "a100|cc80", "A100", "k", "N=1", 13000, MT_ORIGIN_MEASURED);
    fixture_put_ok(store, session, &fresh, "A=4", 10);
    mt_store_rollback(store);
    fresh = fixture_subject_of(store, "a100|cc80", "A100", "k", "N=1", 13000, MT_ORIGIN_MEASURED);
    fixture_put_ok(store, session, &fresh, "A=4", 10); /* no remembered id of what was undone */
    mt_store_rollback(store);                          /* harmless */
    ck_fails(mt_store_commit(store, &fixture_err), MT_ERR_DB, "nothing to commit");
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 3);
}
END_TEST

START_TEST(no_time_is_no_measurement)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    const double times[] = {0, -1, NAN, INFINITY};
    const mt_outcome_kind kinds[] = {MT_OUTCOME_OK, MT_OUTCOME_CENSORED};
    int64_t session = fixture_session(store);
    for (size_t i = 0; i < 8; i++) {
        mt_outcome outcome = fixture_outcome(kinds[i % 2], times[i / 2]);
        mt_result result = {.subject = &s, .variant = "A=1", .outcome = &outcome};
        fixture_stderr_begin();
        ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err)); /* the session goes on */
        ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "the row of A=1 is left out"));
    }
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 0);
}
END_TEST

START_TEST(strikes_quarantine)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    const struct {
        const char *variant, *causes[2], *text;
    } cases[] = {{"A=1", {"crashed"}, NULL},
                 {"A=2", {"crashed", "host_down"}, "took the host down, crashed the worker"},
                 {"A=3", {"fault"}, "faulted"},
                 {"A=4", {"timeout"}, "timed out"},
                 {"A=5", {"host_down", "host_down"}, "took the host down (2 times)"},
                 {"A=6", {"host_down"}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 2 && cases[i].causes[k]; k++) ck_ok(mt_store_strike(store, &s, cases[i].variant, cases[i].causes[k], &fixture_err));
    }
    seen all = {0};
    ck_ok(mt_store_quarantined(store, &s, see_text, &all, &fixture_err));
    int expected = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!cases[i].text) continue;
        ck_assert_str_eq(all.variant[expected], cases[i].variant);
        ck_assert_str_eq(all.text[expected++], cases[i].text);
    }
    ck_assert_int_eq(all.count, expected);
    mt_subject recorded = s;
    recorded.origin = MT_ORIGIN_RECORDED;
    all.count = 0;
    ck_ok(mt_store_quarantined(store, &recorded, see_text, &all, &fixture_err));
    ck_assert_int_eq(all.count, 0); /* a replayed crash is not held against the real variant, nor the other way round */
    mt_store_close(store);
}
END_TEST

/* --- intents left behind ------------------------------------------------------------------------------------------------------------ */

static int64_t settle(mt_store *store, const mt_subject *s, const char *boot_id)
{
    int64_t left = -1;
    ck_ok(mt_store_settle_intents(store, s->device, s->origin, boot_id, &left, &fixture_err));
    return left;
}

/* A process that wrote an intent and was killed; or lives on, if `killed` is false. */
static pid_t leave_intent(bool killed)
{
    pid_t child = fork();
    if (child == 0) {
        mt_store *store = fixture_open();
        mt_subject s = fixture_subject(store);
        mt_intent intent = {.subject = &s, .variant = "A=1", .boot_id = "boot-1", .worker_pid = 1};
        ck_ok(mt_store_step(store, fixture_session(store), NULL, &intent, &fixture_err));
        if (killed) raise(SIGKILL);
        pause();
        _exit(0);
    }
    if (killed) {
        siginfo_t info;
        ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* stays a zombie for now */
    } else {
        while (access(fixture_db, F_OK) != 0 || fixture_number("SELECT count(*) FROM sqlite_master WHERE name = 'intent'") < 1 ||
               fixture_number("SELECT count(*) FROM intent") < 1) {
            usleep(10000);
        }
    }
    return child;
}

START_TEST(killed_coordinator_is_no_strike)
{
    pid_t child = leave_intent(true);
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    ck_assert_int_eq(settle(store, &s, "boot-1"), 1);
    ck_assert_int_eq(settle(store, &s, "boot-1"), 0);
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM strike"), 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 0);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(host_that_went_down_is_a_strike)
{
    for (int round = 1; round <= 2; round++) {
        pid_t child = leave_intent(true);
        mt_store *store = fixture_open();
        mt_subject s = fixture_subject(store);
        mt_subject other = fixture_subject_of(store, "a100|cc80", "A100", "00112233445566778899aabbccddeeff", "N=48;dtype=f16", 13000,
                                              MT_ORIGIN_MEASURED);
        ck_assert_int_eq(settle(store, &other, "boot-2"), 0); /* not its device */
        ck_assert_int_eq(settle(store, &s, "boot-2"), 1);
        seen all = {0};
        ck_ok(mt_store_quarantined(store, &s, see_text, &all, &fixture_err));
        ck_assert_int_eq(all.count, round == 2);
        mt_store_close(store);
        waitpid(child, NULL, 0);
    }
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM strike WHERE cause = 'host_down'"), 2);
}
END_TEST

START_TEST(living_tuners_keep_their_intents)
{
    pid_t child = leave_intent(false);
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    ck_assert_int_eq(settle(store, &s, "boot-1"), 0);
    fixture_sql("UPDATE session SET host = 'elsewhere'"); /* a shared file */
    ck_assert_int_eq(settle(store, &s, "boot-2"), 0);
    fixture_sql("UPDATE intent SET created_unix_ms = created_unix_ms - 3700000");
    ck_assert_int_eq(settle(store, &s, "boot-2"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM strike"), 0);
    mt_store_close(store);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
END_TEST

/* --- best --------------------------------------------------------------------------------------------------------------------------- */

static mt_status count_ok(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    *(size_t *)context += row->outcome.kind == MT_OUTCOME_OK;
    return MT_OK;
}

/* Its compiler was killed in a later session, say: what was measured stands. */
START_TEST(what_did_not_run_hides_nothing)
{
    char best[64];
    size_t fastest = 0, newest = 0;
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    static const mt_outcome_kind kinds[] = {MT_OUTCOME_EXCLUDED, MT_OUTCOME_NOT_RECORDED, MT_OUTCOME_COMPILER_KILLED};
    fixture_put_ok(store, session, &s, "A=1", 100);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        mt_outcome not_run = fixture_outcome(kinds[i], 10);
        ck_assert(!mt_outcome_is_run(kinds[i]));
        fixture_put(store, session, &s, "A=1", &not_run);
        fixture_put(store, session, &s, "A=2", &not_run);
    }
    best_of(store, &s, best);
    ck_assert_str_eq(best, "A=1");
    ck_ok(mt_query_fastest(store, NULL, 9, count_ok, &fastest, &fixture_err));
    ck_ok(mt_query_newest(store, fixture_number("SELECT id FROM subject"), false, count_ok, &newest, &fixture_err));
    ck_assert_uint_eq(fastest, 1);
    ck_assert_uint_eq(newest, 1);
    mt_store_close(store);
}
END_TEST

START_TEST(best_is_the_fastest_newest_ok_row)
{
    char best[64];
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    best_of(store, &s, best);
    ck_assert_str_eq(best, ""); /* nothing stored at all */
    fixture_put_ok(store, session, &s, "A=1", 100);
    fixture_put_ok(store, session, &s, "A=2", 90);
    mt_outcome wrong = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 10), censored = fixture_outcome(MT_OUTCOME_CENSORED, 10);
    fixture_put(store, session, &s, "A=3", &wrong);
    fixture_put(store, session, &s, "A=4", &censored);
    best_of(store, &s, best);
    ck_assert_str_eq(best, "A=2");
    fixture_put_ok(store, session, &s, "A=2", 110); /* re-timed: slower than it looked */
    best_of(store, &s, best);
    ck_assert_str_eq(best, "A=1");
    fixture_put(store, session, &s, "A=1", &wrong);
    fixture_put(store, session, &s, "A=2", &wrong);
    best_of(store, &s, best);
    ck_assert_str_eq(best, ""); /* nothing is OK any more */
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(best_breaks_ties_by_memory_cluster_and_text)
{
    static const struct {
        const char *variant;
        uint32_t smem;
        const char *launch;
    } rows[] = {{"A=1", 4096, NULL},
                {"A=2", 2048, "{\"launches\":[{\"cluster\":[4,2,1]},{\"cluster\":1}]}"},
                {"A=3", 2048, "{\"launches\":[{\"cluster\":[2,1,1]}]}"},
                {"A=4", 2048, "{\"launches\":[{\"cluster\":2}]}"},
                {"A=0", 2048, "{\"launches\":[{\"grid\":[1,1,1]},{\"cluster\":4}]}"},
                {"A=9", 2048, "{\"launches\":[]}"}};
    static const char *const expected[] = {"A=1", "A=2", "A=3", "A=3", "A=3", "A=9"};
    char best[64];
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 100);
        outcome.resources.dynamic_smem_bytes = rows[i].smem;
        mt_result result = {.subject = &s, .variant = rows[i].variant, .launch_json = rows[i].launch, .outcome = &outcome};
        ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err));
        best_of(store, &s, best);
        ck_assert_msg(strcmp(best, expected[i]) == 0, "after %s: %s", rows[i].variant, best);
    }
    fixture_put_ok(store, session, &s, "B=1", 100.4); /* tied: its interval reaches into the winner's */
    fixture_put_ok(store, session, &s, "B=2", 102);
    best_of(store, &s, best);
    ck_assert_str_eq(best, "A=9");
    ck_assert_int_eq(fixture_number("SELECT tied_count FROM best"), 7);
    mt_store_close(store);
}
END_TEST

/* --- cubins, text, check ------------------------------------------------------------------------------------------------------------ */

START_TEST(cubins)
{
    mt_store *store = fixture_open();
    char code[5000];
    for (size_t i = 0; i < sizeof code; i++) code[i] = (char)(i * i);
    mt_hash hash = mt_hash_bytes(code, sizeof code), empty = mt_hash_bytes("", 0);
    ck_ok(mt_store_cubin(store, &hash, code, sizeof code, &fixture_err));
    ck_ok(mt_store_cubin(store, &hash, code, sizeof code, &fixture_err));
    ck_ok(mt_store_cubin(store, &empty, "", 0, &fixture_err));
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM cubin WHERE hash = '%s' AND encoding = 'raw' AND size_bytes = 5000 AND length(bytes) = 5000 AND bytes <> zeroblob(5000)", hash.hex);
    ck_assert_int_eq(fixture_number(sql), 1);
    snprintf(sql, sizeof sql, "SELECT length(bytes) FROM cubin WHERE hash = '%s'", empty.hex);
    ck_assert_int_eq(fixture_number(sql), 0);
    mt_store_close(store);
}
END_TEST

START_TEST(long_logs_are_cut_between_characters)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    size_t length = (256 << 10) + 100;
    char *log = malloc(length + 1);
    for (size_t i = 0; i < length; i++) log[i] = i % 3 == 0 ? '\xe2' : i % 3 == 1 ? '\x82' : '\xac'; /* € */
    log[length] = '\0';
    mt_outcome outcome = {.kind = MT_OUTCOME_COMPILE_ERROR, .text = log};
    fixture_put(store, fixture_session(store), &s, "A=1", &outcome);
    free(log);
    mt_store_close(store);
    int64_t bytes = fixture_number("SELECT length(CAST(text AS BLOB)) FROM measurement");
    ck_assert_int_le(bytes, 256 << 10);
    ck_assert_int_gt(bytes, (256 << 10) - 4);
    ck_assert_int_eq(bytes % 3, 0);
}
END_TEST

START_TEST(comparison_points)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    double standard, baseline;
    size_t known;
    fixture_put_ok(store, session, &s, "A=1", 10);
    int64_t winner = fixture_number("SELECT max(id) FROM measurement");
    ck_ok(mt_query_comparison_points(store, winner, &standard, &baseline, &known, &fixture_err));
    ck_assert(isnan(standard) && isnan(baseline) && known == 0);
    ck_ok(mt_store_comparison_point(store, &s, "default", "A=2", &fixture_err));
    ck_ok(mt_store_comparison_point(store, &s, "baseline", "A=1", &fixture_err));
    ck_ok(mt_query_comparison_points(store, winner, &standard, &baseline, &known, &fixture_err));
    ck_assert(isnan(standard) && baseline == 10 && known == 2); /* the default was not measured yet */
    fixture_put_ok(store, session, &s, "A=2", 20);
    fixture_put_ok(store, session, &s, "A=2", 30);
    ck_ok(mt_store_comparison_point(store, &s, "baseline", NULL, &fixture_err));
    ck_ok(mt_query_comparison_points(store, winner, &standard, &baseline, &known, &fixture_err));
    ck_assert(standard == 30 && isnan(baseline));
    mt_outcome failed = fixture_outcome(MT_OUTCOME_TIMEOUT, 0);
    fixture_put(store, session, &s, "A=2", &failed);
    ck_ok(mt_query_comparison_points(store, winner, &standard, &baseline, &known, &fixture_err));
    ck_assert(isnan(standard));
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

/* A winner's row for the lookup comes and goes with it. */
START_TEST(answers_follow_the_best)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    fixture_put_ok(store, session, &s, "A=1", 10);
    fixture_put_ok(store, session, &s, "A=2", 20);
    fixture_sql("UPDATE measurement SET launch_json = '{\"launches\":[{\"carveout\":28},{},{\"carveout\":0}]}' WHERE median_ns = 10");
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM answer WHERE median_ns = 10 AND shape_key = 'N=48;dtype=f16' AND carveouts = '28,-1,0'"), 1);
    mt_outcome failed = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 0);
    fixture_put(store, session, &s, "A=1", &failed);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM answer WHERE median_ns = 20 AND carveouts IS NULL OR carveouts = -1"), 1);
    ck_ok(fixture_check(store, &fixture_err));
    fixture_sql("UPDATE answer SET measurement_id = 1");
    ck_fails(fixture_check(store, &fixture_err), MT_ERR_DB, "table answer");
    fixture_put(store, session, &s, "A=2", &failed);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM answer"), 0);
    mt_store_close(store);
}
END_TEST

START_TEST(check_finds_dangling_rows)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 10);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(fixture_check(store, &fixture_err));
    fixture_sql("UPDATE measurement SET outcome = 'wrong_result'");
    ck_fails(fixture_check(store, &fixture_err), MT_ERR_DB, "table best");
    fixture_sql("UPDATE measurement SET outcome = 'ok'; DELETE FROM toolchain");
    ck_fails(fixture_check(store, &fixture_err), MT_ERR_DB, "missing row of table toolchain");
    mt_store_close(store);
}
END_TEST

START_TEST(pruned_counts)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    ck_ok(mt_store_pruned(store, session, &s, "staging", "the buffer must fit", 12, &fixture_err));
    ck_ok(mt_store_pruned(store, session, &s, "staging", "the buffer must fit", 13, &fixture_err));
    ck_ok(mt_store_pruned(store, session, &s, "other", NULL, 1, &fixture_err));
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT sum(point_count) FROM pruned"), 14);
}
END_TEST

static bool is_there(void)
{
    char wal[224], shm[224];
    snprintf(wal, sizeof wal, "%s-wal", fixture_db);
    snprintf(shm, sizeof shm, "%s-shm", fixture_db);
    ck_assert(access(fixture_db, F_OK) == 0 || (access(wal, F_OK) != 0 && access(shm, F_OK) != 0));
    return access(fixture_db, F_OK) == 0;
}

/* A file that was made for what was then refused goes again; not one that holds something, that was there before, or that somebody else has open. */
START_TEST(unused_files_go)
{
    mt_store_close_unused(NULL);
    mt_store_close_unused(fixture_open());
    ck_assert(!is_there());
    mt_store *store = fixture_open(), *other = fixture_open();
    ck_ok(mt_store_begin(store, &fixture_err));
    fixture_session(store); /* rolled back */
    mt_store_close_unused(store);
    ck_assert(is_there());
    fixture_session(other);
    mt_store_close_unused(other);
    ck_assert(is_there()); /* it was there, and the other one's rows are in it */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM session"), 1);
    remove(fixture_db);
    store = fixture_open();
    fixture_session(store);
    mt_store_close_unused(store);
    ck_assert(is_there());
    remove(fixture_db);
    mt_store_close(fixture_open());
    mt_store_close_unused(fixture_open());
    ck_assert(is_there());
}
END_TEST

FIXTURE_MAIN("store", find_or_insert_gives_stable_ids, newer_texts_replace_older_ones, step_appends_and_moves_the_intent,
             step_with_bad_ids_leaves_nothing, nested_transactions, no_time_is_no_measurement, strikes_quarantine, killed_coordinator_is_no_strike,
             host_that_went_down_is_a_strike, living_tuners_keep_their_intents, best_is_the_fastest_newest_ok_row, what_did_not_run_hides_nothing,
             best_breaks_ties_by_memory_cluster_and_text, cubins, long_logs_are_cut_between_characters, comparison_points, answers_follow_the_best,
             check_finds_dangling_rows, pruned_counts, unused_files_go)
