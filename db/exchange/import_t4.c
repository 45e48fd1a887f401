/* Reading T4: results of other tools, and those that this tool wrote, which hold a recording. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/import_internal.h"
#include "db/key.h"
#include "db/store/measurement.h"
#include "db/exchange/t4.h"
#include "tuner/base/alloc.h"

/* ---- of other tools ---- */

static mt_status read_configuration(mt_import *import, mt_import_row *row, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool is_first = import->row_count == 1;
    MT_TRY(mt_import_query(import, "SELECT key, type, value FROM json_each(?1, '$.configuration')", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse a configuration", &st, err)) {
        const char *name = mt_sql_column(statement, 0);
        mt_import_knob *knob = mt_import_find_knob(import, name);
        if (!knob && !is_first) {
            st = mt_import_fail(import, NULL, value->line, err, "the configuration has a knob %s that the first result has not: expected the same knobs in all", name);
            goto done;
        }
        if (!knob && !(knob = mt_import_add_knob(import, name, err))) {
            st = err ? err->status : MT_ERR_NO_MEMORY;
            goto done;
        }
        MT_TRY(mt_import_level(import, knob, statement, 1, NULL, value->line, &row->levels[knob - import->knobs], err));
    }
    if (import->knob_count == 0) st = mt_import_fail(import, NULL, value->line, err, "the result has no \"configuration\": expected an object of knobs");
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* The measurement called "time", else that of the first objective, if it is a time: energy is none. Without one, the mean of the runs. Its unit, or the file's. */
static const char time_sql[] =
    "SELECT json_type(m.value, '$.value'), json_extract(m.value, '$.value'), json_extract(m.value, '$.unit'), json_extract(m.value, '$.name') LIKE '%time%' FROM json_each(?1, '$.measurements') m WHERE m.type = 'object' "
    "AND json_extract(m.value, '$.name') IN ('time', json_extract(?1, '$.objectives[0]')) ORDER BY json_extract(m.value, '$.name') = 'time' DESC LIMIT 1";

static mt_status read_time(mt_import *import, mt_import_row *row, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    row->mean_ns = mt_import_mean(row);
    MT_TRY(mt_import_query(import, time_sql, mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a measurement", err));
    const char *type = found ? mt_sql_column(statement, 0) : "";
    if (row->kind == MT_OUTCOME_OK && (strcmp(type, "integer") == 0 || strcmp(type, "real") == 0)) {
        const char *unit = mt_sql_column(statement, 2);
        double unit_ns = *unit ? mt_import_unit_ns(unit) : sqlite3_column_int(statement, 3) ? import->unit_ns : 0;
        if (unit_ns > 0) row->mean_ns = sqlite3_column_double(statement, 1) * unit_ns;
    } else if (row->kind != MT_OUTCOME_OK && strcmp(type, "text") == 0) {
        row->text = mt_strdup(mt_sql_column(statement, 1));
        if (!row->text) st = mt_import_no_memory(import, err);
    }
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

static int64_t nanoseconds(const mt_import *import, sqlite3_stmt *statement, int column)
{
    double ns = sqlite3_column_double(statement, column) * import->unit_ns;
    return ns > 0 && ns < 9e18 ? (int64_t)ns : 0;
}

static const char result_sql[] =
    "SELECT json_extract(?1, '$.invalidity'), json_extract(?1, '$.timestamp'), coalesce(json_extract(?1, '$.times.compilation_time'), json_extract(?1, '$.times.compilation')), "
    "json_extract(?1, '$.times.validation'), CASE json_type(?1, '$.times.runtimes') WHEN 'array' THEN json_extract(?1, '$.times.runtimes') END";

static mt_status read_members(mt_import *import, mt_import_row *row, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    char timestamp[64];
    MT_TRY(mt_import_query(import, result_sql, mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a result", err));
    const char *word = mt_sql_column(statement, 0);
    if (!mt_t4_kind(word, &row->kind)) {
        st = mt_import_fail(import, NULL, value->line, err, "\"invalidity\" is \"%.60s\", expected correct, compile, runtime, timeout, correctness or constraints", word);
        goto done;
    }
    snprintf(timestamp, sizeof timestamp, "%s", mt_sql_column(statement, 1));
    row->compile_ns = nanoseconds(import, statement, 2);
    row->validate_ns = nanoseconds(import, statement, 3);
    const char *runtimes = mt_sql_column_or_null(statement, 4);
    if (runtimes) MT_TRY(mt_import_samples(import, runtimes, row, NULL, value->line, err));
    row->unix_ms = mt_import_unix_ms(import, timestamp);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

static mt_status read_result(mt_import *import, const mt_json_span *value, mt_error *err)
{
    mt_status st;
    mt_import_row *row;
    MT_TRY(mt_import_add_row(import, &row, err));
    MT_TRY(read_configuration(import, row, value, err));
    MT_TRY(read_members(import, row, value, err));
    MT_TRY(read_time(import, row, err));
    if (row->kind == MT_OUTCOME_OK && row->mean_ns == 0 && !row->samples) {
        st = mt_import_fail(import, NULL, value->line, err, "the result has no time: expected a measurement \"time\", one whose unit is a time, or \"runtimes\"");
        goto done;
    }
    st = mt_import_check_row(import, row, NULL, value->line, err);
done:
    return st;
}

/* ---- of this tool ---- */

typedef struct own_line {
    int64_t subject;
    char *variant, *line;
    int64_t number;      /* of the file */
} own_line;

typedef struct own_file {
    own_line *lines;
    size_t count, capacity;
} own_file;

static int by_subject_and_variant(const void *a, const void *b)
{
    const own_line *x = a, *y = b;
    int order = (x->subject > y->subject) - (x->subject < y->subject);
    return order ? order : strcmp(x->variant, y->variant);
}

/* {"ALGO":"a","K":1} → "ALGO=a;K=1" */
static mt_status variant_of(mt_import *import, char **variant, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    mt_strbuf text = {0};
    MT_TRY(mt_import_query(import, "SELECT key, atom FROM json_each(?1, '$.configuration') ORDER BY key COLLATE BINARY", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse a configuration", &st, err)) {
        mt_strbuf_addf(&text, "%s%s=%s", text.length ? ";" : "", mt_sql_column(statement, 0), mt_sql_column(statement, 1));
    }
    if (text.failed || !(*variant = mt_strdup(mt_strbuf_text(&text)))) st = mt_import_no_memory(import, err);
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&text);
    return st;
}

/* The runs in milliseconds, back to the float nanoseconds that they were. */
static mt_status add_samples(mt_import *import, const char *runtimes, int64_t line, mt_strbuf *json, mt_error *err)
{
    mt_import_row row = {0};
    mt_status st = mt_import_samples(import, runtimes, &row, NULL, line, err);
    for (uint32_t i = 0; i < row.samples; i++) {
        mt_strbuf_add(json, i ? "," : ",\"s\":[");
        mt_json_number(json, (double)row.sample_ns[i], 9);
    }
    if (row.samples) mt_strbuf_add_char(json, ']');
    mt_free(row.sample_ns);
    return st;
}

static mt_status read_own(mt_import *import, own_file *own, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    mt_strbuf json = {0};
    own_line line = {.number = value->line};
    MT_TRY(variant_of(import, &line.variant, err));
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.\"" MT_T4_OWN "\".subject'), json_remove(json_extract(?1, '$.\"" MT_T4_OWN "\"'), '$.subject'), "
                           "CASE json_type(?1, '$.times.runtimes') WHEN 'array' THEN json_extract(?1, '$.times.runtimes') END "
                           "WHERE json_type(?1, '$.\"" MT_T4_OWN "\"') = 'object' AND json_type(?1, '$.\"" MT_T4_OWN "\".subject') = 'integer' "
                           "AND json_type(?1, '$.\"" MT_T4_OWN "\".k') = 'text'", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a result", err));
    if (!found) {
        st = mt_import_fail(import, NULL, value->line, err, "the result has no \"" MT_T4_OWN "\" with \"subject\" and \"k\", but the file's metadata have: expected it in every result");
        goto done;
    }
    line.subject = sqlite3_column_int64(statement, 0);
    mt_strbuf_add(&json, "{\"v\":");
    mt_strbuf_add_json(&json, line.variant);
    mt_strbuf_add_char(&json, ',');
    mt_strbuf_add(&json, mt_sql_column(statement, 1) + 1);
    json.length -= json.failed ? 0 : 1; /* the closing brace comes last */
    const char *runtimes = mt_sql_column_or_null(statement, 2);
    if (runtimes) MT_TRY(add_samples(import, runtimes, value->line, &json, err));
    mt_strbuf_add(&json, "}\n");
    own_line *lines = mt_grow(own->lines, own->count, &own->capacity, sizeof *lines);
    if (lines) own->lines = lines;
    line.line = mt_strbuf_take(&json);
    if (!lines || !line.line) {
        mt_free(line.line);
        st = mt_import_no_memory(import, err);
        goto done;
    }
    own->lines[own->count++] = line;
    line.variant = NULL;
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&json);
    mt_free(line.variant);
    return st;
}

static mt_status add_subject_lines(mt_import *import, const own_file *own, int64_t subject, size_t *at, mt_error *err)
{
    for (; *at < own->count && own->lines[*at].subject <= subject; ++*at) {
        const own_line *line = &own->lines[*at];
        if (line->subject < subject) break;
        mt_strbuf_add(&import->recording, line->line);
    }
    return import->recording.failed ? mt_import_no_memory(import, err) : MT_OK;
}

/* Headers and lines in turns: what `export --jsonl` would have written. */
static mt_status join_own(mt_import *import, own_file *own, const mt_json_span *metadata, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool more;
    size_t at = 0;
    int64_t subject = 0;
    if (own->count) qsort(own->lines, own->count, sizeof *own->lines, by_subject_and_variant);
    MT_TRY(mt_import_check(import, NULL, metadata, "object", err));
    MT_TRY(mt_import_query(import, "SELECT value FROM json_each(?1, '$.\"" MT_T4_OWN "\".subjects') WHERE type = 'object'", mt_strbuf_text(&import->value), &statement, &args, err));
    for (;; subject++) {
        MT_TRY(mt_sql_row(import->parser, &args, &more, "parse the subjects", err));
        if (!more) break;
        mt_strbuf_add(&import->recording, mt_sql_column(statement, 0));
        mt_strbuf_add_char(&import->recording, '\n');
        MT_TRY(add_subject_lines(import, own, subject, &at, err));
    }
    if (at < own->count) st = mt_import_fail(import, NULL, own->lines[at].number, err, "the result is of subject %lld, expected 0 to %lld", (long long)own->lines[at].subject, (long long)subject - 1);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* ---- both ---- */

#define SUBJECTS "json_extract(?1, '$.\"" MT_T4_OWN "\".subjects"
#define own_names "json_array_length(?1, '$.\"" MT_T4_OWN "\".subjects'), " SUBJECTS "[0].gpu.name'), " SUBJECTS "[0].kernel.name')"

/* What a file of this tool says of itself, where it is read as another tool's: columns as in own_names, behind two. Several subjects would be rows of one configuration each. */
static mt_status read_own_names(mt_import *import, sqlite3_stmt *statement, const mt_json_span *metadata, mt_error *err)
{
    int64_t subjects = sqlite3_column_int64(statement, 2);
    if (subjects != 1)
        return mt_import_fail(import, NULL, metadata->line, err, "holds results of %lld shapes, workloads or GPUs: expected one where it is to have a name of its own (export --t4 --shape NAME makes such files)",
                              (long long)subjects);
    const char *gpu = mt_sql_column(statement, 3), *kernel = mt_sql_column(statement, 4);
    if (*gpu && !(import->gpu = mt_strdup(gpu))) return mt_import_no_memory(import, err);
    if (*kernel && !(import->kernel = mt_strdup(kernel))) return mt_import_no_memory(import, err);
    return MT_OK;
}


static mt_status read_metadata(mt_import *import, const mt_json_span *metadata, bool *is_own, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    *is_own = false;
    if (!metadata->text) return MT_OK;
    MT_TRY(mt_import_check(import, NULL, metadata, "object", err));
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.timeunit'), json_type(?1, '$.\"" MT_T4_OWN "\".subjects') = 'array', " own_names, mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse the metadata", err));
    const char *unit = mt_sql_column(statement, 0);
    if (*unit) import->unit_ns = mt_import_unit_ns(unit);
    if (import->unit_ns <= 0) st = mt_import_fail(import, NULL, metadata->line, err, "\"timeunit\" is \"%.40s\", expected seconds, milliseconds, microseconds or nanoseconds", unit);
    *is_own = sqlite3_column_int64(statement, 1) != 0;
    if (st == MT_OK && *is_own && import->as_results) {
        *is_own = false;
        st = read_own_names(import, statement, metadata, err);
    }
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

static mt_status read_results(mt_import *import, mt_json_scan scan, own_file *own, mt_error *err)
{
    mt_status st = MT_OK;
    mt_json_level level;
    MT_TRY(mt_json_enter(&scan, '[', "the \"results\" of a T4 file", &level, err));
    for (;;) {
        mt_json_span value;
        bool more;
        MT_TRY(mt_json_next(&scan, &level, NULL, &more, err));
        if (!more) break;
        MT_TRY(mt_json_take(&scan, &value, err));
        MT_TRY(mt_import_check(import, NULL, &value, "object", err));
        MT_TRY(own ? read_own(import, own, &value, err) : read_result(import, &value, err));
    }
done:
    return st;
}

mt_status mt_import_read_t4(mt_import *import, const mt_json_span *metadata, mt_json_scan results, mt_error *err)
{
    mt_status st;
    bool is_own;
    own_file own = {0};
    MT_TRY(read_metadata(import, metadata, &is_own, err));
    MT_TRY(read_results(import, results, is_own ? &own : NULL, err));
    if (!is_own) goto done;
    MT_TRY(join_own(import, &own, metadata, err));
    import->about = (mt_import_about){.format = "recording", .is_recording = true};
done:
    for (size_t i = 0; i < own.count; i++) {
        mt_free(own.lines[i].variant);
        mt_free(own.lines[i].line);
    }
    mt_free(own.lines);
    return st;
}
