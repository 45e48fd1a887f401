/* The values of the shape that `msda-tune lookup` asks about: where they come from, and how the library gets them. */
#include <inttypes.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/cli/lookup/lookup_query.h"

/* ---- values ---- */

static mt_lookup_query_value *find_value(mt_lookup_query *asked, const char *name, size_t length)
{
    for (size_t i = 0; i < asked->value_count; i++)
        if (strncmp(asked->values[i].name, name, length) == 0 && !asked->values[i].name[length]) return &asked->values[i];
    return NULL;
}

static mt_status add_value(mt_lookup_query *asked, const char *name, size_t name_length, const char *text, size_t length, mt_lookup_query_kind kind, mt_error *err)
{
    if (asked->value_count == TUNELOOKUP_MAX_VALUES) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "lookup: a shape of more than %d values", TUNELOOKUP_MAX_VALUES);
    mt_lookup_query_value *value = &asked->values[asked->value_count++];
    *value = (mt_lookup_query_value){mt_strndup(name, name_length), mt_strndup(text, length), kind};
    return value->name && value->text ? MT_OK : mt_no_memory("lookup", err);
}

void mt_lookup_values_clear(mt_lookup_query *asked)
{
    for (size_t i = 0; i < asked->value_count; i++) {
        mt_free(asked->values[i].name);
        mt_free(asked->values[i].text);
    }
    asked->value_count = 0;
}

/* "D=32;H=92,46;dtype=f16" with "int,list,string". */
mt_status mt_lookup_values_take_key(mt_lookup_query *asked, const char *key, const char *kinds, mt_error *err)
{
    mt_status st = MT_OK;
    mt_lookup_values_clear(asked);
    while (*key && st == MT_OK) {
        size_t length = strcspn(key, ";"), name_length = strcspn(key, "=");
        if (name_length >= length) return MT_FAIL(err, MT_ERR_DB, "lookup: the shape's key '%s' is damaged", key);
        mt_lookup_query_kind kind = strncmp(kinds, "list", 4) == 0 ? MT_ASKED_LIST : strncmp(kinds, "string", 6) == 0 ? MT_ASKED_STRING : MT_ASKED_INT;
        st = add_value(asked, key, name_length, key + name_length + 1, length - name_length - 1, kind, err);
        key += length + (key[length] == ';');
        kinds += strcspn(kinds, ",");
        kinds += *kinds == ',';
    }
    return st;
}

mt_status mt_lookup_values_take_shape(mt_lookup_query *asked, const mt_shape *shape, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < shape->setting_count && st == MT_OK; i++) {
        const mt_setting *setting = &shape->settings[i];
        mt_lookup_query_kind kind = setting->value.kind == MT_VALUE_LIST ? MT_ASKED_LIST : setting->value.kind == MT_VALUE_STRING ? MT_ASKED_STRING : MT_ASKED_INT;
        st = add_value(asked, setting->name, strlen(setting->name), setting->text, strlen(setting->text), kind, err);
    }
    return st;
}

/* ---- --set and --shape "N=1;M=8" ---- */

static mt_status unknown_value(mt_lookup_query *asked, const char *name, mt_error *err)
{
    mt_status st = MT_OK;
    mt_texts known = {0};
    for (size_t i = 0; i < asked->value_count; i++) MT_TRY(mt_texts_add_once(&known, asked->values[i].name, err));
    st = mt_lookup_query_unknown("value of the shape named", name, &known, err);
done:
    mt_texts_free(&known);
    return st;
}

/* Replaces the value of that name. *index: which it is. */
static mt_status replace_value(mt_lookup_query *asked, const char *name, size_t length, const char *text, size_t text_length, size_t *index, mt_error *err)
{
    mt_lookup_query_value *value = find_value(asked, name, length);
    if (!value) {
        char *unknown = mt_strndup(name, length);
        mt_status st = unknown ? unknown_value(asked, unknown, err) : mt_no_memory("lookup", err);
        mt_free(unknown);
        return st;
    }
    *index = (size_t)(value - asked->values);
    mt_strbuf given = {0};
    mt_strbuf_add_bytes(&given, text, text_length);
    if (value->kind == MT_ASKED_LIST && text_length && !memchr(text, ',', text_length)) mt_strbuf_add_char(&given, ','); /* a list of one, as the .ini writes it */
    mt_free(value->text);
    value->text = mt_strbuf_take(&given);
    return value->text ? MT_OK : mt_no_memory("lookup", err);
}

mt_status mt_lookup_values_set(mt_lookup_query *asked, const char *pair, mt_error *err)
{
    size_t length = strcspn(pair, "="), index;
    if (!pair[length] || !length) return MT_FAIL(err, MT_ERR_USAGE, "lookup: --set %s: expected NAME=VALUE", pair);
    return replace_value(asked, pair, length, pair + length + 1, strlen(pair + length + 1), &index, err);
}

/* Cuts spaces off both ends. */
static const char *trim(const char *text, size_t *length)
{
    while (*length && *text == ' ') text++, --*length;
    while (*length && text[*length - 1] == ' ') --*length;
    return text;
}

static mt_status give_pair(mt_lookup_query *asked, const char *all, const char *pair, size_t length, bool given[], mt_error *err)
{
    const char *equals = memchr(pair, '=', length);
    if (!equals) return MT_FAIL(err, MT_ERR_USAGE, "lookup: --shape: '%.*s' has no value, expected NAME=VALUE;NAME=VALUE…", (int)length, pair);
    size_t name_length = (size_t)(equals - pair), text_length = length - name_length - 1, index = 0;
    const char *name = trim(pair, &name_length), *text = trim(equals + 1, &text_length);
    if (memchr(text, '=', text_length)) return MT_FAIL(err, MT_ERR_USAGE, "lookup: --shape '%s': separate values by ; as in NAME=VALUE;NAME=VALUE", all);
    mt_status st = replace_value(asked, name, name_length, text, text_length, &index, err);
    if (st == MT_OK && given[index]) st = MT_FAIL(err, MT_ERR_USAGE, "lookup: --shape '%s': %s is given twice", all, asked->values[index].name);
    if (st == MT_OK) given[index] = true;
    return st;
}

/* The different values that the name has in the shapes' keys: "dtype (f16, f32)". */
static void add_missing(const char *name, const mt_texts *keys, mt_strbuf *missing)
{
    enum { TOLD = 6 };
    size_t length = strlen(name);
    mt_texts told = {0};
    mt_error ignored;
    mt_strbuf_addf(missing, "%s%s", missing->length ? ", " : "", name);
    for (size_t i = 0; i < keys->count && told.count <= TOLD; i++) {
        const char *at = keys->items[i];
        while (*at && (strncmp(at, name, length) != 0 || at[length] != '=')) at += strcspn(at, ";"), at += *at == ';';
        if (!*at) continue;
        char *value = mt_strndup(at + length + 1, strcspn(at + length + 1, ";"));
        if (value) mt_texts_add_once(&told, value, &ignored);
        mt_free(value);
    }
    for (size_t i = 0; i < told.count; i++) mt_strbuf_addf(missing, "%s%s", i ? " or " : " (", i < TOLD ? told.items[i] : "…");
    if (told.count) mt_strbuf_add_char(missing, ')');
    mt_texts_free(&told);
}

mt_status mt_lookup_values_give(mt_lookup_query *asked, const char *text, const mt_texts *keys, mt_error *err)
{
    bool given[TUNELOOKUP_MAX_VALUES] = {false};
    mt_status st = MT_OK;
    mt_strbuf missing = {0};
    for (const char *at = text; *at && st == MT_OK;) {
        size_t length = strcspn(at, ";"), pair_length = length;
        const char *pair = trim(at, &pair_length);
        if (pair_length) st = give_pair(asked, text, pair, pair_length, given, err);
        at += length + (at[length] == ';');
    }
    for (size_t i = 0; i < asked->value_count && st == MT_OK; i++)
        if (!given[i]) add_missing(asked->values[i].name, keys, &missing);
    if (missing.length) st = MT_FAIL(err, MT_ERR_USAGE, "lookup: --shape: no value for %s; expected one for each name of the shapes of %s (in brackets: those of its tuned shapes)", mt_strbuf_text(&missing), asked->shown ? asked->shown : asked->kernel);
    mt_strbuf_free(&missing);
    return st;
}

/* ---- for the library ---- */

static mt_status push(mt_lookup_query *asked, const char *name, mt_error *err)
{
    if (asked->name_count == sizeof asked->names / sizeof *asked->names) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "lookup: a shape of more than %d values", TUNELOOKUP_MAX_VALUES);
    asked->names[asked->name_count] = mt_strdup(name);
    return asked->names[asked->name_count] ? asked->name_count++, MT_OK : mt_no_memory("lookup", err);
}

/* Digits, however many. */
static bool is_whole_number(const char *text, size_t length)
{
    size_t sign = length && (*text == '-' || *text == '+');
    return length > sign && strspn(text + sign, "0123456789") >= length - sign;
}

/* An integer, or one of a list: "H[1]". */
static mt_status push_number(mt_lookup_query *asked, const mt_lookup_query_value *value, const char *text, size_t length, size_t index, mt_error *err)
{
    mt_strbuf name = {0};
    int64_t number;
    if (!mt_text_int64(text, length, &number)) {
        if (is_whole_number(text, length))
            return MT_FAIL(err, MT_ERR_USAGE, "lookup: %s is '%s', which is out of range: expected %" PRId64 " to %" PRId64, value->name, value->text, INT64_MIN, INT64_MAX);
        const char *wanted = value->kind == MT_ASKED_LIST ? "whole numbers with commas between them" : "a whole number";
        return MT_FAIL(err, MT_ERR_USAGE, "lookup: %s is '%s', expected %s", value->name, value->text, wanted);
    }
    mt_strbuf_add(&name, value->name);
    if (value->kind == MT_ASKED_LIST) mt_strbuf_addf(&name, "[%zu]", index);
    mt_status st = push(asked, mt_strbuf_text(&name), err);
    mt_strbuf_free(&name);
    if (st == MT_OK) asked->numbers[asked->number_count++] = number;
    return st;
}

static mt_status push_value(mt_lookup_query *asked, const mt_lookup_query_value *value, mt_error *err)
{
    mt_status st = MT_OK;
    if (value->kind == MT_ASKED_STRING) {
        mt_strbuf name = {0};
        mt_strbuf_addf(&name, "%s=%s", value->name, value->text);
        st = push(asked, mt_strbuf_text(&name), err);
        mt_strbuf_free(&name);
        return st;
    }
    const char *at = value->text;
    for (size_t index = 0; st == MT_OK; index++) {
        size_t length = value->kind == MT_ASKED_LIST ? strcspn(at, ",") : strlen(at);
        st = push_number(asked, value, at, length, index, err);
        if (!at[length]) break;
        at += length + 1;
        if (!*at) break; /* "7,": a list of one, as the .ini writes it */
    }
    return st;
}

mt_status mt_lookup_values_push(mt_lookup_query *asked, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < asked->value_count && st == MT_OK; i++) st = push_value(asked, &asked->values[i], err);
    return st;
}

mt_status mt_lookup_values_bind(mt_lookup_query *asked, const char *what, const char *value, mt_error *err)
{
    mt_strbuf name = {0};
    mt_strbuf_addf(&name, "%s=%s", what, value);
    mt_status st = push(asked, mt_strbuf_text(&name), err);
    mt_strbuf_free(&name);
    return st;
}
