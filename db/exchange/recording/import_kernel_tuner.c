/* Kernel Tuner caches: {"device_name":…, "kernel_name":…, "problem_size":…, "tune_params_keys":[…], "tune_params":{…}, "cache":{"16,1,…":{…},…}}. Times are milliseconds. */
#include <string.h>

#include "db/exchange/recording/import_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* ---- above the entries ---- */

static mt_status read_text(mt_import *import, const mt_json_span *span, char **text, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement;
    mt_sql_args args;
    bool row;
    if (!span->text || *span->text != '"') return MT_OK;
    MT_TRY(mt_import_check(import, NULL, span, "text", err));
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$')", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &row, "parse a text", err));
    const char *value = row ? mt_sql_column_or_null(statement, 0) : NULL;
    if (value && *value && !(*text = mt_strdup(value))) st = mt_no_memory(import->name, err);
    sqlite3_reset(statement);
done:
    return st;
}

/* A number or a list of numbers; a size of another kind is no shape, left out, and told. */
static mt_status read_problem(mt_import *import, const mt_json_span *span, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0}, list = {0};
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool is_plain = true;
    if (!span->text) return MT_OK;
    mt_strbuf_add_char(&list, '[');
    mt_strbuf_add_bytes(&list, span->text, span->length);
    mt_strbuf_add_char(&list, ']');
    if (list.failed) MT_LEAVE(mt_no_memory(import->name, err));
    mt_json_span whole = {mt_strbuf_text(&list), list.length, span->line};
    MT_TRY(mt_import_check(import, NULL, &whole, "array", err));
    MT_TRY(mt_import_query(import, "SELECT type, atom FROM json_tree(?1) WHERE type NOT IN ('array')", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse a problem's size", &st, err)) {
        is_plain = is_plain && strcmp(mt_sql_column(statement, 0), "integer") == 0 && sqlite3_column_int64(statement, 1) > 0;
        mt_strbuf_addf(&text, "%s%s", text.length ? ", " : "", mt_sql_column(statement, 1));
    }
    if (!text.failed && !is_plain && !(import->unread_problem = mt_strndup(span->text, span->length))) st = mt_no_memory(import->name, err);
    if (!text.failed && (!is_plain || !text.length)) goto done;
    if (!(import->problem = mt_strbuf_take(&text))) st = mt_no_memory(import->name, err);
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&text);
    mt_strbuf_free(&list);
    return st;
}

/* Names from the list of keys, or from the table of values. */
static mt_status read_knob_names(mt_import *import, const mt_json_span *span, bool is_list, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    MT_TRY(mt_import_check(import, NULL, span, is_list ? "array" : "object", err));
    MT_TRY(mt_import_query(import, is_list ? "SELECT atom FROM json_each(?1)" : "SELECT key FROM json_each(?1)", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse the knobs", &st, err)) {
        const char *name = mt_sql_column(statement, 0);
        if (!*name || mt_import_find_knob(import, name)) {
            st = mt_import_fail(import, NULL, span->line, err, "tune_params_keys: \"%s\" is no name, or there twice; expected the knobs' names", name);
            goto done;
        }
        if (!mt_import_add_knob(import, name, err)) MT_LEAVE(err ? err->status : MT_ERR_NO_MEMORY);
    }
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

static mt_status read_knob_values(mt_import *import, const mt_json_span *span, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    uint16_t level;
    MT_TRY(mt_import_check(import, NULL, span, "object", err));
    MT_TRY(mt_import_query(import, "SELECT k.key, v.type, v.value FROM json_each(?1) k, json_each(CASE k.type WHEN 'array' THEN k.value ELSE json_array(k.value) END) v",
                           mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse the knobs' values", &st, err)) {
        mt_import_knob *knob = mt_import_find_knob(import, mt_sql_column(statement, 0));
        if (!knob) continue; /* a parameter that no result has */
        MT_TRY(mt_import_level(import, knob, statement, 1, NULL, span->line, &level, err));
        knob->has_order = true;
    }
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

static mt_status read_knobs(mt_import *import, const mt_cache_spans *spans, mt_error *err)
{
    mt_status st = MT_OK;
    if (!spans->keys.text && !spans->params.text) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: a Kernel Tuner cache without \"tune_params_keys\" and \"tune_params\": expected the knobs in front of \"cache\"", import->name);
    MT_TRY(read_knob_names(import, spans->keys.text ? &spans->keys : &spans->params, spans->keys.text != NULL, err));
    if (spans->params.text) MT_TRY(read_knob_values(import, &spans->params, err));
done:
    return st;
}

/* ---- entries ---- */

static const struct { const char *word; mt_outcome_kind kind; } failures[] = {
    {"InvalidConfig", MT_OUTCOME_EXCLUDED}, {"CompilationFailedConfig", MT_OUTCOME_COMPILE_ERROR}, {"RuntimeFailedConfig", MT_OUTCOME_LAUNCH_ERROR}};

static bool is_failure(const char *word)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (strcmp(word, failures[i].word) == 0) return true;
    return false;
}

static mt_status fail_as(const mt_import *import, mt_import_row *row, const char *word, mt_error *err)
{
    row->kind = MT_OUTCOME_LAUNCH_ERROR;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (strcmp(word, failures[i].word) == 0) row->kind = failures[i].kind;
    mt_free(row->text);
    return (row->text = mt_strdup(word)) ? MT_OK : mt_no_memory(import->name, err);
}

/* A number, or a word for a failure. null (NaN is read as it) is a failure without a word; what is none of these is one too, and told. */
static mt_status take_time(mt_import *import, mt_import_row *row, const char *type, sqlite3_stmt *statement, const mt_json_span *key, mt_error *err)
{
    const char *text = mt_sql_column(statement, 2);
    bool is_word = strcmp(type, "text") == 0 && mt_text_is_identifier(text, strlen(text));
    const mt_import_value value = {sqlite3_column_double(statement, 2), import->unit_ns, mt_import_unit(import), "$.time", key, key->line};
    if (strcmp(type, "integer") == 0 || strcmp(type, "real") == 0) return mt_import_time(import, &value, row, err);
    if (is_word || strcmp(type, "null") == 0) return fail_as(import, row, is_word ? text : "no time", err);
    mt_status st = mt_import_note_odd(import, key, key->line, err, "\"time\" is the %s %.60s, expected a number or the name of a failure: it counts as a failure", type, text);
    return st == MT_OK ? fail_as(import, row, "no time", err) : st;
}

static int64_t nanoseconds(const mt_import *import, sqlite3_stmt *statement)
{
    double ns = sqlite3_column_double(statement, 2) * import->unit_ns;
    return ns > 0 && ns < 9e18 ? (int64_t)ns : 0;
}

static mt_status take_member(mt_import *import, mt_import_row *row, sqlite3_stmt *statement, const mt_json_span *key, bool *has_time, mt_error *err)
{
    const char *name = mt_sql_column(statement, 0), *type = mt_sql_column(statement, 1);
    mt_import_knob *knob = mt_import_find_knob(import, name);
    if (knob) return mt_import_level(import, knob, statement, 1, key, key->line, &row->levels[knob - import->knobs], err);
    if (strcmp(name, "time") == 0 && !*has_time) {
        *has_time = true;
        return take_time(import, row, type, statement, key, err);
    }
    if (!*has_time && strcmp(type, "text") == 0 && is_failure(mt_sql_column(statement, 2))) { /* of the objective, which need not be the time */
        *has_time = true;
        return fail_as(import, row, mt_sql_column(statement, 2), err);
    }
    if (strcmp(name, "times") == 0 && strcmp(type, "array") == 0) return mt_import_samples(import, mt_sql_column(statement, 2), name, row, key, key->line, err);
    if (strcmp(name, "compile_time") == 0) row->compile_ns = nanoseconds(import, statement);
    if (strcmp(name, "verification_time") == 0) row->validate_ns = nanoseconds(import, statement);
    if (strcmp(name, "benchmark_time") == 0) row->time_ns = nanoseconds(import, statement);
    if (strcmp(name, "timestamp") == 0) row->unix_ms = mt_import_unix_ms(import, mt_sql_column(statement, 2));
    return MT_OK;
}

static mt_status read_entry(mt_import *import, const mt_json_span *key, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    mt_import_row *row;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool has_time = false;
    MT_TRY(mt_import_check(import, key, value, "object", err));
    MT_TRY(mt_import_add_row(import, &row, err));
    MT_TRY(mt_import_query(import, "SELECT key, type, value FROM json_each(?1)", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse an entry", &st, err)) {
        MT_TRY(take_member(import, row, statement, key, &has_time, err));
    }
    if (row->kind == MT_OUTCOME_OK && row->marks && !row->samples) {
        MT_TRY(mt_import_fail_as_mark(import, row, "1e20 in all of its \"times\"", err));
        has_time = true;
    }
    if (!has_time && !row->samples) {
        st = mt_import_drop_row(import, key, key->line, "has neither \"time\" nor \"times\", expected milliseconds or the name of a failure; other objectives say nothing of the time", err);
        goto done;
    }
    if (!has_time) row->mean_ns = mt_import_mean(row);
    st = mt_import_check_row(import, row, key, key->line, err);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* A running or interrupted Kernel Tuner leaves the file open behind the last whole entry. */
static bool ends_open(mt_json_scan scan)
{
    if (mt_json_peek(&scan) == ',') scan.at++;
    return mt_json_peek(&scan) == '\0';
}

mt_status mt_import_read_cache(mt_import *import, const mt_cache_spans *spans, mt_error *err)
{
    mt_status st = MT_OK;
    mt_json_scan scan = spans->cache;
    mt_json_level level;
    MT_TRY(read_text(import, &spans->device, &import->gpu, err));
    MT_TRY(read_text(import, &spans->kernel, &import->kernel, err));
    MT_TRY(read_text(import, &spans->objective, &import->objective, err));
    if (import->objective && strcmp(import->objective, "time") == 0) {
        mt_free(import->objective);
        import->objective = NULL;
    }
    MT_TRY(read_problem(import, &spans->problem, err));
    MT_TRY(read_knobs(import, spans, err));
    MT_TRY(mt_json_enter(&scan, '{', "the entries of \"cache\"", &level, err));
    for (;;) {
        mt_json_span key, value;
        bool more;
        if (import->row_count && ends_open(scan)) {
            import->is_cut = true;
            break;
        }
        st = mt_json_next(&scan, &level, &key, &more, err);
        if (st == MT_OK && !more) break;
        if (st == MT_OK) st = mt_json_take(&scan, &value, err);
        if (st != MT_OK && import->row_count && mt_json_is_cut(&scan)) {
            import->is_cut = true;
            st = MT_OK;
            break;
        }
        if (st != MT_OK) goto done;
        MT_TRY(read_entry(import, &key, &value, err));
    }
done:
    return st;
}
