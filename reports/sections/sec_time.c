/* Where the sessions' time went. */
#include <math.h>
#include <string.h>

#include "reports/section.h"

/* Members of times_json that are shown, in the order of the columns. */
static const char *const names[] = {"total_ns", "device_ns", "validate_ns", "time_ns", "compile_ns", "wait_ns", "search_ns", "database_ns", "coordinator_cpu_ns", "gpus", "compiled", "cached", "shared"};
enum { TOTAL, DEVICE, VALIDATE, TIME, COMPILE, WAIT, SEARCH, DATABASE, COORDINATOR, GPUS, COMPILED, CACHED, SHARED, NAME_COUNT };
typedef struct session_times { double values[NAME_COUNT]; } session_times;

static const mt_column columns[] = {{"Session", "%.0f"}, {"Started", NULL}, {"Strategy", NULL}, {"Wall (s)", "%.1f"}, {"GPUs busy (%)", "%.0f"}, {"On the GPU (s)", "%.1f"}, {"Validating (s)", "%.1f"},
                                    {"Timing (s)", "%.1f"}, {"Compiling, sum (s)", "%.1f"}, {"Waiting for a GPU (s)", "%.1f"}, {"Searching (s)", "%.1f"}, {"Database (s)", "%.1f"},
                                    {"Coordinator (s)", "%.1f"}, {"GPUs", "%.0f"}, {"Compiles", "%.0f"}, {"From the cache", "%.0f"}, {"Shared", "%.0f"}, {"Evaluations / s", "%.1f"}, {0}};

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    mt_strbuf *json;
    size_t rows;
} state;

static mt_status read_time(void *context, const char *name, double value, mt_error *err)
{
    session_times *t = context;
    (void)err;
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (strcmp(name, names[i]) == 0) t->values[i] = value;
    return MT_OK;
}

static mt_status read_times(mt_store *store, const mt_session_info *row, session_times *t, mt_error *err)
{
    for (size_t i = 0; i < NAME_COUNT; i++) t->values[i] = NAN;
    return mt_query_numbers(store, row->times_json, read_time, t, err);
}

/* [session, wall, validating, timing, on the GPU otherwise, searching, database], in seconds. */
static void add_json(mt_strbuf *json, const mt_session_info *row, const session_times *t)
{
    const double *v = t->values;
    const double parts[] = {v[TOTAL], v[DEVICE] > 0 ? v[VALIDATE] : 0, v[DEVICE] > 0 ? v[TIME] : 0, v[DEVICE] > 0 ? v[DEVICE] - v[VALIDATE] - v[TIME] : 0, v[SEARCH], v[DATABASE]};
    mt_strbuf_addf(json, "%s[%lld", json->length ? "," : "", (long long)row->id);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mt_strbuf_add_char(json, ',');
        mt_json_double(json, parts[i] / 1e9, 5);
    }
    mt_strbuf_add_char(json, ']');
}

static mt_status add_row(void *context, const mt_session_info *row, mt_error *err)
{
    enum { MOST_CHARTED = 200 };
    state *s = context;
    session_times t;
    mt_status st = read_times(s->context->store, row, &t, err);
    const double *v = t.values;
    if (st != MT_OK || !isfinite(v[TOTAL])) return st;
    if (s->rows < MOST_CHARTED) add_json(s->json, row, &t);
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_number(s->doc, (double)row->id);
    mt_doc_time(s->doc, row->started_unix_ms);
    mt_doc_text(s->doc, row->strategy);
    mt_doc_number(s->doc, v[TOTAL] / 1e9);
    mt_doc_number(s->doc, v[DEVICE] > 0 ? 100 * v[DEVICE] / (v[TOTAL] * v[GPUS]) : NAN);
    for (int i = DEVICE; i <= COORDINATOR; i++) mt_doc_number(s->doc, v[i] / 1e9);
    for (int i = GPUS; i <= SHARED; i++) mt_doc_number(s->doc, v[i]);
    mt_doc_number(s->doc, (double)(row->evaluated - row->known) / (v[TOTAL] / 1e9));
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    mt_strbuf rows = {0};
    state s = {.context = context, .doc = doc, .json = &rows};
    mt_doc_table(doc, "time", "Where the sessions' time went", columns);
    mt_status st = mt_query_sessions(context->store, add_row, &s, err);
    if (st == MT_OK && s.rows) mt_strbuf_addf(mt_doc_chart(doc, "time", "What each session's wall time was spent on"), "\"rows\":[%s]", mt_strbuf_text(&rows));
    if (s.rows > context->most_rows) mt_doc_note(doc, "%zu more sessions are not listed here; --format csv --section time lists all.", s.rows - context->most_rows);
    if (s.rows)
        mt_doc_note(doc, "Compiling and waiting are sums over processes that work side by side, and may exceed the wall time. In a replay the recorded times of compiling, validating and timing were spent when "
                         "the recording was made, not now.");
    else mt_doc_note(doc, "No session has stored its times: rows were imported, or a session still runs or was killed.");
    doc->failed = doc->failed || rows.failed;
    mt_strbuf_free(&rows);
    return st;
}

extern const mt_section mt_section_time;
const mt_section mt_section_time = {"time", "Time", render};
