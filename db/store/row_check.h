/* The rules of rows (db/row_rules.h) where rows are written, and how those that break one are named. */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "db/row_rules.h"

/* What an INSERT is given, noted while it is bound (mt_sql_args_row). */
typedef struct mt_row_values {
    mt_row_value values[MT_ROW_COLUMNS];
} mt_row_values;

/* Whether "INSERT … INTO table (columns) VALUES (?, …)" may be given `count` values, in the order of its columns. False writes the table's name and the reason into `why`. */
bool mt_row_insert_is_sound(const char *sql, const mt_row_values *row, int count, char *why, size_t size);

/* What numbers the rows of a table, for messages: "rowid", or a column where there are none. */
const char *mt_row_number_of(const char *table);
/* "SELECT number, column, column …, problem FROM main.table", all columns in the schema's order; problem: what contradicts it (db/row_relations.h), else NULL. */
struct mt_strbuf;
void mt_row_select(const char *table, struct mt_strbuf *sql);
/* A walk over all rows of that, ascending. Zeroed but for db and table; `db` is borrowed. */
typedef struct mt_row_walk {
    sqlite3 *db;
    const char *table;
    sqlite3_stmt *statement; /* the row at hand */
    int64_t place, row;      /* how many were there, and the number of the last */
} mt_row_walk;
/* SQLITE_ROW, SQLITE_DONE, or an error's code. SQLITE_TOOBIG: row `row` holds a value that is longer than may be read, which `why` says; the walk goes on behind it. */
int mt_row_walk_next(mt_row_walk *walk, char *why, size_t size);
void mt_row_walk_end(mt_row_walk *walk);
/* The row at hand of that. Samples are unpacked; `store`, of whichever file, lends what that takes. */
struct mt_store;
bool mt_row_at_hand_is_sound(struct mt_store *store, const char *table, sqlite3_stmt *statement, char *why, size_t size);
/* Whether nothing contradicts it; to ask once what it refers to is known to be there. */
bool mt_row_at_hand_agrees(sqlite3_stmt *statement, char *why, size_t size);

/* Rows of a file that are left out: the first ones are named on stderr, the others counted. Zeroed but for path = none yet. */
typedef struct mt_left_out {
    const char *path; /* borrowed; NULL: they are counted only */
    int64_t count;
} mt_left_out;
void mt_left_out_name(mt_left_out *left_out, const char *table, int64_t row, const char *why);
/* A line of a text file. */
void mt_left_out_line(mt_left_out *left_out, int64_t line, const char *why);
void mt_left_out_end(const mt_left_out *left_out); /* tells how many were not named */
