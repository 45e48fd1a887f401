/* What becomes of a foreign file: a search space and a recording's lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/recording/import_internal.h"
#include "db/exchange/recording/recording_internal.h"
#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"
#include "tuner/base/text.h"

/* ---- names and values ---- */

/* The knob that a file of this tool's own has: its values are the algorithms. */
static const mt_import_knob *algo_knob(const mt_import *import)
{
    for (size_t i = 0; i < import->knob_count; i++)
        if (strcmp(import->knobs[i].name, "ALGO") == 0) return &import->knobs[i];
    return NULL;
}

/* The kernel's name as the name of its only variant. */
static char *variant_name(const char *kernel)
{
    mt_strbuf name = {0};
    if (*kernel >= '0' && *kernel <= '9') mt_strbuf_add_char(&name, '_');
    for (const char *at = kernel; *at; at++) mt_strbuf_add_char(&name, mt_text_is_identifier(at, 1) || (*at >= '0' && *at <= '9') ? *at : '_');
    if (!name.length) mt_strbuf_add(&name, "kernel");
    if (!name.failed && mt_key_taken_by(mt_strbuf_text(&name))) mt_strbuf_add_char(&name, '_');
    return mt_strbuf_take(&name);
}

/* A value stands in variants (between '=' and ';') and in quotes in the search space. */
static mt_status check_value(const mt_import *import, const mt_import_knob *knob, const char *value, mt_error *err)
{
    size_t length = strlen(value);
    bool is_fine = length && !strpbrk(value, ";\"\\") && value[0] != ' ' && value[length - 1] != ' ';
    for (const char *at = value; *at; at++) is_fine = is_fine && (unsigned char)*at >= 0x20 && *at != 0x7f;
    if (is_fine) return MT_OK;
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: value '%.60s' of knob %s: expected a text without ; \" \\ and control characters", import->name, value, knob->name);
}

/* Names become section names and a file's: what a stranger's file calls things must not write lines of its own. */
static mt_status check_names(const mt_import *import, const char *kernel, mt_error *err)
{
    const mt_import_knob *algo = algo_knob(import);
    if (!*kernel || kernel[strspn(kernel, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")])
        return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: kernel name '%.60s': expected letters, digits, _ - and . (--name gives it another)", import->name, kernel);
    for (size_t i = 0; i < import->knob_count; i++)
        if (!mt_text_is_identifier(import->knobs[i].name, strlen(import->knobs[i].name)))
            return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: knob '%.60s': expected a name of letters, digits and _", import->name, import->knobs[i].name);
    for (size_t i = 0; algo && i < algo->value_count; i++)
        if (!mt_text_is_identifier(algo->values[i], strlen(algo->values[i])))
            return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: ALGO is '%.60s': expected a name of letters, digits and _", import->name, algo->values[i]);
    return MT_OK;
}

static void add_value(mt_strbuf *ini, const mt_import_knob *knob, const char *value)
{
    bool is_bare = !knob->is_text || mt_text_is_identifier(value, strlen(value));
    mt_strbuf_addf(ini, is_bare ? "%s" : "\"%s\"", value);
}

/* ---- the search space ---- */

/* The first result of the file that is valid. */
static const mt_import_row *first_valid(const mt_import *import)
{
    for (size_t i = 0; i < import->row_count; i++)
        if (import->rows[i].kind == MT_OUTCOME_OK) return &import->rows[i];
    return &import->rows[0];
}

/* Its level in "ALGO=a;K=1"; none if the variant has no such knob, or there is no variant. */
static uint16_t level_in(const mt_import_knob *knob, const char *variant)
{
    size_t name = strlen(knob->name);
    for (const char *at = variant; at && *at; at += strcspn(at, ";"), at += *at == ';') {
        if (strncmp(at, knob->name, name) != 0 || at[name] != '=') continue;
        const char *value = at + name + 1;
        size_t length = strcspn(value, ";");
        for (size_t i = 0; i < knob->value_count; i++)
            if (strlen(knob->values[i]) == length && strncmp(knob->values[i], value, length) == 0) return (uint16_t)i;
    }
    return MT_IMPORT_NO_LEVEL;
}

/* Of the default variant; a knob that only the baseline has stands as it stands there. */
static uint16_t default_level(const mt_import *import, const mt_import_knob *knob)
{
    uint16_t level = level_in(knob, import->own.standard);
    return level == MT_IMPORT_NO_LEVEL ? level_in(knob, import->own.baseline) : level;
}

static mt_status add_knob(const mt_import *import, size_t number, mt_strbuf *ini, mt_error *err)
{
    const mt_import_knob *knob = &import->knobs[number];
    mt_strbuf_addf(ini, "\n[param %s]\nvalues  = ", knob->name);
    for (size_t i = 0; i < knob->value_count; i++) {
        mt_status st = check_value(import, knob, knob->values[i], err);
        if (st != MT_OK) return st;
        if (i) mt_strbuf_add(ini, ", ");
        add_value(ini, knob, knob->values[i]);
    }
    mt_strbuf_add_char(ini, '\n');
    uint16_t level = default_level(import, knob);
    if (level == MT_IMPORT_NO_LEVEL) return MT_OK;
    mt_strbuf_add(ini, "default = ");
    add_value(ini, knob, knob->values[level]);
    mt_strbuf_add_char(ini, '\n');
    return MT_OK;
}

/* "M=8;dtype=f16", a shape's or workload's key, line for line. */
static void add_section(const char *kind, const char *name, const char *key, mt_strbuf *ini)
{
    mt_strbuf_addf(ini, "\n[%s %s]\n", kind, name);
    for (const char *at = key ? key : ""; *at;) {
        size_t length = strcspn(at, ";"), name_length = strcspn(at, "=;");
        mt_strbuf_addf(ini, "%.*s = %.*s\n", (int)name_length, at, (int)(length - name_length - (name_length < length)), at + name_length + (name_length < length));
        at += length + (at[length] == ';');
    }
}

/* "4096, 4096" is shape 4096x4096. */
static void add_shape(const mt_import *import, const char *problem, mt_strbuf *ini)
{
    if (!problem) {
        add_section("shape", import->own.shape ? import->own.shape : "default", import->own.shape_key, ini);
        return;
    }
    mt_strbuf_add(ini, "\n[shape ");
    for (const char *at = problem; *at; at++) {
        if (*at == ',') mt_strbuf_add_char(ini, 'x');
        else if (*at != ' ') mt_strbuf_add_char(ini, *at);
    }
    mt_strbuf_addf(ini, "]\nproblem_size = %s%s\n", problem, strchr(problem, ',') ? "" : ",");
}

/* Timed for comparison, never validated. */
static bool is_yardstick(const mt_import *import, size_t algo, size_t level)
{
    for (size_t i = 0; i < import->row_count; i++)
        if (import->rows[i].levels[algo] == level && import->rows[i].kind != MT_OUTCOME_YARDSTICK) return false;
    return true;
}

static void add_algorithm(const mt_import *import, const mt_import_knob *algo, size_t level, mt_strbuf *ini)
{
    mt_strbuf_addf(ini, "\n[algorithm %s]\n", algo->values[level]);
    if (is_yardstick(import, (size_t)(algo - import->knobs), level)) mt_strbuf_add(ini, "yardstick = yes\n");
}

static mt_status add_variants(const mt_import *import, const char *kernel, mt_strbuf *ini, mt_error *err)
{
    const mt_import_knob *algo = algo_knob(import);
    size_t first = algo ? level_in(algo, import->own.standard) : 0;
    if (!algo) {
        char *name = variant_name(kernel);
        mt_strbuf_addf(ini, "\n[algorithm %s]\n", name ? name : "");
        mt_free(name);
        return name ? MT_OK : mt_no_memory(import->name, err);
    }
    if (first == MT_IMPORT_NO_LEVEL) first = first_valid(import)->levels[algo - import->knobs]; /* as if it were the default's */
    if (first == MT_IMPORT_NO_LEVEL) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: a configuration has no ALGO, expected it in all of them", import->name);
    add_algorithm(import, algo, first, ini);
    for (size_t i = 0; i < algo->value_count; i++)
        if (i != first) add_algorithm(import, algo, i, ini);
    return MT_OK;
}

/* What stands in lines of the search space as the file has it. */
static mt_status check_own(const mt_import *import, mt_error *err)
{
    const mt_import_own *own = &import->own;
    const struct { const char *what, *text; } texts[] = {{"shape", own->shape}, {"shape's key", own->shape_key}, {"workload", own->workload}, {"workload's key", own->workload_key}, {"cache state", own->l2}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *at = texts[i].text; at && *at; at++)
            if ((unsigned char)*at < 0x20 || strchr("[]\"\\#", *at)) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: %s '%.60s': expected a text without [ ] # \" \\ and control characters", import->name, texts[i].what, texts[i].text);
    return MT_OK;
}

static void add_head(const mt_import *import, const char *kernel, mt_strbuf *ini)
{
    const mt_import_own *own = &import->own;
    const mt_import_knob *algo = algo_knob(import);
    uint16_t baseline = algo ? level_in(algo, own->baseline) : MT_IMPORT_NO_LEVEL;
    mt_strbuf_add(ini, "; Made by msda-tune import. There is nothing to compile: it is searched on recordings.\n");
    mt_strbuf_addf(ini, "[kernel]\nname   = %s\npoints = recorded\n", kernel);
    mt_strbuf_addf(ini, "\n[tune]\nl2 = %s\n", own->l2 ? own->l2 : "warm ; such tools repeat a launch without flushing the L2");
    if (baseline != MT_IMPORT_NO_LEVEL) mt_strbuf_addf(ini, "baseline = %s\n", algo->values[baseline]);
}

mt_status mt_import_space(const mt_import *import, const char *kernel, const char *problem, mt_strbuf *ini, mt_error *err)
{
    mt_status st = check_names(import, kernel, err);
    MT_TRY(st);
    MT_TRY(check_own(import, err));
    add_head(import, kernel, ini);
    add_shape(import, problem, ini);
    if (import->own.workload_key) add_section("workload", import->own.workload, import->own.workload_key, ini);
    MT_TRY(add_variants(import, kernel, ini, err));
    for (size_t i = 0; i < import->knob_count; i++)
        if (&import->knobs[i] != algo_knob(import)) MT_TRY(add_knob(import, i, ini, err));
    if (ini->failed) st = mt_no_memory(import->name, err);
done:
    return st;
}

/* ---- the recording ---- */

/* "ALGO=…;block_size_x=16;…" */
static char *variant_text(const mt_import *import, const char *algo, const mt_import_row *row)
{
    const char *names[MT_IMPORT_KNOBS], *values[MT_IMPORT_KNOBS];
    size_t count = 0;
    if (!algo_knob(import)) {
        names[count] = "ALGO";
        values[count++] = algo;
    }
    for (size_t i = 0; i < import->knob_count; i++) {
        if (row->levels[i] == MT_IMPORT_NO_LEVEL) continue;
        names[count] = import->knobs[i].name;
        values[count++] = import->knobs[i].values[row->levels[i]];
    }
    size_t length = mt_key_pairs(names, values, count, NULL, 0);
    char *text = mt_alloc(length + 1, 1);
    if (text) mt_key_pairs(names, values, count, text, length + 1);
    return text;
}

/* Median and interval of the samples; the mean is the file's own figure. Without samples that is all there is. */
static mt_status time_outcome(const mt_import *import, const mt_import_row *row, mt_outcome *outcome, mt_error *err)
{
    mt_timing *timing = &outcome->timing;
    *timing = (mt_timing){.median_ns = row->mean_ns, .low_ns = row->mean_ns, .high_ns = row->mean_ns, .min_ns = row->mean_ns, .mean_ns = row->mean_ns, .samples = row->samples, .batch = 1};
    if (!row->samples) return MT_OK;
    double *sorted = mt_alloc(row->samples, sizeof *sorted);
    if (!sorted) return mt_no_memory(import->name, err);
    for (uint32_t i = 0; i < row->samples; i++) sorted[i] = (double)row->sample_ns[i];
    mt_stats_sort(sorted, row->samples);
    timing->median_ns = mt_stats_median(sorted, row->samples);
    timing->min_ns = sorted[0];
    timing->stddev_ns = mt_stats_stddev(sorted, row->samples);
    mt_stats_median_interval(sorted, row->samples, 0.95, &timing->low_ns, &timing->high_ns);
    mt_free(sorted);
    if (timing->median_ns > 0) return MT_OK;
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s: a configuration's median time is 0, expected more", import->name);
}

typedef struct line_order {
    char *variant;
    size_t row;
} line_order;

static int by_variant(const void *a, const void *b)
{
    const line_order *x = a, *y = b;
    int order = strcmp(x->variant, y->variant);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static mt_status add_line(const mt_import *import, const line_order *order, mt_strbuf *lines, mt_error *err)
{
    const mt_import_row *row = &import->rows[order->row];
    const mt_recording_context line1 = {.recorded_unix_ms = import->about.newest_unix_ms};
    mt_outcome outcome = {.kind = row->kind, .text = row->text, .compile_ns = row->compile_ns, .validate_ns = row->validate_ns, .time_ns = row->time_ns};
    bool is_ok = row->kind == MT_OUTCOME_OK;
    mt_status st = is_ok ? time_outcome(import, row, &outcome, err) : MT_OK;
    if (is_ok && row->samples > 0) outcome.sample_ns = row->sample_ns;
    mt_measurement_row line = {.variant = order->variant, .created_unix_ms = row->unix_ms ? row->unix_ms : line1.recorded_unix_ms, .arch = "", .evaluation = (int64_t)order->row + 1,
                               .model_flops = NAN, .model_dram_bytes = NAN, .model_floor_ns = NAN, .outcome = outcome};
    return st == MT_OK ? mt_recording_add_row(&line1, &line, lines, err) : st;
}

/* As they were written, line 1 left out. */
static mt_status add_own_lines(const mt_import *import, mt_strbuf *lines, mt_error *err)
{
    const char *line1 = mt_strbuf_text(&import->recording), *end = strchr(line1, '\n');
    mt_strbuf_add(lines, end ? end + 1 : "");
    return lines->failed ? mt_no_memory(import->name, err) : MT_OK;
}

mt_status mt_import_lines(const mt_import *import, const char *kernel, mt_strbuf *lines, mt_error *err)
{
    mt_status st = MT_OK;
    if (import->own.line1) return add_own_lines(import, lines, err);
    char *algo = variant_name(kernel);
    line_order *order = mt_alloc(import->row_count, sizeof *order);
    if (!algo || !order) MT_LEAVE(mt_no_memory(import->name, err));
    for (size_t i = 0; i < import->row_count; i++) {
        order[i] = (line_order){variant_text(import, algo, &import->rows[i]), i};
        if (order[i].variant) continue;
        st = mt_no_memory(import->name, err);
        goto done;
    }
    qsort(order, import->row_count, sizeof *order, by_variant);
    for (size_t i = 0; i < import->row_count; i++) {
        bool is_superseded = i + 1 < import->row_count && strcmp(order[i].variant, order[i + 1].variant) == 0;
        if (!is_superseded) MT_TRY(add_line(import, &order[i], lines, err));
    }
    if (lines->failed) st = mt_no_memory(import->name, err);
done:
    for (size_t i = 0; order && i < import->row_count; i++) mt_free(order[i].variant);
    mt_free(order);
    mt_free(algo);
    return st;
}
