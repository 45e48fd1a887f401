/* Between the files import*.c: a file of results taken apart. */
#pragma once

#include "db/exchange/json_scan.h"
#include "db/exchange/recording/import.h"
#include "db/store/sql.h"
#include "tuner/base/outcome.h"

enum { MT_IMPORT_KNOBS = 64, MT_IMPORT_NO_LEVEL = UINT16_MAX };

typedef struct mt_import_knob {
    char *name;
    char **values;           /* as text: "16", "0.5", "true", "float4" */
    size_t value_count, value_capacity;
    bool is_text;            /* some value is no integer */
    bool has_order;          /* the file lists its values */
} mt_import_knob;

typedef struct mt_import_row {
    uint16_t *levels;        /* by knob */
    mt_outcome_kind kind;
    char *text;              /* the file's word for a failure */
    double mean_ns;          /* what the file calls its time */
    float *sample_ns;
    uint32_t samples, marks; /* marks: runs that stand for a failure, and are no samples */
    int64_t compile_ns, validate_ns, time_ns, unix_ms;
} mt_import_row;

/* A row of a T4 file that this tool wrote, as a recording has it. */
typedef struct mt_import_own_line {
    int64_t subject;
    char *variant, *line;  /* owned */
    int64_t number;      /* of the file */
} mt_import_own_line;

typedef struct mt_import_own_lines {
    mt_import_own_line *lines;
    size_t count, capacity;
} mt_import_own_lines;

/* What such a file says of its only subject, where that is to have another name; NULL = "" */
typedef struct mt_import_own {
    char *line1;             /* of the recording */
    char *shape, *shape_key, *workload, *workload_key, *l2;
    char *standard, *baseline; /* variants that the others are compared with; NULL = none */
} mt_import_own;

struct mt_import {
    const char *name;        /* of the file */
    bool as_results;         /* a T4 file of this tool may be given another name */
    bool is_own;             /* it is one */
    mt_import_own own;       /* set if both */
    char *bytes;             /* owned; NULL when borrowed */
    const char *text;        /* what is read: bytes, or unpacked */
    size_t length;
    char *unpacked;
    mt_strbuf renamed;       /* about.renamed */
    mt_strbuf recording;     /* made of a T4 file of this tool */
    mt_import_about about;
    bool is_cut;             /* it ends behind the last result that is whole */
    char *gpu, *kernel, *problem, *unread_problem, *objective;
    mt_store *parser;        /* an empty database, for SQLite's JSON functions */
    mt_strbuf value;         /* the entry at hand */
    double unit_ns;          /* of the file's times */
    mt_import_knob knobs[MT_IMPORT_KNOBS];
    size_t knob_count;
    mt_import_row *rows;
    size_t row_count, row_capacity;
    size_t timeless;         /* rows that were left out for lack of a time */
    char *why_timeless;      /* of the first */
    size_t odd;              /* results that are taken for failures, though they name none */
    char *why_odd;           /* of the first */
};

/* "FILE:LINE: entry KEY: …". */
mt_status mt_import_fail(const mt_import *import, const mt_json_span *key, int64_t line, mt_error *err, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Copies the value into import->value and sees that it is JSON of this type ("object", "array"). */
mt_status mt_import_check(mt_import *import, const mt_json_span *key, const mt_json_span *value, const char *type, mt_error *err);
/* A statement of the parser with the text bound to ?1. */
mt_status mt_import_query(mt_import *import, const char *literal, const char *text, sqlite3_stmt **statement, mt_sql_args *args, mt_error *err);

mt_import_knob *mt_import_find_knob(mt_import *import, const char *name);
/* NULL: out of memory or too many; *err is set. */
mt_import_knob *mt_import_add_knob(mt_import *import, const char *name, mt_error *err);
/* The value's level; added if it is new. The statement's columns: `first` the JSON type, behind it the value. */
mt_status mt_import_level(mt_import *import, mt_import_knob *knob, sqlite3_stmt *statement, int first, const mt_json_span *key, int64_t line, uint16_t *level, mt_error *err);
/* An empty row at the end of import->rows, its levels not set. */
mt_status mt_import_add_row(mt_import *import, mt_import_row **row, mt_error *err);
/* Sees that every knob is set. */
mt_status mt_import_check_row(const mt_import *import, const mt_import_row *row, const mt_json_span *key, int64_t line, mt_error *err);
/* Takes the last row away again, which has no time; the text says what was expected. */
mt_status mt_import_drop_row(mt_import *import, const mt_json_span *key, int64_t line, const char *text, mt_error *err);
/* A value that is not what the format has; the text says what became of it. */
mt_status mt_import_note_odd(mt_import *import, const mt_json_span *key, int64_t line, mt_error *err, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A time of the file, which is a number. */
typedef struct mt_import_value {
    double number, unit_ns;
    const char *unit, *path;     /* path: where in import->value it stands, "$.time" */
    const mt_json_span *key;     /* the entry's; NULL = it has none */
    int64_t line;
} mt_import_value;
/* Makes it the row's mean, or makes the row a failure that such a number stands for. */
mt_status mt_import_time(mt_import *import, const mt_import_value *value, mt_import_row *row, mt_error *err);
mt_status mt_import_fail_as_mark(const mt_import *import, mt_import_row *row, const char *text, mt_error *err);
const char *mt_import_unit(const mt_import *import); /* "ms" */
/* "[1.5,2]" in the file's unit; "[[0,1.5],[0,2]]" is the same. `field` is the list's name. */
mt_status mt_import_samples(const mt_import *import, const char *json, const char *field, mt_import_row *row, const mt_json_span *key, int64_t line, mt_error *err);
double mt_import_mean(const mt_import_row *row); /* of its samples, in ns; 0 = it has none */
int64_t mt_import_unix_ms(mt_import *import, const char *timestamp); /* 0 = unreadable */
double mt_import_unit_ns(const char *unit);                          /* "ms", "milliseconds" … → 1e6; 0 = unknown */

/* import_own.c; import->value is the result at hand. */
mt_status mt_import_read_own(mt_import *import, mt_import_own_lines *own, const mt_json_span *value, mt_error *err);
mt_status mt_import_own_kind(mt_import *import, mt_outcome_kind *kind, mt_error *err);
/* import->value is the metadata. Refuses several subjects. */
mt_status mt_import_own_about(mt_import *import, const mt_json_span *metadata, mt_error *err);
/* Headers and lines in turns, into import->recording. */
mt_status mt_import_join_own(mt_import *import, mt_import_own_lines *own, const mt_json_span *metadata, mt_error *err);
void mt_import_own_lines_free(mt_import_own_lines *lines);

/* import_kernel_tuner.c; `cache` is positioned at the value of "cache". */
typedef struct mt_cache_spans {
    mt_json_span device, kernel, problem, objective, keys, params; /* text NULL = absent */
    mt_json_scan cache;
} mt_cache_spans;
mt_status mt_import_read_cache(mt_import *import, const mt_cache_spans *spans, mt_error *err);
/* import_t4.c; metadata.text NULL = absent. */
mt_status mt_import_read_t4(mt_import *import, const mt_json_span *metadata, mt_json_scan results, mt_error *err);
