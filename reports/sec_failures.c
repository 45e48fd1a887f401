/* How evaluations ended, by kind, and what the failed ones said. */
#include "reports/section.h"

enum { MOST_EXAMPLES = 500 };

typedef struct state {
    mt_strbuf *page;
    size_t rows, left_out;
} state;

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    static const char *const titles[] = {"GPU", "Kernel", "Shape", "Workload", "Outcome", "Variant", "Why", NULL};
    state *s = context;
    (void)err;
    if (row->outcome.kind == MT_OUTCOME_OK) return MT_OK;
    if (s->rows == MOST_EXAMPLES) return s->left_out++, MT_OK;
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    mt_strbuf_add(s->page, "<tr>");
    mt_html_cell(s->page, row->gpu_name);
    mt_html_cell(s->page, row->kernel);
    mt_html_cell(s->page, row->shape);
    mt_html_cell(s->page, row->workload);
    mt_html_cell(s->page, mt_outcome_name(row->outcome.kind));
    mt_html_knobs(s->page, row->variant);
    mt_html_cell(s->page, row->outcome.text);
    mt_strbuf_add(s->page, "</tr>\n");
    return MT_OK;
}

static mt_status render_counts(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    static const char *const titles[] = {"Outcome", "Evaluations", NULL};
    int64_t counts[MT_OUTCOME_KIND_COUNT] = {0};
    mt_status st = mt_query_outcome_counts(context->store, context->filter, counts, err);
    mt_html_table_begin(page, titles);
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        if (!counts[kind]) continue;
        mt_strbuf_add(page, "<tr>");
        mt_html_cell(page, mt_outcome_name((mt_outcome_kind)kind));
        mt_html_number(page, "%.0f", (double)counts[kind]);
        mt_strbuf_add(page, "</tr>\n");
    }
    mt_html_table_end(page);
    return st;
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {page, 0, 0};
    mt_status st = MT_OK;
    MT_TRY(render_counts(context, page, err));
    MT_TRY(mt_query_measurements(context->store, context->filter, add_row, &s, err));
    if (s.rows) mt_html_table_end(page);
    if (s.left_out) mt_strbuf_addf(page, "<p>%zu more are in the database (msda-tune show --failures).</p>\n", s.left_out);
done:
    return st;
}

extern const mt_section mt_section_failures;
const mt_section mt_section_failures = {"failures", "Outcomes", render};
