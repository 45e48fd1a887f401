/* What was tuned on what: GPU, kernel source, shape, workload, toolchain, and how much of it. */
#include <stdio.h>

#include "reports/section.h"

typedef struct state {
    mt_strbuf *page;
    size_t rows;
} state;

static const char *const titles[] = {"GPU", "GPU key", "Kernel", "Source", "Shape", "Workload", "Regime", "Rows are", "NVRTC", "Driver", "Architecture", "Variants", "Valid",
                                     "First", "Last", "Sessions", NULL};

static mt_status add_row(void *context, const mt_tuned_info *row, mt_error *err)
{
    state *s = context;
    char source[16];
    (void)err;
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    snprintf(source, sizeof source, "%.8s", row->kernel_key);
    mt_strbuf_add(s->page, "<tr>");
    mt_html_cell(s->page, row->gpu_name);
    mt_html_cell(s->page, row->gpu_key);
    mt_html_cell(s->page, row->kernel);
    mt_html_cell(s->page, source);
    mt_html_cell(s->page, row->shape);
    mt_html_cell(s->page, row->workload);
    mt_html_cell(s->page, row->regime);
    mt_html_cell(s->page, row->origin);
    mt_html_cuda_version(s->page, row->nvrtc_version);
    mt_html_cuda_version(s->page, row->driver_version);
    mt_html_cell(s->page, row->arch);
    mt_html_number(s->page, "%.0f", (double)row->variants);
    mt_html_number(s->page, "%.0f", (double)row->ok);
    mt_html_time(s->page, row->first_unix_ms);
    mt_html_time(s->page, row->last_unix_ms);
    mt_html_cell(s->page, row->sessions);
    mt_strbuf_add(s->page, "</tr>\n");
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {page, 0};
    mt_status st = mt_query_tuned(context->store, context->filter, add_row, &s, err);
    if (s.rows) mt_html_table_end(page);
    return st;
}

extern const mt_section mt_section_tuned;
const mt_section mt_section_tuned = {"tuned", "What was tuned on what", render};
