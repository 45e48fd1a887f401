/* The .ini reader: text → sections of (key, value, line). Knows no key names; the grammar's meaning is in spec.c.
 *
 * Accepts a UTF-8 BOM, CRLF, lines of any length, trailing-backslash continuation, `;` and `#` comments (at line start or after
 * white space) and double quotes that protect them. Refuses NUL bytes, invalid UTF-8, text outside a section, duplicate keys in one section,
 * duplicate sections, with "file:line: what, and what was expected".
 *
 * A text may hold several files, each behind a line "@file LINE PATH" (include.h writes them). Lines are then counted through the whole text;
 * mt_ini_place says which line of which file one is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"

typedef struct mt_ini_entry {
    char *key;
    char *value; /* trimmed; continuation joined by one space; the outer quotes are kept when the whole value is quoted (see mt_ini_unquote) */
    int line;    /* of the key, 1-based, in the whole text */
} mt_ini_entry;

typedef struct mt_ini_section {
    char *kind;  /* first word of [kind name …] */
    char *name;  /* the remaining words joined by one space; "" when there are none */
    int line;
    mt_ini_entry *entries;
    size_t entry_count, entry_capacity;
} mt_ini_section;

/* From line `first` of the text on: line `line` of `path`. */
typedef struct mt_ini_mark {
    int first, line;
    char *path;
} mt_ini_mark;

typedef struct mt_ini_slot {
    uint64_t hash;
    size_t section, entry; /* numbers from 1; section 0: the slot is free, entry 0: the section itself */
} mt_ini_slot;

/* A line as a person finds it; the path is the mt_ini's. */
typedef struct mt_place {
    const char *path;
    int line;
} mt_place;

typedef struct mt_ini {
    char *path; /* as given, for messages */
    char *text; /* all of it, for mt_ini_column; NULL: it was put together */
    mt_ini_section *sections;
    size_t section_count, section_capacity;
    mt_ini_section includes; /* the `include =` in front of each file's first section */
    mt_ini_mark *marks;
    size_t mark_count, mark_capacity;
    mt_ini_slot *slots;      /* ini_index.h */
    size_t slot_count, slots_used;
} mt_ini;

/* Parses text[length]; `path` is only named in messages. The caller mt_ini_free's *ini. */
mt_status mt_ini_parse(const char *path, const char *text, size_t length, mt_ini *ini, mt_error *err);
void mt_ini_free(mt_ini *ini); /* zeroed struct is fine */
const mt_ini_entry *mt_ini_find(const mt_ini_section *section, const char *key); /* or NULL */
int mt_ini_line_of(const mt_ini_section *section, const char *key); /* of the key, or of the section without it */
mt_place mt_ini_place(const mt_ini *ini, int line);
/* The column, 1-based, at which `source`, the value of the key in line *line or a part of it, begins in its line. *line becomes that line, which is a later one where the value goes on there.
 * 0: it can't be told, since the text is not known, or the source reaches over several lines. */
int mt_ini_column(const mt_ini *ini, int *line, const char *source);
bool mt_ini_same_file(const mt_ini *ini, int line, int other);

/* To put one together; all texts are copied. A failure leaves *ini as mt_ini_free wants it. An entry goes to the last section. */
mt_status mt_ini_add_section(mt_ini *ini, const char *kind, const char *name, int line, mt_error *err);
mt_status mt_ini_add_entry(mt_ini *ini, const char *key, const char *value, int line, mt_error *err);
mt_status mt_ini_add_include(mt_ini *ini, const char *value, int line, mt_error *err);
mt_status mt_ini_add_mark(mt_ini *ini, int first, int line, const char *path, size_t length, mt_error *err);
/* Text without one pair of outer double quotes, if there is one. Owned by the caller (mt_free). */
char *mt_ini_unquote(const char *value);
