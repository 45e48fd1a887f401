/* Every column of every table, damaged one at a time with values that no tuner writes. Whatever reads the file goes on, names the row, and the sound ones are there: listings, the report, exports,
 * merging, writing on, and the lookup library. */
#include "db/exchange/recording/recording.h"
#include "db/row_rules.h"
#include "reports/report.h"
#include "tests/unit/lookup_fixture.h"
#include "tests/unit/merge_fixture.h"
#include "tests/unit/recording_fixture.h"
#include "db/row_json.h"
#include "tuner/base/strbuf.h"

static const char *const hostile[] = {"-1", "0", "-9e999", "9e999", "1e-320", "'fast'", "''", "'a' || char(7) || char(10)", "x'00ff'", "9223372036854775807", "printf('%.*c', 70000, 'x')", "NULL"};
enum { HOSTILE = sizeof hostile / sizeof *hostile, DAMAGE_MAX = 4000 };

/* A statement for each table, column and value that the schema lets through. */
static char *damages[DAMAGE_MAX];
static char *damaged_tables[DAMAGE_MAX];
static size_t damage_count;

static void list_damages(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    ck_assert_int_eq(sqlite3_open(part_path(1), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT m.name, c.name, CASE WHEN m.sql LIKE '%WITHOUT ROWID%' THEN c.name ELSE 'rowid' END FROM sqlite_master m, pragma_table_info(m.name) c "
                                            "WHERE m.type = 'table' AND c.name <> 'id' ORDER BY m.name, c.cid", -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(rows, 0), *column = (const char *)sqlite3_column_text(rows, 1), *known_by = (const char *)sqlite3_column_text(rows, 2);
        for (int i = 0; i < HOSTILE; i++) {
            char sql[300];
            snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = %s WHERE %s = (SELECT min(%s) FROM %s)", table, column, hostile[i], known_by, known_by, table);
            ck_assert_uint_lt(damage_count, DAMAGE_MAX);
            damaged_tables[damage_count] = mt_strdup(table);
            damages[damage_count++] = mt_strdup(sql);
        }
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(int *)context;
    return MT_OK;
}

static mt_status see_session(void *context, const mt_session_info *info, mt_error *err)
{
    (void)context, (void)info, (void)err;
    return MT_OK;
}

/* All that only reads. Returns how many measurements there are. */
static int read_all(const char *damage)
{
    mt_store *store = NULL;
    mt_doc doc = {0};
    const mt_report_options all = {.has_charts = true};
    int count = 0, winners = 0;
    char path[192];
    mt_status st = mt_store_open(part_path(2), MT_STORE_READ_ONLY, &store, &fixture_err);
    ck_assert_msg(st == MT_OK, "%s: %s", damage, fixture_err.message);
    ck_assert_msg(mt_query_measurements(store, &(mt_filter){.with_samples = true}, count_row, &count, &fixture_err) == MT_OK, "%s: %s", damage, fixture_err.message);
    ck_assert_msg(mt_query_best(store, NULL, count_row, &winners, &fixture_err) == MT_OK, "%s: %s", damage, fixture_err.message);
    ck_assert_msg(mt_query_sessions(store, see_session, NULL, &fixture_err) == MT_OK, "%s: %s", damage, fixture_err.message);
    st = mt_report_make(store, NULL, &all, &doc, &fixture_err);
    ck_assert_msg(st == MT_OK || (count == 0 && st == MT_ERR_NOTHING_VALID), "%s: %s", damage, fixture_err.message);
    mt_doc_free(&doc);
    snprintf(path, sizeof path, "%s/out.jsonl", fixture_folder);
    st = mt_recording_export_all(store, NULL, false, path, &fixture_err);
    ck_assert_msg(st == MT_OK || count == 0, "%s: %s", damage, fixture_err.message);
    mt_store_close(store);
    return count;
}

static void look_up(const char *damage)
{
    static const char *const names[] = {"dtype=f16", "N"};
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_result result;
    tunelookup_status st = tunelookup_open(part_path(2), 0, &db);
    if (st == TUNELOOKUP_OK) st = tunelookup_prepare(db, &lookup_h100, "msda", names, 2, &plan);
    if (st == TUNELOOKUP_OK) tunelookup_find(plan, (const int64_t[]){48}, &result);
    ck_assert_msg(st == TUNELOOKUP_OK || *tunelookup_detail(), "%s: status %d without a word", damage, (int)st);
    tunelookup_close(db);
}

static mt_status find_new(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    *(bool *)context |= strcmp(row->variant, "A=77") == 0;
    return MT_OK;
}

/* Writes on: a result, its winner, and the file into another. */
static void write_on(const char *damage)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    ck_assert_msg(mt_store_open(part_path(2), MT_STORE_READ_WRITE, &store, &fixture_err) == MT_OK, "%s: %s", damage, fixture_err.message);
    mt_store_relax(store, &fixture_err);
    mt_subject a = fixture_subject(store);
    int64_t session = fixture_session(store);
    fixture_put_ok(store, session, &a, "A=77", 50);
    ck_assert_msg(mt_store_refresh_best(store, &a, &fixture_err) == MT_OK, "%s: %s", damage, fixture_err.message);
    bool is_winner = false; /* to the same handle, which has left rows out */
    ck_assert_msg(mt_query_best(store, NULL, find_new, &is_winner, &fixture_err) == MT_OK && is_winner, "%s: what was written is not shown", damage);
    mt_store_close(store);
    remove(out_path("out"));
    mt_merge *merging = begin(merge_out, true, &store);
    mt_store_relax(store, &fixture_err);
    ck_assert_msg(merge_file(merging, merge_out, part_path(2), &counts) == MT_OK, "%s: %s", damage, fixture_err.message);
    finish(merging, store);
    ck_assert_msg(counts.measurements >= 1, "%s: nothing was merged", damage);
}

static void copy_part(void)
{
    sqlite3 *from = NULL, *to = NULL;
    remove(part_path(2));
    ck_assert_int_eq(sqlite3_open(part_path(1), &from), SQLITE_OK);
    ck_assert_int_eq(sqlite3_open(part_path(2), &to), SQLITE_OK);
    sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    ck_assert_int_eq(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    sqlite3_backup_finish(backup);
    sqlite3_close(from);
    sqlite3_close(to);
}

static bool damage_part(const char *sql)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(part_path(2), &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
    bool is_damaged = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) > 0;
    sqlite3_close(db);
    return is_damaged;
}

START_TEST(each_column_of_each_table)
{
    int done = 0, all;
    make_part(1);
    list_damages();
    copy_part();
    all = read_all("nothing");
    ck_assert_int_gt(all, 5);
    for (size_t i = 0; i < damage_count; i++) {
        if ((i + i / HOSTILE) % 3 || i % UNIT_SLOWNESS) continue; /* every column, every value; a third of their pairs */
        copy_part();
        if (!damage_part(damages[i])) continue;
        done++;
        fixture_stderr_begin();
        int left = read_all(damages[i]);
        look_up(damages[i]);
        if (i % 5 == 0) write_on(damages[i]); /* each commit waits for the disk */
        const char *said = fixture_stderr_end();
        ck_assert_msg(left == all || strstr(said, " is left out: "), "%s: %d of %d measurements, and not a word", damages[i], left, all);
        if (strcmp(damaged_tables[i], "measurement") == 0) ck_assert_msg(left >= all - 1, "%s: %d of %d measurements", damages[i], left, all);
    }
    ck_assert_int_gt(done * UNIT_SLOWNESS, 300);
}
END_TEST

/* Measurements and winners that the database shows. */
static void count_sound(const char *path, int counts[2])
{
    mt_store *store = NULL;
    counts[0] = counts[1] = 0;
    ck_ok(mt_store_open(path, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_query_measurements(store, &(mt_filter){0}, count_row, &counts[0], &fixture_err));
    ck_ok(mt_query_best(store, NULL, count_row, &counts[1], &fixture_err));
    mt_store_close(store);
}

/* However many rows no tuner writes, the others are read. */
START_TEST(more_bad_rows_than_good)
{
    make_part(1);
    copy_part();
    int all = read_all("nothing");
    ck_assert(damage_part("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) INSERT INTO metric SELECT 1, 'm' || i, 'much', '', 1 FROM n"));
    fixture_stderr_begin();
    int left = read_all("metrics");
    look_up("metrics");
    const char *said = fixture_stderr_end();
    ck_assert_int_eq(left, all);
    ck_assert_ptr_nonnull(strstr(said, "149995 more rows are left out"));
}
END_TEST

/* SQLite reads no row that holds a value above the limit: it is left out like others, and those behind it are there. */
START_TEST(a_value_too_long_to_read)
{
    static const char *const cases[] = {"UPDATE measurement SET text = CAST(zeroblob(268435457) AS TEXT) WHERE id = 1", "UPDATE landmark SET role = CAST(zeroblob(268435457) AS TEXT)"};
    make_part(1);
    copy_part();
    int all = read_all("nothing");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_part();
        ck_assert(damage_part(cases[i]));
        fixture_stderr_begin();
        int left = read_all(cases[i]);
        write_on(cases[i]);
        const char *said = fixture_stderr_end();
        ck_assert_int_eq(left, all - (i == 0));
        ck_assert_msg(strstr(said, i == 0 ? "row 1 of measurement is left out: it holds a value of more than 268435456 bytes" : " of landmark is left out: it holds a value of more than 268435456 bytes"), "%s", said);
    }
}
END_TEST

/* Whoever writes into a database with such numbers gives the rows others, and all that refers to them is there again; a row that is gone is not mistaken for one of these. */
START_TEST(numbers_no_tuner_gives)
{
    static const struct { const char *sql; bool is_whole; } cases[] = {
        {"UPDATE device SET id = -id; UPDATE subject SET device_id = -device_id; UPDATE strike SET device_id = -device_id; UPDATE answer SET device_id = -device_id", true},
        {"UPDATE kernel SET id = -id; UPDATE shape SET kernel_id = -kernel_id; UPDATE workload SET kernel_id = -kernel_id; UPDATE variant SET kernel_id = -kernel_id; UPDATE subject SET kernel_id = -kernel_id;"
         "UPDATE answer SET kernel_id = -kernel_id", true},
        {"UPDATE variant SET id = 1 - id; UPDATE measurement SET variant_id = 1 - variant_id; UPDATE landmark SET variant_id = 1 - variant_id; UPDATE current_result SET variant_id = 1 - variant_id", true},
        {"UPDATE session SET id = -id; UPDATE measurement SET session_id = -session_id; UPDATE final_round SET session_id = -session_id", true},
        {"UPDATE measurement SET id = -id; UPDATE finalist SET measurement_id = -measurement_id; UPDATE library_comparison SET measurement_id = -measurement_id; UPDATE best SET measurement_id = -measurement_id", true},
        {"UPDATE landmark SET variant_id = -variant_id", true},
        {"UPDATE variant SET id = -1 WHERE id = 1; DELETE FROM variant WHERE id = (SELECT max(id) FROM variant)", false},
        {"UPDATE variant SET id = -1 WHERE id = 1; UPDATE measurement SET variant_id = 9223372036854775807 WHERE id = 2", false},
    };
    make_part(1);
    copy_part();
    int all = read_all("nothing");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = NULL;
        int64_t session;
        copy_part();
        ck_assert(damage_part(cases[i].sql));
        fixture_stderr_begin();
        ck_assert_int_lt(read_all(cases[i].sql), all + (strncmp(cases[i].sql, "UPDATE landmark", 15) == 0));
        ck_ok(mt_store_open(part_path(2), MT_STORE_READ_WRITE, &store, &fixture_err));
        mt_subject a = fixture_subject(store);
        session = fixture_session(store);
        fixture_put_ok(store, session, &a, "A=77", 50);
        mt_status st = mt_store_comparison_point(store, &a, "default", "A=1;B=0", &fixture_err);
        ck_assert_msg(st == MT_OK, "%s: %s", cases[i].sql, fixture_err.message);
        ck_ok(mt_store_refresh_best(store, &a, &fixture_err));
        mt_store_close(store);
        int now = read_all(cases[i].sql);
        fixture_stderr_end();
        ck_assert_msg(cases[i].is_whole ? now == all + 1 : now <= all, "%s: %d of %d measurements", cases[i].sql, now, all);
        if (cases[i].is_whole) ck_assert_msg(ask_number(part_path(2), "SELECT count(*) FROM pragma_foreign_key_check") == 0, "%s", cases[i].sql);
    }
}
END_TEST

/* The winners' variants and their finals' rows, as one text. */
static void tell_winners(const char *path, char *told, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    static const char sql[] = "SELECT group_concat(w, ' ') FROM (SELECT v.text || ':' || (SELECT count(*) FROM finalist WHERE final_id = b.final_id) AS w FROM best b JOIN measurement m ON m.id = b.measurement_id "
                              "JOIN variant v ON v.id = m.variant_id ORDER BY w)";
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    snprintf(told, size, "%s", sqlite3_column_text(row, 0) ? (const char *)sqlite3_column_text(row, 0) : "");
    sqlite3_finalize(row);
    sqlite3_close(db);
}

/* What merging takes over of a damaged file, its export says too: no line of it is left out, and the winners are the same. A final whose pick is left out is none for either. */
static void export_and_merge(const char *damage)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    char path[192], merged[2000], imported[2000];
    int64_t left_out = 0;
    size_t length;
    char *bytes = NULL;
    snprintf(path, sizeof path, "%s/out.jsonl", fixture_folder);
    read_all(damage);
    ck_ok(mt_file_read(path, (size_t)1 << 30, &bytes, &length, &fixture_err));
    remove(out_path("imported"));
    ck_ok(mt_store_open(merge_out, MT_STORE_READ_WRITE, &store, &fixture_err));
    mt_store_relax(store, &fixture_err);
    mt_status st = mt_recording_import_bytes(store, bytes, length, path, MT_ORIGIN_MEASURED, &left_out, &fixture_err);
    ck_assert_msg(st == MT_OK && left_out == 0, "%s: %lld lines left out, %s", damage, (long long)left_out, fixture_err.message);
    mt_store_close(store);
    mt_free(bytes);
    tell_winners(merge_out, imported, sizeof imported);
    remove(out_path("out"));
    mt_merge *merging = begin(merge_out, false, &store);
    mt_store_relax(store, &fixture_err);
    ck_assert_msg(merge_file(merging, merge_out, part_path(2), &counts) == MT_OK, "%s: %s", damage, fixture_err.message);
    finish(merging, store);
    tell_winners(merge_out, merged, sizeof merged);
    ck_assert_msg(strcmp(imported, merged) == 0, "%s: imported %s, merged %s", damage, imported, merged);
}

START_TEST(exports_say_what_merging_takes)
{
    int done = 0, finals = 0;
    make_part(1);
    list_damages();
    for (size_t i = 0; i < damage_count; i++) {
        bool is_of_a_final = strcmp(damaged_tables[i], "finalist") == 0 || strcmp(damaged_tables[i], "final_round") == 0;
        if (!is_of_a_final && strcmp(damaged_tables[i], "current_result") != 0) continue;
        if (i % 2 || i % UNIT_SLOWNESS) continue;
        copy_part();
        if (!damage_part(damages[i])) continue;
        fixture_stderr_begin();
        export_and_merge(damages[i]);
        fixture_stderr_end();
        finals += is_of_a_final;
        done++;
    }
    copy_part();
    ck_assert(damage_part("UPDATE final_round SET confidence = 999999"));
    fixture_stderr_begin();
    export_and_merge("confidence");
    fixture_stderr_end();
    ck_assert_int_gt(finals * UNIT_SLOWNESS, 60);
    ck_assert_int_gt(done, finals);
}
END_TEST

/* The same in a database that is merged into: its bad row is none that is known, and the twin of the file that comes takes its place. */
START_TEST(a_bad_row_is_not_known)
{
    int done = 0, all[2], now[2];
    make_part(1);
    list_damages();
    copy_part();
    count_sound(part_path(2), all);
    for (size_t i = 0; i < damage_count; i++) {
        mt_store *store = NULL;
        mt_merge_counts counts = {0};
        if ((i + i / HOSTILE) % 6 != 1 || i % UNIT_SLOWNESS) continue;
        copy_part();
        if (!damage_part(damages[i])) continue;
        done++;
        fixture_stderr_begin();
        mt_merge *merging = begin(part_path(2), true, &store);
        mt_store_relax(store, &fixture_err);
        ck_assert_msg(merge_file(merging, part_path(2), part_path(1), &counts) == MT_OK && mt_merge_finish(merging, &fixture_err) == MT_OK, "%s: %s", damages[i], fixture_err.message);
        mt_merge_end(merging);
        mt_store_close(store);
        count_sound(part_path(2), now);
        fixture_stderr_end();
        ck_assert_msg(now[0] >= all[0] && now[1] >= all[1], "%s: %d of %d measurements, %d of %d winners", damages[i], now[0], all[0], now[1], all[1]);
    }
    ck_assert_int_gt(done * UNIT_SLOWNESS, 150); /* a name that is changed to another one makes more of them */
}
END_TEST

START_TEST(damaged_code_is_not_known)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    make_part(1);
    copy_part();
    ck_assert(damage_part("UPDATE cubin SET bytes = x'00'"));
    mt_merge *merging = begin(part_path(2), true, &store);
    ck_ok(merge_file(merging, part_path(2), part_path(1), &counts));
    finish(merging, store);
    ck_assert_int_eq(ask_number(part_path(2), "SELECT bytes = CAST('code' AS BLOB) FROM cubin"), 1);
    ck_assert(damage_part("UPDATE cubin SET bytes = x'00'"));
    fixture_stderr_begin();
    remove(out_path("out"));
    merging = begin(merge_out, true, &store);
    ck_ok(merge_file(merging, merge_out, part_path(2), &counts));
    finish(merging, store);
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "bytes are damaged"));
    ck_assert_int_eq(ask_number(merge_out, "SELECT count(*) FROM cubin"), 0);
}
END_TEST

/* The rules know every column of the schema, in its order, and every outcome that there is. */
START_TEST(rules_know_the_schema)
{
    static const char *const without[] = {"intent", "current_result", "portfolio", "portfolio_shape", "portfolio_variant", "portfolio_cell"};
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    size_t at = 0, count = 0, tables = 0;
    char table[64] = "";
    mt_store_close(fixture_open());
    ck_assert_int_eq(sqlite3_open(fixture_db, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name <> 'id' ORDER BY m.name, c.cid", -1, &rows, NULL), SQLITE_OK);
    const mt_row_column *rules = NULL;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 0), *column = (const char *)sqlite3_column_text(rows, 1);
        bool is_without = false;
        for (size_t i = 0; i < sizeof without / sizeof *without; i++) is_without |= strcmp(name, without[i]) == 0;
        if (is_without) continue;
        if (strcmp(name, table) != 0) {
            ck_assert_msg(at == count, "%s: %zu rules", table, count);
            snprintf(table, sizeof table, "%s", name);
            rules = mt_row_columns(name, &count);
            at = 0;
            tables++;
        }
        ck_assert_msg(at < count && strcmp(rules[at].name, column) == 0, "%s.%s: no rule at this place", name, column);
        at++;
    }
    ck_assert_uint_eq(tables, 21);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    const mt_row_column *outcome = mt_row_column_find("measurement", "outcome", strlen("outcome"));
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        const char *name = mt_outcome_name((mt_outcome_kind)kind);
        mt_row_value value = {.type = MT_ROW_VALUE_TEXT, .text = name, .size = strlen(name)};
        ck_assert_msg(mt_row_value_is_sound(outcome, &value), "%s", name);
    }
}
END_TEST

START_TEST(json_is_judged)
{
    static const char *const good[] = {"{}", " {\"a\" : [1, -2.5e+3, true, null, \"\\u00e9\\n\"]} ", "{\"a\":{\"b\":[{}]}}"};
    static const char *const bad[] = {"", "1", "[]", "[1]", " [{}]", "\"x\"", "{", "}", "[1,]", "{\"a\"}", "{\"a\":01}", "{\"a\":1e}", "{\"a\":\"\\x\"}", "{\"a\":\"\n\"}", "{} {}", "{a:1}", "[\"\\u12\"]", "nul", "{\"a\":1,\"b\":2,\"a\":1}", "[{\"a\":{\"b\":1, \"b\" : 1}}]"};
    const mt_row_column *json = mt_row_column_find("kernel", "spec_json", strlen("spec_json"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ck_assert_msg(mt_row_value_is_sound(json, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = good[i], .size = strlen(good[i])}), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_row_value_is_sound(json, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = bad[i], .size = strlen(bad[i])}), "%s", bad[i]);
    char deep[2007] = "{\"a\":"; /* and 1000 lists, one in another */
    memset(deep + 5, '[', 1000);
    memset(deep + 1005, ']', 1000);
    deep[2005] = '}';
    ck_assert(!mt_row_value_is_sound(json, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = deep, .size = 2006}));
}
END_TEST

START_TEST(facts_are_judged)
{
    static const char *const good[] = {"{}", "{\"cc\":90,\"sm_count\":132}", " { \"cc\" : 0 , \"of_a_newer_tool\": 999999999999999 } "};
    static const char *const bad[] = {"[]", "{\"cc\":\"90\"}", "{\"cc\":9.5}", "{\"cc\":-1}", "{\"cc\":1e3}", "{\"cc\":null}", "{\"cc\":{}}", "{\"cc\":90,\"cc\":90}", "{\"cc\":1000000000000000}", "{\"cc\":99999999999999999999999}", "{\"cc\":09}"};
    const mt_row_column *facts = mt_row_column_find("device", "facts_json", strlen("facts_json"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ck_assert_msg(mt_row_value_is_sound(facts, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = good[i], .size = strlen(good[i])}), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_row_value_is_sound(facts, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = bad[i], .size = strlen(bad[i])}), "%s", bad[i]);
}
END_TEST

START_TEST(shape_keys_are_judged)
{
    static const char *const good[] = {"N=0", "H=92,46;N=48;dtype=f16", "N=-7", "a=0x;b=0.5;c=007f,1", "N=10,0,100"};
    static const char *const bad[] = {"N=0000", "N=007", "N=-0", "N=-01", "H=92,046", "H=00,1", "N=", "N=1;N=2", "b=1;a=1"};
    const mt_row_column *key = mt_row_column_find("shape", "key", strlen("key"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ck_assert_msg(mt_row_value_is_sound(key, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = good[i], .size = strlen(good[i])}), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_row_value_is_sound(key, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = bad[i], .size = strlen(bad[i])}), "%s", bad[i]);
}
END_TEST

START_TEST(launches_are_judged)
{
    static const char *const good[] = {"{}", "{\"launches\":[]}", "{\"launches\":[{\"entry\":\"k\",\"grid\":[1,2,3],\"block\":[64],\"cluster\":2,\"smem\":0,\"carveout\":-1,\"cooperative\":true,\"more\":{}}]}"};
    static const char *const bad[] = {"[]", "[{}]", "{\"launches\":5}", "{\"launches\":[5]}", "{\"launches\":{}}", "{\"launches\":[{\"grid\":\"wide\"}]}", "{\"launches\":[{\"grid\":[0,1,1]}]}",
                                      "{\"launches\":[{\"grid\":[-1]}]}", "{\"launches\":[{\"block\":[1,1,1,1]}]}", "{\"launches\":[{\"block\":[1.5]}]}", "{\"launches\":[{\"block\":[99999999999999999999]}]}",
                                      "{\"launches\":[{\"cluster\":[]}]}", "{\"launches\":[{\"smem\":-1}]}", "{\"launches\":[{\"carveout\":101}]}", "{\"launches\":[{\"entry\":1}]}",
                                      "{\"launches\":[{\"programmatic\":1}]}", "{\"launches\":[{\"smem\":1,\"smem\":2}]}", "{\"launches\":[{}],\"launches\":[{}]}", "{\"launches\":[{}]"};
    const mt_row_column *launch = mt_row_column_find("measurement", "launch_json", strlen("launch_json"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ck_assert_msg(mt_row_value_is_sound(launch, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = good[i], .size = strlen(good[i])}), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_row_value_is_sound(launch, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = bad[i], .size = strlen(bad[i])}), "%s", bad[i]);
}
END_TEST

/* Every text has an end: two megabytes are too long for a column of any kind but JSON, seventeen for that. */
START_TEST(texts_have_lengths)
{
    enum { LONG = 17 << 20 };
    char *text = mt_alloc(LONG + 1, 1);
    ck_assert_ptr_nonnull(text);
    memset(text, '7', LONG);
    for (size_t i = 0; i < MT_ROW_COLUMN_COUNT; i++) {
        const mt_row_column *column = &mt_row_rules[i];
        bool is_json = column->kind == MT_ROW_JSON;
        text[0] = is_json ? '[' : '7';
        const size_t size = is_json ? LONG : 2 << 20;
        text[size - 1] = is_json ? ']' : '7';
        ck_assert_msg(!mt_row_value_is_sound(column, &(mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = text, .size = size}), "%s.%s", column->table, column->name);
        text[size - 1] = '7';
    }
    mt_free(text);
}
END_TEST

/* A name that is there twice is told, wherever it stands and however many there are; in texts without an end too. */
START_TEST(repeated_names)
{
    static const struct { const char *text, *name; } cases[] = {
        {"{\"a\":1,\"b\":{\"a\":1}}", NULL}, {"[{\"a\":1},{\"a\":1}]", NULL}, {"{\"a\":\"a\",\"b\":\"\\\"a\\\":\"}", NULL}, {"", NULL}, {"\"", NULL}, {"}]{", NULL},
        {"{\"a\":1,\"a\":2}", "a"}, {"{\"x\":[{\"a\" :1,\"b\":[],\"a\"\n:2}]}", "a"}, {"{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", "b"}, {"{\"\":1,\"\":2}", ""}, {"{\"a\":{\"c\":1,\"c\":2", "c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        const char *twice = mt_json_repeated(cases[i].text, strlen(cases[i].text), &length);
        ck_assert_msg(!twice == !cases[i].name, "%s", cases[i].text);
        if (twice) ck_assert_msg(length == strlen(cases[i].name) && memcmp(twice, cases[i].name, length) == 0, "%s: %.*s", cases[i].text, (int)length, twice);
    }
    mt_strbuf many = {0};
    for (int i = 0; i < 100000; i++) mt_strbuf_addf(&many, "%s\"k%d\":0", i ? "," : "{", i == 99999 ? 77 : i);
    size_t length;
    const char *twice = mt_json_repeated(mt_strbuf_text(&many), many.length, &length);
    ck_assert(twice && length == 3 && memcmp(twice, "k77", 3) == 0 && twice > mt_strbuf_text(&many) + many.length - 20);
    mt_strbuf_free(&many);
}
END_TEST

FIXTURE_MAIN("bad_rows", facts_are_judged, shape_keys_are_judged, launches_are_judged, texts_have_lengths, repeated_names, each_column_of_each_table, more_bad_rows_than_good, a_value_too_long_to_read, numbers_no_tuner_gives, exports_say_what_merging_takes, a_bad_row_is_not_known, damaged_code_is_not_known, rules_know_the_schema, json_is_judged)
