/* Several processes at one file, and processes that are killed. Stores are opened after fork: SQLite must not be carried across. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/sound_fixture.h"

#include <poll.h>
#include <sys/wait.h>

#include "db/store/open/store_file.h"
#include "db/store/store_internal.h"
#include "tuner/base/rng.h"

/* Appends `steps` rows, each with the write-ahead intent of the next, and exits with 0. */
static void write_steps(int writer, int steps)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 100);
    float samples[3] = {99, 100, 101};
    outcome.sample_ns = samples;
    for (int i = 0; i < steps; i++) {
        char variant[32], next[32];
        snprintf(variant, sizeof variant, "A=%d;B=%d", i, writer);
        snprintf(next, sizeof next, "A=%d;B=%d", i + 1, writer);
        mt_result result = {.subject = &s, .variant = variant, .evaluation = i + 1, .outcome = &outcome};
        mt_intent intent = {.subject = &s, .variant = next, .boot_id = "boot-1"};
        ck_ok(mt_store_step(store, session, &result, i + 1 < steps ? &intent : NULL, &fixture_err));
        if (i % 10 == 0) ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    }
    mt_session_end_row end = {.state = "done", .evaluated = steps};
    ck_ok(mt_store_session_end(store, session, &end, &fixture_err));
    mt_store_close(store);
    _exit(0);
}

static void run_writers(int writers, int steps)
{
    for (int i = 0; i < writers; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) write_steps(i, steps);
    }
    for (int i = 0; i < writers; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    mt_store *store = fixture_open();
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), writers * steps);
    ck_assert_int_eq(fixture_number("SELECT count(DISTINCT variant_id) FROM measurement"), writers * steps);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM session WHERE state = 'done'"), writers);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM subject"), 1);
}

START_TEST(two_tuners_at_one_new_file)
{
    run_writers(2, 100); /* both also create the file */
}
END_TEST

START_TEST(two_tuners_without_wal)
{
    mt_fs_pretend(MT_FS_REMOTE);
    run_writers(2, 40);
}
END_TEST

START_TEST(many_processes_create_one_file)
{
    run_writers(8, 2);
}
END_TEST

/* A session must not go on for hours into a file that has no name any more. */
START_TEST(a_file_that_is_gone_is_an_error)
{
    char away[160];
    mt_store *store = fixture_open();
    ck_ok(mt_store_begin(store, &fixture_err));
    ck_ok(mt_store_commit(store, &fixture_err));
    snprintf(away, sizeof away, "%s.away", fixture_db);
    ck_assert_int_eq(rename(fixture_db, away), 0);
    ck_assert_int_eq(mt_store_begin(store, &fixture_err), MT_ERR_DB);
    ck_assert_ptr_nonnull(strstr(fixture_err.message, "was removed, renamed or replaced"));
    FILE *other = fopen(fixture_db, "w"); /* somebody else's */
    ck_assert_ptr_nonnull(other);
    fclose(other);
    ck_assert_int_eq(mt_store_begin(store, &fixture_err), MT_ERR_DB);
    ck_assert_int_eq(rename(away, fixture_db), 0); /* back again */
    ck_ok(mt_store_begin(store, &fixture_err));
    ck_ok(mt_store_commit(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(reader_beside_a_writer)
{
    mt_store *store = fixture_open();
    mt_store_close(store);
    pid_t child = fork();
    if (child == 0) write_steps(0, 100);
    int64_t rows = 0, before = 0;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        mt_store *reader = NULL;
        int64_t counts[MT_OUTCOME_KIND_COUNT];
        ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &reader, &fixture_err));
        ck_assert_int_ne(sqlite3_table_column_metadata(reader->db, "temp", "row_left_out", NULL, NULL, NULL, NULL, NULL, NULL), SQLITE_OK); /* sound rows, as of one moment */
        ck_ok(mt_query_outcome_counts(reader, NULL, counts, &fixture_err));
        rows = counts[MT_OUTCOME_OK];
        ck_assert_int_ge(rows, before);
        before = rows;
        mt_store_close(reader);
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 100);
}
END_TEST

/* --- kill -9 ------------------------------------------------------------------------------------------------------------------------ */

static mt_status count_known(void *context, const char *variant, mt_outcome_kind kind, double median_ns, double norm_error, const char *text, mt_error *err)
{
    (void)variant, (void)kind, (void)median_ns, (void)norm_error, (void)text, (void)err;
    ++*(int *)context;
    return MT_OK;
}

/* A tuner that resumes after what is known and says on the pipe how many rows it knows to be safe. */
static void tune_until_killed(int pipe_end)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store), left;
    int known = 0;
    ck_ok(mt_store_settle_intents(store, s.device, s.origin, "boot-1", &left, &fixture_err));
    ck_ok(mt_store_known(store, &s, MT_REUSE_MAJOR, count_known, &known, &fixture_err));
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 100);
    for (int i = known;; i++) {
        char variant[32], next[32];
        snprintf(variant, sizeof variant, "A=%d", i);
        snprintf(next, sizeof next, "A=%d", i + 1);
        mt_result result = {.subject = &s, .variant = variant, .evaluation = i + 1, .outcome = &outcome};
        mt_intent intent = {.subject = &s, .variant = next, .boot_id = "boot-1"};
        ck_ok(mt_store_step(store, session, &result, &intent, &fixture_err));
        int rows = i + 1;
        if (write(pipe_end, &rows, sizeof rows) != sizeof rows) _exit(1);
    }
}

static int last_report(int pipe_end, int before)
{
    int rows, last = before;
    while (read(pipe_end, &rows, sizeof rows) == sizeof rows) last = rows;
    return last;
}

/* Kills after delay_us, counted from the first row if `running`, else from the start: then the file may be half made. */
static void kill_and_inspect(unsigned delay_us, bool running, int *reported)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        tune_until_killed(ends[1]);
    }
    close(ends[1]);
    struct pollfd first = {.fd = ends[0], .events = POLLIN};
    if (running) ck_assert_int_eq(poll(&first, 1, 200000), 1);
    usleep(delay_us);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    *reported = last_report(ends[0], *reported);
    close(ends[0]);
    mt_store *store = fixture_open(); /* recovers */
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
    int64_t rows = fixture_number("SELECT count(*) FROM measurement");
    ck_assert_int_ge(rows, *reported);     /* nothing that was committed is lost */
    ck_assert_int_le(rows, *reported + 1); /* committed, but killed before saying so */
    ck_assert_int_eq(fixture_number("SELECT count(DISTINCT variant_id) FROM measurement"), rows); /* nothing twice */
    ck_assert_int_le(fixture_number("SELECT count(*) FROM intent"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM strike"), 0);
    *reported = (int)rows;
}

static void kill_many(int times)
{
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    int reported = 0;
    for (int i = 0; i < times; i++) kill_and_inspect((unsigned)mt_rng_below(&rng, 30000), i % 2, &reported);
    ck_assert_int_gt(reported, 0); /* the children did get somewhere */
}

START_TEST(killed_thirty_times)
{
    kill_many(30);
}
END_TEST

START_TEST(killed_without_wal)
{
    mt_fs_pretend(MT_FS_REMOTE);
    kill_many(10);
}
END_TEST

FIXTURE_MAIN("store_processes", two_tuners_at_one_new_file, two_tuners_without_wal, many_processes_create_one_file, a_file_that_is_gone_is_an_error, reader_beside_a_writer,
             killed_thirty_times, killed_without_wal)
