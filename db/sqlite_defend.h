/* Settings that keep a stranger's file from doing more than hold rows: the tuner's and the lookup library's, which share nothing else of SQLite. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "db/schema_text.h"

/* Before anything is read. value_bytes: of one text or blob; longer ones are SQLITE_TOOBIG. Options that the SQLite at hand doesn't know are refused by it, which is harmless. */
static inline void mt_sqlite_defend(sqlite3 *db, int value_bytes, int sql_bytes, int attached)
{
#ifdef SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
#endif
#ifdef SQLITE_DBCONFIG_DEFENSIVE
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
#endif
#ifdef SQLITE_DBCONFIG_DQS_DML
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
#endif
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
#endif
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, value_bytes);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, sql_bytes);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 200);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100000);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, attached);
}

/* The first read parses the whole schema, which takes half a minute for 100,000 tables: it is ended, as SQLITE_INTERRUPT, where there are far more than a tuning database has. */
enum { MT_SQLITE_OBJECTS = 1000 };
#define MT_SQLITE_TOO_MANY_OBJECTS "holds more tables and indexes than any tuning database does"

static inline int mt_sqlite_count_schema_steps(void *count)
{
    enum { CALLBACKS = 15 }; /* of a thousand steps each, of which a table or an index takes seven */
    return ++*(int *)count > CALLBACKS;
}

static inline int mt_sqlite_first_read(sqlite3 *db, const char *sql)
{
    int count = 0;
    sqlite3_progress_handler(db, 1000, mt_sqlite_count_schema_steps, &count);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    return code;
}

/* After the first read: what the schema holds that no tuning database does (views, triggers, virtual tables, generated columns, functions in CHECKs and indexes), into `out` as a sentence's
 * rest: "holds …". An empty text = nothing. Returns SQLite's code: SQLITE_OK when the schema could be read. */
static inline int mt_sqlite_strange(sqlite3 *db, char *out, size_t size)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT type, name, sql, ifnull(rootpage, 0) FROM sqlite_master", -1, &rows, NULL), count = 0;
    *out = '\0';
    while (code == SQLITE_OK && !*out && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(rows, 0), *name = (const char *)sqlite3_column_text(rows, 1);
        int is_plain = type && (strcmp(type, "table") == 0 || strcmp(type, "index") == 0) && sqlite3_column_int64(rows, 3) >= 2;
        const char *problem = is_plain ? mt_schema_text_problem((const char *)sqlite3_column_text(rows, 2)) : NULL;
        code = SQLITE_OK;
        if (!is_plain) snprintf(out, size, "holds views, triggers or virtual tables, which no tuning database does");
        else if (problem) snprintf(out, size, "holds %s (in %s %.60s), which no tuning database does", problem, type, name ? name : "");
        else if (++count > MT_SQLITE_OBJECTS) snprintf(out, size, MT_SQLITE_TOO_MANY_OBJECTS);
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
