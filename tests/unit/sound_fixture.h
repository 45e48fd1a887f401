/* Whether a database is sound. */
#pragma once

#include <string.h>

#include "db/store/current.h"
#include "db/store/store_internal.h"

/* Calls one of SQLite's checks; `good` is what a sound file answers in the first column (NULL = no row at all). */
static inline mt_status run_check(mt_store *store, const char *pragma, const char *good, mt_error *err)
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

/* Whether the database is sound: integrity_check, foreign_key_check, and what tables say of each other; DB error with the first finding. */
static inline mt_status fixture_check(mt_store *store, mt_error *err)
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
