/* How the best came down, by evaluation and by time. */
#include <math.h>

#include "reports/section.h"
#include "reports/timeline.h"

static const mt_column columns[] = {{"Subject", NULL}, {"Evaluations", "%.0f"}, {"Seconds", "%.1f"}, {"Within 10 % after", "%.0f"}, {"Within 5 % after", "%.0f"}, {"Within 1 % after", "%.0f"},
                                    {"Best after", "%.0f"}, {"Seconds to within 1 %", "%.1f"}, {"Best (µs)", "%.2f"}, {0}};

static void add_row(const mt_report_subject *s, mt_doc *doc)
{
    static const double margins[] = {1.10, 1.05, 1.01, 1.00};
    double best = INFINITY, after[4] = {NAN, NAN, NAN, NAN}, seconds_to = NAN, fastest = INFINITY;
    mt_timeline line = mt_timeline_begin();
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].kind == MT_OUTCOME_OK && s->rows[i].is_timed) fastest = fmin(fastest, s->rows[i].median_ns);
    double seconds = 0;
    for (size_t i = 0; i < s->count; i++) {
        seconds = mt_timeline_next(&line, &s->rows[i]);
        if (s->rows[i].kind != MT_OUTCOME_OK || !s->rows[i].is_timed || s->rows[i].median_ns >= best) continue;
        best = s->rows[i].median_ns;
        for (size_t k = 0; k < 4; k++)
            if (isnan(after[k]) && best <= fastest * margins[k]) {
                after[k] = (double)(i + 1);
                if (k == 2) seconds_to = seconds;
            }
    }
    mt_doc_subject(doc, s->place, s->label);
    mt_doc_number(doc, (double)s->count);
    mt_doc_number(doc, seconds);
    for (size_t k = 0; k < 4; k++) mt_doc_number(doc, after[k]);
    mt_doc_number(doc, seconds_to);
    mt_doc_number(doc, isfinite(best) ? best / 1e3 : NAN);
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    (void)err;
    mt_doc_chart(doc, "convergence", "Each evaluation's time in the order they were made, and the best so far");
    mt_doc_table(doc, "convergence", "Evaluations until the best of all was nearly reached", columns);
    for (size_t i = 0; i < data->count && i < context->most_rows; i++) add_row(&data->subjects[i], doc);
    if (data->count > context->most_rows) mt_doc_note(doc, "%zu more subjects are not listed here; --format csv lists all.", data->count - context->most_rows);
    mt_doc_note(doc, "Within 5 %% after 40 means: the 40th evaluation was the first that came within 5 %% of the fastest time that was ever measured here. Time between sessions does not count; "
                     "rows that were imported have no times of their own.");
    return MT_OK;
}

extern const mt_section mt_section_convergence;
const mt_section mt_section_convergence = {"convergence", "Convergence", render};
