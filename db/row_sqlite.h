/* A column of the row at hand as the rules of rows (db/row_rules.h) take it. The tuner's and the lookup library's. */
#pragma once

#include <sqlite3.h>

#include "db/row_rules.h"

/* Texts and blobs stay the statement's, until its next step. Types are asked before anything is read: reading converts. By sqlite3_value, which asks for the handle's lock once, and not with each call. */
static inline mt_row_value mt_row_value_at(sqlite3_stmt *row, int column)
{
    mt_row_value value = { MT_ROW_VALUE_NULL, 0, 0, "", 0 };
    sqlite3_value *is = sqlite3_column_value(row, column);
    switch (sqlite3_value_type(is)) {
    case SQLITE_INTEGER:
        value.type = MT_ROW_VALUE_INTEGER;
        value.integer = sqlite3_value_int64(is);
        break;
    case SQLITE_FLOAT:
        value.type = MT_ROW_VALUE_REAL;
        value.real = sqlite3_value_double(is);
        break;
    case SQLITE_TEXT:
        value.type = MT_ROW_VALUE_TEXT;
        value.text = (const char *)sqlite3_value_text(is);
        value.size = (size_t)sqlite3_value_bytes(is);
        break;
    case SQLITE_BLOB:
        value.type = MT_ROW_VALUE_BLOB;
        value.text = (const char *)sqlite3_value_blob(is);
        value.size = (size_t)sqlite3_value_bytes(is);
        break;
    default: break;
    }
    if (!value.text) value.text = "", value.size = 0; /* an empty blob */
    return value;
}
