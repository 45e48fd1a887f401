/* Walks a large JSON document member by member without holding it apart: each member or element is handed on as the text that it is, for SQLite's JSON
 * functions. Only what stands between values is checked here. Positions are lines of the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_json_scan {
    const char *at, *end; /* the text not read yet */
    const char *name;     /* of the file, for messages */
    int64_t line;
} mt_json_scan;

typedef struct mt_json_span {
    const char *text;     /* not terminated */
    size_t length;
    int64_t line;         /* where it begins */
} mt_json_span;

/* One object or array being walked. */
typedef struct mt_json_level {
    char close;
    bool has_begun;
} mt_json_level;

mt_json_scan mt_json_scan_of(const char *text, size_t length, const char *name);
/* The next character that is not white space, without taking it; 0 at the end. */
char mt_json_peek(mt_json_scan *scan);
/* Takes '{' or '['; `what` names the thing for the error. */
mt_status mt_json_enter(mt_json_scan *scan, char open, const char *what, mt_json_level *level, mt_error *err);
/* To the next member (key: without its quotes, escapes as they stand) or element (key NULL). *more is false behind the last, whose bracket is then taken. */
mt_status mt_json_next(mt_json_scan *scan, mt_json_level *level, mt_json_span *key, bool *more, mt_error *err);
/* Takes the whole value at hand. Brackets are counted; whether it is JSON inside is for the parser. */
mt_status mt_json_take(mt_json_scan *scan, mt_json_span *value, mt_error *err);
/* Behind an error of these: whether the file ends too early, so that the members or elements before are whole. */
bool mt_json_is_cut(const mt_json_scan *scan);
bool mt_json_is(const mt_json_span *span, const char *text);
/* Replaces *text by the value. Python's NaN and Infinity become null and 9e999, which JSON has. */
void mt_json_copy(const mt_json_span *span, mt_strbuf *text);
