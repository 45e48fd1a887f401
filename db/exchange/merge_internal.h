/* What the files of merging share. Not for others: they include merge.h. */
#pragma once

#include "db/exchange/merge.h"
#include "db/store/known_knobs.h"
#include "db/store/store_internal.h"

enum { MT_MERGE_MAX_COLUMNS = MT_ROW_COLUMNS, MT_MERGE_MAX_RULES = 64, MT_MERGE_KNOBS = 64 };

/* ids of a table's rows in the part, ascending, and in the store. */
typedef struct mt_merge_ids {
    int64_t *from, *to;
    size_t count, from_capacity, to_capacity;
} mt_merge_ids;

/* A statement on the store that takes values of a row of the part. */
typedef struct mt_merge_query {
    sqlite3_stmt *statement;             /* NULL = the table has none */
    int parameter[MT_MERGE_MAX_COLUMNS]; /* that the column's value is bound to; 0 = not used */
} mt_merge_query;

/* How a table is merged, found out once for all parts. */
typedef struct mt_merge_table {
    const mt_merge_rule *rule;
    char target[64];                     /* the table that is written */
    const char *columns[MT_MERGE_MAX_COLUMNS]; /* without id */
    int refers[MT_MERGE_MAX_COLUMNS];    /* index of the rule whose ids the column holds; −1 = none */
    int count;
    mt_merge_query find, insert, update;
    mt_merge_query mend;                 /* of a row of the store that breaks the rules; none where it has no such rows */
    mt_merge_ids ids;                    /* of the part at hand */
} mt_merge_table;

struct mt_merge {
    mt_store *store;
    mt_merge_options options;
    mt_merge_table tables[MT_MERGE_MAX_RULES]; /* by rule */
    bool is_open;           /* a transaction holds parts that are not committed yet */
    int64_t opened_ns;
    size_t pending, committed; /* parts merged: in that transaction; for good */
    /* The part at hand. */
    const char *path;
    sqlite3 *part;
    mt_merge_counts *counts;
    mt_left_out left_out;
    int other_names;               /* shapes and workloads that have another name in the store */
    mt_known_knobs knobs[MT_MERGE_KNOBS]; /* of kernels of the store, by id modulo their number */
    bool has_mended;               /* a row of the store that broke the rules was replaced by its twin */
    bool is_part_at_fault;         /* it is the part that is at fault, and not the store */
};

mt_status mt_merge_no_memory(const char *path, mt_error *err);
/* Notes that the failure is the part's own; returns `st`. */
mt_status mt_merge_name_row(mt_merge *merge, mt_status st);
/* Prepares the statements of a rule's table on the store; what it leaves is freed by mt_merge_table_free in every case. */
mt_status mt_merge_table_prepare(mt_merge *merge, size_t rule, mt_error *err);
void mt_merge_table_free(mt_merge_table *table);
/* The rows of the part at hand into the store. */
mt_status mt_merge_table_rows(mt_merge *merge, size_t rule, mt_error *err);

/* What mt_merge_finish does once all parts are committed. */
mt_status mt_merge_order(mt_store *store, mt_error *err);

/* Opens a part for reading. `copies`: one of an older schema becomes a copy, migrated; else it is left as it is. */
mt_status mt_merge_part_open(const char *path, bool copies, sqlite3 **db, mt_error *err);
/* The first column of the first row of `sql`, which has one. */
mt_status mt_merge_number(sqlite3 *db, const char *path, const char *sql, const char *what, int64_t *value, mt_error *err);
