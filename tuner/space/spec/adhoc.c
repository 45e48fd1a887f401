#include "tuner/space/spec/adhoc.h"

#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/hash.h"
#include "tuner/base/text.h"
#include "tuner/space/spec/spec_internal.h"

enum { MAX_VALUES = 64, MAX_LIST = 64 };

/* The given values in the order of the file's first shape, canonical. */
typedef struct given {
    const mt_spec *spec;
    const char *names[MAX_VALUES], *values[MAX_VALUES];
    char *owned[MAX_VALUES];
} given;

static mt_status fail(mt_error *err, const char *what, const char *name, const char *expected)
{
    return MT_FAIL(err, MT_ERR_SPEC, "%s `%s`%s%s", what, name, expected ? ": expected " : "", expected ? expected : "");
}

/* ---- one value ---- */

static bool add_list(const char *text, mt_strbuf *out)
{
    size_t count = 0;
    for (const char *at = text; *at; count++) {
        size_t length = strcspn(at, ","), first = strspn(at, " ");
        int64_t value;
        if (count == MAX_LIST || first > length || !mt_text_int64(at + first, length - first, &value)) return false;
        mt_strbuf_addf(out, "%s%lld", count ? "," : "", (long long)value);
        at += length + (at[length] == ',');
    }
    if (count == 1) mt_strbuf_add_char(out, ',');
    return count > 0;
}

/* Only words that some shape of the file has: the kernel was written for those. */
static mt_status add_word(const mt_spec *spec, size_t index, const char *text, mt_strbuf *out, mt_error *err)
{
    mt_strbuf known = {0};
    for (size_t i = 0; i < spec->shape_count; i++) {
        const char *word = spec->shapes[i].settings[index].value.string;
        if (strcmp(word, text) == 0) {
            mt_strbuf_free(&known);
            mt_strbuf_add(out, text);
            return MT_OK;
        }
        if (!strstr(mt_strbuf_text(&known), word)) mt_strbuf_addf(&known, "%s%s", known.length ? " or " : "", word);
    }
    MT_FAIL(err, MT_ERR_SPEC, "`%s=%.64s`: no shape of %s has that: expected %s", spec->shapes[0].settings[index].name, text, spec->path, mt_strbuf_text(&known));
    mt_strbuf_free(&known);
    return MT_ERR_SPEC;
}

static mt_status read_value(given *g, size_t index, const char *text, mt_error *err)
{
    const mt_setting *like = &g->spec->shapes[0].settings[index];
    mt_strbuf value = {0};
    int64_t number;
    mt_status st = MT_OK;
    if (like->value.kind == MT_VALUE_STRING) {
        st = add_word(g->spec, index, text, &value, err);
    } else if (like->value.kind == MT_VALUE_LIST) {
        if (!add_list(text, &value)) st = fail(err, "not a list of integers in", like->name, "92,46 or, for a list of one, 92,");
    } else if (mt_text_int64(text, strlen(text), &number)) {
        mt_strbuf_addf(&value, "%lld", (long long)number);
    } else {
        st = fail(err, "not an integer in", like->name, NULL);
    }
    g->owned[index] = mt_strbuf_take(&value);
    g->names[index] = like->name;
    g->values[index] = g->owned[index];
    return st == MT_OK && !g->owned[index] ? MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory") : st;
}

/* ---- "N=1;M=8" ---- */

static mt_status unknown_name(const mt_spec *spec, const char *name, mt_error *err)
{
    const char *known[MAX_VALUES];
    char hint[512];
    size_t count = 0;
    for (; count < spec->shapes[0].setting_count; count++) known[count] = spec->shapes[0].settings[count].name;
    return MT_FAIL(err, MT_ERR_SPEC, "unknown name `%.64s` in a shape%s", name, mt_reader_suggest(name, known, count, hint, sizeof hint));
}

static mt_status read_pair(given *g, char *pair, mt_error *err)
{
    char *equals = strchr(pair, '='), *value = equals ? equals + 1 : NULL;
    if (!equals) return fail(err, "no value in", pair, "NAME=VALUE;NAME=VALUE…");
    *equals = '\0';
    pair += strspn(pair, " ");
    while (equals > pair && equals[-1] == ' ') *--equals = '\0';
    value += strspn(value, " ");
    for (size_t end = strlen(value); end && value[end - 1] == ' ';) value[--end] = '\0';
    const mt_shape *first = &g->spec->shapes[0];
    const mt_setting *setting = mt_settings_find(first->settings, first->setting_count, pair);
    if (!setting) return unknown_name(g->spec, pair, err);
    if (strchr(value, '=')) return MT_FAIL(err, MT_ERR_SPEC, "`%.64s=%.200s`: separate values by ; as in NAME=VALUE;NAME=VALUE", pair, value);
    size_t index = (size_t)(setting - first->settings);
    if (g->owned[index]) return MT_FAIL(err, MT_ERR_SPEC, "%s is given twice", pair);
    return read_value(g, index, value, err);
}

static mt_status read_pairs(given *g, const char *text, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_shape *first = &g->spec->shapes[0];
    char *copy = mt_strdup(text);
    if (!copy) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (char *at = copy, *next; st == MT_OK && at; at = next) {
        next = strchr(at, ';');
        if (next) *next++ = '\0';
        if (at[strspn(at, " ")]) st = read_pair(g, at, err);
    }
    for (size_t i = 0; i < first->setting_count && st == MT_OK; i++)
        if (!g->owned[i]) st = fail(err, "the shape has no", first->settings[i].name, "the names of the file's shapes");
    mt_free(copy);
    return st;
}

/* ---- the section ---- */

static mt_status check_workloads(const mt_spec *spec, const char *workloads, mt_error *err)
{
    char **items = NULL;
    size_t count = 0;
    mt_status st = mt_split(workloads, &items, &count, err);
    for (size_t i = 0; i < count && st == MT_OK; i++)
        if (!mt_spec_workload(spec, items[i])) st = MT_FAIL(err, MT_ERR_SPEC, "%s has no workload `%.64s`", spec->path, items[i]);
    mt_strings_free(items, count);
    return st;
}

static void add_section(const given *g, const char *name, const char *workloads, mt_strbuf *sections)
{
    mt_strbuf heading = {0};
    mt_strbuf_addf(&heading, "\n[shape %s]\n", name);
    if (!strstr(mt_strbuf_text(sections), mt_strbuf_text(&heading))) {
        mt_strbuf_add(sections, mt_strbuf_text(&heading));
        for (size_t i = 0; i < g->spec->shapes[0].setting_count; i++) {
            bool is_word = g->spec->shapes[0].settings[i].value.kind == MT_VALUE_STRING;
            mt_strbuf_addf(sections, is_word ? "%s = \"%s\"\n" : "%s = %s\n", g->names[i], g->values[i]);
        }
        mt_strbuf_add(sections, "main = no\n");
        if (workloads && *workloads) mt_strbuf_addf(sections, "workload = %s\n", workloads);
    }
    if (heading.failed) sections->failed = true;
    mt_strbuf_free(&heading);
}

mt_status mt_adhoc_add(const mt_spec *spec, const char *text, const char *workloads, mt_strbuf *sections, char **name, mt_error *err)
{
    mt_status st = MT_OK;
    given g = {.spec = spec};
    char *key = NULL, invented[MT_ADHOC_NAME_SIZE];
    size_t count = spec->shapes[0].setting_count;
    *name = NULL;
    if (count > MAX_VALUES) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: shapes of more than %d values can't be given by value", spec->path, MAX_VALUES);
    MT_TRY(read_pairs(&g, text, err));
    if (workloads && *workloads) MT_TRY(check_workloads(spec, workloads, err));
    size_t length = mt_key_pairs(g.names, g.values, count, NULL, 0);
    key = mt_alloc(length + 1, 1);
    if (key) {
        mt_key_pairs(g.names, g.values, count, key, length + 1);
        for (size_t i = 0; i < spec->shape_count && !*name; i++)
            if (strcmp(spec->shapes[i].key, key) == 0) *name = mt_strdup(spec->shapes[i].name);
        if (!*name) {
            snprintf(invented, sizeof invented, "shape-%.8s", mt_hash_text(key).hex);
            add_section(&g, invented, workloads, sections);
            *name = mt_strdup(invented);
        }
    }
    if (!*name || sections->failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
done:
    for (size_t i = 0; i < MAX_VALUES; i++) mt_free(g.owned[i]);
    mt_free(key);
    return st;
}

mt_status mt_spec_load_shapes(const char *path, const char *const *keys, size_t count, mt_spec **out, mt_error *err)
{
    mt_strbuf sections = {0};
    mt_status st = mt_spec_load(path, out, err);
    for (size_t i = 0; st == MT_OK && i < count; i++) {
        mt_error ignored;
        char *name;
        mt_adhoc_add(*out, keys[i], NULL, &sections, &name, &ignored);
        mt_free(name);
    }
    if (sections.length) {
        mt_spec_free(*out);
        *out = NULL;
        st = mt_spec_load_with(path, mt_strbuf_text(&sections), out, err);
    }
    mt_strbuf_free(&sections);
    return st;
}
