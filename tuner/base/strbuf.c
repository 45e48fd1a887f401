#include "tuner/base/strbuf.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* Room for `more` bytes and the NUL behind them. */
static bool reserve(mt_strbuf *buf, size_t more)
{
    if (buf->failed) return false;
    size_t needed;
    if (__builtin_add_overflow(buf->length, more, &needed) || __builtin_add_overflow(needed, (size_t)1, &needed)) {
        buf->failed = true;
        return false;
    }
    if (needed <= buf->capacity) return true;
    size_t capacity = buf->capacity + buf->capacity / 2;
    if (capacity < needed) capacity = needed;
    if (capacity < 64) capacity = 64;
    char *text = mt_realloc(buf->text, capacity, 1);
    if (!text) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->capacity = capacity;
    return true;
}

void mt_strbuf_add_bytes(mt_strbuf *buf, const void *bytes, size_t count)
{
    if (!reserve(buf, count)) return;
    if (count) memcpy(buf->text + buf->length, bytes, count);
    buf->length += count;
    buf->text[buf->length] = '\0';
}

void mt_strbuf_add(mt_strbuf *buf, const char *text)
{
    mt_strbuf_add_bytes(buf, text, strlen(text));
}

void mt_strbuf_add_char(mt_strbuf *buf, char c)
{
    mt_strbuf_add_bytes(buf, &c, 1);
}

void mt_strbuf_addv(mt_strbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) buf->failed = true;
    else if (reserve(buf, (size_t)length)) {
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void mt_strbuf_addf(mt_strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(buf, format, args);
    va_end(args);
}

static void add_json_ascii(mt_strbuf *buf, char c)
{
    static const char named[] = "\"\"\\\\\nn\tt\rr\bb\ff"; /* pairs: the character, the letter behind its backslash */
    for (const char *pair = named; *pair; pair += 2) {
        if (c == pair[0]) {
            char escape[2] = {'\\', pair[1]};
            mt_strbuf_add_bytes(buf, escape, 2);
            return;
        }
    }
    if ((unsigned char)c < 0x20 || c == 0x7f) mt_strbuf_addf(buf, "\\u%04x", (unsigned)c);
    else mt_strbuf_add_char(buf, c);
}

void mt_strbuf_add_json(mt_strbuf *buf, const char *text)
{
    mt_strbuf_add_char(buf, '"');
    size_t left = strlen(text);
    while (left) {
        size_t length;
        bool is_shown = mt_text_is_shown(text, left, &length);
        if ((unsigned char)*text < 0x80) add_json_ascii(buf, *text);
        else if (is_shown) mt_strbuf_add_bytes(buf, text, length);
        else if (length > 1) /* JSON is printed on terminals too */
            mt_strbuf_addf(buf, "\\u%04x", (unsigned)mt_text_code_point(text, length));
        else
            mt_strbuf_add(buf, "\xEF\xBF\xBD"); /* U+FFFD */
        text += length;
        left -= length;
    }
    mt_strbuf_add_char(buf, '"');
}

void mt_strbuf_add_member(mt_strbuf *buf, const char *name, const char *text)
{
    mt_strbuf_addf(buf, ",\"%s\":", name);
    if (text) mt_strbuf_add_json(buf, text);
    else mt_strbuf_add(buf, "null");
}

void mt_strbuf_add_number(mt_strbuf *buf, const char *name, double value)
{
    if (isfinite(value)) mt_strbuf_addf(buf, ",\"%s\":%.9g", name, value);
    else mt_strbuf_addf(buf, ",\"%s\":null", name);
}

void mt_strbuf_add_json_value(mt_strbuf *buf, const char *json)
{
    size_t left = strlen(json);
    while (left) {
        size_t length;
        if (mt_text_is_shown(json, left, &length) || strchr("\n\t\r", *json)) mt_strbuf_add_bytes(buf, json, length);
        else if (length > 1 || (unsigned char)*json < 0x80) mt_strbuf_addf(buf, "\\u%04x", (unsigned)mt_text_code_point(json, length));
        else mt_strbuf_add(buf, "\xEF\xBF\xBD");
        json += length;
        left -= length;
    }
}

void mt_strbuf_add_quoted(mt_strbuf *buf, const char *text)
{
    mt_strbuf_add_char(buf, '\'');
    for (; *text; text++) {
        if (*text == '\'') mt_strbuf_add(buf, "'\\''");
        else mt_strbuf_add_char(buf, *text);
    }
    mt_strbuf_add_char(buf, '\'');
}

void mt_strbuf_add_word(mt_strbuf *buf, const char *text)
{
    bool is_plain = *text;
    for (const char *at = text; *at; at++) is_plain = is_plain && (isalnum((unsigned char)*at) || (*at & 0x80) || strchr("_-+./:,@%", *at));
    if (is_plain) mt_strbuf_add(buf, text);
    else mt_strbuf_add_quoted(buf, text);
}

const char *mt_strbuf_text(const mt_strbuf *buf)
{
    return buf->text && !buf->failed ? buf->text : "";
}

char *mt_strbuf_take(mt_strbuf *buf)
{
    if (!reserve(buf, 0)) { /* an empty buffer is taken as "" */
        mt_strbuf_free(buf);
        return NULL;
    }
    buf->text[buf->length] = '\0';
    char *text = buf->text;
    *buf = (mt_strbuf){0};
    return text;
}

void mt_strbuf_clear(mt_strbuf *buf)
{
    buf->length = 0;
    if (buf->text) buf->text[0] = '\0';
}

void mt_strbuf_free(mt_strbuf *buf)
{
    mt_free(buf->text);
    *buf = (mt_strbuf){0};
}
