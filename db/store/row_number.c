#include "db/store/row_number.h"

#include "db/store/store_internal.h"
#include "tuner/base/log.h"

enum { MOST = 100 }; /* of a table: each looks through all rows that could refer to it */

static const char *const numbered[] = {"device", "kernel", "shape", "workload", "toolchain", "variant", "subject", "session", "strike", "measurement", "anchor", "final_round"};

/* Runs an SQL text made by sqlite3_mprintf, NULL where there was no memory, and frees it. */
static mt_status run_made(mt_store *store, char *sql, mt_error *err)
{
    mt_status st = sql ? mt_sql_exec(store, sql, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", store->path);
    sqlite3_free(sql);
    return st;
}

/* The first column of the first row; 0 = there is none. */
static mt_status ask_made(mt_store *store, char *sql, int64_t *value, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    *value = 0;
    mt_status st = sql ? mt_sql_prepare(store, sql, &statement, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", store->path);
    if (st == MT_OK && sqlite3_step(statement) == SQLITE_ROW) *value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return st;
}

/* Columns that refer to the table. */
static const char children_sql[] =
    "SELECT m.name, f.\"from\" FROM main.sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND f.\"table\" = ? AND ifnull(f.\"to\", 'id') = 'id'";

/* A number that no row has and none refers to: what refers to a row that is gone must not refer to another one. */
static mt_status find_free(mt_store *store, const char *table, int64_t *number, mt_error *err)
{
    mt_status st;
    int64_t most;
    MT_TRY(ask_made(store, sqlite3_mprintf("SELECT max(id) FROM main.%s", table), number, err));
    mt_sql_args rows = mt_sql_query(store, children_sql, MT_IN(MT_TEXT(table)), &st, err);
    while (mt_sql_each(store, &rows, "find what refers to a row", &st, err)) {
        const char *child = mt_sql_column(rows.statement, 0), *column = mt_sql_column(rows.statement, 1);
        st = ask_made(store, sqlite3_mprintf("SELECT max(\"%w\") FROM main.\"%w\" WHERE typeof(\"%w\") = 'integer'", column, child, column), &most, err);
        if (st == MT_OK && most > *number) *number = most;
    }
    if (st == MT_OK && *number == INT64_MAX) st = MT_FAIL(err, MT_ERR_DB, "%s: no number is left for a row of %s", store->path, table);
    *number = *number < 1 ? 1 : *number + (*number < INT64_MAX);
done:
    return st;
}

static mt_status move_row(mt_store *store, const char *table, int64_t from, int64_t to, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, children_sql, MT_IN(MT_TEXT(table)), &st, err);
    while (mt_sql_each(store, &rows, "find what refers to a row", &st, err)) {
        const char *child = mt_sql_column(rows.statement, 0), *column = mt_sql_column(rows.statement, 1);
        st = run_made(store, sqlite3_mprintf("UPDATE main.\"%w\" SET \"%w\" = %lld WHERE \"%w\" = %lld", child, column, (long long)to, column, (long long)from), err);
    }
    return st == MT_OK ? run_made(store, sqlite3_mprintf("UPDATE main.%s SET id = %lld WHERE id = %lld", table, (long long)to, (long long)from), err) : st;
}

static mt_status mend_table(mt_store *store, const char *table, mt_error *err)
{
    mt_status st;
    int64_t count, from, to;
    MT_TRY(ask_made(store, sqlite3_mprintf("SELECT count(*) FROM main.%s WHERE id < 1", table), &count, err));
    for (int64_t i = 0; i < count && count <= MOST; i++) {
        MT_TRY(ask_made(store, sqlite3_mprintf("SELECT id FROM main.%s WHERE id < 1 ORDER BY id LIMIT 1", table), &from, err));
        MT_TRY(find_free(store, table, &to, err));
        MT_TRY(move_row(store, table, from, to, err));
        mt_log_warn("%s: row %lld of %s gets the number %lld: its own is none that a tuner gives", store->path, (long long)from, table, (long long)to);
    }
done:
    return st;
}

static mt_status is_any(mt_store *store, bool *is, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t count = 0;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered && st == MT_OK && !count; i++) st = ask_made(store, sqlite3_mprintf("SELECT count(*) FROM main.%s WHERE id < 1", numbered[i]), &count, err);
    *is = st == MT_OK && count > 0;
    return st;
}

void mt_row_numbers_mend(mt_store *store)
{
    mt_error ignored;
    bool is;
    if (is_any(store, &is, &ignored) != MT_OK || !is) return;
    mt_status st = mt_tx_begin(store, &ignored);
    if (st != MT_OK) return;
    st = mt_sql_exec(store, "PRAGMA defer_foreign_keys = ON", &ignored);
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered && st == MT_OK; i++) st = mend_table(store, numbered[i], &ignored);
    mt_tx_end(store, st, &ignored);
}
