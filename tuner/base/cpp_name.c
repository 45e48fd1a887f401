#include "tuner/base/cpp_name.h"

#include <ctype.h>
#include <string.h>

/* What is left of the mangled name. */
typedef struct reader {
    const char *at, *end;
} reader;

static bool take(reader *r, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) != 0) return false;
    r->at += length;
    return true;
}

static bool is_at(const reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

static bool is_at_digit(const reader *r)
{
    return r->at < r->end && isdigit((unsigned char)*r->at);
}

/* "5scale": a length and the name. */
static bool take_source_name(reader *r, const char **name, size_t *length)
{
    *length = 0;
    while (is_at_digit(r) && *length < 10000) *length = *length * 10 + (size_t)(*r->at++ - '0');
    if (*length == 0 || (size_t)(r->end - r->at) < *length) return false;
    *name = r->at;
    r->at += *length;
    return true;
}

static void skip_literal(reader *r);

/* Behind the E that closes what begins with a letter at the reader: arguments, nested names, packs, functions. */
static void skip_group(reader *r)
{
    const char *name;
    size_t length;
    r->at++;
    while (r->at < r->end && *r->at != 'E') {
        if (is_at_digit(r)) {
            if (!take_source_name(r, &name, &length)) r->at = r->end;
        } else if (*r->at == 'L') {
            skip_literal(r);
        } else if (strchr("INJFX", *r->at)) {
            skip_group(r);
        } else if (*r->at == 'S' || *r->at == 'T') { /* S1_, St, T_ */
            r->at++;
            while (r->at < r->end && (isdigit((unsigned char)*r->at) || (isupper((unsigned char)*r->at) && r->end - r->at > 1 && r->at[1] == '_'))) r->at++;
            if (r->at < r->end) r->at++;
        } else {
            r->at++;
        }
    }
    if (r->at < r->end) r->at++;
}

/* "Li4E", "L4Mode2E", "LN2ns4ModeE1E" */
static void skip_literal(reader *r)
{
    const char *name;
    size_t length;
    r->at++;
    if (is_at_digit(r) && !take_source_name(r, &name, &length)) r->at = r->end;
    else if (is_at(r, 'N')) skip_group(r);
    while (r->at < r->end && *r->at != 'E') r->at++;
    if (r->at < r->end) r->at++;
}

/* One part of a name with its arguments. */
static bool take_part(reader *r, mt_strbuf *out)
{
    const char *name;
    size_t length;
    bool is_std = take(r, "St");
    take(r, "L"); /* of internal linkage */
    if (is_std && !is_at_digit(r)) {
        mt_strbuf_add(out, "std");
        return true;
    }
    if (!take_source_name(r, &name, &length)) return false;
    bool is_unnamed = length >= 10 && (strncmp(name, "_GLOBAL__N", 10) == 0 || strncmp(name, "_INTERNAL_", 10) == 0); /* a namespace that nobody writes; of variables the second kind */
    if (is_unnamed) return true;
    if (out->length) mt_strbuf_add(out, "::");
    if (is_std) mt_strbuf_add(out, "std::");
    mt_strbuf_add_bytes(out, name, length);
    if (!is_at(r, 'I')) return true;
    skip_group(r);
    mt_strbuf_add(out, "<…>");
    return true;
}

bool mt_cpp_name(const char *mangled, size_t length, mt_strbuf *out)
{
    reader r = {mangled, mangled + length};
    mt_strbuf name = {0};
    bool is_good = take(&r, "_Z");
    bool is_nested = is_good && take(&r, "N");
    while (is_nested && (take(&r, "K") || take(&r, "V") || take(&r, "R") || take(&r, "O"))) {}
    is_good = is_good && take_part(&r, &name);
    while (is_good && is_nested && r.at < r.end && *r.at != 'E') is_good = take_part(&r, &name);
    is_good = is_good && name.length;
    if (is_good) mt_strbuf_add(out, mt_strbuf_text(&name));
    mt_strbuf_free(&name);
    return is_good;
}

void mt_cpp_names_in(const char *text, mt_strbuf *out)
{
    for (const char *found; (found = strstr(text, "'_Z"));) {
        size_t length = strcspn(found + 1, "'\n");
        mt_strbuf name = {0};
        mt_strbuf_add_bytes(out, text, (size_t)(found - text));
        if (found[1 + length] == '\'' && mt_cpp_name(found + 1, length, &name)) {
            mt_strbuf_addf(out, "'%s' (%.*s)", mt_strbuf_text(&name), (int)length, found + 1);
            text = found + length + 2;
        } else {
            mt_strbuf_add_char(out, '\'');
            text = found + 1;
        }
        mt_strbuf_free(&name);
    }
    mt_strbuf_add(out, text);
}

/* Where the parameters begin in "ns::scale<float>(float *, int)"; 0: the name has none. Parentheses within <> are arguments of a template. */
static size_t parameters_at(const char *name)
{
    int depth = 0;
    size_t length = strlen(name);
    if (!length || name[length - 1] != ')') return 0;
    for (size_t at = 0; at < length; at++) {
        if (name[at] == '<') depth++;
        else if (name[at] == '>') depth--;
        else if (name[at] == '(' && depth == 0) return at;
    }
    return 0;
}

char *mt_cpp_expression(const char *name)
{
    mt_strbuf text = {0};
    size_t parameters = parameters_at(name);
    if (parameters) mt_strbuf_addf(&text, "(void (*)%s)(%.*s)", name + parameters, (int)parameters, name);
    else mt_strbuf_add(&text, name);
    char *expression = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return expression;
}
