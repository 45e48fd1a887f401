#include "reports/charts.h"

#include <math.h>
#include <stdlib.h>

#include "reports/knobs.h"
#include "reports/timeline.h"
#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"

enum {
    MOST_BYTES = 5200000,  /* of what is drawn of subjects: as many have charts of their own as this holds, those with most rows first */
    POINTS_AMONG = 400,    /* subjects that share MOST_POINTS; with more of them each has LEAST_OF_SUBJECT */
    MOST_POINTS = 30000,   /* drawn one by one, over all subjects */
    MOST_OF_SUBJECT = 4000,
    LEAST_OF_SUBJECT = 150,
    MOST_PAIR_CELLS = 400,
    MOST_PAIRED = 12,      /* knobs */
    MOST_VALUES = 64,      /* a knob with more has no axis of its own */
};

static mt_status no_memory(mt_error *err) { return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory"); }

/* ---- which points ---- */

static int by_time(const void *a, const void *b)
{
    const mt_row *x = *(const mt_row *const *)a, *y = *(const mt_row *const *)b;
    double p = x->is_timed ? x->median_ns : INFINITY, q = y->is_timed ? y->median_ns : INFINITY;
    return p != q ? (p > q) - (p < q) : (x->id > y->id) - (x->id < y->id);
}

/* is_chosen[count], of what was evaluated: the fastest third of `most`, and evenly of the rest in the order of time, so that what is drawn has the shape of all. */
static bool choose(const mt_report_subject *s, size_t most, bool *is_chosen)
{
    const mt_row **sorted = mt_alloc(s->count, sizeof *sorted);
    if (!sorted) return false;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (mt_outcome_is_run(s->rows[i].kind)) sorted[count++] = &s->rows[i];
    qsort(sorted, count, sizeof *sorted, by_time);
    size_t first = count <= most ? count : most / 3, rest = most - first;
    for (size_t i = 0; i < first; i++) is_chosen[sorted[i] - s->rows] = true;
    for (size_t i = 0; first < count && i < rest; i++) is_chosen[sorted[first + i * (count - first) / rest] - s->rows] = true;
    mt_free(sorted);
    return true;
}

/* ---- one subject ---- */

typedef double (*column_of)(const mt_row *row);
static double us_of(const mt_row *row) { return row->median_ns / 1e3; }
static double half_of(const mt_row *row) { return (row->high_ns - row->low_ns) / 2e3; }
static double kind_of(const mt_row *row) { return (double)row->kind; }
static double error_of(const mt_row *row) { return row->norm_error; }
static double session_of(const mt_row *row) { return (double)row->session; }
static double newest_of(const mt_row *row) { return row->is_newest; }
static double smem_of(const mt_row *row) { return row->smem_bytes; }
static double arm_of(const mt_row *row) { return row->arm; }
static double registers_of(const mt_row *row) { return row->registers; }

static void add_column(const mt_report_subject *s, const bool *is_chosen, const char *name, column_of value, int digits, mt_strbuf *json)
{
    size_t n = 0;
    mt_json_name(json, name);
    mt_strbuf_add_char(json, '[');
    for (size_t i = 0; i < s->count; i++) {
        if (!is_chosen[i]) continue;
        if (n++) mt_strbuf_add_char(json, ',');
        mt_json_double(json, value(&s->rows[i]), digits);
    }
    mt_strbuf_add_char(json, ']');
}

/* A place among a knob's values as one character: numbers with commas are most of a page. web/charts/data.js reads them. */
static char level_digit(unsigned level)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    _Static_assert(sizeof digits == MOST_VALUES + 1, "a digit for each value");
    return digits[level];
}

static void add_levels(const mt_report_subject *s, const bool *is_chosen, mt_strbuf *json)
{
    mt_json_name(json, "levels");
    mt_strbuf_add_char(json, '[');
    for (size_t k = 0; k < s->knob_count; k++) {
        mt_strbuf_add(json, k ? ",\"" : "\"");
        for (size_t i = 0; s->knobs[k].count > 1 && s->knobs[k].count <= MOST_VALUES && i < s->count; i++)
            if (is_chosen[i]) mt_strbuf_add_char(json, level_digit((unsigned)s->rows[i].levels[k]));
        mt_strbuf_add_char(json, '"');
    }
    mt_strbuf_add_char(json, ']');
}

/* Positions and seconds need the rows before. */
static void add_order(const mt_report_subject *s, const bool *is_chosen, mt_strbuf *json)
{
    mt_strbuf seconds = {0};
    mt_timeline line = mt_timeline_begin(s);
    mt_json_name(json, "e");
    mt_strbuf_add_char(json, '[');
    for (size_t i = 0, n = 0; i < s->count; i++) {
        mt_timeline_next(&line, &s->rows[i]);
        if (!is_chosen[i]) continue;
        mt_strbuf_addf(json, "%s%zu", n ? "," : "", line.evaluation);
        if (n++) mt_strbuf_add_char(&seconds, ',');
        mt_json_double(&seconds, line.seconds, 6);
    }
    mt_strbuf_addf(json, "],\"t\":[%s]", s->is_clocked ? mt_strbuf_text(&seconds) : "");
    json->failed = json->failed || seconds.failed;
    mt_strbuf_free(&seconds);
}

static void add_points(const mt_report_subject *s, const bool *is_chosen, mt_strbuf *json)
{
    mt_strbuf_add(json, ",\"points\":{");
    add_order(s, is_chosen, json);
    add_column(s, is_chosen, "us", us_of, 6, json);
    add_column(s, is_chosen, "half", half_of, 2, json);
    add_column(s, is_chosen, "kind", kind_of, 3, json);
    add_column(s, is_chosen, "error", error_of, 3, json);
    add_column(s, is_chosen, "session", session_of, 9, json);
    add_column(s, is_chosen, "newest", newest_of, 1, json);
    add_column(s, is_chosen, "smem", smem_of, 7, json);
    add_column(s, is_chosen, "registers", registers_of, 4, json);
    if (mt_report_has_arms(s)) add_column(s, is_chosen, "arm", arm_of, 3, json);
    add_levels(s, is_chosen, json);
    mt_strbuf_add_char(json, '}');
}

/* The best so far whenever it changed: [evaluation, seconds, µs]; the seconds are null where no session measured. */
static void add_steps(const mt_report_subject *s, mt_strbuf *json)
{
    double best = INFINITY;
    mt_timeline line = mt_timeline_begin(s);
    mt_strbuf_add(json, ",\"steps\":[");
    bool is_first = true;
    for (size_t i = 0; i < s->count; i++) {
        mt_timeline_next(&line, &s->rows[i]);
        bool is_better = s->rows[i].kind == MT_OUTCOME_OK && s->rows[i].is_timed && s->rows[i].median_ns < best;
        if (is_better) best = s->rows[i].median_ns;
        if (!isfinite(best) || !(is_better || i + 1 == s->count)) continue;
        mt_strbuf_addf(json, "%s[%zu,", is_first ? "" : ",", line.evaluation);
        mt_json_double(json, line.seconds, 6);
        mt_strbuf_addf(json, ",%.6g]", best / 1e3);
        is_first = false;
    }
    mt_strbuf_add_char(json, ']');
}

/* Best, quartiles, worst; where all are the same (one variant, or none with a time), once. */
static void add_box(const mt_level_effect *e, mt_strbuf *json)
{
    const double numbers[] = {e->best, e->low, e->median, e->high, e->worst};
    bool is_point = e->best == e->worst || isnan(e->best);
    mt_strbuf_add_char(json, '[');
    for (size_t i = 0; i < (is_point ? 1 : 5); i++) mt_json_double(json, numbers[i], 4), mt_strbuf_add_char(json, ',');
    mt_strbuf_addf(json, "%zu,%zu]", e->count, e->failed);
}

static void add_effect(const mt_knob *knob, const mt_knob_effect *effect, mt_strbuf *json)
{
    mt_json_name(json, "overall");
    mt_json_double(json, effect->overall, 3);
    mt_json_name(json, "nearBest");
    mt_json_double(json, effect->near_best, 3);
    mt_json_name(json, "boxes");
    mt_strbuf_add_char(json, '[');
    for (size_t v = 0; knob->count <= MOST_VALUES && v < knob->count; v++) {
        if (v) mt_strbuf_add_char(json, ',');
        add_box(&effect->levels[v], json);
    }
    mt_strbuf_add_char(json, ']');
}

static void add_knobs(const mt_report_subject *s, const mt_knob_effect *effects, mt_strbuf *json)
{
    mt_strbuf_add(json, ",\"knobs\":[");
    for (size_t k = 0; k < s->knob_count; k++) {
        mt_strbuf_add(json, k ? ",{\"name\":" : "{\"name\":");
        mt_strbuf_add_json(json, s->knobs[k].name);
        mt_strbuf_add(json, ",\"values\":[");
        for (size_t v = 0; s->knobs[k].count <= MOST_VALUES && v < s->knobs[k].count; v++) {
            if (v) mt_strbuf_add_char(json, ',');
            mt_strbuf_add_json(json, s->knobs[k].values[v]);
        }
        mt_strbuf_add_char(json, ']');
        add_effect(&s->knobs[k], &effects[k], json);
        mt_strbuf_add_char(json, '}');
    }
    mt_strbuf_add_char(json, ']');
}

/* Knobs by weight: the page's charts show them in this order. */
static void add_ranked(const mt_report_subject *s, const size_t *order, mt_strbuf *json)
{
    mt_strbuf_add(json, ",\"ranked\":[");
    for (size_t i = 0; i < s->knob_count; i++) mt_strbuf_addf(json, "%s%zu", i ? "," : "", order[i]);
    mt_strbuf_add_char(json, ']');
}

static void add_pair(const mt_report_subject *s, size_t a, size_t b, double fastest, mt_strbuf *json)
{
    double cells[MOST_PAIR_CELLS];
    size_t count = s->knobs[a].count * s->knobs[b].count;
    if (count > MOST_PAIR_CELLS) return;
    mt_knobs_pair(s, a, b, cells);
    mt_strbuf_addf(json, "%s[%zu,%zu,[", json->text[json->length - 1] == '[' ? "" : ",", a, b);
    for (size_t i = 0; i < count; i++) {
        if (i) mt_strbuf_add_char(json, ',');
        mt_json_double(json, cells[i] / fastest, 4);
    }
    mt_strbuf_add(json, "]]");
}

/* [knob, knob, [slowdown of each pair of values, null = none]], of the weightiest. Where all points are in the page, the page makes them of these. */
static void add_pairs(const mt_report_subject *s, const mt_knob_effect *effects, const size_t *order, bool is_thinned, mt_strbuf *json)
{
    double fastest = mt_knobs_fastest(s);
    size_t count = 0;
    while (is_thinned && count < MOST_PAIRED && count < s->knob_count && !isnan(effects[order[count]].overall)) count++;
    mt_strbuf_add(json, ",\"pairs\":[");
    for (size_t i = 0; i < count && !json->failed; i++)
        for (size_t k = i + 1; k < count && !json->failed; k++) add_pair(s, order[i] < order[k] ? order[i] : order[k], order[i] < order[k] ? order[k] : order[i], fastest, json);
    mt_strbuf_add_char(json, ']');
}

static void add_arms(const mt_report_subject *s, mt_strbuf *json)
{
    mt_strbuf_add(json, ",\"arms\":[");
    for (size_t i = 0; mt_report_has_arms(s) && i < s->arm_count; i++) {
        if (i) mt_strbuf_add_char(json, ',');
        mt_strbuf_add_json(json, s->arms[i]);
    }
    mt_strbuf_add_char(json, ']');
}

/* Around the winner, [[knob, level, µs or null, kind]]: made of all rows, so that the chart and the table tell the same. */
static bool add_neighbours(const mt_report_subject *s, mt_strbuf *json)
{
    size_t count;
    mt_neighbour *all = mt_knobs_neighbours(s, &count);
    mt_strbuf_add(json, ",\"neighbours\":[");
    for (size_t i = 0; all && i < count; i++) {
        const mt_row *row = all[i].row;
        mt_strbuf_addf(json, "%s[%zu,", i ? "," : "", all[i].knob);
        mt_json_double(json, row->levels[all[i].knob], 9);
        mt_strbuf_add_char(json, ',');
        mt_json_double(json, us_of(row), 6);
        mt_strbuf_addf(json, ",%d]", (int)row->kind);
    }
    mt_strbuf_add_char(json, ']');
    mt_free(all);
    return all;
}

static void add_numbers(const mt_report_subject *s, mt_strbuf *json)
{
    const struct { const char *name; double value; } numbers[] = {
        {"best", s->best_ns / 1e3}, {"low", s->best_low_ns / 1e3}, {"high", s->best_high_ns / 1e3}, {"default", s->default_ns / 1e3},
        {"baseline", s->baseline_ns / 1e3}, {"floor", s->floor_ns / 1e3}, {"flops", s->flops}, {"bytes", s->dram_bytes}, {"fastest", mt_knobs_fastest(s) / 1e3}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mt_json_name(json, numbers[i].name);
        mt_json_double(json, numbers[i].value, 9);
    }
}

/* How slow the part k/100 of the variants is at most, k = 0 … 100. */
static bool add_quantiles(const mt_report_subject *s, mt_strbuf *json)
{
    double *slowdowns = mt_alloc(s->count, sizeof *slowdowns), fastest = mt_knobs_fastest(s);
    size_t count = 0;
    if (!slowdowns) return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].is_newest && s->rows[i].is_timed) slowdowns[count++] = s->rows[i].median_ns / fastest;
    mt_stats_sort(slowdowns, count);
    mt_json_name(json, "quantiles");
    mt_strbuf_add_char(json, '[');
    for (int k = 0; count && k <= 100; k++) {
        if (k) mt_strbuf_add_char(json, ',');
        mt_json_double(json, mt_stats_quantile(slowdowns, count, k / 100.0), 4);
    }
    mt_strbuf_add_char(json, ']');
    mt_free(slowdowns);
    return true;
}

static mt_status add_subject(const mt_report_subject *s, size_t most, size_t *drawn, mt_strbuf *json, mt_error *err)
{
    bool *is_chosen = mt_alloc(s->count, sizeof *is_chosen);
    mt_knob_effect *effects = mt_knobs_effects(s);
    size_t *order = mt_alloc(s->knob_count + 1, sizeof *order);
    mt_status st = is_chosen && effects && order && choose(s, most, is_chosen) ? MT_OK : no_memory(err);
    if (st != MT_OK) goto done;
    size_t before = *drawn;
    for (size_t i = 0; i < s->count; i++) *drawn += is_chosen[i];
    const struct { const char *name, *text; } texts[] = {{"label", s->label}, {"gpu", s->gpu_name}, {"gpuKey", s->gpu_key}, {"kernel", s->kernel}, {"winner", s->best ? s->best : ""}};
    mt_strbuf_add(json, "{");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mt_json_name(json, texts[i].name);
        mt_strbuf_add_json(json, texts[i].text);
    }
    mt_strbuf_addf(json, ",\"place\":%zu", s->place);
    add_numbers(s, json);
    if (!add_quantiles(s, json) || !add_neighbours(s, json)) st = no_memory(err);
    add_steps(s, json);
    add_arms(s, json);
    mt_knobs_rank(s, effects, order);
    add_knobs(s, effects, json);
    add_ranked(s, order, json);
    add_pairs(s, effects, order, *drawn - before < s->evaluations, json);
    add_points(s, is_chosen, json);
    mt_strbuf_add_char(json, '}');
done:
    mt_knobs_effects_free(s, effects);
    mt_free(order);
    mt_free(is_chosen);
    return st;
}

/* ---- all ---- */

/* Today's sources first, of these the subjects with most rows. */
static int by_rows(const void *a, const void *b)
{
    const mt_report_subject *x = *(const mt_report_subject *const *)a, *y = *(const mt_report_subject *const *)b;
    if (x->is_current != y->is_current) return x->is_current ? -1 : 1;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x > y) - (x < y);
}

static void add_kinds(mt_strbuf *json)
{
    mt_json_name(json, "kinds");
    mt_strbuf_add_char(json, '[');
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) mt_strbuf_addf(json, "%s\"%s\"", kind ? "," : "", mt_outcome_name((mt_outcome_kind)kind));
    mt_strbuf_add_char(json, ']');
    mt_json_name(json, "failures"); /* the names of those kinds that were evaluated and have no time */
    mt_strbuf_add_char(json, '[');
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        if (mt_outcome_is_failure((mt_outcome_kind)kind)) mt_strbuf_addf(json, "%s\"%s\"", json->text[json->length - 1] == '[' ? "" : ",", mt_outcome_name((mt_outcome_kind)kind));
    }
    mt_strbuf_add_char(json, ']');
}

mt_status mt_charts_add(const mt_report_data *data, mt_doc *doc, mt_error *err)
{
    const mt_report_subject **chosen = mt_alloc(data->count, sizeof *chosen);
    size_t count = 0, drawn = 0, rows = 0;
    mt_status st = MT_OK;
    if (!chosen) return no_memory(err);
    for (size_t i = 0; i < data->count; i++) chosen[i] = &data->subjects[i];
    qsort(chosen, data->count, sizeof *chosen, by_rows);
    size_t most = data->count ? MOST_POINTS / (data->count < POINTS_AMONG ? data->count : POINTS_AMONG) : 0;
    most = most > MOST_OF_SUBJECT ? MOST_OF_SUBJECT : most < LEAST_OF_SUBJECT ? LEAST_OF_SUBJECT : most;
    add_kinds(&doc->shared);
    mt_json_name(&doc->shared, "subjects");
    mt_strbuf_add_char(&doc->shared, '[');
    for (; count < data->count && doc->shared.length < MOST_BYTES; count++) {
        if (count) mt_strbuf_add(&doc->shared, ",\n");
        MT_TRY(add_subject(chosen[count], most, &drawn, &doc->shared, err));
        rows += chosen[count]->evaluations;
    }
    mt_strbuf_add_char(&doc->shared, ']');
    if (count < data->count) mt_doc_note(doc, "%zu of %zu subjects have charts of their own: those of today's sources with most evaluations. Tables hold or sum up all.", count, data->count);
    if (drawn < rows)
        mt_doc_note(doc, "Charts draw %zu of %zu evaluations as points: the fastest of each subject and an even choice of the others. Boxes, steps, heat maps, importances and tables are made of all.", drawn, rows);
done:
    mt_free(chosen);
    return st;
}
