/* Growing text. The only place that grows strings. A failed allocation makes the buffer `failed` for good; later adds are no-ops,
 * so that a caller checks once at the end. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mt_strbuf {
    char *text; /* NUL-terminated once anything was added; NULL before (use mt_strbuf_text) */
    size_t length;
    size_t capacity;
    bool failed;
} mt_strbuf; /* zero-initialise */

void mt_strbuf_add(mt_strbuf *buf, const char *text);
void mt_strbuf_add_bytes(mt_strbuf *buf, const void *bytes, size_t count); /* may hold NULs */
void mt_strbuf_add_char(mt_strbuf *buf, char c);
void mt_strbuf_addf(mt_strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mt_strbuf_addv(mt_strbuf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Adds text as a JSON string with quotes; invalid UTF-8 bytes become U+FFFD. */
void mt_strbuf_add_json(mt_strbuf *buf, const char *text);
/* ,"name":"text", and where there is no text, or no finite number, null. */
void mt_strbuf_add_member(mt_strbuf *buf, const char *name, const char *text);
void mt_strbuf_add_number(mt_strbuf *buf, const char *name, double value);
/* Adds JSON text (an object, say) as it is, but for characters that mt_text_is_shown refuses: these become \uXXXX, line breaks and tabs excepted. */
void mt_strbuf_add_json_value(mt_strbuf *buf, const char *json);
/* 'text' for a POSIX shell, whatever is in it. */
void mt_strbuf_add_quoted(mt_strbuf *buf, const char *text);
/* The same for people to read and copy: quoted only where the shell would not take it for one plain word. */
void mt_strbuf_add_word(mt_strbuf *buf, const char *text);
const char *mt_strbuf_text(const mt_strbuf *buf); /* never NULL; "" when empty or failed */
char *mt_strbuf_take(mt_strbuf *buf);             /* ownership to the caller (mt_free), NULL if failed; the buffer is empty after */
void mt_strbuf_clear(mt_strbuf *buf);             /* length 0, memory kept */
void mt_strbuf_free(mt_strbuf *buf);
