/* Reading T4 files that this tool wrote: they hold a recording, which may be given another name. */
#include <stdlib.h>
#include <string.h>

#include "db/exchange/recording/import_internal.h"
#include "db/exchange/recording/t4.h"
#include "db/store/measurement.h"
#include "tuner/base/alloc.h"

static int by_subject_and_variant(const void *a, const void *b)
{
    const mt_import_own_line *x = a, *y = b;
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
    if (text.failed || !(*variant = mt_strdup(mt_strbuf_text(&text)))) st = mt_no_memory(import->name, err);
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&text);
    return st;
}

/* The runs in milliseconds, back to the float nanoseconds that they were. */
static mt_status add_samples(mt_import *import, const char *runtimes, int64_t line, mt_strbuf *json, mt_error *err)
{
    mt_import_row row = {0};
    mt_status st = mt_import_samples(import, runtimes, "runtimes", &row, NULL, line, err);
    for (uint32_t i = 0; i < row.samples; i++) {
        mt_strbuf_add(json, i ? "," : ",\"s\":[");
        mt_json_number(json, (double)row.sample_ns[i], 9);
    }
    if (row.samples) mt_strbuf_add_char(json, ']');
    mt_free(row.sample_ns);
    return st;
}

mt_status mt_import_read_own(mt_import *import, mt_import_own_lines *own, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    mt_strbuf json = {0};
    mt_import_own_line line = {.number = value->line};
    MT_TRY(variant_of(import, &line.variant, err));
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.\"" MT_T4_OWN "\".subject'), json_remove(json_extract(?1, '$.\"" MT_T4_OWN "\"'), '$.subject'), "
                           "CASE json_type(?1, '$.times.runtimes') WHEN 'array' THEN json_extract(?1, '$.times.runtimes') END "
                           "WHERE json_type(?1, '$.\"" MT_T4_OWN "\"') = 'object' AND json_type(?1, '$.\"" MT_T4_OWN "\".subject') = 'integer' "
                           "AND json_type(?1, '$.\"" MT_T4_OWN "\".k') = 'text'", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a result", err));
    if (!found) MT_LEAVE(mt_import_fail(import, NULL, value->line, err, "the result has no \"" MT_T4_OWN "\" with \"subject\" and \"k\", but the file's metadata have: expected it in every result"));
    line.subject = sqlite3_column_int64(statement, 0);
    mt_strbuf_add(&json, "{\"v\":");
    mt_strbuf_add_json(&json, line.variant);
    mt_strbuf_add_char(&json, ',');
    mt_strbuf_add(&json, mt_sql_column(statement, 1) + 1);
    json.length -= json.failed ? 0 : 1; /* the closing brace comes last */
    const char *runtimes = mt_sql_column_or_null(statement, 2);
    if (runtimes) MT_TRY(add_samples(import, runtimes, value->line, &json, err));
    mt_strbuf_add(&json, "}\n");
    mt_import_own_line *lines = mt_grow(own->lines, own->count, &own->capacity, sizeof *lines);
    if (lines) own->lines = lines;
    line.line = mt_strbuf_take(&json);
    if (!lines || !line.line) {
        mt_free(line.line);
        st = mt_no_memory(import->name, err);
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

static mt_status add_subject_lines(mt_import *import, const mt_import_own_lines *own, int64_t subject, size_t *at, mt_error *err)
{
    for (; *at < own->count && own->lines[*at].subject <= subject; ++*at) {
        const mt_import_own_line *line = &own->lines[*at];
        if (line->subject < subject) break;
        mt_strbuf_add(&import->recording, line->line);
    }
    return import->recording.failed ? mt_no_memory(import->name, err) : MT_OK;
}

/* Headers and lines in turns: what `export --jsonl` would have written. */
mt_status mt_import_join_own(mt_import *import, mt_import_own_lines *own, const mt_json_span *metadata, mt_error *err)
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

void mt_import_own_lines_free(mt_import_own_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        mt_free(lines->lines[i].variant);
        mt_free(lines->lines[i].line);
    }
    mt_free(lines->lines);
}

/* ---- under another name ---- */

mt_status mt_import_own_kind(mt_import *import, mt_outcome_kind *kind, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_sql_args args;
    bool found;
    mt_status st = MT_OK;
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.\"" MT_T4_OWN "\".k')", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a result", err));
    if (!found || !mt_outcome_from_name(mt_sql_column(statement, 0), kind)) *kind = MT_OUTCOME_LAUNCH_ERROR; /* whoever stores the row tells */
    sqlite3_reset(statement);
done:
    return st;
}

/* Of line 1, what the search space is made of. */
static const char about_sql[] =
    "SELECT json_array_length(?1), json_extract(?1, '$[0]'), json_extract(?1, '$[0].gpu.name'), json_extract(?1, '$[0].kernel.name'), json_extract(?1, '$[0].shape.name'), "
    "json_extract(?1, '$[0].shape.key'), json_extract(?1, '$[0].workload.name'), json_extract(?1, '$[0].workload.key'), json_extract(?1, '$[0].regime'), "
    "json_extract(?1, '$[0].default'), json_extract(?1, '$[0].baseline')";

static mt_status keep_text(const mt_import *import, sqlite3_stmt *statement, int column, char **text, mt_error *err)
{
    const char *value = mt_sql_column(statement, column);
    mt_free(*text);
    *text = NULL;
    return !*value || (*text = mt_strdup(value)) ? MT_OK : mt_no_memory(import->name, err);
}

#define DISTINCT(member) "count(DISTINCT json_extract(value, '$." member "')), "

/* Each name of its own would have several rows of one configuration: the options that part them, where they are exported, are named. */
static mt_status refuse_several(mt_import *import, const char *list, const mt_json_span *metadata, mt_error *err)
{
    static const struct { const char *what, *option; } parts[] = {
        {"kernel", " --kernel NAME"}, {"kernel's source", " --kernel-key KEY"}, {"GPU", " --gpu GPU"}, {"shape", " --shape NAME"}, {"workload", " --workload NAME"}, {"cache state", " --l2 cold|warm"}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    mt_strbuf what = {0}, options = {0};
    MT_TRY(mt_import_query(import, "SELECT " DISTINCT("kernel.name") DISTINCT("kernel.key") DISTINCT("gpu.key") DISTINCT("shape.name") DISTINCT("workload.name") DISTINCT("regime")
                           "count(DISTINCT json_array(value -> '$.kernel.name', value -> '$.kernel.key', value -> '$.gpu.key', value -> '$.shape.name', value -> '$.workload.name', value -> '$.regime')), count(*) "
                           "FROM json_each(?1)", list, &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse the subjects", err));
    for (int i = 0; i < PARTS; i++) {
        if (sqlite3_column_int64(statement, i) < 2) continue;
        mt_strbuf_addf(&what, "%s%s", what.length ? ", " : "", parts[i].what);
        mt_strbuf_add(&options, parts[i].option);
    }
    int64_t subjects = sqlite3_column_int64(statement, PARTS + 1);
    if (sqlite3_column_int64(statement, PARTS) < subjects) { /* no recording says its origin */
        mt_strbuf_addf(&what, "%sorigin", what.length ? ", " : "");
        mt_strbuf_add(&options, " --origin measured|recorded|imported");
    }
    if (!subjects) st = mt_import_fail(import, NULL, metadata->line, err, "has no subject, expected one");
    else if (what.failed || options.failed) st = mt_no_memory(import->name, err);
    else st = mt_import_fail(import, NULL, metadata->line, err, "holds %lld subjects (they differ in: %s), expected one where it gets a name, GPU, size or search space of its own. Import it without these options, and all keep the names that they have; "
                             "or export one of them: msda-tune export --t4%s", (long long)subjects, mt_strbuf_text(&what), mt_strbuf_text(&options));
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&what);
    mt_strbuf_free(&options);
    return st;
}

mt_status mt_import_own_about(mt_import *import, const mt_json_span *metadata, mt_error *err)
{
    mt_status st = MT_OK;
    mt_import_own *own = &import->own;
    char **const texts[] = {&own->line1, &import->gpu, &import->kernel, &own->shape, &own->shape_key, &own->workload, &own->workload_key, &own->l2, &own->standard, &own->baseline};
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    mt_strbuf list = {0};
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.\"" MT_T4_OWN "\".subjects')", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse the subjects", err));
    mt_strbuf_add(&list, found ? mt_sql_column(statement, 0) : "");
    sqlite3_reset(statement);
    MT_TRY(mt_import_query(import, about_sql, mt_strbuf_text(&list), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a subject", err));
    int64_t subjects = sqlite3_column_int64(statement, 0);
    if (subjects != 1) MT_LEAVE(refuse_several(import, mt_strbuf_text(&list), metadata, err));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) MT_TRY(keep_text(import, statement, (int)i + 1, texts[i], err));
    if (!own->line1 || !own->shape || !own->workload || !own->l2)
        st = mt_import_fail(import, NULL, metadata->line, err, "the subject has no shape, workload or cache state (\"regime\"): expected line 1 of a recording");
done:
    if (statement) sqlite3_reset(statement);
    mt_strbuf_free(&list);
    return st;
}

/* Replaces one member of the line; json NULL leaves it. */
static mt_status replace(mt_import *import, const char *path, const char *json, mt_strbuf *line, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    if (!json) return MT_OK;
    MT_TRY(mt_import_query(import, "SELECT json_set(?1, ?2, json(?3))", mt_strbuf_text(line), &statement, &args, err));
    mt_sql_text(&args, path);
    mt_sql_text(&args, json);
    MT_TRY(mt_sql_row(import->parser, &args, &found, "make line 1", err));
    char *text = mt_strdup(mt_sql_column(statement, 0));
    mt_strbuf_clear(line);
    mt_strbuf_add(line, text ? text : "");
    if (!text || line->failed) st = mt_no_memory(import->name, err);
    mt_free(text);
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

mt_status mt_import_own_line1(mt_import *import, const mt_import_names *names, mt_strbuf *lines, mt_error *err)
{
    mt_status st = MT_OK;
    const struct { const char *path, *json; } members[] = {
        {"$.gpu", names->gpu}, {"$.kernel.name", names->kernel}, {"$.kernel.key", names->kernel_key}, {"$.kernel.spec", names->spec}, {"$.shape", names->shape}};
    mt_strbuf line = {0};
    mt_strbuf_add(&line, import->own.line1);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) MT_TRY(replace(import, members[i].path, members[i].json, &line, err));
    mt_strbuf_add(lines, mt_strbuf_text(&line));
    mt_strbuf_add_char(lines, '\n');
    if (lines->failed || line.failed) st = mt_no_memory(import->name, err);
done:
    mt_strbuf_free(&line);
    return st;
}
