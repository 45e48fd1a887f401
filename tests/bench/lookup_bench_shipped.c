/* What open and prepare cost on a database as it is shipped, in processor time: its winners have neighbours, workloads and portfolios, which made-up ones lack. */
#include "tests/bench/lookup_bench.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/pack_sqlite.h"
#include "include/tunelookup.h"
#include "tuner/base/clock.h"
#include "tuner/base/stats.h"

enum { REPEATS = 51, LEAST_OF = 31, NAMES = 4 * TUNELOOKUP_MAX_VALUES, NAME_SIZE = 80 };

/* A name for each value of one stored shape: ints and elements by name, strings bound. */
static const char subjects_sql[] =
    "SELECT k.name, d.name, d.facts_json, count(*), min(a.shape_key), k.id, d.key, (SELECT count(*) FROM answer o WHERE o.kernel_id = k.id) FROM answer a JOIN kernel k ON k.id = a.kernel_id JOIN device d ON d.id = a.device_id "
    "GROUP BY a.kernel_id, a.device_id ORDER BY k.name, d.key";
static const char kinds_sql[] = "SELECT json_extract(s.value, '$.name'), json_extract(s.value, '$.kind') FROM kernel k, json_each(k.spec_json, '$.shape') s WHERE k.id = ?1";
static const char fact_sql[] = "SELECT json_extract(?1, '$.' || ?2)";

typedef struct asked {
    char names[NAMES][NAME_SIZE];
    const char *list[NAMES];
    size_t count;
    tunelookup_device device;
} asked;

/* A database, or the one in a pack. */
static sqlite3 *open_rows(const char *path)
{
    sqlite3 *db = NULL;
    mt_pack pack;
    char why[MT_PACK_WHY];
    if (!mt_pack_is_name(path)) {
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) bench_die(path, sqlite3_errmsg(db));
        return db;
    }
    if (mt_pack_open(path, &pack, why) != MT_PACK_OK || mt_pack_database(&pack, &db, why) != MT_PACK_OK) bench_die(path, why);
    mt_pack_close(&pack);
    return db;
}

static sqlite3_stmt *statement_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) bench_die("SQL", sqlite3_errmsg(db));
    return statement;
}

static char *next_name(asked *a)
{
    if (a->count == NAMES) bench_die("shape", "has too many values");
    a->list[a->count] = a->names[a->count];
    return a->names[a->count++];
}

/* `value` ends at ';' or at the end. */
static void add_value(asked *a, const char *name, const char *kind, const char *value)
{
    size_t length = strcspn(value, ";"), elements = 1;
    if (strcmp(kind, "string") == 0) snprintf(next_name(a), NAME_SIZE, "%s=%.*s", name, (int)length, value);
    if (strcmp(kind, "int") == 0) snprintf(next_name(a), NAME_SIZE, "%s", name);
    if (strcmp(kind, "list") != 0) return;
    for (size_t i = 0; i < length; i++) elements += value[i] == ',';
    for (size_t i = 0; i < elements; i++) snprintf(next_name(a), NAME_SIZE, "%s[%zu]", name, i);
}

static void name_shape(sqlite3 *db, int64_t kernel, const char *key, asked *a)
{
    sqlite3_stmt *kinds = statement_of(db, kinds_sql);
    sqlite3_bind_int64(kinds, 1, kernel);
    while (sqlite3_step(kinds) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(kinds, 0), *value = strchr(key, '=');
        if (!value) bench_die(key, "does not fit its kernel");
        add_value(a, name, (const char *)sqlite3_column_text(kinds, 1), value + 1);
        key = value + strcspn(value, ";");
        key += *key == ';';
    }
    sqlite3_finalize(kinds);
}

static int64_t fact(sqlite3 *db, const char *json, const char *name)
{
    sqlite3_stmt *statement = statement_of(db, fact_sql);
    sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return value;
}

static tunelookup_device device_of(sqlite3 *db, const char *name, const char *json)
{
#define FACT(name) .name = fact(db, json, #name)
    return (tunelookup_device){ .struct_size = sizeof(tunelookup_device), .name = name, FACT(cc), FACT(sm_count), FACT(smem_optin), FACT(smem_per_sm), FACT(smem_reserved), FACT(regs_per_sm),
                                FACT(threads_per_sm), FACT(blocks_per_sm), FACT(max_cluster), FACT(l2_bytes), FACT(mem_bytes), FACT(clock_mhz) };
#undef FACT
}

static tunelookup_db *open_once(const char *path)
{
    tunelookup_db *db;
    if (tunelookup_open(path, 0, &db) != TUNELOOKUP_OK) bench_die("open", tunelookup_detail());
    return db;
}

static void prepare_once(tunelookup_db *db, const char *kernel, const asked *a)
{
    tunelookup_plan *plan;
    if (tunelookup_prepare(db, &a->device, kernel, a->list, a->count, &plan) != TUNELOOKUP_OK) bench_die(kernel, tunelookup_detail());
}

typedef struct steps { int64_t of_open, of_both; } steps;

static steps steps_of(const char *path, const char *kernel, const asked *a)
{
    steps made;
    bench_work_begin();
    tunelookup_db *db = open_once(path);
    made.of_open = bench_work_so_far();
    prepare_once(db, kernel, a);
    tunelookup_close(db);
    made.of_both = bench_work_end();
    return made;
}

static void step_through(sqlite3 *db, const char *sql, int64_t kernel)
{
    sqlite3_stmt *rows = statement_of(db, sql);
    if (sqlite3_bind_parameter_count(rows)) sqlite3_bind_int64(rows, 1, kernel);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(rows); column++) sqlite3_column_blob(rows, column);
    }
    sqlite3_finalize(rows);
}

/* SQLite alone, reading the same rows in as many openings: what any such reader takes on this machine, busy or slow as it is. */
static void read_plainly(const char *path, int64_t kernel)
{
    static const char *const opening[] = { "SELECT count(*) FROM sqlite_master" };
    static const char *const preparing[] = { "SELECT spec_json FROM kernel WHERE id = ?1", "SELECT * FROM answer WHERE kernel_id = ?1", "SELECT text FROM variant WHERE kernel_id = ?1",
        "SELECT rule_json, cells FROM portfolio WHERE kernel_id = ?1", "SELECT s.* FROM portfolio p JOIN portfolio_shape s ON s.portfolio_id = p.id WHERE p.kernel_id = ?1" };
    for (int i = 0; i < 2; i++) {
        sqlite3 *db = open_rows(path);
        for (size_t k = 0; k < (i ? sizeof preparing / sizeof *preparing : 1); k++) step_through(db, i ? preparing[k] : opening[k], kernel);
        sqlite3_close(db);
    }
}

/* How many times as long open and prepare take: the least of many runs each, in turns, so that other work on the machine meets both or neither. */
static double times_of_plain(const char *path, const char *kernel, int64_t id, const asked *a)
{
    int64_t least[2] = { INT64_MAX, INT64_MAX };
    for (int i = 0; i < 2 * LEAST_OF; i++) {
        tunelookup_db *db = NULL;
        int64_t start = mt_clock_thread_cpu_ns();
        if (i % 2) read_plainly(path, id);
        else prepare_once(db = open_once(path), kernel, a);
        int64_t ns = mt_clock_thread_cpu_ns() - start;
        if (ns < least[i % 2]) least[i % 2] = ns;
        tunelookup_close(db);
    }
    return (double)least[0] / (double)least[1];
}

static void print_one(const char *path, const char *kernel, int64_t id, const char *gpu, int64_t winners, const asked *a)
{
    double ns[REPEATS], open_ns[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        int64_t start = mt_clock_thread_cpu_ns();
        tunelookup_db *db = open_once(path);
        open_ns[i] = (double)(mt_clock_thread_cpu_ns() - start);
        prepare_once(db, kernel, a);
        ns[i] = (double)(mt_clock_thread_cpu_ns() - start);
        tunelookup_close(db);
    }
    mt_stats_sort(ns, REPEATS);
    mt_stats_sort(open_ns, REPEATS);
    printf("  %-14s %-26s %5lld winners   open: %5.3f ms; with prepare: median %6.2f ms of processor time, least %6.2f, %lld SQLite steps; %.1f × as long as SQLite alone reads the rows\n", kernel, gpu, (long long)winners,
           mt_stats_median(open_ns, REPEATS) / 1e6, mt_stats_median(ns, REPEATS) / 1e6, ns[0] / 1e6, (long long)steps_of(path, kernel, a).of_both, times_of_plain(path, kernel, id, a));
    fflush(stdout);
}

/* Statements are worth STEPS_OF_ALL, whatever the file holds, and STEPS_EACH for a row of the kernel on any GPU. Opening reads the first page alone: no schema, which costs as much as a good part of the rows. */
static bool check_steps(const char *path, const char *kernel, const char *gpu, int64_t rows, const asked *a)
{
    enum { STEPS_OF_OPEN = 100, STEPS_OF_ALL = 3000, STEPS_EACH = 180 };
    steps made = steps_of(path, kernel, a);
    int64_t most = STEPS_OF_ALL + STEPS_EACH * rows;
    bool is_within = made.of_both <= most && made.of_open <= STEPS_OF_OPEN;
    printf("%s %s on %s: %lld SQLite steps, at most %lld for %lld rows; %lld of them to open, at most %d\n", is_within ? "ok:  " : "FAIL:", kernel, gpu, (long long)made.of_both, (long long)most,
           (long long)rows, (long long)made.of_open, STEPS_OF_OPEN);
    return is_within;
}

static bool each_subject(const char *path, const char *only, bool is_check)
{
    sqlite3 *db = open_rows(path);
    bool is_within = true;
    sqlite3_stmt *subjects = statement_of(db, subjects_sql);
    while (sqlite3_step(subjects) == SQLITE_ROW) {
        static asked a;
        const char *kernel = (const char *)sqlite3_column_text(subjects, 0), *gpu = (const char *)sqlite3_column_text(subjects, 6);
        if (only && strcmp(only, kernel) != 0) continue;
        a.count = 0;
        a.device = device_of(db, (const char *)sqlite3_column_text(subjects, 1), (const char *)sqlite3_column_text(subjects, 2));
        name_shape(db, sqlite3_column_int64(subjects, 5), (const char *)sqlite3_column_text(subjects, 4), &a);
        if (!is_check) print_one(path, kernel, sqlite3_column_int64(subjects, 5), gpu, sqlite3_column_int64(subjects, 3), &a);
        else if (!check_steps(path, kernel, gpu, sqlite3_column_int64(subjects, 7), &a)) is_within = false;
    }
    sqlite3_finalize(subjects);
    sqlite3_close(db);
    return is_within;
}

void bench_shipped(const char *path, const char *only)
{
    each_subject(path, only, false);
}

bool bench_shipped_check(const char *path)
{
    return each_subject(path, NULL, true);
}

/* ---- the same answers from two files ---- */

typedef struct two_files {
    tunelookup_db *dbs[2];
    long asked, exact, different;
} two_files;

static bool is_same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

static bool is_same_answer(const tunelookup_result *a, const tunelookup_result *b)
{
    if (a->match != b->match || a->match == TUNELOOKUP_MATCH_NONE) return a->match == b->match;
    return strcmp(a->variant, b->variant) == 0 && strcmp(a->kernel_key, b->kernel_key) == 0 && is_same_number(a->median_ns, b->median_ns) && is_same_number(a->expected_slowdown, b->expected_slowdown) &&
           is_same_number(a->slowdown_bound, b->slowdown_bound) && is_same_number(a->norm_error, b->norm_error) && a->launch_count == b->launch_count;
}

static void ask_both(two_files *two, tunelookup_plan *const plans[2], const int64_t *values)
{
    tunelookup_result results[2];
    for (int i = 0; i < 2; i++)
        if (tunelookup_find(plans[i], values, &results[i]) != TUNELOOKUP_OK) bench_die("find", tunelookup_detail());
    two->asked++;
    two->exact += results[0].match == TUNELOOKUP_MATCH_EXACT;
    if (is_same_answer(&results[0], &results[1])) return;
    if (!two->different++) printf("FAIL: %d %s and %d %s\n", (int)results[0].match, results[0].match ? results[0].variant : "", (int)results[1].match, results[1].match ? results[1].variant : "");
}

/* The numbers of a shape's key, in its order; with the names that name_shape makes of it they are what find takes. Strings have none. */
static size_t numbers_of(const char *key, int64_t *values)
{
    size_t count = 0;
    for (const char *at = key; *at;) {
        char *end = NULL;
        bool may_begin = at > key && (at[-1] == '=' || at[-1] == ',');
        int64_t value = may_begin ? strtoll(at, &end, 10) : 0;
        bool is_number = may_begin && end > at && (!*end || *end == ',' || *end == ';') && count < TUNELOOKUP_MAX_VALUES;
        if (is_number) values[count++] = value;
        at = is_number ? end : at + 1;
    }
    return count;
}

/* The shape itself, and others near it and far from it that nobody tuned. */
static void ask_around(two_files *two, const asked *a, const char *kernel, const char *key)
{
    int64_t values[TUNELOOKUP_MAX_VALUES], other[TUNELOOKUP_MAX_VALUES];
    size_t count = numbers_of(key, values);
    tunelookup_plan *plans[2];
    for (int i = 0; i < 2; i++)
        if (tunelookup_prepare(two->dbs[i], &a->device, kernel, a->list, a->count, &plans[i]) != TUNELOOKUP_OK) bench_die(kernel, tunelookup_detail());
    ask_both(two, plans, values);
    for (size_t i = 0; i < count; i++) {
        memcpy(other, values, sizeof other);
        static const int64_t times[] = {2, 3, 16};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            other[i] = values[i] * times[k];
            ask_both(two, plans, other);
        }
    }
    for (int i = 0; i < 2; i++) tunelookup_release(plans[i]);
}

bool bench_same(const char *path, const char *other)
{
    static const char shapes_sql[] = "SELECT DISTINCT k.name, d.name, d.facts_json, a.shape_key, k.id FROM answer a JOIN kernel k ON k.id = a.kernel_id JOIN device d ON d.id = a.device_id";
    static asked a;
    two_files two = { .dbs = { open_once(path), open_once(other) } };
    sqlite3 *db = open_rows(other);
    sqlite3_stmt *rows = statement_of(db, shapes_sql);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(rows, 3);
        a.count = 0;
        a.device = device_of(db, (const char *)sqlite3_column_text(rows, 1), (const char *)sqlite3_column_text(rows, 2));
        name_shape(db, sqlite3_column_int64(rows, 4), key, &a);
        ask_around(&two, &a, (const char *)sqlite3_column_text(rows, 0), key);
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    for (int i = 0; i < 2; i++) tunelookup_close(two.dbs[i]);
    printf("%s: %ld questions, %ld of them exact: %ld answers differ from those of %s\n", other, two.asked, two.exact, two.different, path);
    return two.asked > 0 && two.exact > 0 && two.different == 0;
}
