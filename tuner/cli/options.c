#include "tuner/cli/options.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { MAX_OPTIONS = 64, MAX_CHOICES = 16, HELP_COLUMN = 24 };

const mt_option mt_option_of_all = {"quiet", 'q', MT_OPTION_FLAG, 0, NULL, "no progress, and no word on what was done; warnings and errors stay"};

typedef struct parser {
    const char *command;
    const mt_option *options;
    unsigned char *values;
    mt_parsed *parsed;
} parser;

static bool is_list(const mt_option *option)
{
    return option->kind == MT_OPTION_WORDS || option->kind == MT_OPTION_TEXTS || option->kind == MT_OPTION_INPUTS;
}

static const mt_option *find_long(const mt_option *options, const char *name, size_t length)
{
    for (const mt_option *o = options; o && o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return strlen(mt_option_of_all.name) == length && memcmp(mt_option_of_all.name, name, length) == 0 ? &mt_option_of_all : NULL;
}

static const mt_option *find_letter(const mt_option *options, char letter)
{
    for (const mt_option *o = options; o && o->name; o++)
        if (o->letter && o->letter == letter) return o;
    return letter == mt_option_of_all.letter ? &mt_option_of_all : NULL;
}

static mt_status unknown(const parser *p, const char *word, size_t name_length, mt_error *err)
{
    char name[64];
    const char *names[MAX_OPTIONS] = {mt_option_of_all.name};
    size_t count = 1;
    snprintf(name, sizeof name, "%.*s", (int)name_length, word + 2);
    for (const mt_option *o = p->options; o && o->name && count < MAX_OPTIONS; o++) names[count++] = o->name;
    const char *near = word[1] == '-' ? mt_text_nearest(name, names, count) : NULL;
    if (near) return MT_FAIL(err, MT_ERR_USAGE, "%s: unknown option '%s', did you mean '--%s'?", p->command, word, near);
    return MT_FAIL(err, MT_ERR_USAGE, "%s: unknown option '%s'; 'msda-tune help %s' lists them", p->command, word, p->command);
}

static mt_status add_words(const parser *p, const mt_option *o, mt_texts *words, const char *text, mt_error *err)
{
    const char *whole = text;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!length) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s: '%s' has an empty word; expected words with one comma in between", p->command, o->name, whole);
        mt_status st = mt_texts_take(words, mt_strndup(text, length), err);
        if (st != MT_OK) return st;
        if (!text[length]) return MT_OK;
        text += length + 1;
    }
}

static mt_status set_choice(const parser *p, const mt_option *o, const char *text, int *field, mt_error *err)
{
    char words[256], *rest = NULL;
    const char *known[MAX_CHOICES];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", o->value);
    for (char *word = strtok_r(words, "|", &rest); word && count < MAX_CHOICES; word = strtok_r(NULL, "|", &rest)) {
        known[count++] = word;
        if (strcmp(word, text) != 0) continue;
        *field = (int)count;
        return MT_OK;
    }
    const char *near = mt_text_nearest(text, known, count);
    return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is '%s', %s%s%sexpected %s", p->command, o->name, text, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", o->value);
}

static mt_status set_whole(const parser *p, const mt_option *o, const char *text, int64_t least, int64_t *field, mt_error *err)
{
    int64_t value;
    size_t digits = strspn(text, "0123456789");
    bool is_whole = mt_text_int64(text, strlen(text), &value);
    if (!is_whole && digits && !text[digits]) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is '%s', which is too large; expected a whole number of at most %lld", p->command, o->name, text, (long long)INT64_MAX);
    if (!is_whole || value < least)
        return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is '%s', expected a whole number of at least %lld", p->command, o->name, text, (long long)least);
    *field = value;
    return MT_OK;
}

static mt_status set_seconds(const parser *p, const mt_option *o, const char *text, double *field, mt_error *err)
{
    double value;
    if (!mt_text_double(text, &value) || !(value > 0))
        return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is '%s', expected a number of seconds above 0", p->command, o->name, text);
    *field = value;
    return MT_OK;
}

static mt_status set_limit(const parser *p, const mt_option *o, const char *text, mt_limit *field, mt_error *err)
{
    double value;
    if (!mt_text_double(text, &value) || !(value >= 0)) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is '%s', expected a number of at least 0", p->command, o->name, text);
    *field = (mt_limit){value, true};
    return MT_OK;
}

/* Fields are reached through void * so that one table serves every command's struct. */
static mt_status set(const parser *p, const mt_option *o, const char *text, mt_error *err)
{
    void *field = p->values + o->offset;
    switch (o->kind) {
    case MT_OPTION_FLAG: *(bool *)field = true; return MT_OK;
    case MT_OPTION_TEXT:
    case MT_OPTION_INPUT:
    case MT_OPTION_DATABASE:
    case MT_OPTION_SPACE:
    case MT_OPTION_OUTPUT:
    case MT_OPTION_PAGE:
    case MT_OPTION_FOLDER: *(const char **)field = text; return MT_OK;
    case MT_OPTION_WORDS: return add_words(p, o, field, text, err);
    case MT_OPTION_TEXTS:
    case MT_OPTION_INPUTS: return mt_texts_take(field, mt_strndup(text, strlen(text)), err);
    case MT_OPTION_CHOICE: return set_choice(p, o, text, field, err);
    case MT_OPTION_COUNT: return set_whole(p, o, text, 1, field, err);
    case MT_OPTION_SEED: return set_whole(p, o, text, 0, field, err);
    case MT_OPTION_SECONDS: return set_seconds(p, o, text, field, err);
    case MT_OPTION_LIMIT: return set_limit(p, o, text, field, err);
    }
    return MT_OK;
}

const mt_option *mt_option_find(const mt_option *options, const char *word, const char **value)
{
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word + 2, "=") : 1;
    *value = NULL;
    if (is_long && word[2 + length] == '=') *value = word + 3 + length;
    if (!is_long && word[2]) *value = word + 2;
    return is_long ? find_long(options, word + 2, length) : find_letter(options, word[1]);
}

/* One option at argv[*i], with its value there or in the next word, which *i then moves to. */
static mt_status take_option(const parser *p, int argc, char **argv, int *i, mt_error *err)
{
    const char *word = argv[*i], *value;
    const mt_option *o = mt_option_find(p->options, word, &value);
    if (!o) return unknown(p, word, word[1] == '-' ? strcspn(word + 2, "=") : 1, err);
    if (o->kind == MT_OPTION_FLAG) {
        if (value) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s takes no value", p->command, o->name);
        if (o != &mt_option_of_all) return set(p, o, NULL, err);
        p->parsed->is_quiet = true;
        return MT_OK;
    }
    if (!value) {
        if (*i + 1 >= argc) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s needs a value: --%s %s", p->command, o->name, o->name, o->value);
        value = argv[++*i];
    }
    if (!*value) return MT_FAIL(err, MT_ERR_USAGE, "%s: --%s is empty", p->command, o->name);
    return set(p, o, value, err);
}

mt_status mt_option_parse(const char *command, const mt_option *options, int argc, char **argv, void *values, mt_parsed *parsed, mt_error *err)
{
    parser p = {command, options, values, parsed};
    bool only_operands = false;
    parsed->operands = mt_alloc((size_t)argc + 1, sizeof *parsed->operands);
    if (!parsed->operands) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory reading the command line");
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            parsed->wants_help = true;
            return MT_OK;
        }
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (only_operands || word[0] != '-' || !word[1]) {
            parsed->operands[parsed->operand_count++] = word;
        } else {
            mt_status st = take_option(&p, argc, argv, &i, err);
            if (st != MT_OK) return st;
        }
    }
    return MT_OK;
}

void mt_option_free(const mt_option *options, void *values, mt_parsed *parsed)
{
    for (const mt_option *o = options; o && o->name; o++) {
        if (!is_list(o)) continue;
        mt_texts_free((void *)((unsigned char *)values + o->offset));
    }
    mt_free(parsed->operands);
    *parsed = (mt_parsed){0};
}

static void print_help_lines(const char *help, int column)
{
    for (const char *line = help;;) {
        size_t length = strcspn(line, "\n");
        printf("%.*s\n", (int)length, line);
        if (!line[length]) return;
        line += length + 1;
        printf("%*s", column, "");
    }
}

static void print_option(const mt_option *o)
{
    char left[128];
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", o->letter ? letter : "", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (strlen(left) + 1 > HELP_COLUMN) printf("%s\n%*s", left, HELP_COLUMN, "");
    else printf("%-*s", HELP_COLUMN, left);
    print_help_lines(o->help, HELP_COLUMN);
}

void mt_option_print(const mt_option *options)
{
    for (const mt_option *o = options; o && o->name; o++) print_option(o);
    print_option(&mt_option_of_all);
}
