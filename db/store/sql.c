#include "db/store/sql.h"

#include <math.h>
#include <string.h>

#include "db/store/store_internal.h"

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return " (another process holds the file; waited 30 s)";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return " (the file is damaged, or no database)";
    case SQLITE_FULL: return " (no space left)";
    case SQLITE_READONLY: return " (the file or its folder is not writable)";
    default: return "";
    }
}

mt_status mt_sql_fail_handle(sqlite3 *db, const char *path, const char *what, mt_error *err)
{
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    if ((code & 0xff) == SQLITE_NOMEM) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: %s: out of memory", path, what);
    return MT_FAIL(err, MT_ERR_DB, "%s: %s: %s%s", path, what, sqlite3_errmsg(db), advice(code));
}

mt_status mt_sql_fail(const mt_store *store, const char *what, mt_error *err)
{
    return mt_sql_fail_handle(store->db, store->path, what, err);
}

mt_status mt_sql_prepare(mt_store *store, const char *text, sqlite3_stmt **statement, mt_error *err)
{
    if (sqlite3_prepare_v2(store->db, text, -1, statement, NULL) == SQLITE_OK) return MT_OK;
    return mt_sql_fail(store, "prepare", err);
}

mt_status mt_sql_cached_get(mt_store *store, const char *literal, sqlite3_stmt **statement, mt_error *err)
{
    for (size_t i = 0; i < store->statement_count; i++) {
        mt_sql_cached *slot = &store->statements[i];
        if (slot->text != literal) continue;
        sqlite3_reset(slot->statement); /* an earlier failure has been reported where it happened */
        sqlite3_clear_bindings(slot->statement);
        *statement = slot->statement;
        return MT_OK;
    }
    if (store->statement_count == MT_STORE_STATEMENTS) return MT_FAIL(err, MT_ERR_DB, "%s: too many statements", store->path);
    if (sqlite3_prepare_v3(store->db, literal, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK) {
        return mt_sql_fail(store, "prepare", err);
    }
    store->statements[store->statement_count++] = (mt_sql_cached){.text = literal, .statement = *statement};
    return MT_OK;
}

mt_status mt_sql_exec(mt_store *store, const char *text, mt_error *err)
{
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK) return MT_OK;
    return mt_sql_fail(store, text, err);
}

mt_sql_args mt_sql_args_of(sqlite3_stmt *statement)
{
    return (mt_sql_args){.statement = statement};
}

mt_sql_args mt_sql_args_row(sqlite3_stmt *statement, mt_row_values *row)
{
    return (mt_sql_args){.statement = statement, .row = row};
}

static void bound(mt_sql_args *args, int code, mt_row_value value)
{
    if (args->code == SQLITE_OK) args->code = code;
    if (args->row && args->bound <= MT_ROW_COLUMNS) args->row->values[args->bound - 1] = value;
}

void mt_sql_int(mt_sql_args *args, int64_t value)
{
    bound(args, sqlite3_bind_int64(args->statement, ++args->bound, value), (mt_row_value){.type = MT_ROW_VALUE_INTEGER, .integer = value});
}

void mt_sql_null(mt_sql_args *args)
{
    bound(args, sqlite3_bind_null(args->statement, ++args->bound), (mt_row_value){.type = MT_ROW_VALUE_NULL});
}

void mt_sql_real(mt_sql_args *args, double value)
{
    if (isnan(value)) mt_sql_null(args);
    else bound(args, sqlite3_bind_double(args->statement, ++args->bound, value), (mt_row_value){.type = MT_ROW_VALUE_REAL, .real = value});
}

static void bind_text(mt_sql_args *args, const char *text, size_t count)
{
    if (!text) mt_sql_null(args);
    else bound(args, sqlite3_bind_text64(args->statement, ++args->bound, text, count, SQLITE_STATIC, SQLITE_UTF8), (mt_row_value){.type = MT_ROW_VALUE_TEXT, .text = text, .size = count});
}

void mt_sql_text(mt_sql_args *args, const char *text)
{
    bind_text(args, text, text ? strlen(text) : 0);
}

void mt_sql_note(mt_sql_args *args, const char *text)
{
    enum { LONGEST = 256 << 10 };
    _Static_assert((int)LONGEST <= (int)MT_ROW_NOTE_LIMIT, "as the rules of rows allow");
    size_t length = text ? strlen(text) : 0;
    if (length > LONGEST) {
        length = LONGEST;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80) length--; /* not inside a character */
    }
    bind_text(args, text, length);
}

void mt_sql_blob(mt_sql_args *args, const void *bytes, size_t count)
{
    if (!bytes) mt_sql_null(args);
    else bound(args, sqlite3_bind_blob64(args->statement, ++args->bound, bytes, count, SQLITE_STATIC), (mt_row_value){.type = MT_ROW_VALUE_BLOB, .text = bytes, .size = count});
}

static mt_status check_row(mt_store *store, const mt_sql_args *args, mt_error *err)
{
    char why[600];
    int count = args->bound < MT_ROW_COLUMNS ? args->bound : MT_ROW_COLUMNS;
    store->is_row_refused = !mt_row_insert_is_sound(sqlite3_sql(args->statement), args->row, count, why, sizeof why);
    return store->is_row_refused ? MT_FAIL(err, MT_ERR_DB, "%s: %s", store->path, why) : MT_OK;
}

bool mt_store_refused_row(const mt_store *store)
{
    return store->is_row_refused;
}

mt_status mt_sql_row(mt_store *store, const mt_sql_args *args, bool *row, const char *what, mt_error *err)
{
    *row = false;
    if (args->code != SQLITE_OK) return mt_sql_fail(store, what, err);
    if (args->row) {
        mt_status sound = check_row(store, args, err);
        if (sound != MT_OK) return sound;
    }
    int code = sqlite3_step(args->statement);
    if (code == SQLITE_ROW) {
        *row = true;
        return MT_OK;
    }
    mt_status st = code == SQLITE_DONE ? MT_OK : mt_sql_fail(store, what, err); /* before the reset: it may change the message */
    sqlite3_reset(args->statement);
    return st;
}

mt_status mt_sql_run(mt_store *store, const mt_sql_args *args, const char *what, mt_error *err)
{
    bool row = true;
    mt_status st = MT_OK;
    while (st == MT_OK && row) st = mt_sql_row(store, args, &row, what, err);
    return st;
}

bool mt_sql_next(mt_store *store, const mt_sql_args *args, const char *what, mt_status *st, mt_error *err)
{
    bool row = false;
    if (*st == MT_OK) *st = mt_sql_row(store, args, &row, what, err);
    return *st == MT_OK && row;
}

mt_status mt_sql_value(mt_store *store, const mt_sql_args *args, int64_t fallback, int64_t *value, const char *what, mt_error *err)
{
    bool row;
    *value = fallback;
    mt_status st = mt_sql_row(store, args, &row, what, err);
    if (st == MT_OK && row) {
        *value = sqlite3_column_int64(args->statement, 0);
        sqlite3_reset(args->statement); /* an open read would keep the WAL from being checkpointed */
    }
    return st;
}

const char *mt_sql_column_or_null(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

const char *mt_sql_column(sqlite3_stmt *statement, int column)
{
    const char *text = mt_sql_column_or_null(statement, column);
    return text ? text : "";
}

double mt_sql_column_real(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}
