/* The .ini reader: text → sections of (key, value, line). Knows no key names; the grammar's meaning is in spec.c.
 *
 * Accepts a UTF-8 BOM, CRLF, lines of any length, trailing-backslash continuation, `;` and `#` comments (at line start or after
 * white space) and double quotes that protect them. Refuses NUL bytes, invalid UTF-8, text outside a section, duplicate keys in one section,
 * duplicate sections, with "file:line: what, and what was expected". */
#ifndef MT_SPACE_INI_H
#define MT_SPACE_INI_H

#include <stddef.h>

#include "tuner/base/status.h"

typedef struct mt_ini_entry {
    char *key;
    char *value; /* trimmed; continuation joined by one space; the outer quotes are kept when the whole value is quoted (see mt_ini_unquote) */
    int line;    /* of the key, 1-based */
} mt_ini_entry;

typedef struct mt_ini_section {
    char *kind;  /* first word of [kind name …] */
    char *name;  /* the remaining words joined by one space; "" when there are none */
    int line;
    mt_ini_entry *entries;
    size_t entry_count;
} mt_ini_section;

typedef struct mt_ini {
    char *path; /* as given, for messages */
    mt_ini_section *sections;
    size_t section_count;
} mt_ini;

/* Parses text[length]; `path` is only named in messages. The caller mt_ini_free's *ini. */
mt_status mt_ini_parse(const char *path, const char *text, size_t length, mt_ini *ini, mt_error *err);
void mt_ini_free(mt_ini *ini); /* zeroed struct is fine */
const mt_ini_entry *mt_ini_find(const mt_ini_section *section, const char *key); /* or NULL */
/* Text without one pair of outer double quotes, if there is one. Owned by the caller (mt_free). */
char *mt_ini_unquote(const char *value);

#endif
