/* [shape] and [workload]: free names with values. */
#include "tuner/space/spec/spec_internal.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* ---- one section's free names ---- */

typedef mt_status (*value_reader)(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err);

static bool is_reserved_key(mt_rule_set set, const char *key)
{
    size_t count;
    const mt_key_rule *rules = mt_rules(set, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i].key, key) == 0) return true;
    }
    return false;
}

static mt_status read_settings(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, value_reader read, mt_setting **settings,
                               size_t *count, mt_error *err)
{
    *settings = mt_alloc(section->entry_count, sizeof **settings);
    if (!*settings) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < section->entry_count; i++) {
        const mt_ini_entry *entry = &section->entries[i];
        if (is_reserved_key(set, entry->key)) continue;
        if (!mt_text_is_identifier(entry->key, strlen(entry->key))) {
            return mt_reader_fail(reader, err, entry->line, "`%s` can't be a name: expected letters, digits and _", entry->key);
        }
        mt_setting *setting = &(*settings)[*count];
        setting->name = mt_strdup(entry->key);
        (*count)++;
        if (!setting->name) return mt_reader_no_memory(reader, err);
        mt_status st = read(reader, entry, *settings, *count - 1, err);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}

/* ---- [workload] ---- */

static mt_status add_implicit_workload(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    spec->workloads = mt_alloc(1, sizeof *spec->workloads);
    if (!spec->workloads) return mt_reader_no_memory(reader, err);
    spec->workload_count = 1;
    spec->workloads[0] = (mt_workload){ .name = mt_strdup("default"), .key = mt_strdup(""), .is_default = true };
    return spec->workloads[0].name && spec->workloads[0].key ? MT_OK : mt_reader_no_memory(reader, err);
}

mt_status mt_read_workloads(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_WORKLOAD];
    bool any_default = false;
    if (count == 0) return add_implicit_workload(reader, err);
    spec->workloads = mt_alloc(count, sizeof *spec->workloads);
    if (!spec->workloads) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_WORKLOAD][i];
        mt_workload *workload = &spec->workloads[i];
        spec->workload_count = i + 1;
        if (!(workload->name = mt_strdup(section->name))) return mt_reader_no_memory(reader, err);
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_WORKLOAD, MT_PASS_NAMES, workload, err));
        MT_TRY(read_settings(reader, section, MT_RULES_WORKLOAD, mt_read_workload_setting, &workload->settings, &workload->setting_count, err));
        MT_TRY(mt_settings_key(reader, workload->settings, workload->setting_count, &workload->key, err));
        any_default = any_default || workload->is_default;
    }
    if (!any_default) spec->workloads[0].is_default = true;
done:
    return st;
}

mt_status mt_parse_workload_names(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                                  mt_error *err)
{
    mt_shape *shape = object;
    const mt_spec *spec = reader->spec;
    mt_status st = mt_split(value, &shape->workloads, &shape->workload_count, err);
    if (st == MT_OK && shape->workload_count == 0) return mt_reader_fail(reader, err, entry->line,
                                                                         "workload is empty: expected names of [workload] sections");
    for (size_t i = 0; st == MT_OK && i < shape->workload_count; i++) {
        const char *known[64];
        char hint[512];
        size_t count = 0;
        if (mt_spec_workload(spec, shape->workloads[i])) continue;
        for (; count < spec->workload_count && count < 64; count++) known[count] = spec->workloads[count].name;
        st = mt_reader_fail(reader, err, entry->line, "unknown workload `%s`%s", shape->workloads[i],
                            mt_reader_suggest(shape->workloads[i], known, count, hint, sizeof hint));
    }
    return st;
}

/* ---- [shape] ---- */

static mt_status take_default_workloads(mt_reader *reader, mt_shape *shape, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    if (shape->workload_count) return MT_OK;
    shape->workloads = mt_alloc(spec->workload_count, sizeof *shape->workloads);
    if (!shape->workloads) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < spec->workload_count; i++) {
        if (!spec->workloads[i].is_default) continue;
        char *name = mt_strdup(spec->workloads[i].name);
        if (!name) return mt_reader_no_memory(reader, err);
        shape->workloads[shape->workload_count++] = name;
    }
    return MT_OK;
}

static const char *kind_name(mt_value_kind kind)
{
    return kind == MT_VALUE_STRING ? "a word" : kind == MT_VALUE_LIST ? "a list" : "an integer";
}

/* Puts the settings into the first shape's order and insists on the same names and kinds, so that one slot table serves all. */
static mt_status match_first_shape(mt_reader *reader, mt_shape *shape, mt_error *err)
{
    const mt_shape *first = &reader->spec->shapes[0];
    for (size_t i = 0; i < first->setting_count; i++) {
        const mt_setting *wanted = &first->settings[i];
        const mt_setting *found = mt_settings_find(shape->settings, shape->setting_count, wanted->name);
        if (!found) {
            return mt_reader_fail(reader, err, shape->line, "[shape %s] has no `%s`: expected the same names as in [shape %s]", shape->name,
                                  wanted->name, first->name);
        }
        if (found->value.kind != wanted->value.kind) {
            return mt_reader_fail(reader, err, shape->line, "`%s` is %s in [shape %s] but %s in [shape %s]", wanted->name,
                                  kind_name(found->value.kind), shape->name,
                                  kind_name(wanted->value.kind), first->name);
        }
        mt_setting *from = (mt_setting *)found, held = shape->settings[i];
        shape->settings[i] = *from;
        *from = held;
    }
    if (shape->setting_count > first->setting_count) {
        return mt_reader_fail(reader, err, shape->line,
                              "[shape %s] has `%s`, which [shape %s] has not: expected the same names in all shapes", shape->name,
                              shape->settings[first->setting_count].name, first->name);
    }
    return MT_OK;
}

/* Which strings each shape value can be: what literals in expressions are checked against. */
static mt_status collect_strings(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    size_t names = spec->shapes[0].setting_count;
    struct mt_ini_data *owned = spec->owned;
    owned->shape_strings = mt_alloc(names, sizeof *owned->shape_strings);
    owned->shape_string_counts = mt_alloc(names, sizeof *owned->shape_string_counts);
    if (!owned->shape_strings || !owned->shape_string_counts) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < names; i++) {
        if (spec->shapes[0].settings[i].value.kind != MT_VALUE_STRING) continue;
        const char **strings = mt_alloc(spec->shape_count, sizeof *strings);
        if (!strings) return mt_reader_no_memory(reader, err);
        owned->shape_strings[i] = strings;
        for (size_t shape = 0; shape < spec->shape_count; shape++) {
            const char *string = spec->shapes[shape].settings[i].value.string;
            size_t known = 0;
            while (known < owned->shape_string_counts[i] && strcmp(strings[known], string) != 0) known++;
            if (known == owned->shape_string_counts[i]) strings[owned->shape_string_counts[i]++] = string;
        }
    }
    return MT_OK;
}

mt_status mt_read_shapes(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_SHAPE];
    spec->shapes = mt_alloc(count, sizeof *spec->shapes);
    if (!spec->shapes) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_SHAPE][i];
        mt_shape *shape = &spec->shapes[i];
        spec->shape_count = i + 1;
        *shape = (mt_shape){ .line = section->line, .is_main = true, .name = mt_strdup(section->name) };
        if (!shape->name) return mt_reader_no_memory(reader, err);
        MT_TRY(mt_rules_refuse_former(reader, section, MT_RULES_SHAPE, err));
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_SHAPE, MT_PASS_NAMES, shape, err));
        MT_TRY(read_settings(reader, section, MT_RULES_SHAPE, mt_read_shape_setting, &shape->settings, &shape->setting_count, err));
        if (i > 0) MT_TRY(match_first_shape(reader, shape, err));
        MT_TRY(mt_settings_key(reader, shape->settings, shape->setting_count, &shape->key, err));
        MT_TRY(take_default_workloads(reader, shape, err));
    }
    MT_TRY(collect_strings(reader, err));
done:
    return st;
}
