/* The runs of the tool that filled the database. */
#include "reports/section.h"

typedef struct state {
    mt_strbuf *page;
    size_t rows;
} state;

static const char *const titles[] = {"Session", "Started", "Seconds", "State", "Rows are", "Strategy", "Seed", "Evaluated", "Known before", "Failed", "Worker restarts", "Host",
                                     "Tool", "Command", "Search space", "Warnings", NULL};

static mt_status add_row(void *context, const mt_session_info *row, mt_error *err)
{
    state *s = context;
    const double numbers[] = {(double)row->evaluated, (double)row->known, (double)row->failed, (double)row->worker_restarts};
    (void)err;
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    mt_strbuf_add(s->page, "<tr>");
    mt_html_number(s->page, "%.0f", (double)row->id);
    mt_html_time(s->page, row->started_unix_ms);
    if (row->ended_unix_ms)
        mt_html_number(s->page, "%.1f", (double)(row->ended_unix_ms - row->started_unix_ms) / 1e3);
    else
        mt_html_cell(s->page, "");
    mt_html_cell(s->page, row->ended_unix_ms ? row->state : "running, or killed");
    mt_html_cell(s->page, mt_origin_name(row->origin));
    mt_html_cell(s->page, row->strategy);
    mt_html_number(s->page, "%.0f", (double)row->seed);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_html_number(s->page, "%.0f", numbers[i]);
    mt_html_cell(s->page, row->host);
    mt_html_cell(s->page, row->tool_version);
    mt_html_cell(s->page, row->command);
    mt_html_cell(s->page, row->space_path);
    mt_html_cell(s->page, row->warnings);
    mt_strbuf_add(s->page, "</tr>\n");
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {page, 0};
    mt_status st = mt_query_sessions(context->store, add_row, &s, err);
    if (s.rows) mt_html_table_end(page);
    return st;
}

extern const mt_section mt_section_sessions;
const mt_section mt_section_sessions = {"sessions", "Sessions", render};
