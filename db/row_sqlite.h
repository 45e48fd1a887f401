/* A column of the row at hand as the rules of rows (db/row_rules.h) take it. The tuner's and the lookup library's. */
#ifndef MT_DB_ROW_SQLITE_H
#define MT_DB_ROW_SQLITE_H

#include <sqlite3.h>

#include "db/row_rules.h"

/* Texts and blobs stay the statement's, until its next step. Types are asked before anything is read: reading converts. */
static inline mt_row_value mt_row_value_at(sqlite3_stmt *row, int column)
{
    mt_row_value value = { MT_ROW_VALUE_NULL, 0, 0, NULL, 0 };
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        value.type = MT_ROW_VALUE_INTEGER;
        value.integer = sqlite3_column_int64(row, column);
        break;
    case SQLITE_FLOAT:
        value.type = MT_ROW_VALUE_REAL;
        value.real = sqlite3_column_double(row, column);
        break;
    case SQLITE_TEXT:
        value.type = MT_ROW_VALUE_TEXT;
        value.text = (const char *)sqlite3_column_text(row, column);
        value.size = (size_t)sqlite3_column_bytes(row, column);
        break;
    case SQLITE_BLOB:
        value.type = MT_ROW_VALUE_BLOB;
        value.text = (const char *)sqlite3_column_blob(row, column);
        value.size = (size_t)sqlite3_column_bytes(row, column);
        break;
    default: break;
    }
    if (!value.text) value.text = "", value.size = 0; /* an empty blob */
    return value;
}

#endif
