/* Winners against a baseline plugin, timed in the same rounds. */

#include "reports/section.h"

typedef struct state {
    const mt_report_data *data;
    mt_doc *doc;
    size_t rows;
} state;

static const mt_column columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"L2 cache", NULL}, {"Time (µs)", MT_DOC_US}, {"Baseline", NULL}, {"Best of its algorithms (µs)", MT_DOC_US}, {"× best", "%.3f"},
                                    {"95 %: from", "%.3f"}, {"to", "%.3f"}, {"First choice (µs)", MT_DOC_US}, {"× first", "%.3f"}, {"Clock", NULL}, {"Launch", NULL}, {"Knobs", NULL}, {0}};

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    const mt_row_library *library = &row->library;
    (void)err;
    if (!library->plugin[0]) return MT_OK;
    if (!s->rows++) mt_doc_table(s->doc, "libraries", "Winners and baseline plugins", columns);
    mt_doc_text(s->doc, row->gpu_name);
    mt_doc_text(s->doc, row->kernel);
    mt_doc_subject(s->doc, mt_report_place(s->data, row), row->shape);
    mt_doc_text(s->doc, mt_l2_name(row->outcome.timing.l2));
    mt_doc_number(s->doc, row->outcome.timing.median_ns / 1e3);
    mt_doc_text(s->doc, library->plugin);
    mt_doc_number(s->doc, library->best_ns / 1e3);
    mt_doc_number(s->doc, library->best_ratio);
    mt_doc_number(s->doc, library->best_low);
    mt_doc_number(s->doc, library->best_high);
    mt_doc_number(s->doc, library->first_ns / 1e3);
    mt_doc_number(s->doc, library->first_ratio);
    mt_doc_text(s->doc, library->is_limited ? "throttled" : "free");
    mt_doc_text(s->doc, row->is_programmatic ? "programmatic" : "plain");
    mt_doc_knobs(s->doc, row->variant);
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {context->data, doc, 0};
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (s.rows)
        mt_doc_note_on(doc, "libraries", "Above 1 the variant is faster. Ratios are medians over rounds in which both were timed; times of different rows, where power may have limited the card, are not to be compared. "
                         "A programmatic launch overlaps with the kernel in front of it, which the baseline's does not.");
    else mt_doc_note(doc, "No variant was compared with a baseline plugin.");
    return st;
}

extern const mt_section mt_section_libraries;
const mt_section mt_section_libraries = {"libraries", "Against libraries", render};
