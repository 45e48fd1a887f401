/* From text to mt_spec: the order in which sections are read, defaults, and the end of everything's life. */
#include "tuner/space/spec/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/ini/include.h"
#include "tuner/space/spec/spec_internal.h"

/* ---- messages ---- */

mt_status mt_reader_fail(const mt_reader *reader, mt_error *err, int line, const char *format, ...)
{
    char text[1536];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mt_place place = mt_ini_place(reader->ini, line);
    return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: %s", place.path, place.line, text);
}

char *mt_reader_resolve(const mt_reader *reader, int line, const char *name)
{
    char *folder = mt_path_folder(mt_ini_place(reader->ini, line).path), *path = folder ? mt_path_join(folder, name) : NULL;
    mt_free(folder);
    return path;
}

mt_status mt_reader_no_memory(const mt_reader *reader, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", reader->spec->path);
}

const char *mt_reader_suggest(const char *word, const char *const *known, size_t count, char *out, size_t size)
{
    const char *near = mt_text_nearest(word, known, count);
    if (near) {
        snprintf(out, size, ", did you mean `%s`?", near);
        return out;
    }
    size_t used = (size_t)snprintf(out, size, count > 1 ? "; expected one of " : "; expected ");
    for (size_t i = 0; i < count && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", known[i]);
    }
    if (count == 0) out[0] = '\0';
    return out;
}

/* ---- grouping sections ---- */

static bool is_file_name_like(const char *name)
{
    size_t allowed = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    return *name && !name[allowed];
}

static mt_status check_section_name(mt_reader *reader, const mt_ini_section *section, mt_section_kind kind, mt_error *err)
{
    switch (kind) {
    case MT_SECTION_KERNEL: case MT_SECTION_TUNE: case MT_SECTION_LET: case MT_SECTION_MODEL:
        if (!*section->name) return MT_OK;
        return mt_reader_fail(reader, err, section->line, "[%s %s]: expected [%s] without a name", section->kind, section->name, section->kind);
    case MT_SECTION_SHAPE: case MT_SECTION_WORKLOAD: case MT_SECTION_CONSTRAINT:
        if (is_file_name_like(section->name)) return MT_OK;
        return mt_reader_fail(reader, err, section->line, "[%s %s]: expected [%s NAME], one word of letters, digits, `_`, `-` and `.`",
                              section->kind,
                              section->name, section->kind);
    case MT_SECTION_ALGORITHM: case MT_SECTION_PARAM: case MT_SECTION_ARG:
        if (kind == MT_SECTION_ARG && mt_is_literal_arg(section->name)) return MT_OK; /* written out of a launch's args */
        if (mt_text_is_identifier(section->name, strlen(section->name))) return MT_OK;
        return mt_reader_fail(reader, err, section->line, "[%s %s]: expected [%s NAME], a name made of letters, digits and _", section->kind,
                              section->name,
                              section->kind);
    default:
        return MT_OK; /* [launch], [prepare] and [finish] read their own words */
    }
}

static mt_status group_sections(mt_reader *reader, mt_error *err)
{
    const mt_ini *ini = reader->ini;
    for (size_t kind = 0; kind < MT_SECTION_COUNT; kind++) {
        reader->sections[kind] = mt_alloc(ini->section_count, sizeof *reader->sections[kind]);
        if (!reader->sections[kind]) return mt_reader_no_memory(reader, err);
    }
    for (size_t i = 0; i < ini->section_count; i++) {
        const mt_ini_section *section = &ini->sections[i];
        size_t kind = 0;
        while (kind < MT_SECTION_COUNT && strcmp(mt_section_names[kind], section->kind) != 0) kind++;
        if (strcmp(section->kind, "variant") == 0) return mt_reader_fail(reader, err, section->line, "[variant %s]: the section is called [algorithm %s]", section->name, section->name);
        if (kind == MT_SECTION_COUNT) {
            char hint[256];
            return mt_reader_fail(reader, err, section->line, "unknown section [%s]%s", section->kind,
                                  mt_reader_suggest(section->kind, mt_section_names, MT_SECTION_COUNT, hint, sizeof hint));
        }
        mt_status st = check_section_name(reader, section, (mt_section_kind)kind, err);
        if (st != MT_OK) return st;
        reader->sections[kind][reader->counts[kind]++] = section;
    }
    return MT_OK;
}

static mt_status check_sections(mt_reader *reader, mt_error *err)
{
    static const mt_section_kind needed[] = { MT_SECTION_KERNEL, MT_SECTION_SHAPE, MT_SECTION_ALGORITHM, MT_SECTION_ARG, MT_SECTION_LAUNCH };
    const mt_ini_entry *points = reader->counts[MT_SECTION_KERNEL] ? mt_ini_find(reader->sections[MT_SECTION_KERNEL][0], "points") : NULL;
    size_t count = points && strcmp(points->value, "recorded") == 0 ? 3 : sizeof needed / sizeof needed[0];
    for (size_t i = 0; i < count; i++) {
        const char *name = mt_section_names[needed[i]];
        if (reader->counts[needed[i]] == 0) {
            return MT_FAIL(err, MT_ERR_SPEC, "%s:1: no [%s%s] section: expected at least one", reader->spec->path, name, i ? " …" : "");
        }
    }
    return MT_OK;
}

/* ---- [kernel], [tune] ---- */

mt_status mt_parse_source(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_spec *spec = object;
    spec->source_line = entry->line;
    return mt_parse_path(reader, rule, entry, value, object, err);
}

mt_status mt_parse_reference(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                             mt_error *err)
{
    mt_spec *spec = object;
    spec->reference_line = entry->line;
    if (strncmp(value, "file:", 5) == 0 && value[5]) {
        spec->reference_file = mt_reader_resolve(reader, entry->line, value + 5);
        return spec->reference_file ? MT_OK : mt_reader_no_memory(reader, err);
    }
    spec->reference_is_default = strcmp(value, "default") == 0; /* a keyword of C: no function has the name */
    if (spec->reference_is_default) return MT_OK;
    return mt_parse_kernel_name(reader, rule, entry, value, object, "the name of a __global__ function, file:PATH.npy, or default (the default variant's own output)", err);
}

mt_status mt_parse_macros(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    static const char *const taken[] = {"SHAPE_", "WORKLOAD_", "MT_"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strncmp(value, taken[i], strlen(taken[i])) == 0) return mt_reader_fail(reader, err, entry->line, "macros = %s: names that begin with %s are taken; expected another beginning, such as KNOB_", value, taken[i]);
    return mt_parse_identifier(reader, rule, entry, value, object, err);
}

mt_status mt_parse_includes(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                            mt_error *err)
{
    mt_spec *spec = object;
    spec->include_line = entry->line;
    mt_status st = mt_split(value, &spec->include_dirs, &spec->include_count, err);
    for (size_t i = 0; st == MT_OK && i < spec->include_count; i++) {
        char *folder = mt_ini_unquote(spec->include_dirs[i]);
        if (folder && !*folder) st = mt_reader_fail(reader, err, entry->line, "include has an empty folder name between commas");
        char *joined = folder ? mt_reader_resolve(reader, entry->line, folder) : NULL;
        mt_free(folder);
        if (!joined) return mt_reader_no_memory(reader, err);
        mt_free(spec->include_dirs[i]);
        spec->include_dirs[i] = joined;
    }
    return st;
}

static mt_status read_kernel_and_tune(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    const mt_ini_section *kernel = reader->sections[MT_SECTION_KERNEL][0];
    MT_TRY(mt_rules_check(reader, kernel, MT_RULES_KERNEL, err));
    MT_TRY(mt_rules_apply(reader, kernel, MT_RULES_KERNEL, MT_PASS_NAMES, spec, err));
    if (!spec->name) spec->name = mt_path_stem(spec->path);
    if (!spec->options) spec->options = mt_strdup("");
    if (!spec->name || !spec->options) return mt_reader_no_memory(reader, err);
    if (!is_file_name_like(spec->name)) { /* it names rows, files and lookups */
        return mt_reader_fail(reader, err, kernel->line, "[kernel] name is `%s`: expected one word of letters, digits, `_`, `-` and `.`",
                              spec->name);
    }
    if (reader->counts[MT_SECTION_TUNE]) {
        const mt_ini_section *tune = reader->sections[MT_SECTION_TUNE][0];
        MT_TRY(mt_rules_check(reader, tune, MT_RULES_TUNE, err));
        MT_TRY(mt_rules_apply(reader, tune, MT_RULES_TUNE, MT_PASS_NAMES, spec, err));
    }
    if (!spec->strategy && !(spec->strategy = mt_strdup("auto"))) st = mt_reader_no_memory(reader, err);
done:
    return st;
}

/* ---- loading ---- */

static mt_status read_all(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(group_sections(reader, err));
    MT_TRY(check_sections(reader, err));
    MT_TRY(read_kernel_and_tune(reader, err));
    MT_TRY(mt_check_recorded(reader, err));
    MT_TRY(mt_read_workloads(reader, err)); /* before shapes: those name workloads */
    MT_TRY(mt_read_shapes(reader, err));
    MT_TRY(mt_read_knob_names(reader, err));
    MT_TRY(mt_check_names(reader, err));
    MT_TRY(mt_scope_build(reader, err));
    MT_TRY(mt_read_lets(reader, err));
    MT_TRY(mt_read_conditions(reader, err));
    MT_TRY(mt_read_args(reader, err));
    MT_TRY(mt_read_launches(reader, err));
    MT_TRY(mt_rules_apply(reader, reader->sections[MT_SECTION_KERNEL][0], MT_RULES_KERNEL, MT_PASS_EXPRESSIONS, reader->spec, err));
    MT_TRY(mt_read_model(reader, err));
    MT_TRY(mt_check_spec(reader, err));
done:
    return st;
}

/* Includes are put in when a file is loaded; text that has only the line would be read without what it needs. */
static mt_status check_includes(mt_reader *reader, mt_error *err)
{
    const mt_ini *ini = reader->ini;
    if (ini->includes.entry_count == 0 || ini->mark_count > 0) return MT_OK;
    return mt_reader_fail(reader, err, ini->includes.entries[0].line, "include stands in a text that is no file: expected its sections themselves");
}

/* Texts end with a byte that none of them holds, so that none of them can reach into the next. */
static void add_text(mt_strbuf *all, const char *text)
{
    mt_strbuf_add(all, text);
    mt_strbuf_add_char(all, '\x1f');
}

static mt_status rules_key(const mt_ini *ini, mt_hash *key, mt_error *err)
{
    mt_strbuf all = {0};
    for (size_t i = 0; i < ini->section_count; i++) {
        const mt_ini_section *section = &ini->sections[i];
        if (strcmp(section->kind, "tune") == 0 || strcmp(section->kind, "shape") == 0 || strcmp(section->kind, "workload") == 0) continue;
        add_text(&all, section->kind);
        add_text(&all, section->name);
        for (size_t k = 0; k < section->entry_count; k++) {
            add_text(&all, section->entries[k].key);
            add_text(&all, section->entries[k].value);
        }
        add_text(&all, "");
    }
    *key = mt_hash_text(mt_strbuf_text(&all));
    mt_status st = all.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", ini->path) : MT_OK;
    mt_strbuf_free(&all);
    return st;
}

mt_status mt_spec_parse(const char *path, const char *text, size_t length, mt_spec **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_reader reader = { 0 };
    mt_spec *spec = mt_alloc(1, sizeof *spec);
    *out = NULL;
    if (!spec) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    *spec = (mt_spec){ .budget = 400, .time_s = 300, .l2 = MT_L2_COLD, .graph_below_us = 10 };
    reader.spec = spec;
    spec->path = mt_strdup(path);
    spec->text = mt_strndup(text, length);
    spec->owned = mt_alloc(1, sizeof *spec->owned);
    if (!spec->path || !spec->text || !spec->owned) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path));
    reader.ini = &spec->owned->ini;
    MT_TRY(mt_ini_parse(path, text, length, &spec->owned->ini, err));
    MT_TRY(check_includes(&reader, err));
    MT_TRY(mt_write_out_short_forms(&reader, &spec->owned->ini, err));
    MT_TRY(rules_key(&spec->owned->ini, &spec->rules_key, err));
    MT_TRY(read_all(&reader, err));
    *out = spec;
    spec = NULL;
done:
    for (size_t kind = 0; kind < MT_SECTION_COUNT; kind++) mt_free(reader.sections[kind]);
    mt_free(reader.lets);
    mt_spec_free(spec);
    return st;
}

mt_status mt_spec_load(const char *path, mt_spec **spec, mt_error *err)
{
    return mt_spec_load_with(path, NULL, spec, err);
}

mt_status mt_spec_load_with(const char *path, const char *more, mt_spec **spec, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = { 0 };
    *spec = NULL;
    MT_TRY(mt_include_read(path, &text, err));
    if (more) mt_strbuf_addf(&text, "\n%s", more);
    if (text.failed) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path));
    st = mt_spec_parse(path, mt_strbuf_text(&text), text.length, spec, err);
done:
    mt_strbuf_free(&text);
    return st;
}

/* ---- finding ---- */

mt_place mt_spec_place(const mt_spec *spec, int line)
{
    return mt_ini_place(&spec->owned->ini, line);
}

int mt_spec_column(const mt_spec *spec, int *line, const char *source)
{
    return mt_ini_column(&spec->owned->ini, line, source);
}

const mt_shape *mt_spec_shape(const mt_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->shape_count; i++) {
        if (strcmp(spec->shapes[i].name, name) == 0) return &spec->shapes[i];
    }
    return NULL;
}

const mt_workload *mt_spec_workload(const mt_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->workload_count; i++) {
        if (strcmp(spec->workloads[i].name, name) == 0) return &spec->workloads[i];
    }
    return NULL;
}

const mt_setting *mt_settings_find(const mt_setting *settings, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, name) == 0) return &settings[i];
    }
    return NULL;
}
