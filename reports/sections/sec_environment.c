/* Where the rows come from: GPUs, toolchains, sessions. */
#include <math.h>
#include <string.h>

#include "reports/section.h"

static const mt_column tuned_columns[] = {{"GPU", NULL}, {"GPU key", NULL}, {"Kernel", NULL}, {"Source", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"L2 cache", NULL}, {"Rows are", NULL}, {"NVRTC", NULL},
                                          {"Driver", NULL}, {"Architecture", NULL}, {"Variants", "%.0f"}, {"Valid", "%.0f"}, {"First", NULL}, {"Last", NULL}, {"Sessions", NULL}, {0}};
static const mt_column session_columns[] = {{"Session", "%.0f"}, {"Started", NULL}, {"Seconds", "%.1f"}, {"State", NULL}, {"Rows are", NULL}, {"Strategy", NULL}, {"Seed", "%.0f"}, {"Evaluated", "%.0f"},
                                            {"Known before", "%.0f"}, {"Failed", "%.0f"}, {"Worker restarts", "%.0f"}, {"Drift (%)", "%.2f"}, {"Host", NULL}, {"Tool", NULL}, {"Command", NULL},
                                            {"Search space", NULL}, {"Warnings", NULL}, {0}};
static const mt_column fact_columns[] = {{"GPU", NULL}, {"Key", NULL}, {"Fact", NULL}, {"Value", "%.0f"}, {0}};

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    const mt_device_row *device;
    size_t rows;
} state;

static mt_status add_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    state *s = context;
    mt_doc *doc = s->doc;
    (void)err;
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_text(doc, row->gpu_name);
    mt_doc_text(doc, row->gpu_key);
    mt_doc_text(doc, row->kernel);
    mt_doc_textf(doc, "%.8s", row->kernel_key);
    const char *texts[] = {row->shape, row->workload, row->l2, row->origin};
    for (size_t i = 0; i < 4; i++) mt_doc_text(doc, texts[i]);
    mt_doc_cuda(doc, row->nvrtc_version);
    mt_doc_cuda(doc, row->driver_version);
    mt_doc_text(doc, row->arch);
    mt_doc_number(doc, (double)row->variants);
    mt_doc_number(doc, (double)row->ok);
    mt_doc_time(doc, row->first_unix_ms);
    mt_doc_time(doc, row->last_unix_ms);
    mt_doc_text(doc, row->sessions);
    return MT_OK;
}

static mt_status add_session(void *context, const mt_session_info *row, mt_error *err)
{
    state *s = context;
    mt_doc *doc = s->doc;
    (void)err;
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    mt_doc_number(doc, (double)row->id);
    mt_doc_time(doc, row->started_unix_ms);
    mt_doc_number(doc, row->ended_unix_ms ? (double)(row->ended_unix_ms - row->started_unix_ms) / 1e3 : NAN);
    mt_doc_text(doc, row->ended_unix_ms ? row->state : "running, or killed");
    mt_doc_text(doc, mt_origin_name(row->origin));
    mt_doc_text(doc, row->strategy);
    const double numbers[] = {(double)row->seed, (double)row->evaluated, (double)row->known, (double)row->failed, (double)row->worker_restarts, 100 * row->drift};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(doc, numbers[i]);
    mt_doc_text(doc, row->host);
    mt_doc_text(doc, row->tool_version);
    mt_doc_code(doc, row->command);
    mt_doc_text(doc, row->space_path);
    mt_doc_code(doc, row->warnings ? row->warnings : "");
    return MT_OK;
}

static mt_status add_fact(void *context, const char *name, double value, mt_error *err)
{
    state *s = context;
    (void)err;
    mt_doc_text(s->doc, s->device->name);
    mt_doc_text(s->doc, s->device->key);
    mt_doc_text(s->doc, name);
    if (value == 0 && strcmp(name, "cc") == 0) mt_doc_text(s->doc, "unknown"); /* a GPU of which only the name is known */
    else mt_doc_number(s->doc, value);
    return MT_OK;
}

static mt_status add_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    state *s = context;
    bool is_shown = false;
    (void)measurements;
    for (size_t i = 0; i < s->context->data->count; i++) is_shown = is_shown || strcmp(s->context->data->subjects[i].gpu_key, row->key) == 0;
    s->device = row;
    return is_shown ? mt_query_numbers(s->context->store, row->facts_json, add_fact, s, err) : MT_OK;
}

static void note_rest(const state *s, const char *what)
{
    size_t most = s->context->most_rows;
    if (s->rows > most) mt_doc_note(s->doc, "%zu more %s are not listed here; --format csv --section environment lists all.", s->rows - most, what);
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {.context = context, .doc = doc};
    mt_status st;
    mt_doc_table(doc, "tuned", "What was measured with what", tuned_columns);
    MT_TRY(mt_query_tuned(context->store, context->filter, add_tuned, &s, err));
    note_rest(&s, "subjects and toolchains");
    mt_doc_table(doc, "sessions", "Sessions", session_columns);
    s.rows = 0;
    MT_TRY(mt_query_sessions(context->store, add_session, &s, err));
    note_rest(&s, "sessions");
    mt_doc_table(doc, "facts", "Facts of the GPUs", fact_columns);
    MT_TRY(mt_query_devices(context->store, NULL, add_device, &s, err));
    mt_doc_note(doc, "NVRTC and driver are CUDA versions; the source is the beginning of the hash of a kernel's source, includes and options. Sessions are those of the whole database.");
done:
    return st;
}

extern const mt_section mt_section_environment;
const mt_section mt_section_environment = {"environment", "Environment", render};
