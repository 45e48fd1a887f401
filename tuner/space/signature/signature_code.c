#include "tuner/space/signature/signature_code.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static const char *comment_end(const char *at)
{
    const char *end = at[1] == '*' ? strstr(at + 2, "*/") : strchr(at, '\n');
    if (!end) return at + strlen(at);
    return at[1] == '*' ? end + 2 : end;
}

/* A directive goes on behind a backslash. */
static const char *directive_end(const char *at)
{
    while (*at && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n') *from = ' ';
}

/* Behind `#if 0`, where its #else, #elif or #endif begins. */
static const char *dead_end(const char *at)
{
    int depth = 1;
    while (*at) {
        const char *line = at, *look = at;
        at = directive_end(at);
        at += *at != '\0';
        if (!mt_code_is(mt_code_next(&look), "#")) continue;
        mt_code_word word = mt_code_next(&look);
        if (word.length && strncmp(word.at, "if", 2) == 0) depth++;
        else if (mt_code_is(word, "endif")) depth--;
        else if (depth == 1 && word.length && strncmp(word.at, "el", 2) == 0) depth = 0;
        if (depth == 0) return line;
    }
    return at;
}

static bool is_dead(const char *directive)
{
    directive++;
    return mt_code_is(mt_code_next(&directive), "if") && mt_code_is(mt_code_next(&directive), "0") && (*(directive += strspn(directive, " \t\r")) == '\n' || strncmp(directive, "//", 2) == 0 || strncmp(directive, "/*", 2) == 0);
}

/* Behind R"name(…)name"; `at` stands at the first quote. */
static const char *raw_end(const char *at)
{
    char end[24];
    size_t length = strcspn(at + 1, "(");
    if (length + sizeof ")\"" > sizeof end) return mt_text_literal_end(at);
    end[0] = ')';
    memcpy(end + 1, at + 1, length);
    memcpy(end + 1 + length, "\"", 2);
    const char *found = strstr(at, end);
    return found ? found + strlen(end) : at + strlen(at);
}

/* Raw strings go, too: they may hold code. */
static char *without(const char *source, bool directives)
{
    char *code = mt_strdup(source);
    bool begins_line = true;
    for (char *at = code; at && *at;) {
        char *end = at + 1;
        bool is_comment = *at == '/' && (at[1] == '/' || at[1] == '*');
        bool is_raw = *at == '"' && at > code && at[-1] == 'R';
        if (is_comment) end = code + (comment_end(at) - code);
        else if (is_raw) end = code + (raw_end(at) - code);
        else if (*at == '"' || *at == '\'') end = code + (mt_text_literal_end(at) - code);
        else if (*at == '#' && begins_line && (directives || is_dead(at))) end = code + ((is_dead(at) ? dead_end(directive_end(at)) : directive_end(at)) - code);
        if (is_comment || is_raw || (*at == '#' && begins_line && (directives || is_dead(at)))) blank(at, end);
        else if (*at == '\n') begins_line = true;
        else if (*at != ' ' && *at != '\t') begins_line = false;
        at = end;
    }
    return code;
}

char *mt_code_bare(const char *source)
{
    return without(source, true);
}

char *mt_code_uncommented(const char *source)
{
    return without(source, false);
}

static bool is_letter(char c)
{
    return mt_text_is_identifier(&c, 1) || (c >= '0' && c <= '9');
}

mt_code_word mt_code_next(const char **at)
{
    while (**at && strchr(" \t\r\n\f\v", **at)) (*at)++;
    mt_code_word word = {*at, **at != '\0'};
    if (**at == '"' || **at == '\'') word.length = (size_t)(mt_text_literal_end(*at) - *at);
    while (is_letter(**at) && is_letter((*at)[word.length])) word.length++;
    *at += word.length;
    return word;
}

bool mt_code_is(mt_code_word word, const char *text)
{
    return strlen(text) == word.length && strncmp(word.at, text, word.length) == 0;
}

bool mt_code_is_name(mt_code_word word)
{
    return word.length && mt_text_is_identifier(word.at, word.length);
}

const char *mt_code_skip(const char **at, char open, char close)
{
    int depth = 1;
    for (mt_code_word word; (word = mt_code_next(at)).length;) {
        if (*word.at == open) depth++;
        if (*word.at == close && --depth == 0) return word.at;
    }
    return *at;
}

static void cut(mt_strbuf *text, size_t length)
{
    if (text->text) text->text[text->length = length] = '\0';
}

/* Behind `namespace`: "a::b {"; an alias, "cg = …;", is none. */
static void add_namespace(mt_code_path *path, const char *behind)
{
    mt_code_word word;
    path->before = path->text.length;
    while ((word = mt_code_next(&behind)).length && !strchr("{;=", *word.at))
        if (mt_code_is_name(word)) mt_strbuf_addf(&path->text, "%.*s::", (int)word.length, word.at);
    path->is_next = mt_code_is(word, "{");
    if (!path->is_next) cut(&path->text, path->before);
}

void mt_code_path_follow(mt_code_path *path, mt_code_word word, const char *behind)
{
    const size_t most = sizeof path->lengths / sizeof *path->lengths;
    if (mt_code_is(word, "namespace")) add_namespace(path, behind);
    if (mt_code_is(word, "{")) {
        if (path->depth < most) path->lengths[path->depth] = path->is_next ? path->before : path->text.length;
        path->depth++;
        path->is_next = false;
    } else if (mt_code_is(word, "}") && path->depth && --path->depth < most) cut(&path->text, path->lengths[path->depth]);
}
