/* Reading T4: results of other tools. Those that this tool wrote are in import_own.c. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/recording/import_internal.h"
#include "db/exchange/recording/t4.h"
#include "db/store/measurement.h"
#include "tuner/base/alloc.h"

/* ---- of other tools ---- */

static mt_status read_configuration(mt_import *import, mt_import_row *row, const mt_json_span *value, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool is_first = import->knob_count == 0;
    MT_TRY(mt_import_query(import, "SELECT key, type, value FROM json_each(?1, '$.configuration')", mt_strbuf_text(&import->value), &statement, &args, err));
    while (mt_sql_next(import->parser, &args, "parse a configuration", &st, err)) {
        const char *name = mt_sql_column(statement, 0);
        mt_import_knob *knob = mt_import_find_knob(import, name);
        if (!knob && !is_first && !import->is_own) {
            st = mt_import_fail(import, NULL, value->line, err, "the configuration has a knob %s that the first result has not: expected the same knobs in all", name);
            goto done;
        }
        if (!knob && !(knob = mt_import_add_knob(import, name, err))) MT_LEAVE(err ? err->status : MT_ERR_NO_MEMORY);
        MT_TRY(mt_import_level(import, knob, statement, 1, NULL, value->line, &row->levels[knob - import->knobs], err));
    }
    if (import->knob_count == 0) st = mt_import_fail(import, NULL, value->line, err, "the result has no \"configuration\": expected an object of knobs");
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* The measurement called "time", else that of the first objective, if it is a time: energy is none. Without one, the mean of the runs. Its unit, or the file's. */
static const char time_sql[] =
    "SELECT json_type(m.value, '$.value'), json_extract(m.value, '$.value'), json_extract(m.value, '$.unit'), json_extract(m.value, '$.name') LIKE '%time%', m.fullkey || '.value', json_extract(m.value, '$.name') "
    "FROM json_each(?1, '$.measurements') m WHERE m.type = 'object' "
    "AND json_extract(m.value, '$.name') IN ('time', json_extract(?1, '$.objectives[0]')) ORDER BY json_extract(m.value, '$.name') = 'time' DESC LIMIT 1";

/* The first result says what the file's tool looked for; where that is no time, what ranks here is something else. */
static mt_status note_objective(mt_import *import, const char *ranked_by, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement;
    mt_sql_args args;
    bool found;
    if (import->row_count != 1 || import->objective) return MT_OK;
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.objectives[0]')", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse the objectives", err));
    const char *objective = found ? mt_sql_column(statement, 0) : "";
    if (*objective && strcmp(objective, ranked_by) != 0 && !(import->objective = mt_strdup(objective))) st = mt_no_memory(import->name, err);
    sqlite3_reset(statement);
done:
    return st;
}

static mt_status read_time(mt_import *import, mt_import_row *row, int64_t line, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found, is_time = false;
    char path[64] = "", unit[32] = "", name[128] = "time";
    row->mean_ns = mt_import_mean(row);
    MT_TRY(mt_import_query(import, time_sql, mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse a measurement", err));
    const char *type = found ? mt_sql_column(statement, 0) : "";
    bool is_number = strcmp(type, "integer") == 0 || strcmp(type, "real") == 0;
    if (found) snprintf(unit, sizeof unit, "%s", mt_sql_column(statement, 2));
    if (found) snprintf(path, sizeof path, "%s", mt_sql_column(statement, 4));
    double unit_ns = *unit ? mt_import_unit_ns(unit) : found && sqlite3_column_int(statement, 3) ? import->unit_ns : 0;
    if (is_number && row->kind == MT_OUTCOME_OK && !unit_ns && !row->samples && sqlite3_column_int(statement, 3)) {
        st = mt_import_fail(import, NULL, line, err, "the measurement \"%.60s\" has the \"unit\" \"%s\", expected s, ms, us or ns, or such a unit's name", mt_sql_column(statement, 5), unit);
        goto done;
    }
    is_time = found && unit_ns > 0;
    if (is_time) snprintf(name, sizeof name, "%s", mt_sql_column(statement, 5));
    if (row->kind == MT_OUTCOME_OK && is_number && is_time) {
        const mt_import_value value = {sqlite3_column_double(statement, 1), unit_ns, *unit ? unit : mt_import_unit(import), path, NULL, line};
        st = mt_import_time(import, &value, row, err);
    } else if (row->kind != MT_OUTCOME_OK && strcmp(type, "text") == 0) {
        row->text = mt_strdup(mt_sql_column(statement, 1));
        if (!row->text) st = mt_no_memory(import->name, err);
    }
    if (st == MT_OK) st = note_objective(import, name, err);
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
    if (runtimes) MT_TRY(mt_import_samples(import, runtimes, "runtimes", row, NULL, value->line, err));
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
    MT_TRY(read_time(import, row, value->line, err));
    if (row->kind == MT_OUTCOME_OK && row->marks && !row->samples) MT_TRY(mt_import_fail_as_mark(import, row, "1e20 in all of its \"runtimes\"", err));
    if (row->kind == MT_OUTCOME_OK && row->mean_ns == 0 && !row->samples) {
        st = mt_import_drop_row(import, NULL, value->line, "the result has no time: expected a measurement \"time\", one whose unit is a time, or \"runtimes\"", err);
        goto done;
    }
    st = mt_import_check_row(import, row, NULL, value->line, err);
done:
    return st;
}

/* ---- both ---- */

static mt_status read_metadata(mt_import *import, const mt_json_span *metadata, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_stmt *statement = NULL;
    mt_sql_args args;
    bool found;
    if (!metadata->text) return MT_OK;
    MT_TRY(mt_import_check(import, NULL, metadata, "object", err));
    MT_TRY(mt_import_query(import, "SELECT json_extract(?1, '$.timeunit'), json_type(?1, '$.\"" MT_T4_OWN "\".subjects') = 'array'", mt_strbuf_text(&import->value), &statement, &args, err));
    MT_TRY(mt_sql_row(import->parser, &args, &found, "parse the metadata", err));
    const char *unit = mt_sql_column(statement, 0);
    if (*unit) import->unit_ns = mt_import_unit_ns(unit);
    if (import->unit_ns <= 0) st = mt_import_fail(import, NULL, metadata->line, err, "\"timeunit\" is \"%.40s\", expected seconds, milliseconds, microseconds or nanoseconds", unit);
    import->is_own = sqlite3_column_int64(statement, 1) != 0;
done:
    if (statement) sqlite3_reset(statement);
    return st;
}

/* A row of a file of this tool under another name: its line holds all but what the search space is made of. */
static mt_status read_named(mt_import *import, mt_import_own_lines *lines, const mt_json_span *value, mt_error *err)
{
    mt_import_row *row;
    mt_status st = mt_import_read_own(import, lines, value, err);
    if (st != MT_OK || !import->as_results) return st;
    st = mt_import_add_row(import, &row, err);
    if (st == MT_OK) st = mt_import_own_kind(import, &row->kind, err);
    return st == MT_OK ? read_configuration(import, row, value, err) : st;
}

/* Of a file that is cut short those that are whole; its metadata, which say in what unit they are, must stand before them. */
static mt_status read_results(mt_import *import, mt_json_scan scan, bool has_metadata, mt_import_own_lines *lines, mt_error *err)
{
    mt_status st = MT_OK;
    mt_json_level level;
    MT_TRY(mt_json_enter(&scan, '[', "the \"results\" of a T4 file", &level, err));
    for (;;) {
        mt_json_span value;
        bool more;
        st = mt_json_next(&scan, &level, NULL, &more, err);
        if (st == MT_OK && !more) break;
        if (st == MT_OK) st = mt_json_take(&scan, &value, err);
        if (st != MT_OK && has_metadata && (import->row_count || lines->count) && mt_json_is_cut(&scan)) {
            import->is_cut = true;
            st = MT_OK;
            break;
        }
        if (st != MT_OK) goto done;
        MT_TRY(mt_import_check(import, NULL, &value, "object", err));
        MT_TRY(import->is_own ? read_named(import, lines, &value, err) : read_result(import, &value, err));
    }
done:
    return st;
}

mt_status mt_import_read_t4(mt_import *import, const mt_json_span *metadata, mt_json_scan results, mt_error *err)
{
    mt_status st;
    mt_import_own_lines lines = {0};
    MT_TRY(read_metadata(import, metadata, err));
    if (import->is_own && import->as_results) MT_TRY(mt_import_own_about(import, metadata, err));
    MT_TRY(read_results(import, results, metadata->text != NULL, &lines, err));
    if (!import->is_own) goto done;
    MT_TRY(mt_import_join_own(import, &lines, metadata, err));
    if (!import->as_results) import->about = (mt_import_about){.format = "recording", .is_recording = true};
done:
    mt_import_own_lines_free(&lines);
    return st;
}
