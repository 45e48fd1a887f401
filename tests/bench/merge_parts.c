/* Databases as the tasks of an array leave them, for merge_bench.sh: each has one session of its own, one subject of ten, its own points of that subject's space, the default point that
 * all tasks measure, a final and a drift reference. Usage: merge_parts FOLDER PARTS ROWS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "db/store/store.h"
#include "tuner/base/file.h"

enum { FILE_MAX_BYTES = 1 << 20 };

/* ?1: the part's number; ?2: its rows; ?3: its time. */
static const char *const statements[] = {
    "INSERT INTO device VALUES (1, 'h100-sxm|cc90|sm132|80g', 'NVIDIA H100 80GB HBM3', '{\"cc\":90}')",
    "INSERT INTO kernel VALUES (1, 'demo', '00112233445566778899aabbccddeeff', '{}')",
    "INSERT INTO shape SELECT 1, 1, 'N=' || (?1 % 10), 's' || (?1 % 10)",
    "INSERT INTO workload VALUES (1, 1, 'sigma=1', 'even')",
    "INSERT INTO toolchain VALUES (1, 13000, 13000, 'sm_90a')",
    "INSERT INTO subject VALUES (1, 1, 1, 1, 1, 'cold', 'measured')",
    "INSERT INTO session (id, command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms, ended_unix_ms, state, job) "
    "SELECT 1, 'msda-tune tune --shard ' || ?1, 'node' || (?1 % 64), 'boot' || (?1 % 64), 1000 + ?1, '0.1.0', 'exhaustive', 'demo.ini', 0, 'measured', ?3, ?3 + 60000, 'done', 'slurm 7_' || ?1",
    "WITH RECURSIVE n(x) AS (VALUES (0) UNION ALL SELECT x + 1 FROM n WHERE x + 1 < ?2) "
    "INSERT INTO variant SELECT x + 1, 1, CASE x WHEN 0 THEN 'ALGO=fast;BLOCK=64;VEC=1' ELSE 'ALGO=fast;BLOCK=' || ?1 || ';VEC=' || (x + 1) END FROM n",
    "INSERT INTO measurement (id, subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, median_ns, low_ns, high_ns, min_ns, mean_ns, stddev_ns, sm_mhz, "
    "sample_count, dropped_count, batch_count, accuracy_output, norm_error, registers, cubin_hash, cubin_cached, compile_ns, wait_ns, validate_ns, time_ns, launch_json, samples) "
    "SELECT id, 1, id, 1, 1, ?3 + id, id, 'ok', 1000 + id + ?1 / 1e6, 999 + id, 1002 + id, 990 + id, 1001 + id, 3.5, 1755, 30, 0, 1, 'out', 1e-4, 64, printf('%032x', id), 1, 190000000, 1000, 2000, 3000, "
    "'{\"launches\":[{\"entry\":\"demo_fast\",\"grid\":[132,1,1],\"block\":[256,1,1],\"cluster\":[1,1,1],\"smem\":65536}]}', zeroblob(120) FROM variant",
    "INSERT INTO anchor VALUES (1, 1, 1, 1, ?3 + 50000, 1001, 1000, 1002, 1755, 30)",
    "INSERT INTO final_round SELECT 1, 1, 1, ?3 + 55000, 'interleaved', 8, 0.95, 'time'",
    "INSERT INTO finalist (final_id, measurement_id, median_ns, low_ns, high_ns, ratio, ratio_low, ratio_high, tied, picked) SELECT 1, id, median_ns, low_ns, high_ns, 1, 1, 1, 1, id = 1 FROM measurement WHERE id <= 2",
    "INSERT INTO landmark VALUES (1, 'default', 1)",
    "INSERT INTO pruned VALUES (1, 1, 'fits', 'shared memory', 12)",
};

static int fail(sqlite3 *db, const char *what)
{
    fprintf(stderr, "merge_parts: %s: %s\n", what, db ? sqlite3_errmsg(db) : "failed");
    return 1;
}

static int fill(sqlite3 *db, long part, long rows)
{
    if (sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN", NULL, NULL, NULL) != SQLITE_OK) return fail(db, "begin");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, statements[i], -1, &statement, NULL) != SQLITE_OK) return fail(db, statements[i]);
        const sqlite3_int64 values[] = {part, rows, 1700000000000 + part * 7919 % 100003 * 1000};
        for (int k = 0; k < 3; k++) sqlite3_bind_int64(statement, k + 1, values[k]); /* those that it has */
        int code = sqlite3_step(statement);
        sqlite3_finalize(statement);
        if (code != SQLITE_DONE) return fail(db, statements[i]);
    }
    return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, "commit");
}

int main(int argc, char **argv)
{
    mt_store *store = NULL;
    mt_error err;
    char path[4096], *bytes = NULL;
    size_t length = 0;
    if (argc != 4 || atol(argv[2]) < 1 || atol(argv[3]) < 2) return fprintf(stderr, "usage: merge_parts FOLDER PARTS ROWS\n"), 2;
    snprintf(path, sizeof path, "%s/part-0.sqlite", argv[1]);
    mt_status st = mt_store_open(path, MT_STORE_READ_WRITE, &store, &err);
    if (st == MT_OK) st = mt_store_seal(store, &err);
    mt_store_close(store);
    if (st == MT_OK) st = mt_file_read(path, FILE_MAX_BYTES, &bytes, &length, &err);
    if (st != MT_OK) return fprintf(stderr, "merge_parts: %s\n", err.message), 1;
    int failed = remove(path);
    for (long part = 1; part <= atol(argv[2]) && !failed; part++) {
        sqlite3 *db = NULL;
        snprintf(path, sizeof path, "%s/part-%ld.sqlite", argv[1], part);
        FILE *file = fopen(path, "wb");
        failed = !file || fwrite(bytes, 1, length, file) != length;
        if (file) failed |= fclose(file) != 0;
        if (!failed) failed = sqlite3_open(path, &db) != SQLITE_OK || fill(db, part, atol(argv[3]));
        sqlite3_close(db);
    }
    free(bytes);
    return failed;
}
