/* How long open, prepare and find of libtunelookup take: 100 and 10,000 winners of one kernel on one GPU, and a million over 1000 kernels; and on a file that is shipped.
 *
 *     lookup_bench SPACE.ini [KERNELS WINNERS]…      e.g.  lookup_bench search_spaces/msda.ini 1 100  1 10000  1000 1000
 *     lookup_bench shipped FILE [KERNEL]             e.g.  lookup_bench shipped build/share/msda-tune-shipped/tuned.sqlite msda
 *     lookup_bench check FILE                        a test: what open and prepare of each kernel of the file do is within bounds
 *     lookup_bench same FILE OTHER                   a test: both, databases or packs, answer alike for all shapes that are tuned in OTHER, and around them
 *
 * Rows are made with SQL, because a million evaluations would take an hour to write as the tuner does. Shapes are the space's first with one number changed, variants the
 * space's valid points. find is timed in groups of 16 calls in random order (the clock costs as much as a call), the first pass apart: it finds caches cold and checks rows. */
#include "tests/bench/lookup_bench.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/store/answer.h"
#include "db/store/measurement.h"
#include "db/store/store.h"
#include "include/tunelookup.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/rng.h"
#include "tuner/base/stats.h"
#include "tuner/predictor/table.h"
#include "tuner/space/points/space.h"
#include "tuner/space/spec/spec_json.h"

enum { REPEATS = 101, GROUP = 16, GROUPS = 20000, VARIANTS = 200, NAMES = TUNELOOKUP_MAX_VALUES };

static const mt_device_facts h100 = { .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024,
                                      .regs_per_sm = 65536, .threads_per_sm = 2048, .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 52428800,
                                      .mem_bytes = 85017755648, .clock_mhz = 1980 };

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "lookup_bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- the database ---- */

static sqlite3 *open_sql(const char *path)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK) bench_die(path, sqlite3_errmsg(db));
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) bench_die(sql, message);
}

static void run_with(sqlite3 *db, const char *sql, const char *a, const char *b)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) bench_die(sql, sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, a, -1, SQLITE_STATIC);
    if (b) sqlite3_bind_text(statement, 2, b, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_DONE) bench_die(sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
}

/* Cuts the shape's key around the value of its first-named integer (msda's last, S, follows from others, and a shape where it does not is refused), so that keys of other shapes are prefix + number + suffix. */
static const mt_setting *cut_key(const mt_shape *shape, char *prefix, char *suffix, size_t size)
{
    const mt_setting *chosen = NULL;
    for (size_t i = 0; i < shape->setting_count; i++) {
        if (!chosen && shape->settings[i].value.kind == MT_VALUE_INT) chosen = &shape->settings[i];
    }
    if (!chosen) bench_die("space", "no integer in its shapes");
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%s=", chosen->name);
    const char *at = shape->key;
    while ((at = strstr(at, pattern)) != NULL && at != shape->key && at[-1] != ';') at++;
    at += strlen(pattern);
    snprintf(prefix, size, "%.*s", (int)(at - shape->key), shape->key);
    snprintf(suffix, size, "%s", at + strcspn(at, ";"));
    return chosen;
}

static size_t add_variants(sqlite3 *db, const mt_spec *spec, const mt_shape *shape)
{
    mt_space *space = NULL;
    mt_error err;
    if (mt_space_create(spec, shape, &h100, &space, &err) != MT_OK) bench_die("space", err.message);
    size_t count = mt_space_count(space) < VARIANTS ? mt_space_count(space) : VARIANTS, index;
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    run(db, "CREATE TEMP TABLE texts (number INTEGER PRIMARY KEY, text TEXT UNIQUE)");
    for (size_t i = 0; i < count && mt_space_sample(space, &rng, &index); i++) { /* a large space has indices that are no points */
        mt_point point;
        mt_space_at(space, index, &point);
        char *text = mt_point_text(spec, &point);
        run_with(db, "INSERT OR IGNORE INTO texts (text) VALUES (?1)", text, NULL);
        mt_free(text);
    }
    mt_space_free(space);
    return count;
}

/* The samples that every row has, packed as the tuner packs them. */
static void add_samples(sqlite3 *db, mt_store *store)
{
    enum { SAMPLES = 200 };
    float samples[SAMPLES];
    void *blob = NULL;
    size_t size = 0;
    sqlite3_stmt *statement = NULL;
    mt_error err;
    for (int i = 0; i < SAMPLES; i++) samples[i] = 387654.0f + (float)(i - SAMPLES / 2);
    if (mt_samples_pack(store, samples, SAMPLES, &blob, &size, &err) != MT_OK) bench_die("samples", err.message);
    run(db, "CREATE TEMP TABLE packed (samples BLOB)");
    if (sqlite3_prepare_v2(db, "INSERT INTO packed VALUES (?1)", -1, &statement, NULL) != SQLITE_OK) bench_die("samples", sqlite3_errmsg(db));
    sqlite3_bind_blob(statement, 1, blob, (int)size, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_DONE) bench_die("samples", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    mt_free(blob);
}

static void fill(const char *path, const mt_spec *spec, const mt_shape *shape, long kernels, long winners)
{
    char prefix[1024], suffix[1024], sql[512];
    mt_store *store = NULL;
    mt_error err;
    if (mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) != MT_OK) bench_die(path, err.message);
    sqlite3 *db = open_sql(path);
    add_samples(db, store);
    mt_store_close(store);
    char *json = mt_spec_json(spec);
    cut_key(shape, prefix, suffix, sizeof prefix);
    run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
    add_variants(db, spec, shape);
    run(db, "INSERT INTO device VALUES (1, 'h100-sxm|cc90|sm132|80g', 'NVIDIA H100 80GB HBM3', '{}'), (2, 'a100-sxm|cc80|sm108|80g', 'NVIDIA A100-SXM4-80GB', '{}');"
            "INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a');"
            "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms) "
            "VALUES (1, 'bench', 'h', 'b', 1, '0', 'auto', '', 0, 'measured', 0)");
    snprintf(sql, sizeof sql, "INSERT INTO kernel WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < %ld) SELECT i, 'kernel' || i, printf('%%032x', i), ?1 FROM k", kernels);
    run_with(db, sql, json, NULL);
    run(db, "INSERT INTO workload SELECT id, id, 'sigma=1.5', 'local15' FROM kernel");
    run(db, "INSERT INTO variant (kernel_id, text) SELECT k.id, t.text FROM kernel k, texts t ORDER BY k.id, t.number");
    snprintf(sql, sizeof sql, "INSERT INTO shape (kernel_id, key, name) WITH RECURSIVE w(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM w WHERE i < %ld) "
             "SELECT k.id, ?1 || w.i || ?2, 's' || w.i FROM kernel k, w", winners);
    run_with(db, sql, prefix, suffix);
    run(db, "INSERT INTO subject SELECT id, 1, kernel_id, id, kernel_id, 'cold', 'measured' FROM shape");
    run(db, "INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns, low_ns, high_ns, min_ns, mean_ns, "
            "stddev_ns, sample_count, dropped_count, batch_count, accuracy_output, norm_error, registers, dynamic_smem_bytes, carveout_percent, cubin_hash, launch_json, samples) "
            "SELECT s.id, s.id, (s.kernel_id - 1) * (SELECT count(*) FROM texts) + 1 + s.id % (SELECT count(*) FROM texts), 1, 1, 1700000000000, 1, 'ok', 387654.0 + s.id, "
            "386000.0 + s.id, 388000.0 + s.id, 380000.0, 387700.0 + s.id, 1200.0, 200, 0, 1, 'out', 3e-4, 64, 35840, 28, printf('%032x', s.id), "
            "'{\"launches\":[{\"entry\":\"k\",\"grid\":[482,1,1],\"block\":[512,1,1],\"cluster\":[1,1,1],\"smem\":35840,\"carveout\":28}]}', (SELECT samples FROM packed) FROM subject s");
    run(db, "INSERT INTO best (subject_id, measurement_id, tied_count, updated_unix_ms) SELECT id, id, 1, 1700000000000 FROM subject; " MT_ANSWER_INSERT "; COMMIT");
    sqlite3_close(db);
    mt_free(json);
}

/* The first variant as the default, a third slower than each winner, and the portfolio of that: what answers shapes that have no row. */
static void add_portfolio(const char *path)
{
    mt_store *store = NULL;
    mt_error err;
    sqlite3 *db = open_sql(path);
    run(db, "PRAGMA synchronous = OFF; BEGIN; INSERT OR IGNORE INTO landmark SELECT s.id, 'default', (SELECT min(id) FROM variant WHERE kernel_id = s.kernel_id) FROM subject s;"
            "INSERT INTO measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns) "
            "SELECT l.subject_id, l.variant_id, 1, 1, 1700000000000, 2, 'ok', 516000.0 FROM landmark l JOIN measurement m ON m.id = l.subject_id WHERE m.variant_id <> l.variant_id; COMMIT");
    sqlite3_close(db);
    if (mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) != MT_OK) bench_die(path, err.message);
    int64_t start = mt_clock_now_ns();
    if (mt_predictor_refresh_all(store, &err) != MT_OK) bench_die(path, err.message);
    printf("  portfolio renewed in   %.1f ms\n", (double)(mt_clock_now_ns() - start) / 1e6);
    mt_store_close(store);
}

/* ---- timing ---- */

static void print_times(const char *what, double *ns, size_t count, double divisor, const char *unit)
{
    mt_stats_sort(ns, count);
    printf("  %-22s median %8.2f %s   p99 %8.2f %s\n", what, mt_stats_median(ns, count) / divisor, unit, mt_stats_quantile(ns, count, 0.99) / divisor, unit);
}

/* The names of the shape in the .ini's order; values[] of the same; *moved is the place of the changed number. */
static size_t name_values(const mt_shape *shape, const char *changed, char names[NAMES][64], const char *list[NAMES], int64_t values[NAMES], size_t *moved)
{
    size_t count = 0, numbers = 0;
    for (size_t i = 0; i < shape->setting_count; i++) {
        const mt_setting *setting = &shape->settings[i];
        size_t parts = setting->value.kind == MT_VALUE_LIST ? setting->value.length : 1;
        for (size_t k = 0; k < parts; k++, count++) {
            list[count] = names[count];
            if (setting->value.kind == MT_VALUE_LIST) snprintf(names[count], 64, "%s[%zu]", setting->name, k);
            else if (setting->value.kind == MT_VALUE_STRING) snprintf(names[count], 64, "%s=%s", setting->name, setting->text);
            else snprintf(names[count], 64, "%s", setting->name);
            if (setting->value.kind == MT_VALUE_STRING) continue;
            if (strcmp(setting->name, changed) == 0) *moved = numbers;
            values[numbers++] = setting->value.kind == MT_VALUE_LIST ? setting->value.list[k] : setting->value.number;
        }
    }
    return count;
}

/* max_error INFINITY: find. */
static void time_find(const tunelookup_plan *plan, int64_t *values, size_t moved, long winners, double max_error, const char *what, mt_rng *rng)
{
    static double ns[GROUPS];
    tunelookup_result result;
    size_t hits = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        int64_t asked[GROUP];
        for (size_t i = 0; i < GROUP; i++) asked[i] = (int64_t)mt_rng_below(rng, (uint64_t)winners) + 1;
        int64_t start = mt_clock_now_ns();
        for (size_t i = 0; i < GROUP; i++) {
            values[moved] = asked[i];
            if (isinf(max_error)) tunelookup_find(plan, values, &result);
            else tunelookup_find_within(plan, values, max_error, &result);
            hits += result.match == TUNELOOKUP_MATCH_EXACT;
        }
        ns[g] = (double)(mt_clock_now_ns() - start) / GROUP;
    }
    print_times(what, ns, GROUPS, 1, "ns");
    if (hits < GROUPS * GROUP / 2) bench_die(what, "fewer than half of the calls found a row: the made-up rows are not sound (KEEP=1, then msda-tune show)");
}

/* Shapes that no row has: each for the first time, and a few again and again. */
static void time_untuned(const tunelookup_plan *plan, int64_t *values, size_t moved, long winners, int shapes, double max_error, const char *what)
{
    enum { CALLS = 5000 };
    static double ns[CALLS];
    tunelookup_result result;
    int answers[TUNELOOKUP_MATCH_DEFAULT + 1] = { 0 };
    for (int i = 0; i < CALLS; i++) {
        values[moved] = winners + 1 + i % shapes;
        int64_t start = mt_clock_now_ns();
        if (isinf(max_error)) tunelookup_find(plan, values, &result);
        else tunelookup_find_within(plan, values, max_error, &result);
        ns[i] = (double)(mt_clock_now_ns() - start);
        answers[result.match]++;
    }
    print_times(what, ns, CALLS, 1, "ns");
    printf("    %d nearest, %d default, %d none\n", answers[TUNELOOKUP_MATCH_NEAREST], answers[TUNELOOKUP_MATCH_DEFAULT], answers[TUNELOOKUP_MATCH_NONE]);
}

/* Every second shape's winner is too inexact for the limit, and another variant answers. */
static void bench_within(const char *path, const tunelookup_device *device, const char *kernel, const char *const *list, size_t count, int64_t *values, size_t moved, long winners)
{
    enum { FEW = 5 };
    double prepares[FEW];
    mt_rng rng;
    sqlite3 *sql = open_sql(path);
    run(sql, "PRAGMA synchronous = OFF; BEGIN; UPDATE measurement SET norm_error = 2e-4 WHERE outcome = 'ok' AND norm_error IS NULL; "
             "INSERT INTO measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns, norm_error) "
             "SELECT m.subject_id, 1 + m.variant_id % (SELECT max(id) FROM variant), 1, 1, 1700000000000, 3, 'ok', 2 * m.median_ns, 1e-4 FROM measurement m WHERE m.id = m.subject_id AND m.id % 2; COMMIT");
    sqlite3_close(sql);
    mt_rng_seed(&rng, 1);
    for (int i = 0; i < FEW; i++) {
        tunelookup_db *db;
        tunelookup_plan *plan;
        if (tunelookup_open(path, TUNELOOKUP_ERRORS, &db) != TUNELOOKUP_OK) bench_die("open", tunelookup_detail());
        int64_t start = mt_clock_now_ns();
        if (tunelookup_prepare(db, device, kernel, list, count, &plan) != TUNELOOKUP_OK) bench_die("prepare", tunelookup_detail());
        prepares[i] = (double)(mt_clock_now_ns() - start);
        if (i == FEW - 1) {
            print_times("prepare with errors", prepares, FEW, 1e6, "ms");
            time_find(plan, values, moved, winners, 2.5e-4, "within, first", &rng);
            time_find(plan, values, moved, winners, 2.5e-4, "within", &rng);
            time_untuned(plan, values, moved, winners, 100, 2.5e-4, "within, untuned, again");
        }
        tunelookup_close(db);
    }
}

static void bench(const char *path, const mt_shape *shape, long kernels, long winners)
{
    double opens[REPEATS], prepares[REPEATS];
    char names[NAMES][64], kernel[32], prefix[1024], suffix[1024];
    const char *list[NAMES];
    int64_t values[NAMES];
    size_t moved = 0, count = name_values(shape, cut_key(shape, prefix, suffix, sizeof prefix)->name, names, list, values, &moved);
    tunelookup_device device = { .struct_size = sizeof device, .name = h100.name, .cc = h100.cc, .sm_count = h100.sm_count, .smem_optin = h100.smem_optin,
                                 .smem_per_sm = h100.smem_per_sm, .smem_reserved = h100.smem_reserved, .regs_per_sm = h100.regs_per_sm, .threads_per_sm = h100.threads_per_sm,
                                 .blocks_per_sm = h100.blocks_per_sm, .max_cluster = h100.max_cluster, .l2_bytes = h100.l2_bytes, .mem_bytes = h100.mem_bytes,
                                 .clock_mhz = h100.clock_mhz, .driver_version = 13000 };
    snprintf(kernel, sizeof kernel, "kernel%ld", kernels / 2 + 1);
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    for (int i = 0; i < REPEATS; i++) {
        tunelookup_db *db;
        tunelookup_plan *plan;
        int64_t start = mt_clock_now_ns();
        if (tunelookup_open(path, 0, &db) != TUNELOOKUP_OK) bench_die("open", tunelookup_detail());
        opens[i] = (double)(mt_clock_now_ns() - start);
        start = mt_clock_now_ns();
        if (tunelookup_prepare(db, &device, kernel, list, count, &plan) != TUNELOOKUP_OK) bench_die("prepare", tunelookup_detail());
        prepares[i] = (double)(mt_clock_now_ns() - start);
        if (i == REPEATS - 1) {
            print_times("open", opens, REPEATS, 1e6, "ms");
            print_times("prepare", prepares, REPEATS, 1e6, "ms");
            time_find(plan, values, moved, winners, INFINITY, "find, first", &rng);
            time_find(plan, values, moved, winners, INFINITY, "find", &rng);
            time_untuned(plan, values, moved, winners, 100, INFINITY, "find, untuned, again");
            time_untuned(plan, values, moved, winners, 5000, INFINITY, "find, untuned, first");
        }
        tunelookup_close(db);
    }
    bench_within(path, &device, kernel, list, count, values, moved, winners);
}

int main(int argc, char **argv)
{
    mt_spec *spec = NULL;
    mt_error err;
    char folder[] = "/tmp/lookup_bench.XXXXXX", path[64];
    if (argc < 2) bench_die("usage", "lookup_bench SPACE.ini [KERNELS WINNERS]..., lookup_bench shipped FILE [KERNEL] lookup_bench check FILE or lookup_bench same FILE OTHER");
    if (strcmp(argv[1], "same") == 0) return argc > 3 && bench_same(argv[2], argv[3]) ? 0 : 1;
    if (strcmp(argv[1], "check") == 0) return argc > 2 && bench_shipped_check(argv[2]) ? 0 : 1;
    if (strcmp(argv[1], "shipped") == 0) {
        if (argc > 2) bench_shipped(argv[2], argc > 3 ? argv[3] : NULL);
        return 0;
    }
    if (mt_spec_load(argv[1], &spec, &err) != MT_OK) bench_die(argv[1], err.message);
    if (!mkdtemp(folder)) bench_die(folder, "can't be made");
    snprintf(path, sizeof path, "%s/b.sqlite", folder);
    for (int i = 2; i + 1 < argc; i += 2) {
        long kernels = strtol(argv[i], NULL, 10), winners = strtol(argv[i + 1], NULL, 10);
        fill(path, spec, &spec->shapes[0], kernels, winners);
        printf("%ld kernel%s with %ld winners each\n", kernels, kernels == 1 ? "" : "s", winners);
        if (kernels == 1) add_portfolio(path);
        bench(path, &spec->shapes[0], kernels, winners);
        fflush(stdout);
        if (!getenv("KEEP")) unlink(path);
    }
    rmdir(folder);
    mt_spec_free(spec);
    return 0;
}
