/* Merging: the description fits the schema; the same rows whatever the order; repeats add nothing; kills and two at once do no harm. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "db/store/open/migrate.h"
#include "tests/unit/merge_fixture.h"
#include "tests/unit/sound_fixture.h"

/* Everything that a file says, without ids, sorted. Whoever adds a table adds it here. */
static const char content_sql[] =
    "SELECT group_concat(line, char(10)) FROM (SELECT line FROM ("
    "SELECT 'device ' || key || name || facts_json AS line FROM device UNION ALL "
    "SELECT 'kernel ' || name || key || spec_json FROM kernel UNION ALL "
    "SELECT 'session ' || host || process_id || state || ifnull(ended_unix_ms, 0) || evaluated FROM session UNION ALL "
    "SELECT 'strike ' || d.key || h.key || v.text || cause FROM strike JOIN device d ON d.id = device_id JOIN shape h ON h.id = shape_id JOIN variant v ON v.id = variant_id UNION ALL "
    "SELECT 'row ' || d.key || k.key || h.key || v.text || t.nvrtc_version || n.host || m.created_unix_ms || outcome || ifnull(m.median_ns, 0) || ifnull(m.text, '') || "
    "(SELECT count(*) FROM measurement o WHERE o.subject_id = m.subject_id AND o.variant_id = m.variant_id AND o.id < m.id) FROM measurement m "
    "JOIN subject s ON s.id = m.subject_id JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id JOIN shape h ON h.id = s.shape_id "
    "JOIN variant v ON v.id = m.variant_id JOIN toolchain t ON t.id = m.toolchain_id JOIN session n ON n.id = m.session_id UNION ALL "
    "SELECT 'final ' || f.created_unix_ms || rounds || v.text || m.median_ns || (SELECT count(*) FROM final_round o WHERE o.subject_id = f.subject_id AND o.id < f.id) "
    "FROM finalist i JOIN final_round f ON f.id = i.final_id JOIN measurement m ON m.id = i.measurement_id JOIN variant v ON v.id = m.variant_id UNION ALL "
    "SELECT 'library ' || l.plugin || l.best_ns || l.best_algorithm || l.created_unix_ms || v.text || m.median_ns || m.created_unix_ms FROM library_comparison l JOIN measurement m "
    "ON m.id = l.measurement_id JOIN variant v ON v.id = m.variant_id UNION ALL "
    "SELECT 'best ' || h.key || d.key || v.text || m.median_ns || b.updated_unix_ms || ifnull(f.rounds, 0) FROM best b JOIN measurement m ON m.id = b.measurement_id "
    "JOIN variant v ON v.id = m.variant_id JOIN subject s ON s.id = b.subject_id JOIN shape h ON h.id = s.shape_id JOIN device d ON d.id = s.device_id "
    "LEFT JOIN final_round f ON f.id = b.final_id UNION ALL "
    "SELECT 'answer ' || shape_key || v.text || median_ns || answer.updated_unix_ms FROM answer JOIN variant v ON v.id = variant_id UNION ALL "
    "SELECT 'landmark ' || role || v.text FROM landmark JOIN variant v ON v.id = variant_id UNION ALL "
    "SELECT 'cubin ' || hash || encoding FROM cubin) ORDER BY line)";

static char *content(const char *path)
{
    return ask_database(path, content_sql);
}

START_TEST(any_order_gives_the_same_rows)
{
    static const int orders[][PARTS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}};
    char *first = NULL;
    for (int i = 0; i < PARTS; i++) make_part(i);
    for (int o = 0; o < 4; o++) {
        char name[16];
        mt_merge_counts counts = {0};
        snprintf(name, sizeof name, "out%d", o);
        merge(out_path(name), orders[o], PARTS, true, &counts);
        char *text = content(merge_out);
        ck_assert_int_eq(counts.measurements, PARTS * 7 + 1);
        ck_assert_int_eq(counts.sessions, PARTS);
        ck_assert_int_eq(counts.cubins, 1);
        if (first) ck_assert_str_eq(text, first);
        else first = mt_strdup(text);
        mt_free(text);
    }
    /* The failure is older than the good rows of the same variant, and does not unseat it. */
    ck_assert_ptr_nonnull(strstr(first, "best N=48"));
    mt_free(first);
}
END_TEST

START_TEST(one_by_one_and_again)
{
    static const int all[] = {0, 1, 2, 3};
    mt_merge_counts counts = {0}, again = {0};
    for (int i = 0; i < PARTS; i++) make_part(i);
    merge(out_path("together"), all, PARTS, false, &counts);
    ck_assert_int_eq(counts.cubins, 0);
    ck_assert_int_eq(counts.cubins_left_out, PARTS);
    char *together = content(merge_out);
    merge(merge_out, all, PARTS, false, &again);
    ck_assert_int_eq(again.measurements, 0);
    ck_assert_int_eq(again.sessions, 0);
    ck_assert_int_eq(again.known, counts.measurements);
    char *twice = content(merge_out);
    ck_assert_str_eq(together, twice);
    for (int i = PARTS - 1; i >= 0; i--) {
        mt_merge_counts ignored = {0};
        merge(out_path("alone"), &i, 1, false, &ignored);
    }
    char *alone = content(merge_out);
    ck_assert_str_eq(together, alone);
    /* A merged file is a part like any other. */
    mt_store *store = NULL;
    mt_merge *merging = begin(out_path("of_merged"), false, &store);
    char path[192];
    snprintf(path, sizeof path, "%s/together.sqlite", fixture_folder);
    ck_ok(merge_file(merging, merge_out, path, &again));
    finish(merging, store);
    char *copied = content(merge_out);
    ck_assert_str_eq(together, copied);
    char *texts[] = {together, twice, alone, copied};
    for (int i = 0; i < 4; i++) mt_free(texts[i]);
}
END_TEST

/* A session that went on after its file was merged. */
START_TEST(a_part_that_grew)
{
    static const int zero = 0;
    mt_merge_counts counts = {0}, again = {0};
    make_part(0);
    fixture_sql("UPDATE session SET ended_unix_ms = NULL, state = 'running', evaluated = 0");
    merge(out_path("out"), &zero, 1, false, &counts);
    use_db(part_path(0));
    mt_store *store = fixture_open();
    mt_subject a = fixture_subject(store);
    fixture_put_ok(store, 1, &a, "A=9", 50);
    mt_store_close(store);
    fixture_sql("UPDATE session SET ended_unix_ms = 999, state = 'done', evaluated = 8");
    merge(out_path("out"), &zero, 1, false, &again);
    ck_assert_int_eq(again.measurements, 1);
    ck_assert_int_eq(again.sessions, 0);
    use_db(merge_out);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM session WHERE state = 'done' AND ended_unix_ms = 999 AND evaluated = 8"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM best JOIN measurement m ON m.id = measurement_id JOIN variant v ON v.id = m.variant_id WHERE v.text = 'A=9'"), 1);
}
END_TEST

/* Part i with variant 1, which is measured, and `variants` more, which are not. */
static void make_part_of(int i, int variants)
{
    char sql[200];
    use_db(part_path(i));
    mt_store *store = fixture_open();
    mt_subject a = fixture_subject(store);
    fixture_put_ok(store, session_on(store, "host", 7 + i), &a, "A=0", 1);
    mt_store_close(store);
    snprintf(sql, sizeof sql, "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < %d) INSERT INTO variant (kernel_id, text) SELECT 1, 'B=' || x FROM n", variants);
    fixture_sql(sql);
}

/* Many groups, and long cycles in them: whatever the order, ids follow time, and what refers to a row still does. */
START_TEST(ids_follow_time)
{
    enum { VARIANTS = 1100, TIMES = 30 };
    static const int orders[][2] = {{0, 1}, {1, 0}};
    char sql[900];
    for (int i = 0; i < 2; i++) {
        make_part_of(i, VARIANTS);
        snprintf(sql, sizeof sql,
                 "WITH RECURSIVE n(x) AS (VALUES (0) UNION ALL SELECT x + 1 FROM n WHERE x < %d) INSERT INTO measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, "
                 "evaluation, outcome, median_ns) SELECT 1, CASE WHEN x < %d THEN 1 + x ELSE 1 END, 1, 1, 1000 + 2 * (x * 7 %% %d) + %d, x + 2, 'ok', 1000 + 2 * (x * 7 %% %d) + %d FROM n; "
                 "INSERT INTO metric SELECT id, 'time', created_unix_ms, 'ncu', 5 FROM measurement",
                 VARIANTS + TIMES, VARIANTS, TIMES, i, TIMES, i);
        fixture_sql(sql);
    }
    for (int o = 0; o < 2; o++) {
        mt_merge_counts counts = {0};
        merge(out_path(o ? "backwards" : "forwards"), orders[o], 2, false, &counts);
        use_db(merge_out);
        ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement"), 2 * (VARIANTS + TIMES + 2));
        ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement a JOIN measurement b ON b.subject_id = a.subject_id AND b.variant_id = a.variant_id AND b.id > a.id AND "
                                        "b.created_unix_ms < a.created_unix_ms"), 0);
        ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement m JOIN metric ON measurement_id = m.id AND value = m.created_unix_ms"), 2 * (VARIANTS + TIMES + 2));
    }
}
END_TEST

/* Ten megabytes of rows, all of which change places and half of which may be the best: neither that nor sealing holds them in memory. */
START_TEST(memory_is_bounded)
{
    static const int order[] = {0, 1};
    enum { VARIANTS = 2500, TEXT_BYTES = 2000 };
    char sql[700];
    for (int i = 0; i < 2; i++) {
        make_part_of(i, VARIANTS);
        snprintf(sql, sizeof sql,
                 "INSERT INTO measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns, text) SELECT 1, id, 1, 1, %d, id, 'ok', 1000 + id, "
                 "hex(zeroblob(%d)) FROM variant WHERE id > 1", 1000 - i, TEXT_BYTES / 2);
        fixture_sql(sql);
    }
    mt_merge_counts counts = {0};
    sqlite3_memory_highwater(1);
    merge(out_path("large"), order, 2, false, &counts);
    ck_assert_int_eq(counts.measurements, 2 * (VARIANTS + 1));
    mt_store *store = NULL;
    ck_ok(mt_store_open(merge_out, MT_STORE_READ_WRITE, &store, &fixture_err));
    ck_ok(mt_store_seal(store, &fixture_err));
    mt_store_close(store);
    int64_t most = sqlite3_memory_highwater(0);
    ck_assert_msg(most < 6 << 20, "%lld bytes", (long long)most);
    use_db(merge_out);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement a JOIN measurement b ON b.subject_id = a.subject_id AND b.variant_id = a.variant_id AND b.id > a.id AND "
                                    "b.created_unix_ms < a.created_unix_ms"), 0);
}
END_TEST

/* Of many parts each is as quick as the first: nothing is found by looking at the rows of all parts before it. */
START_TEST(rows_are_found_by_an_index)
{
    mt_store *store = NULL;
    sqlite3 *db = NULL;
    mt_merge *merging = begin(out_path("out"), false, &store);
    finish(merging, store);
    ck_assert_int_eq(sqlite3_open(merge_out, &db), SQLITE_OK);
    for (size_t i = 0; i < mt_merge_rule_count; i++) {
        const mt_merge_rule *rule = &mt_merge_rules[i];
        char sql[1000];
        sqlite3_stmt *statement = NULL;
        if (!rule->match || rule->kind == MT_MERGE_CHOSEN) continue;
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN SELECT 1 FROM %s WHERE %s", rule->table, rule->match);
        ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(statement, 3);
            ck_assert_msg(strncmp(detail, "SCAN", 4) != 0, "%s: %s", rule->table, detail);
        }
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
}
END_TEST

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = mt_alloc(1 << 20, 1);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

/* A file of an older tool is read, and stays as it is. */
START_TEST(older_schema)
{
    char *schema = file_text(TEST_DATA_DIR "/schema_v7.sql");
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    use_db(part_path(0));
    fixture_sql(schema);
    fixture_sql("INSERT INTO device VALUES (1, 'h100-sxm|cc90|sm132|80g', 'NVIDIA H100 80GB HBM3', '{}'); INSERT INTO kernel VALUES (1, 'msda', '00', '{}');"
                "INSERT INTO shape VALUES (1, 1, 'N=1', 'one'); INSERT INTO workload VALUES (1, 1, '', 'default'); INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a');"
                "INSERT INTO variant VALUES (1, 1, 'A=1'); INSERT INTO subject VALUES (1, 1, 1, 1, 1, 'cold', 'measured');"
                "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms) "
                "VALUES (1, 'tune', 'old', 'b', 1, '0', 'auto', 'x.ini', 0, 'measured', 5);"
                "INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns) VALUES (1, 1, 1, 1, 1, 6, 1, 'ok', 100)");
    mt_merge *merging = begin(out_path("out"), false, &store);
    int64_t oldest = 0;
    ck_ok(mt_merge_check(merge_out, part_path(0), &(mt_merge_expectation){0}, &oldest, &fixture_err));
    ck_assert_int_eq(oldest, 6);
    ck_ok(merge_unchecked(merging, part_path(0), &counts));
    finish(merging, store);
    ck_assert_int_eq(counts.measurements, 1);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), 7);
    mt_free(schema);
}
END_TEST

/* ---- the description ---- */

static const mt_merge_rule *rule_of(const char *table)
{
    for (size_t i = 0; i < mt_merge_rule_count; i++)
        if (strcmp(mt_merge_rules[i].table, table) == 0) return &mt_merge_rules[i];
    return NULL;
}

static bool lists(const mt_merge_rule *rule, const char *column, const char *table)
{
    for (const mt_merge_foreign *f = rule->foreign; f->column; f++)
        if (strcmp(f->column, column) == 0 && (strcmp(f->table, table) == 0 || strcmp(column, "kernel_id") == 0)) return true;
    return false;
}

/* A table without a rule, a reference that no rule translates, a rule without a table: each must be decided by whoever changes the schema. */
START_TEST(rules_cover_the_schema)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *tables = NULL, *keys = NULL;
    size_t found = 0;
    mt_store_close(fixture_open());
    ck_assert_int_eq(sqlite3_open(fixture_db, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", -1, &tables, NULL), SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        char sql[128];
        const mt_merge_rule *rule = rule_of(name);
        ck_assert_msg(rule != NULL, "db/exchange/merge_rules.c does not say how table %s is merged", name);
        found++;
        if (rule->kind == MT_MERGE_LOCAL || rule->kind == MT_MERGE_DERIVED) continue;
        ck_assert_ptr_nonnull(rule->match);
        snprintf(sql, sizeof sql, "PRAGMA foreign_key_list(%s)", name);
        ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &keys, NULL), SQLITE_OK);
        while (sqlite3_step(keys) == SQLITE_ROW) {
            const char *table = (const char *)sqlite3_column_text(keys, 2), *column = (const char *)sqlite3_column_text(keys, 3);
            ck_assert_msg(lists(rule, column, table), "db/exchange/merge_rules.c does not translate %s.%s", name, column);
            const mt_merge_rule *target = rule_of(table);
            ck_assert_msg(target && target < rule && target->has_id, "table %s must be merged before %s", table, name);
        }
        sqlite3_finalize(keys);
    }
    ck_assert_uint_eq(found, mt_merge_rule_count);
    sqlite3_finalize(tables);
    sqlite3_close(db);
}
END_TEST

/* ---- processes ---- */

static void merge_in_child(const char *out, int first)
{
    int order[PARTS];
    mt_merge_counts counts = {0};
    for (int i = 0; i < PARTS; i++) order[i] = (first + i) % PARTS;
    merge(out, order, PARTS, true, &counts);
    _exit(0);
}

START_TEST(two_merges_at_once)
{
    static const int all[] = {0, 1, 2, 3};
    mt_merge_counts counts = {0};
    for (int i = 0; i < PARTS; i++) make_part(i);
    merge(out_path("alone"), all, PARTS, true, &counts);
    char *alone = content(merge_out);
    out_path("shared");
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) merge_in_child(merge_out, i);
    }
    for (int i = 0; i < 3; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    char *shared = content(merge_out);
    ck_assert_str_eq(alone, shared);
    mt_free(alone);
    mt_free(shared);
}
END_TEST

START_TEST(killed_and_repeated)
{
    static const int all[] = {0, 1, 2, 3};
    mt_merge_counts counts = {0};
    for (int i = 0; i < PARTS; i++) make_part(i);
    merge(out_path("whole"), all, PARTS, true, &counts);
    char *whole = content(merge_out);
    out_path("killed");
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) merge_in_child(merge_out, round);
        usleep((useconds_t)(1000 * (round * 3 + 1)));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        mt_store *store = NULL;
        ck_ok(mt_store_open(merge_out, MT_STORE_READ_WRITE, &store, &fixture_err));
        ck_ok(fixture_check(store, &fixture_err));
        mt_store_close(store);
    }
    merge(merge_out, all, PARTS, true, &counts);
    char *repeated = content(merge_out);
    ck_assert_str_eq(whole, repeated);
    mt_free(whole);
    mt_free(repeated);
}
END_TEST

FIXTURE_MAIN("merge", any_order_gives_the_same_rows, one_by_one_and_again, a_part_that_grew, ids_follow_time, memory_is_bounded, rows_are_found_by_an_index, older_schema, rules_cover_the_schema,
             two_merges_at_once, killed_and_repeated)
