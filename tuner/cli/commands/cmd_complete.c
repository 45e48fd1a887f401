/* msda-tune complete WORDS…: what could stand in the place of the last word. For the completion functions of shells, which pass the words behind "msda-tune" as
 * the shell would, less the quotes. Each answer is one line, and is data: the shell must quote it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/commands/complete_values.h"

/* Where the cursor is. */
typedef struct position {
    const mt_command *command;
    const mt_option *option; /* whose value the last word is; NULL = none's */
    const char *value;       /* what is typed of it, within the last word */
    bool only_operands;      /* a "--" came before */
    mt_complete_line line;
} position;

static void note_value(const char *option, const char *value, mt_complete_line *line)
{
    const struct { const char *option; const char **value; } wanted[] = {
        {"space", &line->space}, {"db", &line->db}, {"kernel", &line->kernel}, {"recordings", &line->recordings},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(wanted[i].option, option) == 0) *wanted[i].value = value;
}

/* Reads the words before the last as mt_option_parse does, but passes over what it would refuse. operands: room for all of them. */
static void read_words(int count, char **words, const char **operands, position *p)
{
    for (int i = 0; i < count - 1; i++) {
        const char *word = words[i], *value;
        bool is_operand = p->only_operands || word[0] != '-' || !word[1];
        if (is_operand) operands[p->line.operand_count++] = word;
        else if (strcmp(word, "--") == 0) p->only_operands = true;
        if (is_operand || p->only_operands) continue;
        const mt_option *option = mt_option_find(p->command->options, word, &value);
        if (!option || option->kind == MT_OPTION_FLAG) continue;
        if (!value) value = words[++i];
        if (i == count - 1) p->option = option;
        else note_value(option->name, value, &p->line);
    }
    p->line.operands = operands;
    p->value = words[count - 1];
    if (p->option || p->only_operands || strncmp(p->value, "--", 2) != 0 || !strchr(p->value, '=')) return;
    p->option = mt_option_find(p->command->options, p->value, &p->value);
}

static void add_commands(mt_texts *names)
{
    mt_error ignored = {0};
    for (size_t i = 0; i < mt_command_count(); i++)
        if (mt_command_at(i)->summary) mt_texts_add(names, mt_command_at(i)->name, &ignored);
}

static void add_options(const mt_option *options, mt_texts *names)
{
    mt_error ignored = {0};
    char name[64];
    for (const mt_option *o = options; o && o->name; o++) {
        snprintf(name, sizeof name, "--%s", o->name);
        mt_texts_add(names, name, &ignored);
    }
    snprintf(name, sizeof name, "--%s", mt_option_of_all.name);
    mt_texts_add(names, name, &ignored);
}

/* Names with commas in between, of which the last is being typed. Values of a shape, "N=1;H=92,46", have commas of their own. */
static bool takes_list(const mt_option *option, const char *value)
{
    return option->kind == MT_OPTION_WORDS || (option->kind == MT_OPTION_TEXTS && strcmp(option->name, "shape") == 0 && !strchr(value, '='));
}

/* A terminal shows what a shell completes, and a line break would make two answers of one: names with such characters are left out. */
static bool is_shown(const char *name)
{
    for (size_t left = strlen(name), length; left; left -= length, name += length)
        if (!mt_text_is_shown(name, left, &length)) return false;
    return true;
}

/* Each name that begins as what is typed from `typed` on, behind what stands before that in `word`. */
static void print_names(mt_texts *names, const char *word, const char *typed, bool is_list)
{
    const char *last = "";
    if (names->count) qsort(names->items, names->count, sizeof *names->items, mt_text_order);
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i];
        bool fits = strncmp(name, typed, strlen(typed)) == 0 && strcmp(name, last) != 0 && is_shown(name);
        if (!fits || (is_list && strchr(name, ','))) continue;
        printf("%.*s%s\n", (int)(typed - word), word, name);
        last = name;
    }
}

static void answer(int count, char **words, position *p, mt_texts *names)
{
    const char *word = words[count - 1], *typed = word;
    bool is_list = false;
    if (p->option) {
        is_list = takes_list(p->option, p->value);
        const char *comma = is_list ? strrchr(p->value, ',') : NULL;
        typed = comma ? comma + 1 : p->value;
        mt_complete_values_add(&p->line, p->option, names);
    } else if (!p->only_operands && word[0] == '-') {
        add_options(p->command->options, names);
    } else if (strcmp(p->command->name, "help") == 0) {
        add_commands(names);
    }
    print_names(names, word, typed, is_list);
}

static int run_raw(int argc, char **argv)
{
    mt_texts names = {0};
    if (argc == 0) return 0;
    bool is_named = argv[0][0] != '-';
    position p = {.command = mt_command_find(is_named ? argv[0] : "tune")};
    const char **operands = mt_alloc((size_t)argc, sizeof *operands);
    if (argc == 1 && is_named) {
        add_commands(&names);
        print_names(&names, argv[0], argv[0], false);
    } else if (p.command && operands) {
        p.line.command = p.command->name;
        read_words(argc - is_named, argv + is_named, operands, &p);
        answer(argc - is_named, argv + is_named, &p, &names);
    }
    mt_texts_free(&names);
    mt_free(operands);
    return fflush(stdout) == 0 ? 0 : 1;
}

const mt_command mt_cmd_complete = {.name = "complete", .raw = run_raw};
