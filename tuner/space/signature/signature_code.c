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

static char *without(const char *source, bool directives)
{
    char *code = mt_strdup(source);
    bool begins_line = true;
    for (char *at = code; at && *at;) {
        char *end = at + 1;
        bool is_comment = *at == '/' && (at[1] == '/' || at[1] == '*');
        if (is_comment) end = code + (comment_end(at) - code);
        else if (*at == '"' || *at == '\'') end = code + (mt_text_literal_end(at) - code);
        else if (directives && *at == '#' && begins_line) end = code + (directive_end(at) - code);
        if (is_comment || (directives && *at == '#' && begins_line)) blank(at, end);
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
