#include "db/store/store.h"

#include "db/store/store_internal.h"
#include "tuner/base/file.h"

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
    mt_status st = store->depth ? mt_sql_do(store, "SAVEPOINT inner_transaction", "begin", MT_NO_IN, err)
                                : mt_sql_do(store, "BEGIN IMMEDIATE", "begin writing", MT_NO_IN, err);
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
        st = store->depth > 1 ? mt_sql_do(store, "RELEASE inner_transaction", "commit", MT_NO_IN, err) : mt_sql_do(store, "COMMIT", "commit", MT_NO_IN, err);
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

mt_status mt_store_relax(mt_store *store, mt_error *err)
{
    return mt_sql_exec(store, "PRAGMA synchronous = NORMAL", err);
}
