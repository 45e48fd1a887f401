/* A report before it is a file: sections made of paragraphs, headline figures, tables and charts. Sections say what there is; format_*.c say how HTML, Markdown, CSV and JSON show
 * it, so that no section prints markup. All texts are copied. A failed allocation makes the document `failed` for good; the writer of the file checks once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/strbuf.h"

typedef enum mt_cell_kind {
    MT_CELL_TEXT,
    MT_CELL_NUMBER,  /* right-aligned, shown by the column's format; empty when not finite */
    MT_CELL_KNOBS,   /* a variant's canonical text */
    MT_CELL_CODE,    /* to be copied as it is; may have lines */
    MT_CELL_SUBJECT, /* a text that names the subject of the row: `number` is its place in mt_report_data */
    MT_CELL_TIME     /* milliseconds since 1970; 0 = empty */
} mt_cell_kind;

/* One column. The unit stands in the title; `format` shows numbers ("%.2f"; MT_DOC_US as `show` shows times), NULL = text. */
#define MT_DOC_US "us"
typedef struct mt_column {
    const char *title;
    const char *format;
} mt_column;

typedef struct mt_cell {
    mt_cell_kind kind;
    char *text;      /* owned; NULL for numbers and times */
    double number;
} mt_cell;

/* Rows of a table that stand together on a page, under a heading of their own. */
typedef struct mt_group {
    size_t cell;     /* the first of them */
    char *title, *note; /* owned */
    char *common;    /* owned; the knobs that the rows have in common, as a variant's text; "" = nothing to say */
    bool is_folded;  /* closed until it is asked for */
} mt_group;

typedef enum mt_block_kind { MT_BLOCK_NOTE, MT_BLOCK_FIGURE, MT_BLOCK_TABLE, MT_BLOCK_CHART } mt_block_kind;

typedef struct mt_block {
    mt_block_kind kind;
    char *name;               /* table, chart: identifier; figure: what it is of; note: the table that it explains, NULL = none */
    char *text;               /* note: the text; figure: the value; table: caption; chart: what it shows, in words */
    const mt_column *columns; /* table; static */
    size_t column_count;
    mt_cell *cells;           /* row by row */
    size_t cell_count, cell_capacity;
    size_t told;              /* leading columns that the groups' titles tell: files have them, a page does not repeat them */
    size_t shown;             /* columns behind those that a page shows; the rest is folded in each row. 0 = all */
    const char *folded;       /* what the page calls that rest; note: the same, where it is about columns of that rest; static; NULL = none */
    mt_group *groups;
    size_t group_count, group_capacity;
    mt_strbuf data;           /* chart: members of a JSON object, without its braces */
} mt_block;

typedef struct mt_doc_section {
    const char *name, *title; /* static */
    mt_block *blocks;
    size_t count, capacity;
} mt_doc_section;

typedef struct mt_doc {
    char *title, *source;     /* what is reported on: the database's path */
    mt_doc_section *sections;
    size_t count, capacity;
    mt_strbuf shared;         /* members of the JSON object that all charts share */
    int refresh_s;            /* a page is loaded again after so many seconds; 0 = never */
    bool failed;
} mt_doc; /* zero-initialise */

void mt_doc_free(mt_doc *doc);
bool mt_doc_is_ok(const mt_doc *doc); /* no allocation failed */

/* Everything below goes into the section begun last. Names and titles live as long as the document. */
void mt_doc_section_begin(mt_doc *doc, const char *name, const char *title);
void mt_doc_note(mt_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same about a table of the section: a shape's own page keeps it beside that table's rows of the shape, and no other notes. */
void mt_doc_note_on(mt_doc *doc, const char *table, const char *format, ...) __attribute__((format(printf, 3, 4)));
void mt_doc_figure(mt_doc *doc, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Begins a table; columns end with a NULL title. Its cells follow, row by row; a table without any is not shown. */
void mt_doc_table(mt_doc *doc, const char *name, const char *caption, const mt_column *columns);
/* Of the table begun last: a page leaves out the first `told` columns, shows the `shown` behind them, and folds the rest, row by row, under the word `folded`. */
void mt_doc_fold(mt_doc *doc, size_t told, size_t shown, const char *folded);
/* The rows that follow, up to the next group, stand under this title. `common` is what their knobs are told against, as a variant's text; it may be "". */
void mt_doc_group(mt_doc *doc, bool is_folded, const char *title, const char *note, const char *common);
/* The rows from number `row` on stand under this title. */
void mt_doc_split(mt_doc *doc, size_t row, bool is_folded, const char *title);
/* Orders the rows of the table begun last, which has one group at most, by keys[row], the least first; equal ones keep their order. */
void mt_doc_sort(mt_doc *doc, const double *keys);
void mt_doc_text(mt_doc *doc, const char *text); /* NULL = empty */
void mt_doc_textf(mt_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mt_doc_number(mt_doc *doc, double number);  /* NAN = empty */
void mt_doc_knobs(mt_doc *doc, const char *variant);
void mt_doc_code(mt_doc *doc, const char *text);
void mt_doc_subject(mt_doc *doc, size_t subject, const char *text); /* SIZE_MAX = not known: only text */
void mt_doc_time(mt_doc *doc, int64_t unix_ms);
void mt_doc_cuda(mt_doc *doc, int64_t version);  /* "13.0" for 13000; "?" for 0 */
/* What the columns of a table mean. A column without an entry is not shown on a page, and needs no words. */
typedef struct mt_explanation {
    const char *column; /* how its title begins; NULL = whatever columns have entries */
    const char *entry;  /* needed only where one begins so; NULL = any */
    const char *text;   /* sentences */
} mt_explanation;
/* A note of those that the table of this name, in the section begun last, needs, and one of those that its folded columns need; the list ends with a NULL text. No note where the table has no row. */
void mt_doc_explain(mt_doc *doc, const char *table, const mt_explanation *list);
bool mt_cell_is_empty(const mt_cell *cell);
/* A chart by its name in web/charts/. Returns where its data go: JSON members, "\"a\":1,\"b\":2". */
mt_strbuf *mt_doc_chart(mt_doc *doc, const char *name, const char *label);

/* Adds `,"name":` (the comma unless it is the first member). */
void mt_json_name(mt_strbuf *json, const char *name);
void mt_json_double(mt_strbuf *json, double value, int digits); /* null when not finite */
