/* Statements of a store: prepared once, bound by position, errors with the database's path and SQLite's own words. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/store/row_check.h"
#include "db/store/store.h"

typedef struct mt_sql_cached {
    const char *text; /* compared by address: string literals only */
    sqlite3_stmt *statement;
} mt_sql_cached;

/* Describes the handle's last failure: "PATH: WHAT: sqlite3_errmsg". */
mt_status mt_sql_fail(const mt_store *store, const char *what, mt_error *err);
/* The same for a bare handle. Adds what a person can do about locked, full, damaged and read-only files. */
mt_status mt_sql_fail_handle(sqlite3 *db, const char *path, const char *what, mt_error *err);

/* A statement that stays prepared until the store closes, reset and unbound. Not for statements that are stepped while callbacks run:
 * a callback may use the same one. */
mt_status mt_sql_cached_get(mt_store *store, const char *literal, sqlite3_stmt **statement, mt_error *err);
/* A statement that the caller finalizes. */
mt_status mt_sql_prepare(mt_store *store, const char *text, sqlite3_stmt **statement, mt_error *err);
/* Runs statements that need no values, one after another. */
mt_status mt_sql_exec(mt_store *store, const char *text, mt_error *err);

/* Binds values from left to right. A failure sticks and is reported by the next mt_sql_run or mt_sql_row. Texts and blobs are not copied. */
typedef struct mt_sql_args {
    sqlite3_stmt *statement;
    int bound;
    int code;
    mt_row_values *row; /* notes what is bound; NULL = nobody asks */
} mt_sql_args;

mt_sql_args mt_sql_args_of(sqlite3_stmt *statement);
/* For an INSERT INTO main.TABLE (columns) VALUES (?, …) that makes a row. What breaks the rules of rows (db/row_rules.h) is not stored: running it is a DB error then, and mt_store_refused_row says so.
 * `row` lives as long as the arguments. */
mt_sql_args mt_sql_args_row(sqlite3_stmt *statement, mt_row_values *row);
void mt_sql_int(mt_sql_args *args, int64_t value);
void mt_sql_real(mt_sql_args *args, double value);                     /* NaN = NULL */
void mt_sql_text(mt_sql_args *args, const char *text);                 /* NULL = NULL */
/* At most 256 KiB of it, whole characters. NULL is NULL. */
void mt_sql_note(mt_sql_args *args, const char *text);
void mt_sql_blob(mt_sql_args *args, const void *bytes, size_t count);  /* NULL = NULL */
void mt_sql_null(mt_sql_args *args);

/* Steps to the end and resets. For statements that return nothing. */
mt_status mt_sql_run(mt_store *store, const mt_sql_args *args, const char *what, mt_error *err);
/* Steps once. *row says whether there is a row; without one the statement is reset. */
mt_status mt_sql_row(mt_store *store, const mt_sql_args *args, bool *row, const char *what, mt_error *err);
/* For `while (mt_sql_next(…))`: whether there is another row. Asks nothing unless *st is MT_OK; a failure goes there. */
bool mt_sql_next(mt_store *store, const mt_sql_args *args, const char *what, mt_status *st, mt_error *err);
/* One row with one integer, then resets; `fallback` where there is no row. */
mt_status mt_sql_value(mt_store *store, const mt_sql_args *args, int64_t fallback, int64_t *value, const char *what, mt_error *err);

/* ---- one statement, one call ---- */

typedef struct mt_sql_in {
    enum { MT_SQL_END, MT_SQL_INT, MT_SQL_REAL, MT_SQL_TEXT, MT_SQL_NOTE, MT_SQL_BLOB } type;
    int64_t integer;
    double real;
    const void *bytes; /* NULL = NULL */
    size_t size;
} mt_sql_in;
typedef struct mt_sql_out {
    enum { MT_SQL_TO_NONE, MT_SQL_TO_INT, MT_SQL_TO_BOOL, MT_SQL_TO_REAL, MT_SQL_TO_TEXT } type;
    int64_t *integer; /* NULL, and no row, are 0 */
    bool *is;         /* … false */
    double *real;     /* … NAN */
    char **text;      /* … NULL; else the caller's */
} mt_sql_out;
#define MT_INT(value) {.type = MT_SQL_INT, .integer = (value)}
#define MT_ID(value) {.type = (value) ? MT_SQL_INT : MT_SQL_TEXT, .integer = (value)} /* 0 = NULL */
#define MT_REAL(value) {.type = MT_SQL_REAL, .real = (value)}
#define MT_TEXT(value) {.type = MT_SQL_TEXT, .bytes = (value)}
#define MT_NOTE(value) {.type = MT_SQL_NOTE, .bytes = (value)} /* cut as by mt_sql_note */
#define MT_BLOB(value, count) {.type = MT_SQL_BLOB, .bytes = (value), .size = (count)}
#define MT_IN(...) ((const mt_sql_in[]){__VA_ARGS__, {.type = MT_SQL_END}})
#define MT_TO_INT(to) {.type = MT_SQL_TO_INT, .integer = (to)}
#define MT_TO_BOOL(to) {.type = MT_SQL_TO_BOOL, .is = (to)}
#define MT_TO_REAL(to) {.type = MT_SQL_TO_REAL, .real = (to)}
#define MT_TO_TEXT(to) {.type = MT_SQL_TO_TEXT, .text = (to)}
#define MT_OUT(...) ((const mt_sql_out[]){__VA_ARGS__, {.type = MT_SQL_TO_NONE}})
#define MT_NO_IN ((const mt_sql_in[]){{.type = MT_SQL_END}})
/* Binds MT_IN(…) from left to right and puts the columns of the first row into MT_OUT(…). The statement is a cached one. On failure the outputs are as without a row.
 *
 *     return mt_sql_one(store, "SELECT value FROM metric WHERE measurement_id = ? AND name = ?", "read a metric", MT_IN(MT_INT(id), MT_TEXT(name)), MT_OUT(MT_TO_REAL(value)), err); */
mt_status mt_sql_one(mt_store *store, const char *literal, const char *what, const mt_sql_in *in, const mt_sql_out *out, mt_error *err);
/* Runs a statement that returns nothing, a cached one. A row that it inserts keeps the rules of rows, as with mt_sql_args_row. */
mt_status mt_sql_do(mt_store *store, const char *literal, const char *what, const mt_sql_in *in, mt_error *err);

/* The rows of a query. Its statement is no cached one, so that callbacks may use the store meanwhile.
 *
 *     mt_sql_args rows = mt_sql_query(store, "SELECT key FROM shape WHERE kernel_id = ?", MT_IN(MT_INT(kernel)), &st, err);
 *     while (mt_sql_each(store, &rows, "read shapes", &st, err)) st = callback(context, mt_sql_column(rows.statement, 0), err);
 *     return st;
 *
 * mt_sql_each asks nothing unless *st is MT_OK, and a failure goes there. Where it returns false it has finalized the statement. */
mt_sql_args mt_sql_query(mt_store *store, const char *text, const mt_sql_in *in, mt_status *st, mt_error *err);
bool mt_sql_each(mt_store *store, mt_sql_args *rows, const char *what, mt_status *st, mt_error *err);

/* Whether the last row that was to be stored broke the rules, which is the row's fault and leaves the store as it was. */
bool mt_store_refused_row(const mt_store *store);

/* Columns of the row at hand. A text that is NULL where the schema says NOT NULL (a hostile file) reads as "". */
const char *mt_sql_column(sqlite3_stmt *statement, int column);
const char *mt_sql_column_or_null(sqlite3_stmt *statement, int column);
double mt_sql_column_real(sqlite3_stmt *statement, int column); /* NULL is NAN */
