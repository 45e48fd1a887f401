/* Times of a foreign file: its units, its marks of failures, and messages that tell them as the file has them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "db/exchange/recording/import_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static const double most_ns = 1e16; /* a recording's own limit, 116 days */

double mt_import_unit_ns(const char *unit)
{
    static const struct { const char *name; double ns; } units[] = {
        {"s", 1e9}, {"sec", 1e9}, {"second", 1e9}, {"seconds", 1e9}, {"ms", 1e6}, {"millisecond", 1e6}, {"milliseconds", 1e6}, {"miliseconds", 1e6}, /* as Kernel Tuner spells it */
        {"us", 1e3}, {"µs", 1e3}, {"microsecond", 1e3}, {"microseconds", 1e3}, {"ns", 1}, {"nanosecond", 1}, {"nanoseconds", 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(unit, units[i].name) == 0) return units[i].ns;
    return 0;
}

/* From 1e20 on: what older Kernel Tuners wrote for a configuration that failed, whatever it failed at. */
static bool marks_failure(double time)
{
    return !(time < 1e20);
}

/* What mt_json_copy makes of Infinity. */
static bool is_infinite(const char *number)
{
    return strcmp(number, "9e999") == 0;
}

/* The value at the path as the file has it. */
static void own_text(mt_import *import, const char *path, char *out, size_t size)
{
    sqlite3_stmt *statement;
    mt_sql_args args;
    mt_error ignored;
    bool found;
    snprintf(out, size, "?");
    if (mt_import_query(import, "SELECT ?1 -> ?2", mt_strbuf_text(&import->value), &statement, &args, &ignored) != MT_OK) return;
    mt_sql_text(&args, path);
    if (mt_sql_row(import->parser, &args, &found, "read a value", &ignored) == MT_OK && found) snprintf(out, size, "%s", mt_sql_column(statement, 0));
    sqlite3_reset(statement);
    if (is_infinite(out + (*out == '-'))) snprintf(out, size, "%s", *out == '-' ? "-Infinity" : "Infinity");
}

mt_status mt_import_time(mt_import *import, const mt_import_value *value, mt_import_row *row, mt_error *err)
{
    char text[64];
    double ns = value->number * value->unit_ns;
    if (ns > 0 && ns < most_ns) {
        row->mean_ns = ns;
        row->kind = MT_OUTCOME_OK;
        return MT_OK;
    }
    own_text(import, value->path, text, sizeof text);
    if (marks_failure(value->number)) return mt_import_fail_as_mark(import, row, text, err);
    return mt_import_fail(import, value->key, value->line, err, "\"time\" is %s %s, expected more than 0 and less than %g %s", text, value->unit, most_ns / value->unit_ns, value->unit);
}

mt_status mt_import_fail_as_mark(const mt_import *import, mt_import_row *row, const char *text, mt_error *err)
{
    mt_strbuf words = {0};
    mt_strbuf_addf(&words, "time %s, which stands for a failure", text);
    mt_free(row->text);
    row->kind = MT_OUTCOME_LAUNCH_ERROR;
    return (row->text = mt_strbuf_take(&words)) ? MT_OK : mt_no_memory(import->name, err);
}

static const char *unit_name(double unit_ns)
{
    return unit_ns >= 1e9 ? "s" : unit_ns >= 1e6 ? "ms" : unit_ns >= 1e3 ? "µs" : "ns";
}

const char *mt_import_unit(const mt_import *import)
{
    return unit_name(import->unit_ns);
}

double mt_import_mean(const mt_import_row *row)
{
    double mean = 0;
    for (uint32_t i = 0; i < row->samples; i++) mean += (double)row->sample_ns[i] / row->samples;
    return mean;
}

/* Lists in the list are read as if they were none: some write pairs of a start and a time, and the start as 0. A run that took no time is one that was not timed, one that stands
 * for a failure (1e20; null was NaN) is none either. */
mt_status mt_import_samples(const mt_import *import, const char *json, const char *field, mt_import_row *row, const mt_json_span *key, int64_t line, mt_error *err)
{
    uint32_t count = 1, read = 0;
    for (const char *at = json; *at; at++) count += *at == ',';
    mt_free(row->sample_ns);
    row->samples = row->marks = 0;
    row->sample_ns = mt_alloc(count, sizeof *row->sample_ns);
    if (!row->sample_ns) return mt_no_memory(import->name, err);
    for (const char *at = json + strspn(json, "[], "); *at; at += strspn(at, "[], ")) {
        char number[64] = "";
        double value = 0;
        size_t length = strcspn(at, "[], ");
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number), at);
        read++;
        at += length;
        bool is_number = mt_text_double(number, &value), is_mark = is_infinite(number) || strcmp(number, "null") == 0 || (is_number && marks_failure(value));
        if (!is_mark && (!is_number || value < 0 || !(value * import->unit_ns < most_ns)))
            return mt_import_fail(import, key, line, err, "number %u of \"%s\" is %s%s%s, expected 0 or more and less than %g %s", read, field, is_infinite(number + (*number == '-')) ? "-Infinity" : number,
                                  is_number ? " " : "", is_number ? mt_import_unit(import) : "", most_ns / import->unit_ns, mt_import_unit(import));
        row->marks += is_mark;
        if (!is_mark && value > 0) row->sample_ns[row->samples++] = (float)(value * import->unit_ns);
    }
    return MT_OK;
}
