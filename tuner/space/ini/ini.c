#include "tuner/space/ini/ini.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

typedef struct parser {
    const char *path;
    const char *at, *end; /* what is left of the text */
    const char *line_start;
    int line; /* of the physical line last taken, 1-based */
    bool in_section; /* a section has begun in this file */
    mt_ini *ini;
    mt_error *err;
} parser;

/* A piece of a line, without its comment and outer white space. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

static mt_status fail_at(const parser *p, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

static mt_status fail_at(const parser *p, int line, const char *format, ...)
{
    mt_strbuf message = {0};
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&message, format, args);
    va_end(args);
    mt_place place = mt_ini_place(p->ini, line);
    mt_status st = MT_FAIL(p->err, MT_ERR_SYNTAX, "%s:%d: %s", place.path, place.line, mt_strbuf_text(&message));
    mt_strbuf_free(&message);
    return st;
}

static mt_status fail_memory(const parser *p)
{
    return MT_FAIL(p->err, MT_ERR_NO_MEMORY, "%s: out of memory", p->path);
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static piece trim(piece line)
{
    while (line.length && is_blank(*line.text)) line.text++, line.length--;
    while (line.length && is_blank(line.text[line.length - 1])) line.length--;
    return line;
}

static mt_status check_characters(const parser *p, piece line)
{
    for (size_t i = 0; i < line.length;) {
        size_t length = mt_text_utf8(line.text + i, line.length - i);
        unsigned char c = (unsigned char)line.text[i];
        if (length == 0) return fail_at(p, p->line, "invalid UTF-8 (byte 0x%02x in column %zu); save the file as UTF-8", c, i + 1);
        if ((c < 0x20 && c != '\t') || c == 0x7f) return fail_at(p, p->line, "control character 0x%02x in column %zu, expected text", c, i + 1);
        i += length;
    }
    return MT_OK;
}

/* Cuts the comment off: from a ; or # at the start or after white space, unless in quotes. */
static mt_status strip_comment(const parser *p, piece *line)
{
    size_t quote = SIZE_MAX; /* where an open quote began */
    for (size_t i = 0; i < line->length; i++) {
        char c = line->text[i];
        if (c == '"') quote = quote == SIZE_MAX ? i : SIZE_MAX;
        bool starts = (c == ';' || c == '#') && (i == 0 || is_blank(line->text[i - 1]));
        if (starts && quote == SIZE_MAX) line->length = i;
    }
    if (quote != SIZE_MAX) return fail_at(p, p->line, "the quote in column %zu is not closed on its line", (size_t)(line->text + quote - p->line_start) + 1);
    return MT_OK;
}

/* Takes the next physical line, checked, without comment and outer white space. *more is false at the end of the text. */
static mt_status take_line(parser *p, piece *line, bool *more)
{
    *more = p->at < p->end;
    if (!*more) return MT_OK;
    const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
    const char *stop = newline ? newline : p->end;
    *line = (piece){p->at, (size_t)(stop - p->at)};
    p->line_start = p->at;
    p->at = newline ? newline + 1 : p->end;
    p->line++;
    if (line->length && line->text[line->length - 1] == '\r') line->length--;
    mt_status st = check_characters(p, *line);
    piece trimmed = trim(*line);
    bool is_comment = trimmed.length && (*trimmed.text == ';' || *trimmed.text == '#'); /* may hold a lone quote */
    if (is_comment) trimmed.length = 0;
    *line = trimmed;
    if (st == MT_OK) st = strip_comment(p, line);
    *line = trim(*line);
    return st;
}

static const char mark_word[] = "@file ";

/* "@file LINE PATH": the text below is that file's, from its line LINE on. Written where includes are put in (include.c). */
static bool is_mark(piece line)
{
    return line.length > sizeof mark_word && memcmp(line.text, mark_word, sizeof mark_word - 1) == 0;
}

static mt_status take_mark(parser *p, piece line)
{
    int64_t number = 0;
    piece rest = {line.text + sizeof mark_word - 1, line.length - (sizeof mark_word - 1)};
    const char *space = memchr(rest.text, ' ', rest.length);
    bool is_good = space && mt_text_int64(rest.text, (size_t)(space - rest.text), &number) && number > 0 && number < INT32_MAX;
    if (!is_good) return fail_at(p, p->line, "expected '@file LINE PATH', found '%.*s'", (int)(line.length < 60 ? line.length : 60), line.text);
    p->in_section = false;
    return mt_ini_add_mark(p->ini, p->line + 1, (int)number, space + 1, (size_t)(line.text + line.length - (space + 1)), p->err);
}

static bool ends_with_backslash(piece line)
{
    return line.length && line.text[line.length - 1] == '\\';
}

/* Appends a line to the value, and the lines it continues on; joined by one space, their comments gone. */
static mt_status take_value(parser *p, piece line, mt_strbuf *value)
{
    for (;;) {
        bool continues = ends_with_backslash(line), more = true;
        if (continues) line.length--;
        line = trim(line);
        if (value->length && line.length) mt_strbuf_add_char(value, ' ');
        mt_strbuf_add_bytes(value, line.text, line.length);
        if (!continues) return MT_OK;
        mt_status st = take_line(p, &line, &more);
        if (st != MT_OK) return st;
        if (!more || is_mark(line)) return fail_at(p, p->line - (int)more, "the file ends after a backslash, expected the line that continues this one");
    }
}

/* ---- sections and entries ---- */

/* The words of "kind name …" joined by single spaces, cut after the first. */
static mt_status parse_header(parser *p, piece line)
{
    const char *close = memchr(line.text, ']', line.length);
    if (!close) return fail_at(p, p->line, "expected ']' at the end of the section's name");
    if (close + 1 != line.text + line.length) return fail_at(p, p->line, "unexpected text behind ']', expected the end of the line");
    piece inner = trim((piece){line.text + 1, line.length - 2});
    size_t kind_length = 0;
    while (kind_length < inner.length && !is_blank(inner.text[kind_length])) kind_length++;
    if (!mt_text_is_identifier(inner.text, kind_length))
        return fail_at(p, p->line, "'%.*s' is not a section, expected [section] or [section name]", (int)line.length, line.text);
    mt_strbuf name = {0};
    for (size_t i = kind_length; i < inner.length; i++) {
        char c = inner.text[i];
        if (is_blank(c)) continue;
        if (name.length && is_blank(inner.text[i - 1])) mt_strbuf_add_char(&name, ' ');
        mt_strbuf_add_char(&name, c);
    }
    char *kind = mt_strndup(inner.text, kind_length);
    char *name_text = mt_strbuf_take(&name);
    mt_status st = kind && name_text ? mt_ini_add_section(p->ini, kind, name_text, p->line, p->err) : fail_memory(p);
    p->in_section = true;
    mt_free(kind);
    mt_free(name_text);
    return st;
}

static bool is_key(piece key)
{
    if (!key.length || !mt_text_is_identifier(key.text, 1)) return false;
    for (size_t i = 1; i < key.length; i++) {
        char c = key.text[i];
        if (!mt_text_is_identifier(&c, 1) && !(c >= '0' && c <= '9') && c != '.' && c != '-') return false;
    }
    return true;
}

static mt_status parse_entry(parser *p, piece line)
{
    int key_line = p->line;
    const char *equals = memchr(line.text, '=', line.length);
    if (!equals) return fail_at(p, key_line, "expected 'key = value' or '[section]', found '%.*s'", (int)(line.length < 60 ? line.length : 60), line.text);
    size_t key_length = (size_t)(equals - line.text);
    piece key = trim((piece){line.text, key_length});
    if (!is_key(key))
        return fail_at(p, key_line, "'%.*s' is not a key, expected a name of letters, digits and _ in front of '='",
                       (int)(key.length < 60 ? key.length : 60), key.text);
    bool is_include = !p->in_section && key.length == 7 && memcmp(key.text, "include", 7) == 0;
    if (!p->in_section && !is_include) return fail_at(p, key_line, "key '%.*s' stands outside a section, expected [section] first", (int)key.length, key.text);
    mt_strbuf value = {0};
    mt_status st = take_value(p, (piece){equals + 1, line.length - key_length - 1}, &value);
    if (st != MT_OK) {
        mt_strbuf_free(&value);
        return st;
    }
    char *key_text = mt_strndup(key.text, key.length);
    char *value_text = mt_strbuf_take(&value);
    st = !key_text || !value_text ? fail_memory(p)
         : is_include             ? mt_ini_add_include(p->ini, value_text, key_line, p->err)
                                  : mt_ini_add_entry(p->ini, key_text, value_text, key_line, p->err);
    mt_free(key_text);
    mt_free(value_text);
    return st;
}

mt_status mt_ini_parse(const char *path, const char *text, size_t length, mt_ini *ini, mt_error *err)
{
    *ini = (mt_ini){.path = mt_strdup(path), .text = mt_strndup(text, length)};
    parser p = {.path = path, .at = text, .end = text + length, .ini = ini, .err = err};
    mt_status st = ini->path && ini->text ? MT_OK : fail_memory(&p);
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) p.at += 3;
    bool more = true;
    while (st == MT_OK && more) {
        piece line = {0};
        st = take_line(&p, &line, &more);
        if (st != MT_OK || !line.length) continue;
        st = is_mark(line) ? take_mark(&p, line) : *line.text == '[' ? parse_header(&p, line) : parse_entry(&p, line);
    }
    if (st != MT_OK) mt_ini_free(ini);
    return st;
}
