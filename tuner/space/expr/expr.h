/* Expressions of the search-space file → programs (db/program.h). C syntax, checked when parsed: names, kinds, string literals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "db/program.h"
#include "tuner/base/status.h"

typedef enum mt_type { MT_TYPE_INT, MT_TYPE_BOOL, MT_TYPE_STRING, MT_TYPE_LIST } mt_type;

/* What the parser may ask of its surroundings. */
typedef struct mt_expr_name {
    mt_type type;
    const char *const *values; /* STRING: the values it can have (checks literals; "did you mean"); may be NULL = anything */
    size_t value_count;
} mt_expr_name;

/* Fills *out and returns true when `name` may be used here. */
typedef bool (*mt_expr_lookup)(void *context, const char *name, mt_expr_name *out);
/* All names that may be used, for "did you mean"; returns the count and sets *names. NULL = no suggestions. */
typedef size_t (*mt_expr_names)(void *context, const char *const **names);

typedef struct mt_expr_scope {
    mt_expr_lookup lookup;
    mt_expr_names names;
    void *context;
    int column; /* at which the expression begins in its line, 1-based; 0: it can't be told, columns are counted in the expression */
} mt_expr_scope;

/* One parsed expression. `program` is loaded from `program_text`; its slots are bound by the owner (space.c). */
typedef struct mt_expr {
    char *source;       /* as written */
    char *program_text; /* stored in the database */
    mt_program *program;
    mt_type type;
    int line;
    int *columns; /* of each token of the program, 1-based in source; see mt_expr_column */
} mt_expr;

/* Parses source; `where` is "file:line" and stands in front of messages, which give the column and what was expected.
 * An expression without names is also evaluated once, so that 1 / 0 is refused here. */
mt_status mt_expr_parse(const char *where, const char *source, const mt_expr_scope *scope, mt_expr *out, mt_error *err);
void mt_expr_free(mt_expr *expr); /* zeroed struct is fine */
/* The column of source that the program's token `token` (from mt_program_eval) was made from; 0 when there is none. */
int mt_expr_column(const mt_expr *expr, size_t token);
/* What to write instead, behind the text of a failure at that token: "; floor_div(a, b) …" of a quotient that is no integer, else "". */
const char *mt_expr_advice(const mt_expr *expr, size_t token, mt_program_status status);
