/* What a source text says of other files: #include, __has_include, and the macros that may name a file. Conditions are not evaluated, no macro is expanded. The text is read as a compiler reads it: lines
 * that go on are joined first, then come comments and literals, raw ones too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

typedef enum mt_directive_kind {
    MT_DIRECTIVE_INCLUDE,
    MT_DIRECTIVE_INCLUDE_NEXT,
    MT_DIRECTIVE_PROBE,    /* __has_include("…"), __has_include_next(<…>) */
    MT_DIRECTIVE_ASK,      /* the same of anything else, or through a macro: `name` is the word that asks, what it asks for is at `rest` */
    MT_DIRECTIVE_DEFINE,   /* `name` is the macro; its parameters or its body are at `rest` */
    MT_DIRECTIVE_UNDEFINE, /* `name` is the macro */
    MT_DIRECTIVE_WORD      /* any other word of code, `name`; of a walk that tells words */
} mt_directive_kind;

typedef struct mt_directive {
    mt_directive_kind kind;
    const char *start;  /* in the text: the word include…, define, undef; the operand of __has_include */
    const char *end;    /* in the text: behind the operand */
    char form;          /* '"' or '<'; 0: a macro names the file */
    const char *name;   /* of the file, or of the macro; in the joined text, as `rest` is */
    size_t length;
    const char *rest;   /* behind the operand */
} mt_directive;

typedef struct mt_directive_walk {
    const char *text;   /* borrowed */
    char *joined;       /* owned; NULL: no line goes on, and the text is as good */
    size_t *joints;     /* owned: where lines were joined, each by where it is in the joined text and how many letters are gone up to there */
    size_t joint_count;
    const char *at;     /* in the joined text */
    bool is_inside;     /* behind the first letter of a line */
    bool tells_words;
    char *const *askers; /* borrowed: macros that ask for files; those with has_include in the name do anyway */
    size_t asker_count;
} mt_directive_walk;

mt_status mt_directive_open(const char *text, mt_directive_walk *walk, mt_error *err);
/* False at the end of the text. */
bool mt_directive_next(mt_directive_walk *walk, mt_directive *found);
void mt_directive_close(mt_directive_walk *walk); /* zeroed struct is fine */

/* Whether that word asks for files, as far as the walk knows, and whether one that does stands in the rest of the line. */
bool mt_directive_asks(const mt_directive_walk *walk, const char *word, size_t length);
bool mt_directive_asks_in(const mt_directive_walk *walk, const char *line);

/* The file or macro that begins at `at`, of a joined text: form, name, length and rest. False: something else does. */
bool mt_directive_name(const char *at, mt_directive *found);
/* Whether the word is a parameter of the macro whose name ends at `parameters`, "(x, y) …"; NULL: there is no macro. */
bool mt_directive_is_parameter(const char *parameters, const char *word, size_t length);
/* Whether the file's name leads out of a folder, so that a compiler that has other folders finds something else by it. */
bool mt_directive_leads_out(const char *name, size_t length);
/* Behind the blanks and comments at `at`, within its line. */
const char *mt_directive_blanks(const char *at);
/* The end of its line, which comments may continue. */
const char *mt_directive_line_end(const char *at);
/* The next file or macro in the line at *at, of a joined text: form, name, length and rest. False: there is none left. */
bool mt_directive_operand(const char **at, mt_directive *found);
