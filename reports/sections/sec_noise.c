/* How sure the times are: near-ties, widths of intervals, drift and clocks, cold against warm. */
#include <math.h>
#include <string.h>

#include "reports/section.h"
#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    const mt_report_subject *subject;
    mt_strbuf *json;
    size_t rows;
    bool has_untimed; /* finalists without rounds */
} state;

/* ---- near-ties ---- */

static const mt_column tie_columns[] = {{"Subject", NULL}, {"Time (µs)", MT_DOC_US}, {"From (µs)", MT_DOC_US}, {"To (µs)", MT_DOC_US}, {"Ratio to the first", "%.4f"}, {"From", "%.4f"}, {"To", "%.4f"},
                                        {"Is", NULL}, {"Energy (mJ)", "%.4g"}, {"± (mJ)", "%.2g"}, {"Knobs", NULL}, {"Rounds (µs)", NULL}, {0}};

/* Of a subject whose winner has no known interval (another tool's), no finalist has one. */
static double told(const state *s, double bound_ns)
{
    return isnan(s->subject->best_low_ns) ? NAN : bound_ns / 1e3;
}

/* "12.31 12.30 12.34". */
static void add_rounds(mt_doc *doc, const mt_finalist_row *f)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < f->round_count; i++) mt_strbuf_addf(&text, "%s%.2f", i ? " " : "", (double)f->round_ns[i] / 1e3);
    mt_doc_code(doc, mt_strbuf_text(&text));
    doc->failed = doc->failed || text.failed;
    mt_strbuf_free(&text);
}

static mt_status add_finalist(void *context, const mt_finalist_row *f, mt_error *err)
{
    state *s = context;
    (void)err;
    s->has_untimed |= !f->round_count;
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_subject(s->doc, s->subject->place, s->subject->label);
    const double numbers[] = {f->median_ns / 1e3, told(s, f->low_ns), told(s, f->high_ns), f->ratio, f->ratio_low, f->ratio_high};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(s->doc, numbers[i]);
    mt_doc_text(s->doc, f->is_picked ? "winner" : f->is_tied ? "tied" : "not tied");
    bool has_energy = f->energy.source != MT_ENERGY_NONE;
    mt_doc_number(s->doc, has_energy ? f->energy.run_uj / 1e3 : NAN);
    mt_doc_number(s->doc, has_energy ? f->energy.error_uj / 1e3 : NAN);
    mt_doc_knobs(s->doc, f->variant);
    add_rounds(s->doc, f);
    return MT_OK;
}

static mt_status add_tie_json(void *context, const mt_finalist_row *f, mt_error *err)
{
    state *s = context;
    (void)err;
    mt_strbuf_add(s->json, s->rows++ ? ",[" : "[");
    const double numbers[] = {f->median_ns / 1e3, told(s, f->low_ns), told(s, f->high_ns)};
    for (size_t i = 0; i < 3; i++) mt_json_double(s->json, numbers[i], 7), mt_strbuf_add_char(s->json, ',');
    mt_strbuf_addf(s->json, "%d,", f->is_picked ? 2 : f->is_tied ? 1 : 0);
    mt_strbuf_add_json(s->json, f->variant);
    mt_strbuf_add(s->json, ",[");
    for (size_t i = 0; i < f->round_count; i++) {
        if (i) mt_strbuf_add_char(s->json, ',');
        mt_json_double(s->json, (double)f->round_ns[i] / 1e3, 6);
    }
    mt_strbuf_add(s->json, "],");
    mt_json_double(s->json, f->energy.source == MT_ENERGY_NONE ? NAN : f->energy.run_uj / 1e3, 6);
    mt_strbuf_add_char(s->json, ',');
    mt_json_double(s->json, f->energy.source == MT_ENERGY_NONE ? NAN : f->energy.error_uj / 1e3, 3);
    mt_strbuf_add_char(s->json, ']');
    return MT_OK;
}

/* Finals as `"label":[[median, low, high, 0 not tied|1 tied|2 winner, variant, [median of each round], mJ, ± mJ]]`; energies are null where they were not measured. */
static mt_status add_ties(state *s, mt_error *err)
{
    enum { MOST_CHARTED = 400 };
    const mt_report_data *data = s->context->data;
    mt_status st = MT_OK;
    size_t charted = 0;
    mt_strbuf ties = {0};
    mt_strbuf *chart = mt_doc_chart(s->doc, "ties", "The final: medians with their 95 % intervals, and each round, where there were any, as a dot; what overlaps is not told apart");
    for (size_t i = 0; i < data->count && charted < MOST_CHARTED; i++) {
        if (!data->subjects[i].final_id) continue;
        mt_json_name(&ties, data->subjects[i].label);
        mt_strbuf_add_char(&ties, '[');
        s->subject = &data->subjects[i];
        s->json = &ties;
        s->rows = 0;
        MT_TRY(mt_query_finalists(s->context->store, data->subjects[i].final_id, add_tie_json, s, err));
        mt_strbuf_add_char(&ties, ']');
        charted++;
    }
    mt_strbuf_addf(chart, "\"subjects\":{%s}", mt_strbuf_text(&ties));
    mt_doc_table(s->doc, "ties", "Near-ties, and what the final made of them", tie_columns);
    s->rows = 0;
    for (size_t i = 0; i < data->count; i++) {
        s->subject = &data->subjects[i];
        if (s->subject->final_id) MT_TRY(mt_query_finalists(s->context->store, s->subject->final_id, add_finalist, s, err));
    }
    if (s->rows > s->context->most_rows) mt_doc_note(s->doc, "%zu more finalists are not listed here; --format csv --section noise lists all.", s->rows - s->context->most_rows);
done:
    s->doc->failed = s->doc->failed || ties.failed;
    mt_strbuf_free(&ties);
    return st;
}

/* ---- widths of intervals ---- */

static const mt_column width_columns[] = {{"Subject", NULL}, {"Timed", "%.0f"}, {"Median ± (%)", "%.2f"}, {"90 % have ± below (%)", "%.2f"}, {"Samples", "%.0f"}, {"Dropped as throttled", "%.0f"},
                                          {"SM clock, least (MHz)", "%.0f"}, {"Median (MHz)", "%.0f"}, {"Most (MHz)", "%.0f"}, {0}};

static mt_status add_width(const mt_report_subject *s, mt_doc *doc, mt_error *err)
{
    double *widths = mt_alloc(2 * s->count, sizeof *widths), *clocks = widths ? widths + s->count : NULL, samples = 0, dropped = 0;
    size_t n = 0, c = 0;
    if (!widths) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    for (size_t i = 0; i < s->count; i++) {
        const mt_row *row = &s->rows[i];
        if (row->kind != MT_OUTCOME_OK || !row->is_timed) continue;
        samples += row->samples;
        dropped += row->dropped;
        if (isfinite(row->low_ns) && isfinite(row->high_ns)) widths[n++] = 50 * (row->high_ns - row->low_ns) / row->median_ns;
        if (isfinite(row->sm_mhz)) clocks[c++] = row->sm_mhz;
    }
    mt_stats_sort(widths, n);
    mt_stats_sort(clocks, c);
    mt_doc_subject(doc, s->place, s->label);
    const double numbers[] = {(double)n, n ? mt_stats_median(widths, n) : NAN, n ? mt_stats_quantile(widths, n, 0.9) : NAN, samples, dropped, c ? clocks[0] : NAN,
                              c ? mt_stats_median(clocks, c) : NAN, c ? clocks[c - 1] : NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(doc, numbers[i]);
    mt_free(widths);
    return MT_OK;
}

/* ---- drift ---- */

static const mt_column drift_columns[] = {{"Subject", NULL}, {"Session", "%.0f"}, {"When", NULL}, {"Time (µs)", MT_DOC_US}, {"± (µs)", MT_DOC_US}, {"To the first (%)", "%+.2f"}, {"SM clock (MHz)", "%.0f"},
                                           {0}};
/* Sessions may run side by side, so that their drift references alternate. */
typedef struct first_time { int64_t session; const mt_report_subject *subject; double ns; } first_time;
typedef struct drift_state {
    state *s;
    first_time *firsts;
    size_t count, capacity;
} drift_state;

/* Of the subject in the session; remembers a new one. NAN when memory has run out. */
static double first_of(drift_state *t, const mt_report_subject *subject, const mt_drift_info *a)
{
    for (size_t i = t->count; i-- > 0;)
        if (t->firsts[i].session == a->session && t->firsts[i].subject == subject) return t->firsts[i].ns;
    first_time *firsts = mt_grow(t->firsts, t->count, &t->capacity, sizeof *firsts);
    t->s->doc->failed = t->s->doc->failed || !firsts;
    if (!firsts) return NAN;
    t->firsts = firsts;
    firsts[t->count++] = (first_time){a->session, subject, a->median_ns};
    return a->median_ns;
}

static mt_status add_reference_time(void *context, const mt_drift_info *a, mt_error *err)
{
    drift_state *t = context;
    state *s = t->s;
    const mt_report_subject *subject = mt_report_find(s->context->data, &a->subject);
    (void)err;
    if (!subject) return MT_OK;
    double change = 100 * (a->median_ns / first_of(t, subject, a) - 1);
    mt_strbuf_add(s->json, s->rows ? ",[" : "[");
    mt_strbuf_add_json(s->json, subject->label);
    mt_strbuf_addf(s->json, ",%lld,%lld,", (long long)a->session, (long long)a->created_unix_ms);
    mt_json_double(s->json, change, 4);
    mt_strbuf_add_char(s->json, ',');
    mt_json_double(s->json, a->sm_mhz, 5);
    mt_strbuf_add_char(s->json, ']');
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_subject(s->doc, subject->place, subject->label);
    mt_doc_number(s->doc, (double)a->session);
    mt_doc_time(s->doc, a->created_unix_ms);
    const double numbers[] = {a->median_ns / 1e3, (a->high_ns - a->low_ns) / 2e3, change, a->sm_mhz};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(s->doc, numbers[i]);
    return MT_OK;
}

static mt_status add_drift(state *s, mt_error *err)
{
    mt_strbuf rows = {0};
    drift_state t = {.s = s};
    s->json = &rows;
    s->rows = 0;
    mt_doc_table(s->doc, "drift", "Drift references: one variant timed again and again. What moves here is the machine", drift_columns);
    mt_status st = mt_query_drift(s->context->store, s->context->filter, add_reference_time, &t, err);
    if (s->rows > s->context->most_rows) mt_doc_note(s->doc, "%zu more timings of drift references are not listed here; --format csv --section noise lists all.", s->rows - s->context->most_rows);
    if (s->rows) mt_strbuf_addf(mt_doc_chart(s->doc, "drift", "Drift of the references' times since their first, and the SM clock"), "\"rows\":[%s]", mt_strbuf_text(&rows));
    s->doc->failed = s->doc->failed || rows.failed;
    mt_strbuf_free(&rows);
    mt_free(t.firsts);
    return st;
}

/* ---- cold against warm ---- */

static const mt_column l2_columns[] = {{"Subject", NULL}, {"Variants with both", "%.0f"}, {"Cold / warm, least", "%.3f"}, {"Median", "%.3f"}, {"Greatest", "%.3f"}, {"Best cold (µs)", MT_DOC_US},
                                           {"Best warm (µs)", MT_DOC_US}, {"Best cold, warm, to the best warm", "%.3f"}, {0}};

static bool is_warm_of(const mt_report_subject *cold, const mt_report_subject *warm)
{
    return warm->l2 == MT_L2_WARM && warm->origin == cold->origin && strcmp(warm->gpu_key, cold->gpu_key) == 0 && strcmp(warm->kernel_key, cold->kernel_key) == 0 &&
           strcmp(warm->kernel, cold->kernel) == 0 && strcmp(warm->shape_key, cold->shape_key) == 0 && strcmp(warm->workload, cold->workload) == 0;
}

static mt_status add_l2_states(state *s, const mt_report_subject *cold, const mt_report_subject *warm, mt_error *err)
{
    enum { MOST_POINTS = 1000 };
    double *ratios = mt_alloc(cold->count, sizeof *ratios);
    size_t n = 0;
    if (!ratios) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    for (size_t i = 0; i < cold->count; i++) {
        const mt_row *row = &cold->rows[i], *other;
        if (!row->is_newest || row->kind != MT_OUTCOME_OK || !row->is_timed || !(other = mt_report_newest(warm, row->variant)) || other->kind != MT_OUTCOME_OK) continue;
        if (n < MOST_POINTS) mt_strbuf_addf(s->json, "%s[%zu,%.6g,%.6g]", s->json->length ? "," : "", cold->place, row->median_ns / 1e3, other->median_ns / 1e3);
        ratios[n++] = row->median_ns / other->median_ns;
    }
    mt_stats_sort(ratios, n);
    const mt_row *crossed = cold->best ? mt_report_newest(warm, cold->best) : NULL;
    if (n) {
        mt_doc_subject(s->doc, cold->place, cold->label);
        const double numbers[] = {(double)n, ratios[0], mt_stats_median(ratios, n), ratios[n - 1], cold->best_ns / 1e3, warm->best_ns / 1e3, crossed ? crossed->median_ns / warm->best_ns : NAN};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(s->doc, numbers[i]);
        s->rows++;
    }
    mt_free(ratios);
    return MT_OK;
}

static mt_status add_all_l2_states(state *s, mt_error *err)
{
    const mt_report_data *data = s->context->data;
    mt_strbuf points = {0};
    mt_status st = MT_OK;
    s->json = &points;
    s->rows = 0;
    mt_doc_table(s->doc, "cold_warm", "Cold against warm L2 cache", l2_columns);
    for (size_t i = 0; i < data->count; i++)
        for (size_t k = i; data->subjects[i].l2 == MT_L2_COLD && k < data->count && k < i + 8; k++)
            if (is_warm_of(&data->subjects[i], &data->subjects[k])) MT_TRY(add_l2_states(s, &data->subjects[i], &data->subjects[k], err));
    if (s->rows) mt_strbuf_addf(mt_doc_chart(s->doc, "cold_warm", "Each variant's cold time against its warm one"), "\"points\":[%s]", mt_strbuf_text(&points));
done:
    s->doc->failed = s->doc->failed || points.failed;
    mt_strbuf_free(&points);
    return st;
}

static const mt_explanation of_ties[] = {{NULL, NULL, "A tie means that the measurements do not tell which is faster; of the tied the one with the least shared memory, then the smallest cluster, then the first text wins, so that the "
                                                      "same data give the same winner."},
                                         {"Rounds", NULL, "Rounds: the near-ties were timed again in turns, and these are the medians of each."}, {0}};
static const mt_explanation of_widths[] = {{"Dropped as throttled", NULL, "Samples taken while the GPU throttled are dropped."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {.context = context, .doc = doc};
    mt_status st;
    MT_TRY(add_ties(&s, err));
    mt_doc_table(doc, "widths", "Widths of the 95 % intervals, and clocks", width_columns);
    for (size_t i = 0; i < context->data->count && i < context->most_rows; i++) MT_TRY(add_width(&context->data->subjects[i], doc, err));
    MT_TRY(add_drift(&s, err));
    MT_TRY(add_all_l2_states(&s, err));
    mt_doc_explain(doc, "ties", of_ties);
    if (s.has_untimed) mt_doc_note_on(doc, "ties", "Near-ties without rounds: a recording's are told apart by the intervals of their evaluations, and a file that was imported may tell a final without its rounds.");
    mt_doc_explain(doc, "widths", of_widths);
done:
    return st;
}

extern const mt_section mt_section_noise;
const mt_section mt_section_noise = {"noise", "Ties and noise", render};
