/* Merging databases: the rows of one file into another, by content. The result holds the same rows whatever the order of the files, and merging a file
 * twice adds nothing. Only names of shapes and workloads, a kernel's expressions and a GPU's facts are those of the file that was first: where others have other names or expressions is told on stderr. mt_merge_rules says for each table what a row is known by and what its columns refer to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/store/store.h"

typedef struct mt_merge_options {
    bool with_cubins; /* code is as trusted as its file: left out unless asked for */
} mt_merge_options;

typedef struct mt_merge_counts {
    int64_t measurements, known; /* added; there already */
    int64_t sessions, subjects, cubins; /* added */
    int64_t cubins_left_out;
    int64_t rows_left_out; /* that break the rules of rows (db/row_rules.h), or refer to such a row or to none; named on stderr */
} mt_merge_counts;

/* Every state of every kernel's source that a file knows. */
typedef mt_status (*mt_merge_kernel_callback)(void *context, const char *name, const char *key, mt_error *err);
mt_status mt_merge_kernels(const char *path, mt_merge_kernel_callback callback, void *context, mt_error *err);

/* What is asked of a part beside being sound; zeroed: nothing. */
typedef struct mt_merge_expectation {
    const char *plan;                  /* of `msda-tune slurm`: DB error where a session is of another plan; those of none are no objection */
    mt_merge_kernel_callback callback; /* told its kernels once it is known to be sound */
    void *context;
} mt_merge_expectation;

/* NOT_FOUND or DB error unless the file at `path` can be merged: a tuning database of this schema or an older one (of which a copy is migrated) whose structure
 * is sound by SQLite's integrity_check; its rows are looked at when they are merged. USAGE when it is the file `into`, which need not be there.
 * *oldest_unix_ms: when its oldest measurement was made, INT64_MAX without any. Files that are merged in this order leave little to be put in order at the end. */
mt_status mt_merge_check(const char *into, const char *path, const mt_merge_expectation *expected, int64_t *oldest_unix_ms, mt_error *err);

/* DB error where a session in the database at `path` is of another plan of `msda-tune slurm`. */
mt_status mt_merge_check_plan(const char *path, const char *plan, mt_error *err);

typedef struct mt_merge mt_merge;
/* The store is borrowed and must be writable; it must not be used for anything else until mt_merge_end, and may be used again then. */
mt_status mt_merge_begin(mt_store *store, const mt_merge_options *options, mt_merge **merge, mt_error *err);
/* Adds the rows of the file at `path`, which is only read: all that keep the rules of rows, or none when it fails. `counts` is added to. Parts are committed together every half second; mt_merge_finish commits
 * the last ones. *is_part_bad: the failure is that file's own, and merging can go on with others. Table best stays as it was until mt_merge_finish. Memory: one row, 16 bytes for each row of the largest file that others refer to, and SQLite's page cache. */
mt_status mt_merge_part(mt_merge *merge, const char *path, mt_merge_counts *counts, bool *is_part_bad, mt_error *err);
/* How many of the parts that mt_merge_part has merged, the first ones, are committed: a failure can still undo the others. */
size_t mt_merge_committed(const mt_merge *merge);
/* After the parts, in one transaction: what counts as newest is by time and no longer by the order of merging; comparison points are chosen, winners picked anew.
 * Safe to repeat; a merge that was killed before it is completed by merging again. Memory: 16 bytes for each row of the variant that was measured most often, and the page cache. */
mt_status mt_merge_finish(mt_merge *merge, mt_error *err);
/* Parts that were not committed are undone. NULL is fine. */
void mt_merge_end(mt_merge *merge);

/* ---- the description, public for its test ---- */

typedef enum mt_merge_kind {
    MT_MERGE_ROWS,    /* copied */
    MT_MERGE_CUBINS,  /* copied when asked for */
    MT_MERGE_CHOSEN,  /* gathered, one of them is chosen at the end */
    MT_MERGE_DERIVED, /* made anew at the end */
    MT_MERGE_LOCAL    /* means something only to the file's own machine: not copied */
} mt_merge_kind;

typedef struct mt_merge_foreign { const char *column, *table; } mt_merge_foreign;

/* In SQL `name` is the column of the row that is there and `:name` that of the row which comes. */
typedef struct mt_merge_rule {
    const char *table;
    mt_merge_kind kind;
    bool has_id;                  /* column id, which other tables refer to; another number in each file */
    mt_merge_foreign foreign[6];  /* columns that hold ids of other tables */
    const char *match;            /* the row that is there is the same one */
    const char *wins, *replaces;  /* the one that comes is to replace these columns ("*" = all but id); NULL = never */
    bool is_named;                /* people call it by its column name: what it is called in the database that is merged into stays, and no two of a kernel are called the same */
} mt_merge_rule;

/* Tables in an order in which all that a row refers to comes before it. */
extern const mt_merge_rule mt_merge_rules[];
extern const size_t mt_merge_rule_count;
