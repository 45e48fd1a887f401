/* The rules of rows (db/row_rules.h) where rows are written, and how those that break one are named. */
#ifndef MT_DB_STORE_ROW_CHECK_H
#define MT_DB_STORE_ROW_CHECK_H

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

#endif
