#include "db/exchange/said.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "db/lookup/lookup.h"
#include "db/store/sql.h"
#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"

enum { RANK_SIZE = 48 };

typedef unsigned reader(const mt_lookup_json *root, mt_lookup_arena *arena); /* asks for all members that have a meaning; 0: can't be read, else how much it says */

/* By the library's own reader. */
static tunelookup_status load_spec(const mt_lookup_json *root, mt_lookup_arena *arena, mt_lookup_model *model)
{
    return mt_lookup_model_load(root, &(tunelookup_device){ .struct_size = sizeof(tunelookup_device) }, "spec_json", arena, model);
}

/* Expressions of no shape are none that a tuner wrote. */
static unsigned read_spec(const mt_lookup_json *root, mt_lookup_arena *arena)
{
    mt_lookup_model model;
    return load_spec(root, arena, &model) == TUNELOOKUP_OK ? 1 + (model.name_count > 0) : 0;
}

static unsigned read_facts(const mt_lookup_json *root, mt_lookup_arena *arena)
{
    unsigned known = 0;
    (void)arena;
    for (size_t i = 0; i < MT_LOOKUP_FACTS; i++) known += mt_lookup_json_int(root, mt_lookup_fact_names[i], 0) > 0;
    return mt_lookup_json_int(root, "cc", 0) > 0 ? known : 0; /* else nothing but its name is known */
}

static bool is_empty(const mt_lookup_json *value)
{
    return value->kind == MT_LOOKUP_JSON_NULL || ((value->kind == MT_LOOKUP_JSON_ARRAY || value->kind == MT_LOOKUP_JSON_OBJECT) && !value->first);
}

/* What was asked for, without blanks, and without lists of nothing. */
static void add_value(const mt_lookup_json *value, mt_strbuf *text)
{
    switch (value->kind) {
    case MT_LOOKUP_JSON_INTEGER: mt_strbuf_addf(text, "%lld", (long long)value->number); return;
    case MT_LOOKUP_JSON_REAL: mt_strbuf_addf(text, "%.17g", value->real); return;
    case MT_LOOKUP_JSON_TEXT: mt_strbuf_add_json(text, value->text); return;
    case MT_LOOKUP_JSON_ARRAY: case MT_LOOKUP_JSON_OBJECT: break;
    default: mt_strbuf_addf(text, "%d", (int)value->kind); return;
    }
    mt_strbuf_add_char(text, value->kind == MT_LOOKUP_JSON_ARRAY ? '[' : '{');
    for (const mt_lookup_json *at = value->first; at; at = at->next) {
        if (at->key && (!at->is_asked || is_empty(at))) continue;
        if (at->key) mt_strbuf_addf(text, "%s:", at->key);
        add_value(at, text);
        mt_strbuf_add_char(text, ',');
    }
    mt_strbuf_add_char(text, ']');
}

static void rank(sqlite3_context *context, sqlite3_value **arguments, reader *read)
{
    mt_lookup_arena arena = { 0 };
    const mt_lookup_json *root = NULL;
    mt_strbuf said = {0};
    char text[RANK_SIZE] = "unreadable"; /* behind all that begins with a digit */
    const char *json = (const char *)sqlite3_value_text(arguments[0]);
    unsigned much = json && mt_lookup_json_load("", json, &arena, &root) == TUNELOOKUP_OK ? read(root, &arena) : 0;
    if (much) {
        add_value(root, &said);
        snprintf(text, sizeof text, "%02u %s", 99 - much, mt_hash_text(mt_strbuf_text(&said)).hex);
    } else if (json && root && !root->first) {
        snprintf(text, sizeof text, "nothing");
    }
    mt_lookup_clear_detail();
    mt_lookup_arena_free(&arena);
    if (said.failed) sqlite3_result_error_nomem(context);
    else sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    mt_strbuf_free(&said);
}

static void spec_rank(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    rank(context, arguments, read_spec);
}

/* The key of a GPU names its compute capability and its SMs: facts that say another number are of another GPU, or forged. */
static bool is_contradicted(const char *json, const char *key)
{
    mt_lookup_arena arena = { 0 };
    const mt_lookup_json *root = NULL;
    const char *numbers = key ? strstr(key, "|cc") : NULL;
    long long cc, sm_count;
    bool is = false;
    if (json && numbers && sscanf(numbers, "|cc%lld|sm%lld|", &cc, &sm_count) == 2 && mt_lookup_json_load("", json, &arena, &root) == TUNELOOKUP_OK)
        is = mt_lookup_json_int(root, "cc", cc) != cc || mt_lookup_json_int(root, "sm_count", sm_count) != sm_count;
    mt_lookup_clear_detail();
    mt_lookup_arena_free(&arena);
    return is;
}

static void facts_rank(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    if (is_contradicted((const char *)sqlite3_value_text(arguments[0]), (const char *)sqlite3_value_text(arguments[1]))) sqlite3_result_text(context, "unreadable", -1, SQLITE_STATIC);
    else rank(context, arguments, read_facts);
}

static void short_hash(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    char digits[9];
    const char *key = (const char *)sqlite3_value_text(arguments[0]);
    (void)count;
    snprintf(digits, sizeof digits, "%.8s", mt_hash_text(key ? key : "").hex);
    sqlite3_result_text(context, digits, -1, SQLITE_TRANSIENT);
}

mt_status mt_said_functions(sqlite3 *db, const char *path, mt_error *err)
{
    static const struct { const char *name; int arguments; void (*call)(sqlite3_context *, int, sqlite3_value **); } functions[] = {{"spec_rank", 1, spec_rank}, {"facts_rank", 2, facts_rank}, {"short_hash", 1, short_hash}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (sqlite3_create_function(db, functions[i].name, functions[i].arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, functions[i].call, NULL, NULL) != SQLITE_OK) return mt_sql_fail_handle(db, path, functions[i].name, err);
    }
    return MT_OK;
}

mt_status mt_said_check_spec(const char *spec_json, bool *is_sound, char *why, size_t size, mt_error *err)
{
    mt_lookup_arena arena = { 0 };
    const mt_lookup_json *root = NULL;
    mt_lookup_model model;
    tunelookup_status st = mt_lookup_json_load("spec_json", spec_json, &arena, &root);
    bool is_empty = st == TUNELOOKUP_OK && root->kind == MT_LOOKUP_JSON_OBJECT && !root->first;
    if (st == TUNELOOKUP_OK && !is_empty) st = load_spec(root, &arena, &model);
    *is_sound = st == TUNELOOKUP_OK;
    if (!*is_sound) snprintf(why, size, "%s", tunelookup_detail());
    mt_lookup_clear_detail();
    mt_lookup_arena_free(&arena);
    return st == TUNELOOKUP_ERR_NO_MEMORY ? MT_FAIL(err, MT_ERR_NO_MEMORY, "expressions: out of memory") : MT_OK;
}
