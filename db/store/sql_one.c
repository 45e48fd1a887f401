/* One row by one look: bound, stepped, read and reset. */
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

mt_status mt_sql_one(mt_store *store, const char *literal, const char *what, const mt_sql_in *in, const mt_sql_out *out, mt_error *err)
{
    bool row, is_whole = true;
    sqlite3_stmt *statement;
    clear(out);
    mt_status st = mt_sql_cached_get(store, literal, &statement, err);
    if (st != MT_OK) return st;
    mt_sql_args args = mt_sql_args_of(statement);
    for (; in->type != MT_SQL_END; in++) {
        if (in->type == MT_SQL_INT) mt_sql_int(&args, in->integer);
        else mt_sql_text(&args, in->text);
    }
    st = mt_sql_row(store, &args, &row, what, err);
    if (st != MT_OK || !row) return st;
    for (int i = 0; out[i].type != MT_SQL_TO_NONE; i++) is_whole = take(statement, i, &out[i]) && is_whole;
    sqlite3_reset(statement); /* an open read would keep the WAL from being checkpointed */
    if (is_whole) return MT_OK;
    forget_texts(out);
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: %s: out of memory", mt_store_path(store), what);
}
