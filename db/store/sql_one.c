/* One statement by one call: bound, stepped, read and reset. */
#include <math.h>

#include "db/store/sql.h"
#include "tuner/base/alloc.h"

static void clear(const mt_sql_out *out)
{
    for (; out->type != MT_SQL_TO_NONE; out++) {
        switch (out->type) {
        case MT_SQL_TO_INT: *out->integer = 0; break;
        case MT_SQL_TO_BOOL: *out->is = false; break;
        case MT_SQL_TO_REAL: *out->real = NAN; break;
        default: *out->text = NULL; break;
        }
    }
}

static bool take(sqlite3_stmt *statement, int column, const mt_sql_out *out)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return true;
    switch (out->type) {
    case MT_SQL_TO_INT: *out->integer = sqlite3_column_int64(statement, column); return true;
    case MT_SQL_TO_BOOL: *out->is = sqlite3_column_int64(statement, column) != 0; return true;
    case MT_SQL_TO_REAL: *out->real = sqlite3_column_double(statement, column); return true;
    default: *out->text = mt_strdup(mt_sql_column(statement, column)); return *out->text != NULL;
    }
}

static void forget_texts(const mt_sql_out *out)
{
    for (const mt_sql_out *o = out; o->type != MT_SQL_TO_NONE; o++)
        if (o->type == MT_SQL_TO_TEXT) mt_free(*o->text);
    clear(out);
}

static void bind(mt_sql_args *args, const mt_sql_in *in)
{
    switch (in->type) {
    case MT_SQL_INT: mt_sql_int(args, in->integer); break;
    case MT_SQL_REAL: mt_sql_real(args, in->real); break;
    case MT_SQL_NOTE: mt_sql_note(args, in->bytes); break;
    case MT_SQL_BLOB: mt_sql_blob(args, in->bytes, in->size); break;
    default: mt_sql_text(args, in->bytes); break;
    }
}

/* The cached statement, bound. */
static mt_status start(mt_store *store, const char *literal, const mt_sql_in *in, mt_row_values *noted, mt_sql_args *args, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_status st = mt_sql_cached_get(store, literal, &statement, err);
    if (st != MT_OK) return st;
    *args = mt_sql_args_row(statement, noted);
    for (; in->type != MT_SQL_END; in++) bind(args, in);
    return MT_OK;
}

mt_sql_args mt_sql_query(mt_store *store, const char *text, const mt_sql_in *in, mt_status *st, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    *st = mt_sql_prepare(store, text, &statement, err);
    mt_sql_args rows = mt_sql_args_of(statement);
    for (; *st == MT_OK && in->type != MT_SQL_END; in++) bind(&rows, in);
    return rows;
}

bool mt_sql_each(mt_store *store, mt_sql_args *rows, const char *what, mt_status *st, mt_error *err)
{
    if (mt_sql_next(store, rows, what, st, err)) return true;
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
    return false;
}

mt_status mt_sql_do(mt_store *store, const char *literal, const char *what, const mt_sql_in *in, mt_error *err)
{
    mt_row_values noted;
    mt_sql_args args;
    mt_status st = start(store, literal, in, &noted, &args, err);
    return st == MT_OK ? mt_sql_run(store, &args, what, err) : st;
}

mt_status mt_sql_one(mt_store *store, const char *literal, const char *what, const mt_sql_in *in, const mt_sql_out *out, mt_error *err)
{
    bool row, is_whole = true;
    mt_sql_args args;
    clear(out);
    mt_status st = start(store, literal, in, NULL, &args, err);
    if (st == MT_OK) st = mt_sql_row(store, &args, &row, what, err);
    if (st != MT_OK || !row) return st;
    for (int i = 0; out[i].type != MT_SQL_TO_NONE; i++) is_whole = take(args.statement, i, &out[i]) && is_whole;
    sqlite3_reset(args.statement); /* an open read would keep the WAL from being checkpointed */
    if (is_whole) return MT_OK;
    forget_texts(out);
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: %s: out of memory", mt_store_path(store), what);
}
