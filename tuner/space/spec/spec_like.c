/* [shapes] and `like`: a shape's values that stand elsewhere are put into its section. [shapes A | B]: a table, with a shape on each line. */
#include "tuner/space/spec/spec_short.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/ini/ini_index.h"

/* Each limit is far beyond what people write; together they bound the work that a small hostile file makes. */
enum { KEYS_MAX = 128, VALUES_MAX = 1000000 };

static const char like_key[] = "like", main_key[] = "main";

static mt_status check_defaults(mt_short *all, const mt_ini_section *section, mt_error *err)
{
    const mt_ini_entry *like = mt_ini_find(section, like_key);
    if (like) return mt_reader_fail(all->reader, err, like->line, "[shapes] holds defaults: expected `like` in a [shape NAME]");
    return MT_OK;
}

static size_t find_shape(const mt_ini *ini, const char *name)
{
    size_t from = 0;
    const mt_ini_section *section = mt_ini_index_find_section(ini, "shape", name, &from);
    return section ? (size_t)(section - ini->sections) : ini->section_count;
}

static mt_status add_value(mt_short *all, const mt_ini_section *shape, const mt_ini_entry *entry, mt_error *err)
{
    size_t count = all->out.sections[all->out.section_count - 1].entry_count;
    if (count == KEYS_MAX) return mt_reader_fail(all->reader, err, shape->line, "[shape %s] has more than %d keys", shape->name, KEYS_MAX);
    if (++all->shape_values > VALUES_MAX) return mt_reader_fail(all->reader, err, shape->line, "the shapes have more than %d values together", VALUES_MAX);
    return mt_ini_add_entry(&all->out, entry->key, entry->value, entry->line, err);
}

/* The other shape's values in its order, each replaced where the shape has its own. `main` says what is tuned, not what the shape is like. */
static mt_status add_base(mt_short *all, const mt_ini_section *shape, const mt_ini_entry *like, mt_error *err)
{
    mt_status st = MT_OK;
    char *name = mt_ini_unquote(like->value);
    if (!name) return mt_reader_no_memory(all->reader, err);
    size_t base = find_shape(&all->out, name), self = all->out.section_count - 1;
    if (base >= self) st = mt_reader_fail(all->reader, err, like->line, "like = %s: expected the name of a [shape] that stands above this one", name);
    for (size_t i = 0; st == MT_OK && i < all->out.sections[base].entry_count; i++) {
        const mt_ini_entry *entry = &all->out.sections[base].entries[i], *own = mt_ini_find(shape, entry->key);
        if (strcmp(entry->key, main_key) != 0) st = add_value(all, shape, own ? own : entry, err);
    }
    mt_free(name);
    return st;
}

/* Those of the section's keys that the shape does not have yet. */
static mt_status add_missing(mt_short *all, const mt_ini_section *shape, const mt_ini_section *from, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && from && i < from->entry_count; i++) {
        const mt_ini_entry *entry = &from->entries[i];
        bool is_there = mt_ini_find(&all->out.sections[all->out.section_count - 1], entry->key);
        if (!is_there && strcmp(entry->key, like_key) != 0) st = add_value(all, shape, entry, err);
    }
    return st;
}

/* Those of the shape's own file go first, then those of the other files in the order they are read. */
static mt_status add_defaults(mt_short *all, const mt_ini_section *shape, bool of_own_file, mt_error *err)
{
    mt_status st = MT_OK;
    size_t from = 0;
    for (const mt_ini_section *section; st == MT_OK && (section = mt_ini_index_find_section(all->in, "shapes", "", &from)) != NULL;)
        if (mt_ini_same_file(all->in, section->line, shape->line) == of_own_file) st = add_missing(all, shape, section, err);
    return st;
}

mt_status mt_short_write_shape(mt_short *all, const mt_ini_section *section, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_ini_entry *like = mt_ini_find(section, like_key);
    MT_TRY(mt_ini_add_section(&all->out, "shape", section->name, section->line, err));
    if (like) MT_TRY(add_base(all, section, like, err));
    MT_TRY(add_missing(all, section, section, err));
    MT_TRY(add_defaults(all, section, true, err)); /* last: they may be expressions of the shape's own values */
    MT_TRY(add_defaults(all, section, false, err));
done:
    return st;
}

/* ---- tables ---- */

/* Cuts the text before the next '|' off *at, without blanks around it; NULL at the end. mt_free it. */
static char *cut_cell(const char **at)
{
    const char *from = *at + strspn(*at, " \t"), *end = from + strcspn(from, "|"), *to = end;
    *at = *end ? end + 1 : end;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
    return mt_strndup(from, (size_t)(to - from));
}

static size_t count_cells(const char *text)
{
    size_t count = 1;
    for (; *text; text++) count += *text == '|';
    return count;
}

static mt_status add_cells(mt_short *all, const mt_ini_section *shape, const char *names, const char *values, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t left = count_cells(names); left && st == MT_OK; left--) {
        char *name = cut_cell(&names), *value = cut_cell(&values);
        const mt_ini_entry entry = {.key = name, .value = value, .line = shape->line};
        st = name && value ? add_value(all, shape, &entry, err) : mt_reader_no_memory(all->reader, err);
        mt_free(name);
        mt_free(value);
    }
    return st;
}

static mt_status write_line(mt_short *all, const mt_ini_section *table, const mt_ini_entry *line, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_ini_section shape = {.kind = table->kind, .name = line->key, .line = line->line};
    size_t wanted = count_cells(table->name), given = count_cells(line->value);
    if (wanted != given)
        return mt_reader_fail(all->reader, err, line->line, "[shapes %s]: %s has %zu value%s, expected %zu with | between them", table->name, line->key, given, given == 1 ? "" : "s", wanted);
    MT_TRY(mt_ini_add_section(&all->out, "shape", line->key, line->line, err));
    MT_TRY(add_cells(all, &shape, table->name, line->value, err));
    MT_TRY(add_defaults(all, &shape, true, err));
    MT_TRY(add_defaults(all, &shape, false, err));
done:
    return st;
}

mt_status mt_short_write_shapes(mt_short *all, const mt_ini_section *section, mt_error *err)
{
    mt_status st = MT_OK;
    if (!*section->name) return check_defaults(all, section, err);
    for (size_t i = 0; i < section->entry_count && st == MT_OK; i++) st = write_line(all, section, &section->entries[i], err);
    return st;
}
