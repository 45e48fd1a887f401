#include "db/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static mt_status run_literal(mt_store *store, const char *literal, const char *what, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_status st = mt_sql_cached_get(store, literal, &statement, err);
    if (st != MT_OK) return st;
    mt_sql_args args = mt_sql_args_of(statement);
    return mt_sql_run(store, &args, what, err);
}

/* SQLite gives up a whole transaction by itself on some errors (disk full, …); then there is nothing left to roll back to. */
static void notice_lost_transaction(mt_store *store)
{
    if (sqlite3_get_autocommit(store->db)) store->depth = 0;
}

/* SQLite would go on writing into a file that nobody can open any more. */
static bool has_moved(const mt_store *store)
{
    int moved = 0;
    return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

mt_status mt_tx_begin(mt_store *store, mt_error *err)
{
    if (!store->depth && has_moved(store)) return MT_FAIL(err, MT_ERR_DB, "%s: was removed, renamed or replaced while it was in use: what is stored from now on would be lost", store->path);
    if (store->read_only) return MT_FAIL(err, MT_ERR_DB, "%s: is open for reading only", store->path);
    mt_status st = store->depth ? run_literal(store, "SAVEPOINT inner_transaction", "begin", err)
                                : run_literal(store, "BEGIN IMMEDIATE", "begin writing", err);
    if (st == MT_OK) store->depth++;
    return st;
}

static void roll_back(mt_store *store)
{
    notice_lost_transaction(store);
    if (store->depth > 1) {
        sqlite3_exec(store->db, "ROLLBACK TO inner_transaction; RELEASE inner_transaction", NULL, NULL, NULL);
        store->depth--;
    } else if (store->depth == 1) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        store->depth = 0;
    }
    store->subject_id = 0; /* may have been inserted by what is undone */
}

mt_status mt_tx_end(mt_store *store, mt_status st, mt_error *err)
{
    if (st == MT_OK) {
        st = store->depth > 1 ? run_literal(store, "RELEASE inner_transaction", "commit", err) : run_literal(store, "COMMIT", "commit", err);
        if (st == MT_OK) {
            store->depth--;
            return MT_OK;
        }
    }
    roll_back(store);
    return st;
}

mt_status mt_store_begin(mt_store *store, mt_error *err)
{
    return mt_tx_begin(store, err);
}

mt_status mt_store_commit(mt_store *store, mt_error *err)
{
    if (store->depth == 0) return MT_FAIL(err, MT_ERR_DB, "%s: nothing to commit", store->path);
    return mt_tx_end(store, MT_OK, err);
}

void mt_store_rollback(mt_store *store)
{
    roll_back(store);
}

/* --- check -------------------------------------------------------------------------------------------------------------------------- */

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
    MT_TRY(run_check(store, "SELECT 'answer', a.subject_id, 'best' FROM answer a LEFT JOIN best b USING (subject_id) WHERE b.measurement_id IS NOT a.measurement_id LIMIT 1", NULL, err));
done:
    return st;
}

mt_status mt_store_relax(mt_store *store, mt_error *err)
{
    return mt_sql_exec(store, "PRAGMA synchronous = NORMAL", err);
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
