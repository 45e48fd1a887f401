/* [shape] and [workload]: free names with values. */
#include "tuner/space/spec_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

/* ---- values ---- */

/* Strings become parts of macro names (SHAPE_dtype_f16). */
static bool is_word(const char *text)
{
    return *text && !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* What an expression in a shape may read: the values above it. */
typedef struct shape_scope {
    const mt_setting *settings;
    size_t count;
    const char **names;
} shape_scope;

static bool lookup_setting(void *context, const char *name, mt_expr_name *out)
{
    const shape_scope *scope = context;
    const mt_setting *setting = mt_settings_find(scope->settings, scope->count, name);
    if (!setting) return false;
    mt_value_kind kind = setting->value.kind;
    *out = (mt_expr_name){ .type = kind == MT_VALUE_STRING ? MT_TYPE_STRING : kind == MT_VALUE_LIST ? MT_TYPE_LIST : MT_TYPE_INT };
    return true;
}

static size_t setting_names(void *context, const char *const **out)
{
    const shape_scope *scope = context;
    for (size_t i = 0; i < scope->count; i++) scope->names[i] = scope->settings[i].name;
    *out = scope->names;
    return scope->count;
}

/* Evaluates with the settings' values; *value aliases them. */
static mt_status run_on_settings(mt_reader *reader, int line, const char *source, const shape_scope *scope, mt_program *program, mt_value *value,
                                 mt_error *err)
{
    mt_value *slots = mt_alloc(scope->count + 1, sizeof *slots);
    if (!slots) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < scope->count; i++) slots[i] = scope->settings[i].value;
    for (size_t i = 0; i < mt_program_name_count(program); i++) {
        const mt_setting *setting = mt_settings_find(scope->settings, scope->count, mt_program_name(program, i));
        if (setting) mt_program_bind(program, i, (uint32_t)(setting - scope->settings));
    }
    mt_program_status status = mt_program_eval(program, slots, scope->count, value, NULL);
    mt_free(slots);
    if (status == MT_PROGRAM_OK) return MT_OK;
    return mt_reader_fail(reader, err, line, "%s: %s", source, mt_program_strerror(status));
}

static mt_status copy_value(mt_reader *reader, const mt_value *from, mt_value *to, mt_error *err)
{
    *to = (mt_value){ .kind = from->kind, .number = from->number, .length = from->length };
    if (from->kind == MT_VALUE_STRING && !(to->string = mt_strdup(from->string))) return mt_reader_no_memory(reader, err);
    if (from->kind == MT_VALUE_LIST) {
        int64_t *list = mt_alloc(from->length, sizeof *list);
        if (!list) return mt_reader_no_memory(reader, err);
        if (from->length) memcpy(list, from->list, from->length * sizeof *list);
        to->list = list;
    }
    return MT_OK;
}

static mt_status evaluate(mt_reader *reader, int line, const char *text, const mt_setting *settings, size_t count, mt_value *value, mt_error *err)
{
    mt_status st = MT_OK;
    mt_expr expr = { 0 };
    mt_value result = { 0 };
    mt_strbuf where = { 0 };
    shape_scope scope = { settings, count, mt_alloc(count, sizeof *scope.names) };
    mt_strbuf_addf(&where, "%s:%d", reader->spec->path, line);
    if (!scope.names) {
        st = mt_reader_no_memory(reader, err);
        goto done;
    }
    mt_expr_scope names = { lookup_setting, setting_names, &scope };
    MT_TRY(mt_expr_parse(mt_strbuf_text(&where), text, &names, &expr, err));
    MT_TRY(run_on_settings(reader, line, text, &scope, expr.program, &result, err));
    MT_TRY(copy_value(reader, &result, value, err));
done:
    mt_expr_free(&expr);
    mt_strbuf_free(&where);
    mt_free(scope.names);
    return st;
}

static mt_status evaluate_list(mt_reader *reader, const mt_ini_entry *entry, char **items, size_t item_count, const mt_setting *settings,
                               size_t count, mt_value *value, mt_error *err)
{
    if (item_count > 1 && !*items[item_count - 1]) item_count--; /* the trailing comma that makes a 1-list */
    int64_t *list = mt_alloc(item_count, sizeof *list);
    if (!list) return mt_reader_no_memory(reader, err);
    *value = (mt_value){ .kind = MT_VALUE_LIST, .list = list, .length = item_count };
    for (size_t i = 0; i < item_count; i++) {
        mt_value item = { 0 };
        if (mt_text_int64(items[i], strlen(items[i]), &list[i])) continue;
        if (!*items[i]) return mt_reader_fail(reader, err, entry->line, "%s = %s: expected an integer between the commas", entry->key, entry->value);
        mt_status st = evaluate(reader, entry->line, items[i], settings, count, &item, err);
        if (st != MT_OK) return st;
        list[i] = item.number;
        if (item.kind != MT_VALUE_INT) {
            mt_free((void *)item.string);
            mt_free((void *)item.list);
            return mt_reader_fail(reader, err, entry->line, "%s: list element %s is not an integer", entry->key, items[i]);
        }
    }
    return MT_OK;
}

static mt_status string_value(mt_reader *reader, const mt_ini_entry *entry, const char *text, bool quoted, const mt_setting *settings,
                              size_t count, mt_value *value, mt_error *err)
{
    if (!is_word(text)) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s: a string becomes part of a macro's name; expected letters, digits and _", entry->key, entry->value);
    }
    if (!quoted && mt_settings_find(settings, count, text)) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s could be the string or the value of %s: expected \"%s\" or (%s)", entry->key, text, text, text, text);
    }
    value->kind = MT_VALUE_STRING;
    value->string = mt_strdup(text);
    return value->string ? MT_OK : mt_reader_no_memory(reader, err);
}

static mt_status shape_value(mt_reader *reader, const mt_ini_entry *entry, const mt_setting *settings, size_t count, mt_value *value, mt_error *err)
{
    mt_status st = MT_OK;
    char **items = NULL;
    size_t item_count = 0;
    char *text = mt_ini_unquote(entry->value);
    if (!text) return mt_reader_no_memory(reader, err);
    bool quoted = strcmp(text, entry->value) != 0;
    if (quoted || mt_text_is_identifier(text, strlen(text))) {
        MT_TRY(string_value(reader, entry, text, quoted, settings, count, value, err));
    } else if (mt_text_int64(text, strlen(text), &value->number)) {
        value->kind = MT_VALUE_INT;
    } else {
        MT_TRY(mt_split(text, &items, &item_count, err));
        if (item_count == 0) {
            st = mt_reader_fail(reader, err, entry->line, "%s has no value: expected an integer, a list, a word or an expression", entry->key);
        } else if (item_count > 1) {
            st = evaluate_list(reader, entry, items, item_count, settings, count, value, err);
        } else {
            st = evaluate(reader, entry->line, text, settings, count, value, err);
        }
    }
done:
    mt_strings_free(items, item_count);
    mt_free(text);
    return st;
}

static mt_status canonical_text(mt_reader *reader, mt_setting *setting, mt_error *err)
{
    mt_strbuf text = { 0 };
    const mt_value *value = &setting->value;
    if (value->kind == MT_VALUE_STRING) mt_strbuf_add(&text, value->string);
    if (value->kind == MT_VALUE_INT) mt_strbuf_addf(&text, "%" PRId64, value->number);
    if (value->kind == MT_VALUE_LIST) {
        for (size_t i = 0; i < value->length; i++) mt_strbuf_addf(&text, "%s%" PRId64, i ? "," : "", value->list[i]);
        if (value->length == 1) mt_strbuf_add_char(&text, ','); /* as it is written, so that it differs from the integer */
    }
    setting->text = mt_strbuf_take(&text);
    return setting->text ? MT_OK : mt_reader_no_memory(reader, err);
}

static mt_status pairs_key(mt_reader *reader, const mt_setting *settings, size_t count, char **key, mt_error *err)
{
    const char **names = mt_alloc(2 * count, sizeof *names), **values = names + count;
    *key = NULL;
    if (!names) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) {
        names[i] = settings[i].name;
        values[i] = settings[i].text;
    }
    size_t length = mt_key_pairs(names, values, count, NULL, 0);
    *key = mt_alloc(length + 1, 1);
    if (*key) mt_key_pairs(names, values, count, *key, length + 1);
    mt_free(names);
    return *key ? MT_OK : mt_reader_no_memory(reader, err);
}

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

static mt_status read_shape_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err)
{
    mt_setting *setting = &settings[index];
    mt_status st = shape_value(reader, entry, settings, index, &setting->value, err);
    if (st != MT_OK) return st;
    setting->number = (double)setting->value.number;
    return canonical_text(reader, setting, err);
}

static mt_status read_workload_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err)
{
    mt_setting *setting = &settings[index];
    char *text = mt_ini_unquote(entry->value);
    if (!text) return mt_reader_no_memory(reader, err);
    mt_status st = MT_OK;
    if (mt_text_int64(text, strlen(text), &setting->value.number)) {
        setting->value.kind = MT_VALUE_INT;
        setting->number = (double)setting->value.number;
        st = canonical_text(reader, setting, err);
    } else if (mt_text_double(text, &setting->number)) {
        mt_strbuf shortest = { 0 };
        for (int digits = 1; digits <= 17; digits++) { /* the shortest text that reads back as the same number */
            double back;
            mt_strbuf_clear(&shortest);
            mt_strbuf_addf(&shortest, "%.*g", digits, setting->number);
            if (mt_text_double(mt_strbuf_text(&shortest), &back) && back == setting->number) break;
        }
        setting->text = mt_strbuf_take(&shortest);
        if (!setting->text) st = mt_reader_no_memory(reader, err);
    } else if (is_word(text)) {
        setting->value.kind = MT_VALUE_STRING;
        setting->value.string = mt_strdup(text);
        st = setting->value.string ? canonical_text(reader, setting, err) : mt_reader_no_memory(reader, err);
    } else {
        st = mt_reader_fail(reader, err, entry->line, "%s = %s: expected a number or one word", entry->key, entry->value);
    }
    mt_free(text);
    return st;
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
        MT_TRY(read_settings(reader, section, MT_RULES_WORKLOAD, read_workload_setting, &workload->settings, &workload->setting_count, err));
        MT_TRY(pairs_key(reader, workload->settings, workload->setting_count, &workload->key, err));
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
    if (st == MT_OK && shape->workload_count == 0) return mt_reader_fail(reader, err, entry->line, "workload is empty: expected names of [workload] sections");
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
            return mt_reader_fail(reader, err, shape->line, "[shape %s] has no `%s`: expected the same names as in [shape %s]", shape->name, wanted->name, first->name);
        }
        if (found->value.kind != wanted->value.kind) {
            return mt_reader_fail(reader, err, shape->line, "`%s` is %s in [shape %s] but %s in [shape %s]", wanted->name, kind_name(found->value.kind), shape->name,
                                  kind_name(wanted->value.kind), first->name);
        }
        mt_setting *from = (mt_setting *)found, held = shape->settings[i];
        shape->settings[i] = *from;
        *from = held;
    }
    if (shape->setting_count > first->setting_count) {
        return mt_reader_fail(reader, err, shape->line, "[shape %s] has `%s`, which [shape %s] has not: expected the same names in all shapes", shape->name,
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
        *shape = (mt_shape){ .line = section->line, .is_default = true, .name = mt_strdup(section->name) };
        if (!shape->name) return mt_reader_no_memory(reader, err);
        MT_TRY(mt_rules_apply(reader, section, MT_RULES_SHAPE, MT_PASS_NAMES, shape, err));
        MT_TRY(read_settings(reader, section, MT_RULES_SHAPE, read_shape_setting, &shape->settings, &shape->setting_count, err));
        if (i > 0) MT_TRY(match_first_shape(reader, shape, err));
        MT_TRY(pairs_key(reader, shape->settings, shape->setting_count, &shape->key, err));
        MT_TRY(take_default_workloads(reader, shape, err));
    }
    MT_TRY(collect_strings(reader, err));
done:
    return st;
}
