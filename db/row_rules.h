/* What a row of the tuning database may hold. SQLite takes anything anywhere; these rules say what a tuner writes. row_rules.def states them column by column, once, and all that writes or
 * reads rows asks here: a row that breaks one is left out and named. libc only, no state; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_ROW_TIME_LEAST 1e-3   /* ns; nothing that runs is faster, and a ratio of two times stays a number */
#define MT_ROW_TIME_LIMIT 1e16   /* ns, four months; no time is longer */
#define MT_ROW_RATIO_LEAST 1e-19 /* of two such times: */
#define MT_ROW_RATIO_LIMIT 1e19
#define MT_ROW_FIGURE_LIMIT 1.7976931348623157e308 /* the largest finite number */
enum { MT_ROW_COLUMNS = 64 };    /* of a table, at most */
enum { MT_ROW_NOTE_LIMIT = 1 << 20 }; /* bytes of a text of several lines */
#define MT_ROW_DATE_LIMIT INT64_C(4102444800000) /* milliseconds since 1970: the year 2100; dates are below it */

typedef enum mt_row_value_type { MT_ROW_VALUE_NULL, MT_ROW_VALUE_INTEGER, MT_ROW_VALUE_REAL, MT_ROW_VALUE_TEXT, MT_ROW_VALUE_BLOB } mt_row_value_type;

/* A value as SQLite has it. */
typedef struct mt_row_value {
    mt_row_value_type type;
    int64_t integer;
    double real;
    const char *text; /* `size` bytes, not necessarily terminated; of a text or blob. Borrowed. */
    size_t size;
} mt_row_value;

typedef enum mt_row_kind {
#define KIND(name, expected) MT_ROW_##name,
#define WORDS(name, words) MT_ROW_##name,
#include "db/row_rules.def"
} mt_row_kind;

/* Names of columns for the compiler: places in mt_row_rules. */
typedef enum mt_row_column_id {
#define COLUMN(table, column, kind, null) MT_ROW_##table##_##column,
#include "db/row_rules.def"
    MT_ROW_COLUMN_COUNT
} mt_row_column_id;

typedef struct mt_row_column {
    const char *table, *name;
    mt_row_kind kind;
    bool is_required; /* not NULL */
} mt_row_column;

/* By mt_row_column_id: who knows at compile time which column it asks for need not look its name up. */
extern const mt_row_column mt_row_rules[MT_ROW_COLUMN_COUNT];
/* The columns of a table, in the schema's order, without id. *count 0: it has no rules. */
const mt_row_column *mt_row_columns(const char *table, size_t *count);
/* NULL: there are no rules for such a column. */
const mt_row_column *mt_row_column_find(const char *table, const char *name, size_t length);

bool mt_row_value_is_sound(const mt_row_column *column, const mt_row_value *value);
/* Writes "median_ns is -1; expected …" into `why`. The value's own bytes are shown as far as they can be printed. */
void mt_row_value_explain(const mt_row_column *column, const mt_row_value *value, char *why, size_t size);
/* Whether a whole row is sound: each value, and those that belong together (a time and a ratio within their own intervals, a time where the outcome has one). `values`: as many as the table has columns, in their
 * order. False writes the reason into `why`. */
bool mt_row_is_sound(const char *table, const mt_row_value *values, char *why, size_t size);
/* The same for who has asked mt_row_columns, which takes as long as the rest. */
bool mt_row_columns_are_sound(const mt_row_column *columns, size_t count, const mt_row_value *values, char *why, size_t size);

/* Samples of a measurement, rounds of a final: each is a time from 0 to MT_ROW_TIME_LIMIT. */
bool mt_row_times_are_sound(const float *ns, size_t count);

/* Of a timed row: its median lies in its interval, up to what rounding to nine digits does, and the interval is one. */
bool mt_row_interval_is_sound(double median, double low, double high);
