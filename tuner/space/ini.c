#include "tuner/space/ini.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

/* Duplicates are found by comparing with all earlier ones; the limit keeps that cheap on hostile files. */
enum { COUNT_LIMIT = 10000 };

typedef struct parser {
    const char *path;
    const char *at, *end; /* what is left of the text */
    const char *line_start;
    int line; /* of the physical line last taken, 1-based */
    mt_ini *ini;
    size_t section_capacity, entry_capacity;
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
    mt_status st = MT_FAIL(p->err, MT_ERR_SYNTAX, "%s:%d: %s", p->path, line, mt_strbuf_text(&message));
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
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return fail_at(p, p->line, "control character 0x%02x in column %zu, expected text", c, i + 1);
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
        if (!more) return fail_at(p, p->line, "the file ends after a backslash, expected the line that continues this one");
    }
}

/* ---- sections and entries ---- */

static bool same_section(const mt_ini_section *section, const char *kind, const char *name)
{
    return strcmp(section->kind, kind) == 0 && strcmp(section->name, name) == 0;
}

/* Adds a section, which owns kind and name from then on; frees them on failure. */
static mt_status add_section(parser *p, char *kind, char *name)
{
    mt_ini *ini = p->ini;
    mt_status st = MT_OK;
    for (size_t i = 0; i < ini->section_count && st == MT_OK; i++)
        if (same_section(&ini->sections[i], kind, name))
            st = fail_at(p, p->line, "duplicate section [%s%s%s], first given in line %d", kind, *name ? " " : "", name, ini->sections[i].line);
    if (st == MT_OK && ini->section_count == COUNT_LIMIT) st = fail_at(p, p->line, "more than %d sections", (int)COUNT_LIMIT);
    if (st == MT_OK) {
        mt_ini_section *grown = mt_grow(ini->sections, ini->section_count, &p->section_capacity, sizeof *grown);
        if (grown) {
            ini->sections = grown;
            p->entry_capacity = 0;
            grown[ini->section_count++] = (mt_ini_section){.kind = kind, .name = name, .line = p->line};
            return MT_OK;
        }
        st = fail_memory(p);
    }
    mt_free(kind);
    mt_free(name);
    return st;
}

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
        return fail_at(p, p->line, "'%.*s' is not a section, expected [kind] or [kind name]", (int)line.length, line.text);
    mt_strbuf name = {0};
    for (size_t i = kind_length; i < inner.length; i++) {
        char c = inner.text[i];
        if (is_blank(c)) continue;
        if (name.length && is_blank(inner.text[i - 1])) mt_strbuf_add_char(&name, ' ');
        mt_strbuf_add_char(&name, c);
    }
    char *kind = mt_strndup(inner.text, kind_length);
    char *name_text = mt_strbuf_take(&name);
    if (kind && name_text) return add_section(p, kind, name_text);
    mt_free(kind);
    mt_free(name_text);
    return fail_memory(p);
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

/* Adds an entry to the last section, which owns key and value from then on; frees them on failure. */
static mt_status add_entry(parser *p, char *key, char *value, int line)
{
    mt_ini_section *section = &p->ini->sections[p->ini->section_count - 1];
    const mt_ini_entry *earlier = mt_ini_find(section, key);
    mt_status st = MT_OK;
    if (earlier)
        st = fail_at(p, line, "duplicate key '%s' in [%s%s%s], first given in line %d", key, section->kind, *section->name ? " " : "", section->name,
                     earlier->line);
    else if (section->entry_count == COUNT_LIMIT)
        st = fail_at(p, line, "more than %d keys in a section", (int)COUNT_LIMIT);
    else {
        mt_ini_entry *grown = mt_grow(section->entries, section->entry_count, &p->entry_capacity, sizeof *grown);
        if (grown) {
            section->entries = grown;
            grown[section->entry_count++] = (mt_ini_entry){.key = key, .value = value, .line = line};
            return MT_OK;
        }
        st = fail_memory(p);
    }
    mt_free(key);
    mt_free(value);
    return st;
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
    if (p->ini->section_count == 0)
        return fail_at(p, key_line, "key '%.*s' stands outside a section, expected [section] first", (int)key.length, key.text);
    mt_strbuf value = {0};
    mt_status st = take_value(p, (piece){equals + 1, line.length - key_length - 1}, &value);
    if (st != MT_OK) {
        mt_strbuf_free(&value);
        return st;
    }
    char *key_text = mt_strndup(key.text, key.length);
    char *value_text = mt_strbuf_take(&value);
    if (key_text && value_text) return add_entry(p, key_text, value_text, key_line);
    mt_free(key_text);
    mt_free(value_text);
    return fail_memory(p);
}

mt_status mt_ini_parse(const char *path, const char *text, size_t length, mt_ini *ini, mt_error *err)
{
    *ini = (mt_ini){.path = mt_strdup(path)};
    parser p = {.path = path, .at = text, .end = text + length, .ini = ini, .err = err};
    mt_status st = ini->path ? MT_OK : fail_memory(&p);
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) p.at += 3;
    bool more = true;
    while (st == MT_OK && more) {
        piece line = {0};
        st = take_line(&p, &line, &more);
        if (st != MT_OK || !line.length) continue;
        st = *line.text == '[' ? parse_header(&p, line) : parse_entry(&p, line);
    }
    if (st != MT_OK) mt_ini_free(ini);
    return st;
}

void mt_ini_free(mt_ini *ini)
{
    for (size_t i = 0; i < ini->section_count; i++) {
        mt_ini_section *section = &ini->sections[i];
        for (size_t j = 0; j < section->entry_count; j++) {
            mt_free(section->entries[j].key);
            mt_free(section->entries[j].value);
        }
        mt_free(section->entries);
        mt_free(section->kind);
        mt_free(section->name);
    }
    mt_free(ini->sections);
    mt_free(ini->path);
    *ini = (mt_ini){0};
}

const mt_ini_entry *mt_ini_find(const mt_ini_section *section, const char *key)
{
    for (size_t i = 0; i < section->entry_count; i++)
        if (strcmp(section->entries[i].key, key) == 0) return &section->entries[i];
    return NULL;
}

char *mt_ini_unquote(const char *value)
{
    size_t length = strlen(value);
    bool is_quoted = length >= 2 && value[0] == '"' && strchr(value + 1, '"') == value + length - 1; /* not: "a" == "b" */
    return is_quoted ? mt_strndup(value + 1, length - 2) : mt_strdup(value);
}
