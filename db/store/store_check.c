/* Whether a database is sound, and making it one that is handed on. */
#include <string.h>

#include "db/store/current.h"
#include "db/store/store_internal.h"

/* Calls one of SQLite's checks; `good` is what a sound file answers in the first column (NULL = no row at all). */
static mt_status run_check(mt_store *store, const char *pragma, const char *good, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    MT_TRY(mt_sql_prepare(store, pragma, &statement, err));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const char *first = mt_sql_column(statement, 0);
        if (!good) {
            st = MT_FAIL(err, MT_ERR_DB, "%s: row %lld of table %s refers to a missing row of table %s", store->path,
                         (long long)sqlite3_column_int64(statement, 1), first, mt_sql_column(statement, 2));
        } else if (strcmp(first, good) != 0) {
            st = MT_FAIL(err, MT_ERR_DB, "%s: %s", store->path, first);
        }
    } else if (code != SQLITE_DONE) {
        st = mt_sql_fail(store, "check", err);
    }
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_store_check(mt_store *store, mt_error *err)
{
    mt_status st;
    MT_TRY(run_check(store, "PRAGMA integrity_check(1)", "ok", err));
    MT_TRY(run_check(store, "PRAGMA foreign_key_check", NULL, err));
    /* What no constraint can say: a winner is a validated row of its own subject. */
    MT_TRY(run_check(store, "SELECT 'best', b.subject_id, 'measurement' FROM best b JOIN measurement m ON m.id = b.measurement_id "
                     "WHERE m.outcome <> 'ok' OR m.subject_id <> b.subject_id LIMIT 1", NULL, err));
    MT_TRY(mt_current_check(store, err));
    MT_TRY(run_check(store, "SELECT 'answer', a.subject_id, 'best' FROM answer a LEFT JOIN best b USING (subject_id) WHERE b.measurement_id IS NOT a.measurement_id LIMIT 1", NULL, err));
done:
    return st;
}

/* Who imported a file, where and when is nobody's business who gets the database, and equal files are to make equal databases. What is kept: the file's name, and as the
 * time that of its newest row. */
static const char forget_imports[] =
    "UPDATE main.session SET host = '', boot_id = '', process_id = 0, space_path = replace(space_path, rtrim(space_path, replace(space_path, '/', '')), ''), "
    "started_unix_ms = ifnull((SELECT max(created_unix_ms) FROM measurement WHERE session_id = session.id), 0), "
    "ended_unix_ms = ifnull((SELECT max(created_unix_ms) FROM measurement WHERE session_id = session.id), 0) WHERE command = 'import'; "
    "UPDATE main.best SET updated_unix_ms = (SELECT created_unix_ms FROM measurement WHERE id = measurement_id) "
    "WHERE measurement_id IN (SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE s.command = 'import'); "
    "UPDATE main.answer SET updated_unix_ms = created_unix_ms WHERE measurement_id IN (SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE s.command = 'import')";

mt_status mt_store_seal(mt_store *store, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_sql_exec(store, forget_imports, err));
    MT_TRY(mt_sql_exec(store, "PRAGMA optimize", err));
    MT_TRY(mt_sql_exec(store, "PRAGMA temp_store = FILE; VACUUM", err)); /* else what was overwritten still stands between the rows; the copy is as large as the database */
    MT_TRY(run_check(store, "PRAGMA journal_mode = DELETE", "delete", err));
done:
    return st;
}
