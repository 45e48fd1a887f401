/* Winners against a baseline plugin, timed in the same rounds. */
#include <math.h>

#include "reports/section.h"

typedef struct state {
    mt_strbuf *page;
    size_t rows;
} state;

static const char *const titles[] = {"GPU", "Kernel", "Shape", "Regime", "Time (µs)", "Baseline", "Best of its algorithms (µs)", "× best", "95 %", "First choice (µs)", "× first", "Launch", "Knobs", NULL};

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    mt_row_rival rival;
    mt_strbuf interval = {0};
    (void)err;
    if (!mt_row_rivals(row, &rival)) return MT_OK;
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    mt_strbuf_addf(&interval, "%.3f–%.3f", rival.best_low, rival.best_high);
    mt_strbuf_add(s->page, "<tr>");
    mt_html_cell(s->page, row->gpu_name);
    mt_html_cell(s->page, row->kernel);
    mt_html_cell(s->page, row->shape);
    mt_html_cell(s->page, mt_regime_name(row->outcome.timing.regime));
    mt_html_number(s->page, "%.2f", row->outcome.timing.median_ns / 1e3);
    mt_html_cell(s->page, rival.plugin);
    mt_html_number(s->page, "%.2f", rival.best_ns / 1e3);
    mt_html_number(s->page, "%.3f", rival.best_ratio);
    mt_html_cell(s->page, mt_strbuf_text(&interval));
    mt_html_number(s->page, "%.2f", rival.first_ns / 1e3);
    mt_html_number(s->page, "%.3f", rival.first_ratio);
    mt_html_cell(s->page, mt_row_is_programmatic(row) ? "programmatic" : "plain");
    mt_html_knobs(s->page, row->variant);
    mt_strbuf_add(s->page, "</tr>\n");
    mt_strbuf_free(&interval);
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {page, 0};
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (s.rows) {
        mt_html_table_end(page);
        mt_strbuf_add(page, "<p>Above 1 the variant is faster. Ratios are medians over rounds in which both were timed; times of different rows, where power may have limited the card, "
                            "are not to be compared. A programmatic launch overlaps with the kernel in front of it, which the baseline's does not.</p>\n");
    } else {
        mt_strbuf_add(page, "<p>No variant was compared with a baseline plugin.</p>\n");
    }
    return st;
}

extern const mt_section mt_section_rivals;
const mt_section mt_section_rivals = {"rivals", "Against baselines", render};
