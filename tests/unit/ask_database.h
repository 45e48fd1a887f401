/* One question to a database file that other processes may be using, or may have been killed over. */
#pragma once

#include <sqlite3.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"

/* The first column of the first row, "" = NULL or no row. The caller frees it. */
static inline char *ask_database(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK); /* may have to recover a killed writer's log */
    sqlite3_busy_timeout(db, 100000);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    char *text = sqlite3_step(statement) == SQLITE_ROW ? mt_strdup((const char *)sqlite3_column_text(statement, 0)) : NULL;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text ? text : mt_strdup("");
}

/* −1 = NULL or no row. */
static inline int64_t ask_number(const char *path, const char *sql)
{
    char *text = ask_database(path, sql);
    int64_t number = text[0] ? atoll(text) : -1;
    mt_free(text);
    return number;
}
