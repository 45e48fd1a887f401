/* What an mt_ini is made of: sections, entries, and which file each line is of. */
#include "tuner/space/ini/ini.h"
#include "tuner/space/ini/ini_index.h"

#include <stdbool.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

/* Of sections, and of keys in one: no search space comes near it, and what is done with each of a hostile file's stays cheap. */
enum { COUNT_LIMIT = 10000, MARK_LIMIT = 1000 };

/* ---- files ---- */

static const mt_ini_mark *mark_of(const mt_ini *ini, int line)
{
    const mt_ini_mark *mark = NULL;
    for (size_t i = 0; i < ini->mark_count && ini->marks[i].first <= line; i++) mark = &ini->marks[i];
    return mark;
}

mt_place mt_ini_place(const mt_ini *ini, int line)
{
    const mt_ini_mark *mark = mark_of(ini, line);
    return mark ? (mt_place){mark->path, line - mark->first + mark->line} : (mt_place){ini->path, line};
}

/* A part of a list stands between '=', ',' or a blank and ',' or a blank: so "N" is not found in "N*2, N". */
static bool is_apart(char c)
{
    return c == '\0' || strchr("=, \t\r\n\"", c) != NULL;
}

/* Where `source` stands between `from` and `end` of a line: best where nothing touches it; NULL: nowhere. */
static const char *find_part(const char *from, const char *end, const char *source)
{
    size_t length = strlen(source);
    const char *touched = NULL;
    for (const char *at = from; length && (at = memmem(at, (size_t)(end - at), source, length)); at++) {
        if (is_apart(at[-1]) && is_apart(at[length])) return at;
        if (!touched) touched = at;
    }
    return touched;
}

int mt_ini_column(const mt_ini *ini, int *line, const char *source)
{
    const char *at = ini->text;
    for (int i = 1; at && i < *line; i++) at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    const char *from = at ? strchr(at, '=') : NULL;
    if (!from) return 0;
    from++;
    for (int here = *line;; here++) {
        const char *end = from + strcspn(from, "\n"), *found = find_part(from, end, source);
        if (found) return *line = here, (int)(found - at) + 1;
        while (end > from && strchr(" \t\r", end[-1])) end--;
        bool goes_on = end > from && end[-1] == '\\';
        end += strcspn(end, "\n");
        if (!goes_on || !*end) return 0;
        at = from = end + 1;
    }
}

bool mt_ini_same_file(const mt_ini *ini, int line, int other)
{
    return mark_of(ini, line) == mark_of(ini, other) || strcmp(mt_ini_place(ini, line).path, mt_ini_place(ini, other).path) == 0;
}

mt_status mt_ini_add_mark(mt_ini *ini, int first, int line, const char *path, size_t length, mt_error *err)
{
    if (ini->mark_count == MARK_LIMIT) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: more than %d pieces of files", ini->path, (int)MARK_LIMIT);
    mt_ini_mark *added = MT_APPEND(ini->marks, ini->mark_count, ini->mark_capacity);
    if (!added) return mt_no_memory(ini->path, err);
    *added = (mt_ini_mark){.first = first, .line = line, .path = mt_strndup(path, length)};
    return added->path ? MT_OK : mt_no_memory(ini->path, err);
}

static mt_status fail_twice(const mt_ini *ini, int line, int first, const char *what, mt_error *err)
{
    mt_place here = mt_ini_place(ini, line), there = mt_ini_place(ini, first);
    if (mt_ini_same_file(ini, line, first)) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%d: duplicate %s, first given in line %d", here.path, here.line, what, there.line);
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%d: duplicate %s, first given in %s:%d", here.path, here.line, what, there.path, there.line);
}

/* ---- sections and entries ---- */

/* These only hold lines that are sections themselves: as many as the file's order wants. */
static bool holds_lines(const char *kind)
{
    return strcmp(kind, "params") == 0 || strcmp(kind, "constraints") == 0 || strcmp(kind, "args") == 0;
}

/* An earlier section that this one must not repeat, or NULL. */
static const mt_ini_section *same_section(const mt_ini *ini, const char *kind, const char *name, int line)
{
    size_t from = 0;
    const mt_ini_section *section = holds_lines(kind) ? NULL : mt_ini_index_find_section(ini, kind, name, &from);
    while (section && strcmp(kind, "shapes") == 0 && !mt_ini_same_file(ini, section->line, line)) section = mt_ini_index_find_section(ini, kind, name, &from); /* each file may have its defaults */
    return section;
}

mt_status mt_ini_add_section(mt_ini *ini, const char *kind, const char *name, int line, mt_error *err)
{
    mt_place here = mt_ini_place(ini, line);
    const mt_ini_section *earlier = same_section(ini, kind, name, line);
    if (earlier) {
        mt_strbuf what = {0};
        mt_strbuf_addf(&what, "section [%s%s%s]", kind, *name ? " " : "", name);
        mt_status st = fail_twice(ini, line, earlier->line, mt_strbuf_text(&what), err);
        mt_strbuf_free(&what);
        return st;
    }
    if (ini->section_count == COUNT_LIMIT) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%d: more than %d sections", here.path, here.line, (int)COUNT_LIMIT);
    mt_ini_section *added = MT_APPEND(ini->sections, ini->section_count, ini->section_capacity);
    if (!added) return mt_no_memory(ini->path, err);
    *added = (mt_ini_section){.kind = mt_strdup(kind), .name = mt_strdup(name), .line = line};
    return added->kind && added->name && mt_ini_index_section(ini) ? MT_OK : mt_no_memory(ini->path, err);
}

static mt_status put_entry(const mt_ini *ini, mt_ini_section *section, const char *key, const char *value, int line, mt_error *err)
{
    mt_place here = mt_ini_place(ini, line);
    if (section->entry_count == COUNT_LIMIT) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%d: more than %d keys in a section", here.path, here.line, (int)COUNT_LIMIT);
    mt_ini_entry *added = MT_APPEND(section->entries, section->entry_count, section->entry_capacity);
    if (!added) return mt_no_memory(ini->path, err);
    *added = (mt_ini_entry){.key = mt_strdup(key), .value = mt_strdup(value), .line = line};
    return added->key && added->value ? MT_OK : mt_no_memory(ini->path, err);
}

mt_status mt_ini_add_entry(mt_ini *ini, const char *key, const char *value, int line, mt_error *err)
{
    mt_ini_section *section = &ini->sections[ini->section_count - 1];
    const mt_ini_entry *earlier = mt_ini_index_find_entry(ini, key);
    if (!earlier) {
        mt_status put = put_entry(ini, section, key, value, line, err);
        return put == MT_OK && !mt_ini_index_entry(ini) ? mt_no_memory(ini->path, err) : put;
    }
    mt_strbuf what = {0};
    mt_strbuf_addf(&what, "key '%s' in [%s%s%s]", key, section->kind, *section->name ? " " : "", section->name);
    mt_status st = fail_twice(ini, line, earlier->line, mt_strbuf_text(&what), err);
    mt_strbuf_free(&what);
    return st;
}

mt_status mt_ini_add_include(mt_ini *ini, const char *value, int line, mt_error *err)
{
    return put_entry(ini, &ini->includes, "include", value, line, err);
}

static void free_section(mt_ini_section *section)
{
    for (size_t i = 0; i < section->entry_count; i++) {
        mt_free(section->entries[i].key);
        mt_free(section->entries[i].value);
    }
    MT_FREE_EACH(section->entries, section->kind, section->name);
}

void mt_ini_free(mt_ini *ini)
{
    mt_free(ini->text);
    for (size_t i = 0; i < ini->section_count; i++) free_section(&ini->sections[i]);
    for (size_t i = 0; i < ini->mark_count; i++) mt_free(ini->marks[i].path);
    free_section(&ini->includes);
    MT_FREE_EACH(ini->marks, ini->slots, ini->sections, ini->path);
    *ini = (mt_ini){0};
}

const mt_ini_entry *mt_ini_find(const mt_ini_section *section, const char *key)
{
    for (size_t i = 0; i < section->entry_count; i++)
        if (strcmp(section->entries[i].key, key) == 0) return &section->entries[i];
    return NULL;
}

int mt_ini_line_of(const mt_ini_section *section, const char *key)
{
    const mt_ini_entry *entry = mt_ini_find(section, key);
    return entry ? entry->line : section->line;
}

char *mt_ini_unquote(const char *value)
{
    size_t length = strlen(value);
    bool is_quoted = length >= 2 && value[0] == '"' && strchr(value + 1, '"') == value + length - 1; /* not: "a" == "b" */
    return is_quoted ? mt_strndup(value + 1, length - 2) : mt_strdup(value);
}
