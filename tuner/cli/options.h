/* Command-line options by table: parsing, checking, "did you mean" and the help text all come from one list per command. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/outcome.h"
#include "tuner/base/texts.h"

/* The kind says what the field at `offset` is. */
typedef enum mt_option_kind {
    MT_OPTION_FLAG,     /* bool */
    MT_OPTION_TEXT,     /* const char *, from argv; the last one given counts */
    MT_OPTION_WORDS,    /* mt_texts, the parser's (mt_option_free): may be repeated; commas separate too */
    MT_OPTION_TEXTS,    /* mt_texts: may be repeated; taken as they are */
    MT_OPTION_CHOICE,   /* int: 1 + index among the words of `value` ("cold|warm"); 0 = not given */
    MT_OPTION_COUNT,    /* int64_t, at least 1; 0 = not given */
    MT_OPTION_SEED,     /* int64_t, at least 0 */
    MT_OPTION_SECONDS,  /* double, above 0; 0 = not given */
    MT_OPTION_LIMIT,    /* mt_limit, at least 0 */
    /* const char * as MT_OPTION_TEXT, or NULL. They name files, so that no command overwrites what it reads (output_files.h). */
    MT_OPTION_INPUT,    /* a file or folder that the command reads */
    MT_OPTION_DATABASE, /* the database that is filled, or worked on; where --db is not given, the default one. One that is only read beside it is an MT_OPTION_INPUT */
    MT_OPTION_SPACE,    /* a search space: a file, or the name of a shipped one */
    MT_OPTION_OUTPUT,   /* a file that it writes or appends to; "-" is standard output */
    MT_OPTION_PAGE,     /* the same of whole pages: where something lies there already, it must be a regular file */
    MT_OPTION_FOLDER,   /* a folder that it fills */
    MT_OPTION_INPUTS    /* mt_texts as of MT_OPTION_TEXTS, NAME=FILE each: files that it reads */
} mt_option_kind;

typedef struct mt_option {
    const char *name;   /* without the dashes */
    char letter;        /* short form; 0 = none */
    mt_option_kind kind;
    size_t offset;
    const char *value;  /* what the help shows behind the name; the choices for MT_OPTION_CHOICE; NULL for flags */
    const char *help;   /* '\n' starts an indented line */
} mt_option;

/* What every command takes beside its own options: --quiet. mt_command_run looks at it; progress, and what is told by mt_tell, is then left out. */
extern const mt_option mt_option_of_all;

typedef struct mt_parsed {
    const char **operands; /* point into argv; the array is owned */
    size_t operand_count;
    bool wants_help;       /* --help or -h was given: nothing else is checked further */
    bool is_quiet;         /* mt_option_of_all was given */
} mt_parsed;

/* Fills `values` and *parsed from argv[0..argc). "--name value", "--name=value", "-x value"; "--" ends options. MT_ERR_USAGE says what is
 * wrong and names `command`. Call mt_option_free in every case. */
mt_status mt_option_parse(const char *command, const mt_option *options, int argc, char **argv, void *values, mt_parsed *parsed, mt_error *err);
/* The option, mt_option_of_all too, that `word`, "-…" of at least two characters, names, or NULL. *value: what stands behind it in the same word ("--name=value", "-xvalue"), or NULL. */
const mt_option *mt_option_find(const mt_option *options, const char *word, const char **value);
void mt_option_free(const mt_option *options, void *values, mt_parsed *parsed);
/* The "Options:" lines on stdout, mt_option_of_all last. */
void mt_option_print(const mt_option *options);
