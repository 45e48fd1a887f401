/* Expressions of Python as other tuners' files have them: the values of a parameter, conditions, sizes. Parsed here, then evaluated (lists of values) or translated into expressions of search spaces.
 * A translation means exactly the same for all values that the names can have, or is refused; errors give the column and what was expected. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef enum mt_python_kind {
    MT_PYTHON_INT, MT_PYTHON_REAL, MT_PYTHON_TEXT, MT_PYTHON_BOOL, MT_PYTHON_NAME,
    MT_PYTHON_NEGATIVE, MT_PYTHON_NOT, MT_PYTHON_AND, MT_PYTHON_OR,
    MT_PYTHON_ARITHMETIC, /* + - * / % and p for **, q for // */
    MT_PYTHON_COMPARE,    /* < > = ! and l for <=, g for >= */
    MT_PYTHON_IN,         /* a in the list b */
    MT_PYTHON_CHOICE,     /* a if b else c */
    MT_PYTHON_CALL,       /* name(b), b a cell; math.ceil is ceil */
    MT_PYTHON_LIST,       /* of the cells a */
    MT_PYTHON_CELL,       /* a, then the cell b */
    MT_PYTHON_EACH,       /* [a for NAME in b if c] */
} mt_python_kind;

typedef struct mt_python_node {
    mt_python_kind kind;
    char op;
    int column;        /* 1-based */
    int64_t number;    /* INT, BOOL */
    const char *text;  /* NAME, CALL, EACH: the word; TEXT: between its quotes; REAL: as written */
    size_t length;
    int a, b, c;       /* nodes; 0 = none */
} mt_python_node;

typedef struct mt_python {
    const char *source; /* borrowed */
    mt_python_node *nodes;
    size_t count, capacity;
    int root;
} mt_python;

mt_status mt_python_parse(const char *source, mt_python *python, mt_error *err);
void mt_python_free(mt_python *python); /* also after an error */
bool mt_python_is(const mt_python_node *node, const char *word);
/* "column 3 of 'source': …". */
mt_status mt_python_fail(const mt_python *python, int node, mt_error *err, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- what names stand for ---- */

typedef struct mt_python_value {
    enum { MT_PYTHON_IS_INT, MT_PYTHON_IS_TEXT, MT_PYTHON_IS_REAL } kind;
    int64_t number;
    char *text;         /* TEXT, REAL: as written */
} mt_python_value;

/* A parameter with all its values; one value: a constant. */
typedef struct mt_python_name {
    char *name;
    mt_python_value *values;
    size_t count, capacity;
    bool is_text;       /* some value is no integer */
    bool is_parameter;
    bool is_used;       /* some translation reads it */
} mt_python_name;

typedef struct mt_python_scope {
    mt_python_name *names;
    size_t count, capacity;
} mt_python_scope;

mt_python_name *mt_python_find(const mt_python_scope *scope, const char *text, size_t length);
mt_status mt_python_add_value(mt_python_name *name, const mt_python_value *value, mt_error *err); /* a copy; twice the same counts once */
void mt_python_scope_free(mt_python_scope *scope);

/* "[1, 2] + list(range(32, 129, 32))" → values of `name`, which may read constants of the scope. */
mt_status mt_python_values(const mt_python *python, const mt_python_scope *scope, mt_python_name *name, mt_error *err);
/* Whether the condition holds where each parameter has the value chosen[its number]. */
mt_status mt_python_holds(const mt_python *python, const mt_python_scope *scope, const size_t *chosen, bool *holds, mt_error *err);
/* As an expression of search spaces: a condition, or an integer. */
mt_status mt_python_condition(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, mt_error *err);
mt_status mt_python_integer(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, bool *reads_parameters, mt_error *err);
