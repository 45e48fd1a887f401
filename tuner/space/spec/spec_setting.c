/* One name = value of a shape or a workload: its forms, its value, its canonical text. */
#include "tuner/space/spec/spec_internal.h"

#include <inttypes.h>
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

static mt_status evaluate(mt_reader *reader, int line, const char *text, const mt_setting *settings, size_t count, mt_value *value,
                          mt_error *err)
{
    mt_status st = MT_OK;
    mt_expr expr = { 0 };
    mt_value result = { 0 };
    shape_scope scope = { settings, count, mt_alloc(count, sizeof *scope.names) };
    if (!scope.names) MT_LEAVE(mt_reader_no_memory(reader, err));
    mt_expr_scope names = { lookup_setting, setting_names, &scope, 0 };
    MT_TRY(mt_reader_parse(reader, line, text, &names, &expr, err));
    MT_TRY(run_on_settings(reader, line, text, &scope, expr.program, &result, err));
    MT_TRY(copy_value(reader, &result, value, err));
done:
    mt_expr_free(&expr);
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
        if (!*items[i]) return mt_reader_fail(reader, err, entry->line, "%s = %s: expected an integer between the commas", entry->key,
                                              entry->value);
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
        return mt_reader_fail(reader, err, entry->line, "%s = %s: a string becomes part of a macro's name; expected letters, digits and _",
                              entry->key, entry->value);
    }
    if (!quoted && mt_settings_find(settings, count, text)) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s could be the string or the value of %s: expected \"%s\" or (%s)", entry->key,
                              text, text, text, text);
    }
    value->kind = MT_VALUE_STRING;
    value->string = mt_strdup(text);
    return value->string ? MT_OK : mt_reader_no_memory(reader, err);
}

static mt_status shape_value(mt_reader *reader, const mt_ini_entry *entry, const mt_setting *settings, size_t count, mt_value *value,
                             mt_error *err)
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

mt_status mt_settings_key(mt_reader *reader, const mt_setting *settings, size_t count, char **key, mt_error *err)
{
    const char **names = mt_alloc(2 * count, sizeof *names);
    *key = NULL;
    if (!names) return mt_reader_no_memory(reader, err);
    const char **values = names + count;
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

mt_status mt_read_shape_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err)
{
    mt_setting *setting = &settings[index];
    mt_status st = shape_value(reader, entry, settings, index, &setting->value, err);
    if (st != MT_OK) return st;
    setting->number = (double)setting->value.number;
    return canonical_text(reader, setting, err);
}

mt_status mt_read_workload_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err)
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
