/* Opening: which format, and what all formats share. */
#include "db/exchange/recording/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/gzip.h"
#include "db/exchange/recording/import_internal.h"
#include "db/exchange/recording/recording_line.h"
#include "db/key.h"
#include "db/row_json.h"
#include "db/store/measurement.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"

static const size_t max_text_bytes = (size_t)1 << 30;

/* ---- messages ---- */

mt_status mt_import_fail(const mt_import *import, const mt_json_span *key, int64_t line, mt_error *err, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!key || !key->text) return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: %s", import->name, (long long)line, text);
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: \"%.*s\": %s", import->name, (long long)line, (int)(key->length < 200 ? key->length : 200), key->text, text);
}

/* ---- values, through SQLite ---- */

mt_status mt_import_query(mt_import *import, const char *literal, const char *text, sqlite3_stmt **statement, mt_sql_args *args, mt_error *err)
{
    mt_status st = MT_OK;
    if (!import->parser) MT_TRY(mt_store_open(":memory:", MT_STORE_NO_TABLES, &import->parser, err));
    MT_TRY(mt_sql_cached_get(import->parser, literal, statement, err));
    *args = mt_sql_args_of(*statement);
    mt_sql_text(args, text);
done:
    return st;
}

static bool is_utf8(const char *text, size_t length)
{
    while (length) {
        size_t step = *text ? mt_text_utf8(text, length) : 0;
        if (!step) return false;
        text += step;
        length -= step;
    }
    return true;
}

mt_status mt_import_check(mt_import *import, const mt_json_span *key, const mt_json_span *value, const char *type, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    mt_sql_args args;
    int64_t fits;
    mt_json_copy(value, &import->value);
    if (import->value.failed) return mt_no_memory(import->name, err);
    const char *text = mt_strbuf_text(&import->value);
    if (!is_utf8(text, import->value.length) || strstr(text, "\\u0000")) return mt_import_fail(import, key, value->line, err, "is not UTF-8 text, or holds a NUL character");
    MT_TRY(mt_import_query(import, "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = ?2 END", text, &statement, &args, err));
    mt_sql_text(&args, type);
    MT_TRY(mt_sql_value(import->parser, &args, 0, &fits, "parse an entry", err));
    if (!fits) st = mt_import_fail(import, key, value->line, err, "expected a JSON %s", type);
done:
    return st;
}

int64_t mt_import_unix_ms(mt_import *import, const char *timestamp)
{
    sqlite3_stmt *statement;
    mt_sql_args args;
    mt_error ignored;
    int64_t unix_ms = 0;
    if (mt_import_query(import, "SELECT CAST(round((julianday(?1) - 2440587.5) * 86400000.0) AS INTEGER)", timestamp, &statement, &args, &ignored) != MT_OK) return 0;
    if (mt_sql_value(import->parser, &args, 0, &unix_ms, "read a time", &ignored) != MT_OK || unix_ms < 0) return 0;
    return unix_ms;
}

/* ---- knobs ---- */

mt_import_knob *mt_import_find_knob(mt_import *import, const char *name)
{
    for (size_t i = 0; i < import->knob_count; i++)
        if (strcmp(import->knobs[i].name, name) == 0) return &import->knobs[i];
    return NULL;
}

mt_import_knob *mt_import_add_knob(mt_import *import, const char *name, mt_error *err)
{
    if (import->knob_count == MT_IMPORT_KNOBS - 1) {
        MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than %d knobs", import->name, MT_IMPORT_KNOBS - 1);
        return NULL;
    }
    mt_import_knob *knob = &import->knobs[import->knob_count];
    *knob = (mt_import_knob){.name = mt_strdup(name)};
    if (!knob->name) {
        mt_no_memory(import->name, err);
        return NULL;
    }
    import->knob_count++;
    return knob;
}

/* 1.0 is 1, 0.5 is 0.5. */
static void number_text(double number, mt_strbuf *text)
{
    if (fabs(number) < 1e15 && number == nearbyint(number)) mt_strbuf_addf(text, "%lld", (long long)number);
    else mt_json_number(text, number, 17);
}

static bool is_integer(const char *text)
{
    int64_t number;
    char canonical[24];
    if (!mt_text_int64(text, strlen(text), &number)) return false;
    snprintf(canonical, sizeof canonical, "%lld", (long long)number);
    return strcmp(canonical, text) == 0;
}

static mt_status add_value(mt_import *import, mt_import_knob *knob, const char *text, mt_error *err)
{
    enum { VALUE_LIMIT = 4096 }; /* the search space's own */
    if (knob->value_count == VALUE_LIMIT) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: knob %s has more than %d values", import->name, knob->name, VALUE_LIMIT);
    char **value = MT_APPEND(knob->values, knob->value_count, knob->value_capacity);
    if (!value || !(*value = mt_strdup(text))) return mt_no_memory(import->name, err);
    knob->is_text = knob->is_text || !is_integer(text);
    return MT_OK;
}

mt_status mt_import_level(mt_import *import, mt_import_knob *knob, sqlite3_stmt *statement, int first, const mt_json_span *key, int64_t line, uint16_t *level, mt_error *err)
{
    const char *type = mt_sql_column(statement, first);
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    if (strcmp(type, "integer") == 0 || strcmp(type, "text") == 0) mt_strbuf_add(&text, mt_sql_column(statement, first + 1));
    else if (strcmp(type, "real") == 0) number_text(sqlite3_column_double(statement, first + 1), &text);
    else if (strcmp(type, "true") == 0 || strcmp(type, "false") == 0) mt_strbuf_add(&text, type);
    else return mt_import_fail(import, key, line, err, "the value of %s is of type %s, expected a number, a text, true or false", knob->name, type);
    size_t i = 0;
    while (i < knob->value_count && strcmp(knob->values[i], mt_strbuf_text(&text)) != 0) i++;
    if (i == knob->value_count) st = text.failed ? mt_no_memory(import->name, err) : add_value(import, knob, mt_strbuf_text(&text), err);
    *level = (uint16_t)i;
    mt_strbuf_free(&text);
    return st;
}

/* ---- rows ---- */

mt_status mt_import_add_row(mt_import *import, mt_import_row **row, mt_error *err)
{
    if (!(*row = MT_APPEND(import->rows, import->row_count, import->row_capacity))) return mt_no_memory(import->name, err);
    **row = (mt_import_row){.levels = mt_alloc(MT_IMPORT_KNOBS, sizeof *(*row)->levels)};
    if (!(*row)->levels) return mt_no_memory(import->name, err);
    for (size_t i = 0; i < MT_IMPORT_KNOBS; i++) (*row)->levels[i] = MT_IMPORT_NO_LEVEL;
    return MT_OK;
}

static void free_row(mt_import_row *row)
{
    MT_FREE_EACH(row->levels, row->text, row->sample_ns);
}

mt_status mt_import_drop_row(mt_import *import, const mt_json_span *key, int64_t line, const char *text, mt_error *err)
{
    mt_error why;
    free_row(&import->rows[--import->row_count]);
    if (import->timeless++) return MT_OK;
    mt_import_fail(import, key, line, &why, "%s", text);
    return (import->why_timeless = mt_strdup(why.message)) ? MT_OK : mt_no_memory(import->name, err);
}

mt_status mt_import_note_odd(mt_import *import, const mt_json_span *key, int64_t line, mt_error *err, const char *format, ...)
{
    char text[400];
    mt_error why;
    va_list args;
    if (import->odd++) return MT_OK;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mt_import_fail(import, key, line, &why, "%s", text);
    return (import->why_odd = mt_strdup(why.message)) ? MT_OK : mt_no_memory(import->name, err);
}

mt_status mt_import_check_row(const mt_import *import, const mt_import_row *row, const mt_json_span *key, int64_t line, mt_error *err)
{
    for (size_t i = 0; i < import->knob_count; i++)
        if (row->levels[i] == MT_IMPORT_NO_LEVEL) return mt_import_fail(import, key, line, err, "has no value of %s, expected one of every knob", import->knobs[i].name);
    return MT_OK;
}

/* ---- which format ---- */

typedef struct document {
    mt_cache_spans cache;
    mt_json_span metadata;
    mt_json_scan results;
    bool has_cache, has_results, is_recording;
    mt_strbuf members;   /* names, for messages: "a", "b" */
    int64_t first_line;  /* of the first one */
    mt_error stopped_by; /* what ended the walk early; status MT_OK = nothing */
} document;

static mt_json_span *wanted_span(document *doc, const mt_json_span *key)
{
    mt_cache_spans *cache = &doc->cache;
    const struct { const char *name; mt_json_span *span; } wanted[] = {
        {"device_name", &cache->device}, {"kernel_name", &cache->kernel}, {"problem_size", &cache->problem}, {"objective", &cache->objective}, {"tune_params_keys", &cache->keys},
        {"tune_params", &cache->params}, {"metadata", &doc->metadata}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (mt_json_is(key, wanted[i].name)) return wanted[i].span;
    return NULL;
}

static void note_member(document *doc, const mt_json_span *key)
{
    if (!doc->first_line) doc->first_line = key->line;
    if (doc->members.length < 200) mt_strbuf_addf(&doc->members, "%s\"%.*s\"", doc->members.length ? ", " : "", (int)(key->length < 40 ? key->length : 40), key->text);
    else if (doc->members.length && mt_strbuf_text(&doc->members)[doc->members.length - 1] == '"') mt_strbuf_add(&doc->members, " …");
}

/* The members of the outermost object. A cache may lack its end. */
static void survey(const mt_import *import, document *doc)
{
    mt_json_scan scan = mt_json_scan_of(import->text, import->length, import->name);
    mt_json_level level;
    mt_error *stop = &doc->stopped_by;
    bool more;
    if (mt_json_enter(&scan, '{', "a document", &level, stop) != MT_OK) return;
    for (;;) {
        mt_json_span key, value, *wanted;
        if (mt_json_next(&scan, &level, &key, &more, stop) != MT_OK || !more) return;
        note_member(doc, &key);
        if (mt_json_is(&key, "cache")) {
            doc->has_cache = true;
            doc->cache.cache = scan;
        } else if (mt_json_is(&key, "results")) {
            doc->has_results = true;
            doc->results = scan;
        }
        if (mt_json_take(&scan, &value, stop) != MT_OK) return;
        doc->is_recording = doc->is_recording || (mt_json_is(&key, "format") && mt_json_is(&value, "\"msda-tune recording\""));
        wanted = wanted_span(doc, &key);
        if (wanted) *wanted = value;
    }
}

static int by_number(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Without a list of values in the file their order is that of the results: numbers are put in order, as a person would. */
static mt_status sort_values(mt_import *import, size_t number, mt_error *err)
{
    mt_import_knob *knob = &import->knobs[number];
    struct sortable { double value; uint16_t level; } *sorted = mt_alloc(knob->value_count, sizeof *sorted);
    char **values = mt_alloc(knob->value_count, sizeof *values);
    uint16_t *place = mt_alloc(knob->value_count, sizeof *place);
    bool ok = sorted && values && place, all_numbers = true;
    for (size_t i = 0; ok && i < knob->value_count; i++) {
        sorted[i].level = (uint16_t)i;
        all_numbers = all_numbers && mt_text_double(knob->values[i], &sorted[i].value);
    }
    if (ok && all_numbers) {
        qsort(sorted, knob->value_count, sizeof *sorted, by_number); /* the value comes first in the struct */
        for (size_t i = 0; i < knob->value_count; i++) {
            values[i] = knob->values[sorted[i].level];
            place[sorted[i].level] = (uint16_t)i;
        }
        memcpy(knob->values, values, knob->value_count * sizeof *values);
        for (size_t i = 0; i < import->row_count; i++) {
            uint16_t *own = &import->rows[i].levels[number];
            if (*own != MT_IMPORT_NO_LEVEL) *own = place[*own];
        }
    }
    MT_FREE_EACH(sorted, values, place);
    return ok ? MT_OK : mt_no_memory(import->name, err);
}

/* Why another tool's name can't be that of a knob here, to stand behind "since"; "" = it can. */
static void why_not_a_knob(const mt_import *import, const mt_import_knob *knob, char *why, size_t size)
{
    const char *taken = mt_key_taken_by(knob->name);
    bool has_names = strcmp(knob->name, "ALGO") == 0;
    for (size_t i = 0; has_names && i < knob->value_count; i++) has_names = mt_text_is_identifier(knob->values[i], strlen(knob->values[i]));
    *why = '\0';
    if (taken) snprintf(why, size, taken[strlen(taken) - 1] == '_' ? "names that start with %s are the tool's macros" : "%s is a word of the expression language", taken);
    else if (strcmp(knob->name, "ALGO") == 0 && !has_names) snprintf(why, size, "ALGO names the algorithms, and its values are no names");
    else if (import->problem && strcmp(knob->name, "problem_size") == 0) snprintf(why, size, "the shape has a value of that name");
    else if (!mt_text_is_identifier(knob->name, strlen(knob->name))) snprintf(why, size, "a knob's name has letters, digits and _ alone");
}

/* "device" is the knob device_, "block size" is block_size_, "MT_X" is KNOB_MT_X_. */
static char *free_name(const mt_import *import, const char *name)
{
    mt_strbuf text = {0};
    const char *taken = mt_key_taken_by(name);
    if ((taken && taken[strlen(taken) - 1] == '_') || !mt_text_is_identifier(name, 1)) mt_strbuf_add(&text, "KNOB_");
    for (const char *at = name; *at; at++) mt_strbuf_add_char(&text, mt_text_is_identifier(at, 1) || (*at >= '0' && *at <= '9') ? *at : '_');
    do mt_strbuf_add_char(&text, '_');
    while (!text.failed && mt_import_find_knob((mt_import *)import, mt_strbuf_text(&text)));
    return mt_strbuf_take(&text);
}

/* A cache is of use whatever its parameters are called: one whose name can't be a knob's has another here, and that is told. */
static mt_status free_names(mt_import *import, mt_error *err)
{
    for (size_t i = 0; i < import->knob_count && !import->own.line1; i++) {
        mt_import_knob *knob = &import->knobs[i];
        char why[80];
        why_not_a_knob(import, knob, why, sizeof why);
        if (!*why) continue;
        char *name = free_name(import, knob->name);
        if (!name) return mt_no_memory(import->name, err);
        mt_strbuf_addf(&import->renamed, "%sits parameter \"%.60s\" is the knob %s here, since %s", import->renamed.length ? "; " : "", knob->name, name, why);
        mt_free(knob->name);
        knob->name = name;
    }
    import->about.renamed = import->renamed.length ? mt_strbuf_text(&import->renamed) : NULL;
    return import->renamed.failed ? mt_no_memory(import->name, err) : MT_OK;
}

static mt_status finish(mt_import *import, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t newest_unix_ms = 0;
    bool is_dated = true;
    if (import->row_count == 0 && import->timeless) return MT_FAIL(err, MT_ERR_SYNTAX, "%s; none of the %zu results has one", import->why_timeless, import->timeless);
    if (import->row_count == 0) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: the %s holds no result", import->name, import->about.format);
    for (size_t i = 0; i < import->knob_count; i++)
        if (!import->knobs[i].has_order) MT_TRY(sort_values(import, i, err));
    for (size_t i = 0; i < import->row_count; i++) {
        is_dated = is_dated && import->rows[i].unix_ms;
        if (import->rows[i].unix_ms > newest_unix_ms) newest_unix_ms = import->rows[i].unix_ms;
    }
    import->about.newest_unix_ms = is_dated ? newest_unix_ms : 0;
    import->about.gpu = import->gpu;
    import->about.kernel = import->kernel;
    import->about.problem = import->problem;
    import->about.unread_problem = import->unread_problem;
    MT_TRY(free_names(import, err));
    import->about.objective = import->objective;
    import->about.results = import->row_count;
    import->about.timeless = import->timeless;
    import->about.why_timeless = import->why_timeless;
    import->about.odd = import->odd;
    import->about.why_odd = import->why_odd;
    if (!import->own.line1) return MT_OK;
    import->about.has_line1 = true;
    import->about.shape = import->own.shape;
    import->about.shape_key = import->own.shape_key ? import->own.shape_key : "";
    import->about.workload = import->own.workload;
    import->about.workload_key = import->own.workload_key ? import->own.workload_key : "";
done:
    return st;
}

/* Of two members of one name each reader takes another. */
static mt_status check_names(const mt_import *import, mt_error *err)
{
    size_t length;
    int64_t line = 1;
    const char *twice = mt_json_repeated(import->text, import->length, &length);
    for (const char *at = import->text; twice && at < twice; at++) line += *at == '\n';
    return twice ? mt_import_fail(import, NULL, line, err, "\"%.*s\" is there twice in an object", (int)(length < 200 ? length : 200), twice) : MT_OK;
}

/* JSON of another kind. Where a line 1 may stand in it, and where it is no JSON, the reader of recordings says what is wrong. */
static mt_status check_kind(const mt_import *import, const document *doc, mt_error *err)
{
    static const char word[] = "\"msda-tune recording\"", expected[] = "expected " MT_RECORDING_FILES;
    mt_json_scan scan = mt_json_scan_of(import->text, import->length, import->name);
    char first = mt_json_peek(&scan);
    if ((first != '{' && first != '[') || memmem(import->text, import->length, word, sizeof word - 1)) return MT_OK;
    if (first == '[') return mt_import_fail(import, NULL, scan.line, err, "begins a JSON array; %s", expected);
    const char *members = doc->members.length ? mt_strbuf_text(&doc->members) : "nothing";
    if (doc->stopped_by.status != MT_OK) return MT_FAIL(err, MT_ERR_SYNTAX, "%s; the JSON object has %s before that, %s", doc->stopped_by.message, members, expected);
    return mt_import_fail(import, NULL, doc->members.length ? doc->first_line : scan.line, err, "is a JSON object of %s; %s", members, expected);
}

static mt_status read_text(mt_import *import, mt_error *err)
{
    document doc = {0};
    mt_status st = MT_OK;
    survey(import, &doc);
    import->unit_ns = 1e6;
    if (doc.is_recording || (!doc.has_cache && !doc.has_results)) {
        import->about = (mt_import_about){.format = "recording", .is_recording = true};
        st = check_kind(import, &doc, err);
        goto done;
    }
    MT_TRY(check_names(import, err));
    import->about.format = doc.has_cache ? "Kernel Tuner cache" : "T4 file";
    MT_TRY(doc.has_cache ? mt_import_read_cache(import, &doc.cache, err) : mt_import_read_t4(import, &doc.metadata, doc.results, err));
    if (!import->about.is_recording) st = finish(import, err);
done:
    mt_strbuf_free(&doc.members);
    return st;
}

/* ---- life ---- */

static mt_status open_as(const void *bytes, size_t length, const char *name, bool as_results, mt_import **out, mt_error *err)
{
    mt_status st = MT_OK;
    bool is_cut = false;
    mt_import *import = mt_alloc(1, sizeof *import);
    *out = NULL;
    if (!import) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    import->name = name;
    import->as_results = as_results;
    import->text = bytes;
    import->length = length;
    if (mt_gzip_is(bytes, length)) {
        MT_TRY(mt_gzip_unpack(bytes, length, max_text_bytes, name, &import->unpacked, &import->length, &is_cut, err));
        import->text = import->unpacked;
    }
    MT_TRY(read_text(import, err));
    import->about.is_unfinished |= is_cut || import->is_cut;
    *out = import;
    import = NULL;
done:
    mt_import_close(import);
    return st;
}

static mt_status open_file(const char *path, bool as_results, mt_import **import, mt_error *err)
{
    char *bytes = NULL;
    size_t length;
    mt_status st = mt_file_read(path, max_text_bytes, &bytes, &length, err);
    if (st == MT_OK) st = open_as(bytes, length, path, as_results, import, err);
    if (st == MT_OK) (*import)->bytes = bytes;
    else mt_free(bytes);
    return st;
}

mt_status mt_import_open_bytes(const void *bytes, size_t length, const char *name, mt_import **import, mt_error *err)
{
    return open_as(bytes, length, name, false, import, err);
}

mt_status mt_import_open(const char *path, mt_import **import, mt_error *err)
{
    return open_file(path, false, import, err);
}

mt_status mt_import_open_results(const char *path, mt_import **import, mt_error *err)
{
    return open_file(path, true, import, err);
}

void mt_import_close(mt_import *import)
{
    if (!import) return;
    for (size_t i = 0; i < import->row_count; i++) free_row(&import->rows[i]);
    for (size_t i = 0; i < import->knob_count; i++) {
        for (size_t k = 0; k < import->knobs[i].value_count; k++) mt_free(import->knobs[i].values[k]);
        mt_free(import->knobs[i].values);
        mt_free(import->knobs[i].name);
    }
    mt_free(import->rows);
    mt_store_close(import->parser);
    mt_strbuf_free(&import->value);
    mt_strbuf_free(&import->recording);
    mt_strbuf_free(&import->renamed);
    MT_FREE_EACH(import->own.line1, import->own.shape, import->own.shape_key, import->own.workload, import->own.workload_key, import->own.l2, import->own.standard, import->own.baseline);
    MT_FREE_EACH(import->gpu, import->kernel, import->problem, import->unread_problem, import->objective, import->why_timeless, import->why_odd, import->unpacked, import->bytes, import);
}

const mt_import_about *mt_import_describe(const mt_import *import)
{
    return &import->about;
}

const void *mt_import_recording(const mt_import *import, size_t *length)
{
    *length = import->recording.length ? import->recording.length : import->length;
    return import->recording.length ? mt_strbuf_text(&import->recording) : import->text;
}
