/* Opening a part, and whether it is sound: a part is a stranger's file, and one that a full disk, a crash or a bad cable damaged must not become part of what is shipped. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "db/exchange/merge_internal.h"
#include "db/pack.h"
#include "db/store/open/migrate.h"
#include "db/store/open/store_file.h"
#include "tuner/base/job.h"

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
    if (sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) MT_LEAVE(mt_sql_fail_handle(copy, path, "copy", err));
    mt_store_file_defend(copy);
    st = mt_store_file_copy(*db, copy, path, err);
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
    if (mt_pack_is_name(path)) MT_LEAVE(MT_FAIL(err, MT_ERR_USAGE, "%s: is a pack, which has only what lookups need, and its code apart; merge the databases that it was made of", path));
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

static mt_status fail_damaged(const char *path, const char *what, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_DB, "%s: is damaged: %s", path, what);
}

/* What integrity_check says of a single value: that is for the rules of rows to judge, and no reason to refuse the others. */
static bool is_of_a_row(const char *finding)
{
    static const char *const starts[] = {"NULL value in ", "CHECK constraint failed in ", "NUMERIC value in ", "TEXT value in ", "non-"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(finding, starts[i], strlen(starts[i])) == 0) return strncmp(finding, "non-unique", strlen("non-unique")) != 0;
    return false;
}

static mt_status check_structure(sqlite3 *db, const char *path, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    int length = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, INT_MAX); /* values that are too long are a row's */
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1000000)", -1, &statement, NULL);
    while (code == SQLITE_OK && st == MT_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *finding = mt_sql_column(statement, 0);
        code = SQLITE_OK;
        if (strcmp(finding, "ok") != 0 && !is_of_a_row(finding)) st = fail_damaged(path, finding, err);
    }
    if (st == MT_OK && code != SQLITE_DONE) st = fail_damaged(path, sqlite3_errmsg(db), err);
    sqlite3_finalize(statement);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, length);
    return st;
}

static mt_status tell_kernels(sqlite3 *part, const char *path, mt_merge_kernel_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    int code = SQLITE_DONE;
    if (sqlite3_prepare_v2(part, "SELECT name, key FROM kernel ORDER BY name, key", -1, &statement, NULL) != SQLITE_OK) MT_LEAVE(mt_sql_fail_handle(part, path, "read kernels", err));
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

static mt_status check_plan(sqlite3 *part, const char *path, const char *plan, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    int code = sqlite3_prepare_v2(part, "SELECT DISTINCT plan FROM session WHERE plan IS NOT NULL", -1, &statement, NULL);
    while (code == SQLITE_OK && st == MT_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *other = mt_sql_column(statement, 0);
        code = SQLITE_OK;
        const char *task = strchr(plan, ':'), *task_there = strchr(other, ':');
        bool is_of_task = mt_job_is_of_part(other, path) && (!task || !task_there || strcmp(task, task_there) == 0);
        if (!mt_job_is_of_plan(other, plan))
            st = MT_FAIL(err, MT_ERR_DB, "%s: belongs to plan %.*s, expected plan %.*s: it was written in another folder's job; move it away, and its task begins anew", path, mt_job_plan_length(other), other, mt_job_plan_length(plan), plan);
        else if (!is_of_task)
            st = MT_FAIL(err, MT_ERR_DB, "%s: belongs to task %.60s of the plan, not to the one that it is named for; move it away, and that task begins anew", path, task_there + 1);
    }
    if (st == MT_OK && code != SQLITE_DONE) st = mt_sql_fail_handle(part, path, "read sessions", err);
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_merge_check_plan(const char *path, const char *plan, mt_error *err)
{
    sqlite3 *part = NULL;
    mt_status st;
    MT_TRY(mt_merge_part_open(path, false, &part, err));
    st = check_plan(part, path, plan, err);
done:
    sqlite3_close(part);
    return st;
}

mt_status mt_merge_check(const char *into, const char *path, const mt_merge_expectation *expected, int64_t *oldest_unix_ms, mt_error *err)
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
    if (expected->plan) MT_TRY(check_plan(part, path, expected->plan, err));
    if (expected->callback) MT_TRY(tell_kernels(part, path, expected->callback, expected->context, err));
    st = mt_merge_number(part, path, "SELECT ifnull(min(created_unix_ms), 9223372036854775807) FROM measurement", "read measurements", oldest_unix_ms, err);
done:
    sqlite3_close(part);
    return st;
}
