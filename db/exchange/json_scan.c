#include "db/exchange/json_scan.h"

#include <stdio.h>
#include <string.h>

mt_json_scan mt_json_scan_of(const char *text, size_t length, const char *name)
{
    mt_json_scan scan = {.at = text, .end = text + length, .name = name, .line = 1};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) scan.at += 3;
    return scan;
}

char mt_json_peek(mt_json_scan *scan)
{
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\n') scan->line++;
        else if (*scan->at != ' ' && *scan->at != '\t' && *scan->at != '\r') return *scan->at;
    }
    return '\0';
}

/* The file ends, or something else stands there. */
static mt_status fail_at(const mt_json_scan *scan, const char *expected, mt_error *err)
{
    if (scan->at >= scan->end) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: is cut short, expected %s", scan->name, (long long)scan->line, expected);
    unsigned char found = (unsigned char)*scan->at;
    if (found < 0x20 || found > 0x7e) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: byte 0x%02x, expected %s", scan->name, (long long)scan->line, found, expected);
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: '%c', expected %s", scan->name, (long long)scan->line, found, expected);
}

mt_status mt_json_enter(mt_json_scan *scan, char open, const char *what, mt_json_level *level, mt_error *err)
{
    char expected[256];
    if (mt_json_peek(scan) != open) {
        snprintf(expected, sizeof expected, "%s, %s", what, open == '{' ? "an object {…}" : "an array […]");
        return fail_at(scan, expected, err);
    }
    scan->at++;
    *level = (mt_json_level){.close = open == '{' ? '}' : ']'};
    return MT_OK;
}

/* Behind the string that starts at `at`; NULL when it has no end. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\') at++;
    }
    return at < end ? at + 1 : NULL;
}

static mt_status take_key(mt_json_scan *scan, mt_json_span *key, mt_error *err)
{
    if (mt_json_peek(scan) != '"') return fail_at(scan, "a member's name in quotes", err);
    const char *behind = skip_string(scan->at, scan->end);
    *key = (mt_json_span){.text = scan->at + 1, .line = scan->line};
    if (!behind) {
        scan->at = scan->end;
        return fail_at(scan, "the end of a member's name", err);
    }
    key->length = (size_t)(behind - scan->at) - 2;
    scan->at = behind;
    if (mt_json_peek(scan) != ':') return fail_at(scan, "':' behind a member's name", err);
    scan->at++;
    return MT_OK;
}

mt_status mt_json_next(mt_json_scan *scan, mt_json_level *level, mt_json_span *key, bool *more, mt_error *err)
{
    char next = mt_json_peek(scan);
    *more = false;
    if (next == level->close) {
        scan->at++;
        return MT_OK;
    }
    if (level->has_begun) {
        if (next != ',') return fail_at(scan, level->close == '}' ? "',' or '}'" : "',' or ']'", err);
        scan->at++;
    }
    level->has_begun = true;
    *more = true;
    return key ? take_key(scan, key, err) : MT_OK;
}

/* Behind the object or array at hand; NULL when it has no end. Counts lines. */
static const char *skip_nested(mt_json_scan *scan)
{
    int64_t depth = 0;
    for (const char *at = scan->at; at < scan->end; at++) {
        if (*at == '"') {
            at = skip_string(at, scan->end);
            if (!at) return NULL;
            at--;
        } else if (*at == '\n') {
            scan->line++;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

mt_status mt_json_take(mt_json_scan *scan, mt_json_span *value, mt_error *err)
{
    char first = mt_json_peek(scan);
    const char *behind;
    *value = (mt_json_span){.text = scan->at, .line = scan->line};
    if (first == '"') {
        behind = skip_string(scan->at, scan->end);
    } else if (first == '{' || first == '[') {
        behind = skip_nested(scan);
    } else {
        behind = scan->at;
        while (behind < scan->end && !strchr(",]}: \t\r\n", *behind)) behind++;
        if (behind == scan->at) return fail_at(scan, "a value", err);
    }
    if (!behind) {
        scan->at = scan->end;
        return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: is cut short inside the value that begins here", scan->name, (long long)value->line);
    }
    value->length = (size_t)(behind - scan->at);
    scan->at = behind;
    return MT_OK;
}

bool mt_json_is_cut(const mt_json_scan *scan)
{
    return scan->at >= scan->end;
}

bool mt_json_is(const mt_json_span *span, const char *text)
{
    return strlen(text) == span->length && memcmp(span->text, text, span->length) == 0;
}

static bool starts_with(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

void mt_json_copy(const mt_json_span *span, mt_strbuf *text)
{
    const char *at = span->text, *end = at + span->length, *from = at;
    mt_strbuf_clear(text);
    while (at < end) {
        const char *plain = NULL, *behind = at + 1;
        if (*at == '"') {
            behind = skip_string(at, end);
            if (!behind) behind = end;
        } else if (starts_with(at, end, "NaN")) {
            plain = "null";
            behind = at + 3;
        } else if (starts_with(at, end, "Infinity")) {
            plain = "9e999";
            behind = at + 8;
        }
        if (plain) {
            mt_strbuf_add_bytes(text, from, (size_t)(at - from));
            mt_strbuf_add(text, plain);
            from = behind;
        }
        at = behind;
    }
    mt_strbuf_add_bytes(text, from, (size_t)(end - from));
}
