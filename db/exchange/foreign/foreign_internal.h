/* Between the files foreign*.c: the parts of a search space as a reader finds them. */
#pragma once

#include "db/exchange/foreign/foreign.h"
#include "db/exchange/foreign/python.h"
#include "db/store/sql.h"

typedef struct mt_foreign {
    const char *name;         /* of the file */
    const char *text;         /* the document, JSON that SQLite takes */
    mt_store *parser;         /* an empty database, for SQLite's JSON functions */
    mt_foreign_about *about;
    mt_python_scope scope;    /* the parameters, then the file's constants */
    char **defaults;          /* one for each name of the scope, as text; NULL = the file does not say it */
    char *kernel;             /* the entry; NULL = unknown */
    mt_strbuf options;        /* of the compiler */
    mt_strbuf shape;          /* lines of [shape] */
    mt_strbuf constraints, args, calls /* of launch 1 */, launch, notes /* comments at the top */;
    bool has_output;
    mt_strbuf grid, block;    /* empty = missing */
    bool has_args;            /* the file lists them */
} mt_foreign;

/* "FILE: MEMBER: …". */
mt_status mt_foreign_fail(const mt_foreign *f, const char *member, mt_error *err, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A comment that says what to fill in, and counts. */
void mt_foreign_missing(mt_foreign *f, mt_strbuf *section, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A member of a JSON object: its type ("" = absent or null) and its value as text. NULs and what is no UTF-8 are refused. */
typedef struct mt_foreign_member {
    char type[8];
    char *text; /* mt_free; "" where absent */
} mt_foreign_member;
mt_status mt_foreign_get(const mt_foreign *f, const char *json, const char *path, mt_foreign_member *member, mt_error *err);
/* A parameter with this name, which must be one that a knob can have. */
mt_status mt_foreign_add_name(mt_foreign *f, const char *name, bool is_parameter, const char *member, mt_python_name **added, mt_error *err);
/* A value of JSON as text: a statement's columns `type`, SQLite's word for it, and behind it the value. A fraction has as many digits as it needs. mt_free; NULL = out of memory. */
char *mt_foreign_column(sqlite3_stmt *statement, int type);
/* The same as a value of the name. */
mt_status mt_foreign_add_value(const mt_foreign *f, mt_python_name *name, sqlite3_stmt *statement, int column, const char *member, mt_error *err);

mt_status mt_foreign_read_t1(mt_foreign *f, mt_error *err);
mt_status mt_foreign_read_t1_arguments(mt_foreign *f, mt_error *err); /* foreign_t1_args.c */
mt_status mt_foreign_read_cache(mt_foreign *f, mt_error *err);
mt_status mt_foreign_read_ktt(mt_foreign *f, mt_error *err);
/* The number of the parameter's default among its values; false: the file says none, or one that is no value. */
bool mt_foreign_default(const mt_foreign *f, size_t number, size_t *found);
/* An integer expression of Python, or the number that stands there. */
mt_status mt_foreign_integer(mt_foreign *f, const mt_foreign_member *value, const char *member, mt_strbuf *out, bool *reads_parameters, mt_error *err);
