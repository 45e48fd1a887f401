/* A command of the tool: one file cmd_<name>.c exports one const struct mt_cmd_<name>, listed in commands.def. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/cli/options.h"

/* What a command is called with. Texts live as long as the process. */
typedef struct mt_arguments {
    const void *values;           /* the command's own struct, filled by its option table */
    const char *const *operands;  /* words that are no options */
    size_t operand_count;
    int argc;                     /* as the process got them, for the record */
    char **argv;
} mt_arguments;

typedef struct mt_command {
    const char *name;
    const char *summary;          /* one line for `msda-tune help`; NULL = hidden */
    const char *operands;         /* "FILE…" for the usage line, or NULL when the command takes none */
    const char *help;             /* paragraph(s) of `msda-tune help NAME`, no trailing newline */
    const mt_option *options;     /* ends with a NULL name; NULL = none but --help */
    size_t values_size;           /* of the struct that options fill; it starts zeroed, and zero means "not given" */
    mt_status (*run)(const mt_arguments *arguments, mt_error *err);
    /* Instead of run: gets the words behind the command's name as they are, and returns the exit code. */
    int (*raw)(int argc, char **argv);
} mt_command;

size_t mt_command_count(void);
const mt_command *mt_command_at(size_t index);
const mt_command *mt_command_find(const char *name); /* or NULL */
/* MT_ERR_USAGE: "unknown command 'x', did you mean 'y'?" */
mt_status mt_command_unknown(const char *name, mt_error *err);

/* Parses and runs; the status has its message in *err. */
mt_status mt_command_run(const mt_command *command, int argc, char **argv, mt_error *err);
/* "msda-tune NAME WORDS…", as a shell takes it: for the record. */
void mt_command_line(const char *name, const mt_arguments *arguments, mt_strbuf *line);
/* Prints the page of a command, or with NULL the overview, on stdout. */
void mt_command_help(const mt_command *command);
