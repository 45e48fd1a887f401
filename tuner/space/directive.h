/* What a source text says of other files: #include, __has_include, and the macros that may name a file. Conditions are not evaluated, no macro is expanded. */
#ifndef MT_SPACE_DIRECTIVE_H
#define MT_SPACE_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum mt_directive_kind {
    MT_DIRECTIVE_INCLUDE,
    MT_DIRECTIVE_INCLUDE_NEXT,
    MT_DIRECTIVE_PROBE, /* __has_include(…) */
    MT_DIRECTIVE_DEFINE /* `name` is the macro; its body is read by mt_directive_file */
} mt_directive_kind;

typedef struct mt_directive {
    mt_directive_kind kind;
    const char *start;  /* the word include…; the operand of __has_include */
    char form;          /* '"' or '<'; 0: a macro names the file */
    const char *name;   /* of the file, or of the macro */
    size_t length;
    const char *end;    /* behind the operand */
} mt_directive;

typedef struct mt_directive_walk {
    const char *at;     /* the text at first */
    bool is_inside;     /* behind the first letter of a line */
} mt_directive_walk;

/* False at the end of the text. Positions point into the text. */
bool mt_directive_next(mt_directive_walk *walk, mt_directive *found);
/* The file, or the macro, that stands at `text`: form, name, length and end. False: something else. */
bool mt_directive_file(const char *text, mt_directive *found);

#endif
