/* The fastest validated variant per subject. */
#include <math.h>

#include "reports/section.h"

typedef struct state {
    mt_store *store;
    mt_strbuf *page;
    size_t rows;
} state;

static const char *const titles[] = {"GPU", "Kernel", "Shape", "Workload", "Regime", "Time (µs)", "± (µs)", "Default (µs)", "× default", "Baseline (µs)", "× baseline", "Error", "% of floor", "Energy (mJ)", "± (mJ)", "Power (W)", "Picked by", "Knobs", "Rows are", NULL};

/* Two cells: the time, and how many times the winner's it is. */
static void add_landmark(mt_strbuf *page, double ns, double best_ns, bool is_unknown)
{
    if (is_unknown) {
        mt_strbuf_add(page, "<td colspan=\"2\">not in the recording</td>");
        return;
    }
    mt_html_number(page, "%.2f", ns / 1e3);
    mt_html_number(page, "%.2f", ns / best_ns);
}

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    const mt_timing *timing = &row->outcome.timing;
    double default_ns, baseline_ns;
    size_t landmarks;
    mt_status st = mt_query_landmarks(s->store, row->id, &default_ns, &baseline_ns, &landmarks, err);
    if (st != MT_OK) return st;
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    mt_strbuf_add(s->page, "<tr>");
    mt_html_cell(s->page, row->gpu_name);
    mt_html_cell(s->page, row->kernel);
    mt_html_cell(s->page, row->shape);
    mt_html_cell(s->page, row->workload);
    mt_html_cell(s->page, mt_regime_name(timing->regime));
    mt_html_number(s->page, "%.2f", timing->median_ns / 1e3);
    mt_html_number(s->page, "%.2f", fmax(timing->high_ns - timing->median_ns, timing->median_ns - timing->low_ns) / 1e3);
    bool is_unknown = !landmarks && row->origin != MT_ORIGIN_MEASURED;
    add_landmark(s->page, default_ns, timing->median_ns, is_unknown);
    add_landmark(s->page, baseline_ns, timing->median_ns, is_unknown);
    mt_html_number(s->page, "%.2g", row->outcome.accuracy.output[0] ? row->outcome.accuracy.norm_error : NAN);
    mt_html_number(s->page, "%.0f", row->model_floor_ns > 0 ? 100 * row->model_floor_ns / timing->median_ns : NAN);
    const mt_energy *energy = &row->outcome.energy;
    bool has_energy = energy->source != MT_ENERGY_NONE;
    mt_html_number(s->page, "%.4g", has_energy ? energy->run_uj / 1e3 : NAN);
    mt_html_number(s->page, "%.2g", has_energy ? energy->error_uj / 1e3 : NAN);
    mt_html_number(s->page, "%.0f", has_energy ? energy->power_w : NAN);
    mt_html_cell(s->page, mt_objective_name(row->objective));
    mt_html_knobs(s->page, row->variant);
    mt_html_cell(s->page, mt_origin_name(row->origin));
    mt_strbuf_add(s->page, "</tr>\n");
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {context->store, page, 0};
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (s.rows) {
        mt_html_table_end(page);
        mt_strbuf_add(page, "<p>Times are medians; ± is half the 95 % confidence interval. × default and × baseline say how many times as long those take.</p>\n");
    } else {
        mt_strbuf_add(page, "<p>No variant passed validation.</p>\n");
    }
    return st;
}

extern const mt_section mt_section_best;
const mt_section mt_section_best = {"best", "Best settings", render};
