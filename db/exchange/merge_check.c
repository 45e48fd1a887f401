/* Opening a part, and whether it is sound: a part is a stranger's file, and one that a full disk, a crash or a bad cable damaged must not become part of what is shipped. */
#include <string.h>
#include <sys/stat.h>

#include "db/exchange/merge_internal.h"
#include "db/store/migrate.h"
#include "db/store/store_file.h"
#include "tuner/base/outcome.h"

/* ---- opening ---- */

mt_status mt_merge_number(sqlite3 *db, const char *path, const char *sql, const char *what, int64_t *value, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) *value = sqlite3_column_int64(statement, 0);
    else st = mt_sql_fail_handle(db, path, what, err);
    sqlite3_finalize(statement);
    return st;
}

/* An older schema is migrated in a copy, a temporary file of SQLite's that vanishes with its handle: the part itself is not touched. */
static mt_status copy_older(sqlite3 **db, const char *path, mt_error *err)
{
    sqlite3 *copy = NULL;
    mt_status st = MT_OK;
    if (sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        st = mt_sql_fail_handle(copy, path, "copy", err);
        goto done;
    }
    mt_store_file_defend(copy);
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", *db, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) st = mt_sql_fail_handle(backup ? *db : copy, path, "copy", err);
    sqlite3_backup_finish(backup);
    if (st == MT_OK) st = mt_migrate(copy, path, false, err);
done:
    sqlite3_close(*db);
    *db = st == MT_OK ? copy : NULL;
    if (st != MT_OK) sqlite3_close(copy);
    return st;
}

mt_status mt_merge_part_open(const char *path, bool copies, sqlite3 **db, mt_error *err)
{
    mt_status st;
    int64_t application = 0, version = 0;
    *db = NULL;
    MT_TRY(mt_store_file_open(path, MT_STORE_READ_ONLY, db, err));
    MT_TRY(mt_merge_number(*db, path, "PRAGMA application_id", "read the schema version", &application, err));
    MT_TRY(mt_merge_number(*db, path, "PRAGMA user_version", "read the schema version", &version, err));
    bool is_older = application == MT_SCHEMA_APPLICATION_ID && version >= 1 && version < MT_SCHEMA_VERSION;
    if (!is_older) st = mt_migrate(*db, path, true, err);
    else if (copies) st = copy_older(db, path, err);
done:
    return st;
}

/* ---- is it sound? ---- */

/* What SQLite's own checks cannot see, since nothing else in the file says it once more: values that no tuner writes. A median that lies outside its own interval is how a changed bit of a
 * time shows; the least bits of one do not. Each answers with the table and its row. */
#define OUTCOME(name, text, meaning) "'" text "', "
#define IS_TIME(column) "(" column " IS NULL OR (typeof(" column ") = 'real' AND " column " >= 0 AND " column " < 1e16))"
#define IS_DATE(column) "(typeof(" column ") = 'integer' AND " column " >= 0 AND " column " < 4102444800000)" /* 2100 */
#define IS_COUNT(column) "(" column " IS NULL OR (typeof(" column ") = 'integer' AND " column " >= 0))"
#define IS_NAME(column) "(typeof(" column ") = 'text' AND NOT " column " GLOB '*[' || char(1) || '-' || char(31) || ']*' AND instr(" column ", char(0)) = 0)"
static const char *const value_checks[] = {
    "SELECT 'measurement', id FROM measurement WHERE NOT (outcome IN (" MT_OUTCOME_MAP(OUTCOME) "'') AND " IS_DATE("created_unix_ms") " AND " IS_COUNT("evaluation") " AND "
    IS_TIME("median_ns") " AND " IS_TIME("low_ns") " AND " IS_TIME("high_ns") " AND " IS_TIME("min_ns") " AND " IS_TIME("mean_ns") " AND " IS_TIME("stddev_ns") " AND "
    "(median_ns IS NOT NULL OR outcome <> 'ok') AND ifnull(low_ns, median_ns) <= ifnull(median_ns, 0) * 1.000001 + 1e-3 AND ifnull(median_ns, 0) <= ifnull(high_ns, ifnull(median_ns, 0)) * 1.000001 + 1e-3 AND "
    IS_COUNT("sample_count") " AND " IS_COUNT("dropped_count") " AND " IS_COUNT("batch_count") " AND " IS_COUNT("registers") " AND (launch_json IS NULL OR json_valid(launch_json)))",
    "SELECT 'variant', id FROM variant WHERE NOT " IS_NAME("text"),
    "SELECT 'session', id FROM session WHERE NOT (state IN ('running', 'done', 'interrupted', 'failed') AND origin IN ('measured', 'recorded', 'imported') AND "
    IS_DATE("started_unix_ms") " AND (ended_unix_ms IS NULL OR " IS_DATE("ended_unix_ms") ") AND " IS_NAME("host") ")",
    "SELECT 'device', id FROM device WHERE NOT (" IS_NAME("key") " AND " IS_NAME("name") " AND json_valid(facts_json))",
    "SELECT 'kernel', id FROM kernel WHERE NOT (" IS_NAME("name") " AND " IS_NAME("key") " AND json_valid(spec_json))",
    "SELECT 'shape', id FROM shape WHERE NOT (" IS_NAME("key") " AND " IS_NAME("name") ")",
    "SELECT 'workload', id FROM workload WHERE NOT (" IS_NAME("key") " AND " IS_NAME("name") ")",
    "SELECT 'toolchain', id FROM toolchain WHERE NOT (" IS_COUNT("nvrtc_version") " AND " IS_COUNT("driver_version") " AND " IS_NAME("arch") ")",
    "SELECT 'subject', id FROM subject WHERE NOT (regime IN ('cold', 'warm') AND origin IN ('measured', 'recorded', 'imported'))",
    "SELECT 'landmark', subject_id FROM landmark WHERE role NOT IN ('default', 'baseline')", /* without rowids SQLite's own check passes over CHECK */
    "SELECT 'strike', id FROM strike WHERE NOT (" IS_NAME("cause") " AND " IS_NAME("origin") " AND " IS_DATE("created_unix_ms") " AND " IS_COUNT("lifted") ")",
    "SELECT 'metric', rowid FROM metric WHERE NOT (typeof(value) = 'real' AND " IS_NAME("name") " AND " IS_DATE("created_unix_ms") ")",
    "SELECT 'pruned', rowid FROM pruned WHERE NOT (" IS_NAME("constraint_name") " AND " IS_COUNT("point_count") ")",
    "SELECT 'cubin', rowid FROM cubin WHERE NOT (encoding IN ('raw', 'zstd') AND " IS_COUNT("size_bytes") ")",
    "SELECT 'anchor', id FROM anchor WHERE NOT (" IS_DATE("created_unix_ms") " AND " IS_TIME("median_ns") ")",
    "SELECT 'final_round', id FROM final_round WHERE NOT (" IS_DATE("created_unix_ms") " AND method IN ('interleaved', 'intervals') AND objective IN ('time', 'energy', 'edp'))",
    "SELECT 'finalist', rowid FROM finalist WHERE NOT (" IS_TIME("median_ns") " AND " IS_TIME("low_ns") " AND " IS_TIME("high_ns") " AND low_ns <= median_ns * 1.000001 + 1e-3 AND "
    "median_ns <= high_ns * 1.000001 + 1e-3 AND tied IN (0, 1) AND picked IN (0, 1))",
};

static mt_status fail_damaged(const char *path, const char *what, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_DB, "%s: is damaged: %s", path, what);
}

/* Steps `sql` once. *row: it has one, which the caller reads and finalizes. */
static mt_status first_row(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **statement, bool *row, mt_error *err)
{
    int code = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(*statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? MT_OK : fail_damaged(path, sqlite3_errmsg(db), err);
}

static mt_status check_structure(sqlite3 *db, const char *path, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool row;
    mt_status st;
    MT_TRY(first_row(db, path, "PRAGMA integrity_check(1)", &statement, &row, err));
    if (!row || strcmp(mt_sql_column(statement, 0), "ok") != 0) {
        st = fail_damaged(path, row ? mt_sql_column(statement, 0) : "it cannot be checked", err);
        goto done;
    }
    sqlite3_finalize(statement);
    statement = NULL;
    MT_TRY(first_row(db, path, "PRAGMA foreign_key_check", &statement, &row, err));
    if (row) st = MT_FAIL(err, MT_ERR_DB, "%s: is damaged: row %lld of %s refers to a row of %s that is not there", path, (long long)sqlite3_column_int64(statement, 1), mt_sql_column(statement, 0),
                          mt_sql_column(statement, 2));
done:
    sqlite3_finalize(statement);
    return st;
}

static mt_status check_values(sqlite3 *db, const char *path, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < sizeof value_checks / sizeof *value_checks && st == MT_OK; i++) {
        sqlite3_stmt *statement = NULL;
        bool row;
        st = first_row(db, path, value_checks[i], &statement, &row, err);
        if (st == MT_OK && row) st = MT_FAIL(err, MT_ERR_DB, "%s: is damaged: row %lld of %s holds what no tuner writes", path, (long long)sqlite3_column_int64(statement, 1), mt_sql_column(statement, 0));
        sqlite3_finalize(statement);
    }
    return st;
}

static mt_status tell_kernels(sqlite3 *part, const char *path, mt_merge_kernel_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    int code = SQLITE_DONE;
    if (sqlite3_prepare_v2(part, "SELECT name, key FROM kernel ORDER BY name, key", -1, &statement, NULL) != SQLITE_OK) {
        st = mt_sql_fail_handle(part, path, "read kernels", err);
        goto done;
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) MT_TRY(callback(context, mt_sql_column(statement, 0), mt_sql_column(statement, 1), err));
    if (code != SQLITE_DONE) st = mt_sql_fail_handle(part, path, "read kernels", err);
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_merge_kernels(const char *path, mt_merge_kernel_callback callback, void *context, mt_error *err)
{
    sqlite3 *part = NULL;
    mt_status st;
    MT_TRY(mt_merge_part_open(path, false, &part, err));
    st = tell_kernels(part, path, callback, context, err);
done:
    sqlite3_close(part);
    return st;
}

mt_status mt_merge_check(const char *into, const char *path, mt_merge_kernel_callback callback, void *context, int64_t *oldest_unix_ms, mt_error *err)
{
    struct stat a, b;
    sqlite3 *part = NULL;
    mt_status st;
    if (stat(path, &a) == 0 && stat(into, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return MT_FAIL(err, MT_ERR_USAGE, "%s: is the database that is merged into; expected other ones", path);
    MT_TRY(mt_merge_part_open(path, true, &part, err));
    if (sqlite3_exec(part, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) { /* one state of it: its task may be running */
        st = mt_sql_fail_handle(part, path, "read", err);
        goto done;
    }
    MT_TRY(check_structure(part, path, err));
    MT_TRY(check_values(part, path, err));
    if (callback) MT_TRY(tell_kernels(part, path, callback, context, err));
    st = mt_merge_number(part, path, "SELECT ifnull(min(created_unix_ms), 9223372036854775807) FROM measurement", "read measurements", oldest_unix_ms, err);
done:
    sqlite3_close(part);
    return st;
}
