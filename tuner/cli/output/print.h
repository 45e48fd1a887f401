/* Printing for people: text that can't steer the terminal, times, knobs, aligned tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tuner/base/strbuf.h"
#include "tuner/cli/output/color.h"

enum { MT_PRINT_TIME_SIZE = 32, MT_PRINT_ENERGY_SIZE = 48, MT_PAGE_COLUMNS = 100 /* what a printed line fits where it can */ };

/* Says on stdout what a command has done, unless --quiet was given. One thread. */
void mt_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mt_be_quiet(bool quiet);
bool mt_is_quiet(void);

/* "387.24 µs": microseconds always, so that columns compare; at least four digits. "-" for what is not finite. Returns out. */
const char *mt_print_us(double ns, char *out, size_t size);
/* "1.43 × as fast as", or "as fast as" where the ratio rounds to 1.00. Returns out. */
enum { MT_PRINT_SPEED_SIZE = 48 };
const char *mt_print_speed(double ratio, char out[MT_PRINT_SPEED_SIZE]);
/* "12.34 mJ ± 0.05 mJ", in µJ, mJ or J. Returns out. */
const char *mt_print_energy(double uj, double error_uj, char *out, size_t size);
/* "387.24 µs ± 0.31 µs": the larger half of the interval. Returns out. */
const char *mt_print_interval(double median_ns, double low_ns, double high_ns, char *out, size_t size);
/* Seconds as "0.8 s", "43 s", "3 min 20 s", "2 h 05 min". Returns out. */
const char *mt_print_seconds(double seconds, char *out, size_t size);
/* How long the rest of `total` takes at the rate of what was measured in so many seconds; "" where that is not known, or nothing is left. Returns out. */
const char *mt_print_left(size_t done, size_t total, size_t measured, double seconds, char out[MT_PRINT_TIME_SIZE]);
/* Adds `text` as one line: white space becomes a space, what mt_text_is_shown refuses a '?';
 * white space at the end is dropped; at most max_columns characters, then "…" (0 = no limit). NULL adds nothing. */
void mt_print_clean(mt_strbuf *buf, const char *text, size_t max_columns);
/* "CPB=8", cleaned; a value that is empty or has blanks in quotes: TYPE="unsigned int". */
void mt_print_knob(mt_strbuf *buf, const char *knob, size_t length);
/* "ALGO=direct;CPB=8" → "ALGO=direct CPB=8". */
void mt_print_knobs(mt_strbuf *buf, const char *variant);
/* The variant that is listed so, as it is stored, "ALGO=a;BLOCK=64"; what is stored so is left as it is. mt_free; NULL = out of memory. */
char *mt_print_unlisted(const char *knobs);
/* The tool as it was started ("build/bin/msda-tune"), quoted where a shell needs it: what a command that people copy begins with, since the tool need not be on PATH. */
void mt_print_program(mt_strbuf *command);
/* " --db FILE", the value quoted where a shell needs it, for commands that people copy; NULL adds nothing. */
void mt_print_option(mt_strbuf *command, const char *option, const char *value);
/* Characters of UTF-8 text. */
size_t mt_print_columns(const char *text);

/* Prints `text`, one paragraph, on lines of at most MT_PAGE_COLUMNS columns, each ended; those behind the first begin with `indent` spaces. A line ends at a space, or, with `behind`, only at a space
 * behind one of these characters; a word that is longer than a line also behind a ';'. What has no such place stands on a longer line. */
void mt_print_wrapped(FILE *out, const char *text, size_t indent, const char *behind);

typedef struct mt_table_item {
    char *text; /* owned */
    mt_color color;
} mt_table_item;

/* An aligned table: cells are added row by row. A cell that makes the table fail (memory) makes printing print nothing. */
typedef struct mt_table {
    size_t columns;
    const char *right; /* one character per column: 'r' = right aligned, else left; may be NULL */
    bool wraps;        /* the last column is broken at spaces where a row is wider than the page; where others leave little room it goes below them */
    mt_table_item *cells; /* columns × rows, the first row is the heading */
    size_t count, capacity;
    bool failed;
} mt_table;
void mt_table_cell(mt_table *table, const char *text); /* copied; cleaned */
void mt_table_cellf(mt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mt_table_color(mt_table *table, mt_color color); /* of the cell added last; not of one in the last column of a table that wraps */
size_t mt_table_width(const mt_table *table); /* columns of its widest row; 0 where memory ran out */
void mt_table_print(const mt_table *table, FILE *out, const char *indent);
void mt_table_free(mt_table *table);
