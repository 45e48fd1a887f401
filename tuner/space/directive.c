#include "tuner/space/directive.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind a comment that starts at `at`, else `at` itself. */
static const char *skip_comment(const char *at)
{
    if (at[0] != '/') return at;
    if (at[1] == '/') return at + strcspn(at, "\n");
    if (at[1] != '*') return at;
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* Behind a string or character literal that starts at `at`; an unclosed one ends with its line. */
static const char *skip_literal(const char *at)
{
    char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++) {
        if (*at == '\\' && at[1]) at++;
    }
    return *at == quote ? at + 1 : at;
}

/* Behind the ends of lines that go on. */
static const char *skip_splices(const char *at)
{
    while (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) at += at[1] == '\n' ? 2 : 3;
    return at;
}

/* Blanks, comments within the line, and lines that go on. */
static const char *skip_blanks(const char *at)
{
    for (;;) {
        if (*at == ' ' || *at == '\t') at++;
        else if (skip_splices(at) != at) at = skip_splices(at);
        else if (at[0] == '/' && at[1] == '*') at = skip_comment(at);
        else return at;
    }
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word(at[length])) length++;
    return length;
}

static bool is_the_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

/* Behind the word, which may go on in the next line; NULL: another one stands there. */
static const char *take_word(const char *at, const char *word)
{
    for (; *word; word++, at++) {
        at = skip_splices(at);
        if (*at != *word) return NULL;
    }
    return is_word(*skip_splices(at)) ? NULL : at;
}

/* Of the # that begins a directive, or the two characters that stand for it; 0: something else. */
static size_t mark_length(const char *at)
{
    return *at == '#' ? 1 : at[0] == '%' && at[1] == ':' ? 2 : 0;
}

bool mt_directive_file(const char *text, mt_directive *found)
{
    text = skip_blanks(text);
    found->form = *text == '"' || *text == '<' ? *text : 0;
    found->name = text + (found->form != 0);
    found->length = found->form ? strcspn(found->name, found->form == '<' ? ">\n" : "\"\n") : word_length(text);
    found->end = found->name + found->length;
    if (!found->length || (!found->form && isdigit((unsigned char)*text))) return false;
    if (!found->form) return true;
    return *found->end++ == (found->form == '<' ? '>' : '"');
}

/* Behind the # that begins a directive. */
static bool read_directive(const char *at, mt_directive *found)
{
    static const struct { const char *word; mt_directive_kind kind; } directives[] = {{"include", MT_DIRECTIVE_INCLUDE}, {"include_next", MT_DIRECTIVE_INCLUDE_NEXT}, {"define", MT_DIRECTIVE_DEFINE}};
    found->start = skip_blanks(at);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const char *behind = take_word(found->start, directives[i].word);
        found->kind = directives[i].kind;
        if (behind) return mt_directive_file(behind, found);
    }
    return false;
}

/* At the first letter of a word. */
static bool read_probe(const char *at, mt_directive *found)
{
    size_t length = word_length(at);
    if (!is_the_word(at, length, "__has_include")) return false;
    at = skip_blanks(at + length);
    if (*at != '(') return false;
    found->kind = MT_DIRECTIVE_PROBE;
    found->start = skip_blanks(at + 1);
    return mt_directive_file(at + 1, found);
}

/* 1'000 is a number. */
static bool separates_digits(const char *text, const char *at)
{
    return at > text && isxdigit((unsigned char)at[-1]) && isxdigit((unsigned char)at[1]) && at[2] != '\'';
}

bool mt_directive_next(mt_directive_walk *walk, mt_directive *found)
{
    const char *text = walk->at;
    while (*walk->at) {
        const char *at = walk->at, *behind = skip_comment(at);
        bool is_first = !walk->is_inside;
        walk->is_inside = *at != '\n' && (walk->is_inside || (behind == at && !isspace((unsigned char)*at)));
        if (behind != at) {
            walk->at = behind;
        } else if (is_first && mark_length(at)) {
            bool is_found = read_directive(at + mark_length(at), found);
            walk->at = is_found ? found->end : at + mark_length(at);
            if (is_found) return true;
        } else if (is_word(*at)) {
            bool is_found = read_probe(at, found);
            walk->at = is_found ? found->end : at + word_length(at);
            if (is_found) return true;
        } else {
            walk->at = *at == '"' || (*at == '\'' && !separates_digits(text, at)) ? skip_literal(at) : at + 1;
        }
    }
    return false;
}
