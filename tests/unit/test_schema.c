/* Files of older schemas become what a new file is, and keep their rows. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/sound_fixture.h"

#include "db/store/open/migrate.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

static mt_store *opened;

static mt_status open_rw(void)
{
    return mt_store_open(fixture_db, MT_STORE_READ_WRITE, &opened, &fixture_err);
}

static mt_status open_ro(void)
{
    return mt_store_open(fixture_db, MT_STORE_READ_ONLY, &opened, &fixture_err);
}

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t length;
    ck_ok(mt_file_read(path, 1 << 20, &text, &length, &fixture_err));
    return text;
}

/* Tables, columns and indices as one text, in an order of its own. */
static void describe_schema(mt_strbuf *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    static const char sql[] = "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk FROM sqlite_master m, pragma_table_info(m.name) c "
                              "WHERE m.type = 'table' UNION ALL SELECT m.name || ' < ' || f.\"from\" || '=' || f.\"table\" || '.' || f.\"to\" FROM sqlite_master m, "
                              "pragma_foreign_key_list(m.name) f WHERE m.type = 'table' UNION ALL SELECT name || ' on ' || tbl_name FROM sqlite_master "
                              "WHERE type = 'index' ORDER BY 1";
    ck_assert_int_eq(sqlite3_open_v2(fixture_db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW) mt_strbuf_addf(out, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* The fixture's database, migrated, has the schema of a new one. */
static void check_as_fresh(void)
{
    mt_strbuf migrated = {0}, fresh = {0};
    describe_schema(&migrated);
    snprintf(fixture_db, sizeof fixture_db, "%s/fresh.sqlite", fixture_folder);
    ck_ok(open_rw());
    mt_store_close(opened);
    describe_schema(&fresh);
    ck_assert_str_eq(mt_strbuf_text(&migrated), mt_strbuf_text(&fresh));
    mt_strbuf_free(&migrated);
    mt_strbuf_free(&fresh);
}

/* Files from before version 0.1 have no users: they are named, not touched. */
START_TEST(what_is_older_than_7_is_refused)
{
    mt_store_close(fixture_open());
    fixture_sql("PRAGMA user_version = 6");
    ck_fails(open_rw(), MT_ERR_DB, "has schema 6, of a tool before version 0.1; this one updates files from schema 7 on");
    ck_fails(open_ro(), MT_ERR_DB, "has schema 6");
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 6);
}
END_TEST

/* One row of schema 7, and what it is now. */
typedef struct old_row { const char *outcome, *text, *now, *now_text, *digest; } old_row;
#define SENTENCE "a constraint excludes it on this shape and GPU (expressions 0123abcd)"
static const old_row old_rows[] = {
    {"pruned", SENTENCE, "excluded", NULL, "0123abcd"},
    {"pruned", "'fits' excludes it: too large", "excluded", "'fits' excludes it: too large", NULL},
    {"pruned", "InvalidConfig", "excluded", "InvalidConfig", NULL},
    {"pruned", NULL, "excluded", NULL, NULL},
    {"pruned", "not recorded", "not_recorded", NULL, NULL},
    {"pruned", "not recorded, says somebody", "excluded", "not recorded, says somebody", NULL},
    {"pruned", "the compiler died: SIGKILL from outside", "compiler_killed", "the compiler died: SIGKILL from outside", NULL},
    {"compile_error", "the compiler died: SIGSEGV", "compile_error", "the compiler died: SIGSEGV", NULL}, /* a sentence alone says nothing */
    {"illegal", "not recorded", "illegal", "not recorded", NULL},
    {"quarantined", SENTENCE, "quarantined", SENTENCE, NULL},
    {"ok", NULL, "ok", NULL, NULL},
    {"compile_timeout", "t", "compile_timeout", "t", NULL},
    {"load_error", "t", "load_error", "t", NULL},
    {"launch_error", "t", "launch_error", "t", NULL},
    {"wrong_result", "t", "wrong_result", "t", NULL},
    {"out_of_bounds", "t", "out_of_bounds", "t", NULL},
    {"wrote_input", "t", "wrote_input", "t", NULL},
    {"nondeterministic", "t", "nondeterministic", "t", NULL},
    {"timeout", "t", "timeout", "t", NULL},
    {"crashed", "t", "crashed", "t", NULL},
    {"gpu_fault", "t", "gpu_fault", "t", NULL},
    {"censored", NULL, "censored", NULL, NULL},
    {"yardstick", NULL, "yardstick", NULL, NULL},
};
enum { OLD_ROWS = sizeof old_rows / sizeof *old_rows };

static const char *quoted(const char *text)
{
    static char out[6][256];
    static int next;
    char *at = out[next++ % 6];
    if (!text) return "NULL";
    sqlite3_snprintf(sizeof out[0], at, "%Q", text);
    return at;
}

static void make_version_7(void)
{
    char *schema = read_text(TEST_DATA_DIR "/schema_v7.sql"), sql[2048];
    fixture_sql(schema);
    mt_free(schema);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 7);
    fixture_sql("INSERT INTO device VALUES (1, 'k', 'n', '{}'); INSERT INTO kernel (id, name, key, spec_json) VALUES (1, 'msda', 'key', '{}'); "
                "INSERT INTO shape VALUES (1, 1, 'N=1', 's'); INSERT INTO workload VALUES (1, 1, '', 'default'); "
                "INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a'); INSERT INTO subject VALUES (1, 1, 1, 1, 1, 'cold', 'recorded'); "
                "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms) "
                "VALUES (1, 'c', 'h', 'b', 1, 'v', 'auto', 'p', 0, 'measured', 1)");
    for (int i = 0; i < OLD_ROWS; i++) {
        const old_row *row = &old_rows[i];
        bool is_timed = strcmp(row->outcome, "ok") == 0 || strcmp(row->outcome, "censored") == 0 || strcmp(row->outcome, "yardstick") == 0;
        snprintf(sql, sizeof sql, "INSERT INTO variant VALUES (%d, 1, 'A=%d'); INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, "
                 "outcome, text, median_ns, low_ns, high_ns, registers) VALUES (%d, 1, %d, 1, 1, %d, 1, %s, %s, %s, %s, %s, %d)", i + 1, i, i + 1, i + 1, 1000 + i, quoted(row->outcome),
                 quoted(row->text), is_timed ? "10.5" : "NULL", is_timed ? "10" : "NULL", is_timed ? "11" : "NULL", i);
        fixture_sql(sql);
    }
}

/* Schema 8 says as an outcome what a sentence said, and loses nothing else. */
START_TEST(version_7_gets_outcomes)
{
    char sql[1024];
    make_version_7();
    fixture_sql("INSERT INTO portfolio VALUES (1, 1, 1, 'cold', 'recorded', 0, 8, 1.1, 1, 0, 1, 0, NULL, NULL, '{}', 1); INSERT INTO landmark VALUES (1, 'default', 5); "
                "INSERT INTO portfolio_shape VALUES (1, 1, 1, 'N=1', 's', 10.5, NULL, 'pruned'); "
                "INSERT INTO portfolio_cell (portfolio_id, subject_id, variant_id, outcome, measurement_id, toolchain_id, created_unix_ms) VALUES (1, 1, 7, 'pruned', 7, 1, 1), "
                "(1, 1, 11, 'ok', 11, 1, 1), (1, 1, 12, 'pruned', 99, 1, 1); CREATE TABLE kept AS SELECT * FROM measurement");
    ck_ok(open_rw());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), OLD_ROWS);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM current_result WHERE newest_id = variant_id AND ifnull(measurement_id, newest_id) = newest_id"), OLD_ROWS); /* a row of each variant */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM current_result WHERE measurement_id IS NULL"), 7); /* those that did not run */
    for (int i = 0; i < OLD_ROWS; i++) {
        const old_row *row = &old_rows[i];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM measurement WHERE id = %d AND outcome = %s AND text IS %s AND spec_digest IS %s", i + 1, quoted(row->now), quoted(row->now_text), quoted(row->digest));
        ck_assert_msg(fixture_number(sql) == 1, "row %d, %s, %s", i + 1, row->outcome, row->text ? row->text : "no text");
    }
    /* Of each row all else is what it was. */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement m JOIN kept k ON k.id = m.id AND k.subject_id = m.subject_id AND k.variant_id = m.variant_id AND k.toolchain_id = m.toolchain_id "
                                    "AND k.session_id = m.session_id AND k.created_unix_ms = m.created_unix_ms AND k.evaluation = m.evaluation AND k.median_ns IS m.median_ns AND k.low_ns IS m.low_ns "
                                    "AND k.high_ns IS m.high_ns AND k.registers IS m.registers"), OLD_ROWS);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_cell WHERE (variant_id, outcome) IN (VALUES (7, 'compiler_killed'), (11, 'ok'), (12, 'excluded'))"), 3);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM portfolio_shape WHERE default_outcome = 'not_recorded'"), 1);
    fixture_sql("DROP TABLE kept");
    check_as_fresh();
}
END_TEST

/* What were metrics with composed names is one row; metrics that only look so stay. */
START_TEST(version_7_gets_library_comparisons)
{
    make_version_7();
    fixture_sql("INSERT INTO metric VALUES (11, 'cublaslt_first_ns', 130, 'cublaslt: one', 7), (11, 'cublaslt_first_ratio', 1.3, 'cublaslt: one', 7), (11, 'cublaslt_best_ns', 110.5, 'cublaslt: the third', 7), "
                "(11, 'cublaslt_best_ratio', 0.5, 'cublaslt: the third', 7), (11, 'cublaslt_best_ratio_low', 0.25, 'cublaslt: the third', 7), (11, 'cublaslt_best_ratio_high', 0.75, 'cublaslt: the third', 7), "
                "(11, 'cublaslt_throttled', 1, 'cublaslt: the third', 7), (11, 'dram_percent', 50, 'ncu', 7), (11, 'first_ns', 3, 'ncu', 7), "
                "(12, 'x_best_ns', 4, 'x', 8), (12, 'x_best_ratio', 2, 'x', 8), " /* imported: no algorithm, no first, no interval */
                "(13, 'y_best_ratio', 2, 'model', 9), (13, 'y_best_ns', 2, 'model', 9), (14, 'z_best_ratio', 2, 'z: a', 9), (15, 'A b_best_ratio', 2, 'A b', 9), (15, 'A b_best_ns', 2, 'A b', 9)");
    ck_ok(open_rw());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM library_comparison"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM library_comparison WHERE measurement_id = 11 AND plugin = 'cublaslt' AND first_ns = 130 AND first_ratio = 1.3 AND first_algorithm = 'one' AND best_ns = 110.5 "
                                    "AND best_ratio = 0.5 AND best_ratio_low = 0.25 AND best_ratio_high = 0.75 AND best_algorithm = 'the third' AND is_limited = 1 AND created_unix_ms = 7"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM library_comparison WHERE measurement_id = 12 AND plugin = 'x' AND first_ns IS NULL AND first_ratio IS NULL AND first_algorithm IS NULL AND best_ns = 4 "
                                    "AND best_ratio = 2 AND best_ratio_low IS NULL AND best_ratio_high IS NULL AND best_algorithm IS NULL AND is_limited = 0 AND created_unix_ms = 8"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM metric"), 7);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM metric WHERE name IN ('dram_percent', 'first_ns', 'y_best_ratio', 'y_best_ns', 'z_best_ratio', 'A b_best_ratio', 'A b_best_ns')"), 7);
}
END_TEST

START_TEST(version_7_gets_plans_and_cuts)
{
    static const struct { const char *job, *times, *now, *plan; int truncated; } cases[] = {
        {NULL, NULL, NULL, NULL, 0}, {"slurm 5", "{\"truncated\":false}", "slurm 5", NULL, 0}, {"plan 0123456789ab", "{\"truncated\":true}", NULL, "0123456789ab", 1},
        {"slurm 4711_3, plan 0123456789ab", "{\"note\":\"\\\"truncated\\\":true\"}", "slurm 4711_3", "0123456789ab", 0}};
    char sql[1024];
    make_version_7();
    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql, "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms, job, times_json) "
                 "VALUES (%d, 'c', 'h', 'b', 1, 'v', 'auto', 'p', 0, 'measured', 1, %s, %s)", 10 + i, quoted(cases[i].job), quoted(cases[i].times));
        fixture_sql(sql);
    }
    ck_ok(open_rw());
    mt_store_close(opened);
    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM session WHERE id = %d AND job IS %s AND plan IS %s AND truncated = %d AND times_json IS %s", 10 + i, quoted(cases[i].now), quoted(cases[i].plan),
                 cases[i].truncated, quoted(cases[i].times));
        ck_assert_msg(fixture_number(sql) == 1, "%s", sql);
    }
}
END_TEST

/* Schema 9 has who asked for an evaluation, which nobody knows of older rows. */
START_TEST(version_8_gets_proposers)
{
    char *schema = read_text(TEST_DATA_DIR "/schema_v8.sql");
    fixture_sql(schema);
    mt_free(schema);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 8);
    fixture_sql("INSERT INTO device VALUES (1, 'k', 'n', '{}'); INSERT INTO kernel VALUES (1, 'msda', 'key', '{}'); INSERT INTO shape VALUES (1, 1, 'N=1', 's'); "
                "INSERT INTO workload VALUES (1, 1, '', 'default'); INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a'); INSERT INTO variant VALUES (1, 1, 'A=1'); "
                "INSERT INTO subject VALUES (1, 1, 1, 1, 1, 'cold', 'measured'); INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, "
                "space_path, seed, origin, started_unix_ms) VALUES (1, 'c', 'h', 'b', 1, 'v', 'auto', 'p', 0, 'measured', 1); "
                "INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns) VALUES (1, 1, 1, 1, 1, 1, 1, 'ok', 10)");
    ck_fails(open_ro(), MT_ERR_DB, "has the older schema 8");
    ck_ok(open_rw());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement WHERE median_ns = 10 AND proposed_by IS NULL"), 1);
    check_as_fresh();
}
END_TEST

/* Schema 10 has limits of errors, of which no older file has one. */
START_TEST(version_9_gets_limits)
{
    char *schema = read_text(TEST_DATA_DIR "/schema_v9.sql");
    fixture_sql(schema);
    mt_free(schema);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 9);
    ck_fails(open_ro(), MT_ERR_DB, "has the older schema 9");
    ck_ok(open_rw());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM error_limit"), 0);
    check_as_fresh();
}
END_TEST

/* Schema 11 has fingerprints of a batch's first rows, of which no older row has one. */
START_TEST(version_10_gets_row_bits)
{
    char *schema = read_text(TEST_DATA_DIR "/schema_v10.sql");
    fixture_sql(schema);
    mt_free(schema);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 10);
    ck_fails(open_ro(), MT_ERR_DB, "has the older schema 10");
    ck_ok(open_rw());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement WHERE row_bits IS NOT NULL"), 0);
    check_as_fresh();
}
END_TEST

/* The list above has every outcome that there is. */
START_TEST(every_outcome_is_migrated)
{
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        bool is_there = false;
        for (int i = 0; i < OLD_ROWS; i++) is_there = is_there || strcmp(old_rows[i].now, mt_outcome_name((mt_outcome_kind)kind)) == 0;
        ck_assert_msg(is_there, "%s", mt_outcome_name((mt_outcome_kind)kind));
    }
}
END_TEST

FIXTURE_MAIN("schema", what_is_older_than_7_is_refused, version_7_gets_outcomes, version_7_gets_library_comparisons, version_7_gets_plans_and_cuts, version_8_gets_proposers, version_9_gets_limits, version_10_gets_row_bits, every_outcome_is_migrated)
