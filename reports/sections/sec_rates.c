/* What the best times mean in bytes, operations and clocks, and how they compare with the yardsticks of their subjects. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/section.h"

typedef struct state {
    mt_store *store;
    const mt_report_data *data;
    mt_doc *doc;
    const mt_measurement_row *row; /* the best whose yardsticks are written */
    double best_ns; /* its time */
    size_t rows, most_rows;
    char shown[256]; /* " NAME NAME…": the yardsticks whose fastest row is written */
} state;

static const mt_column columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"L2 cache", NULL}, {"What", NULL}, {"Time (µs)", MT_DOC_US}, {"× best", "%.3f"},
                                    {"DRAM (GB/s)", "%.0f"}, {"Moved (GB/s)", "%.0f"}, {"GFLOP/s", "%.0f"}, {"Mops/s", "%.1f"}, {"Clocks per op and SM", "%.1f"},
                                    {"Cycles of a block: least", "%.0f"}, {"Mean", "%.0f"}, {"Most", "%.0f"}, {0}};
/* Of the columns after "× best". */
static const struct {
    const char *metric;
    double scale;
} rates[] = {{"dram_bytes_per_s", 1e-9}, {"moved_bytes_per_s", 1e-9}, {"flops_per_s", 1e-9}, {"ops_per_s", 1e-6}, {"clocks_per_op_per_sm", 1},
               {"cycles_min", 1}, {"cycles_mean", 1}, {"cycles_max", 1}};
enum { RATES = sizeof rates / sizeof rates[0] };

static mt_status read_rates(const state *s, const mt_measurement_row *row, double values[RATES], bool *has_some, mt_error *err)
{
    mt_status st = MT_OK;
    *has_some = false;
    for (size_t i = 0; i < RATES && st == MT_OK; i++) {
        st = mt_query_metric(s->store, row->id, rates[i].metric, &values[i], err);
        *has_some = *has_some || isfinite(values[i]);
    }
    return st;
}

static void add_time(const state *s, double ns)
{
    mt_doc_number(s->doc, ns / 1e3);
    mt_doc_number(s->doc, ns / s->best_ns);
}

/* True the first time for the ALGO of `variant`; rows come the fastest first. */
static bool is_fastest(state *s, const char *variant)
{
    char name[64];
    const char *algo = strstr(variant, "ALGO=");
    if (!algo) return true;
    snprintf(name, sizeof name, " %.*s ", (int)(strcspn(algo, ";") < 60 ? strcspn(algo, ";") : 60), algo);
    if (strstr(s->shown, name)) return false;
    snprintf(s->shown + strlen(s->shown), sizeof s->shown - strlen(s->shown), "%s", name);
    return true;
}

/* In each row: a table that is sorted or read by a program has no row above. */
static void add_names(const state *s, const mt_measurement_row *row)
{
    mt_doc_text(s->doc, row->gpu_name);
    mt_doc_text(s->doc, row->kernel);
    mt_doc_subject(s->doc, mt_report_place(s->data, row), row->shape);
    mt_doc_text(s->doc, mt_report_workload(row));
    mt_doc_text(s->doc, mt_l2_name(row->outcome.timing.l2));
}

static mt_status add_yardstick(void *context, const char *variant, double median_ns, mt_error *err)
{
    state *s = context;
    (void)err;
    if (!is_fastest(s, variant)) return MT_OK;
    add_names(s, s->row);
    mt_doc_textf(s->doc, "yardstick %s", variant);
    add_time(s, median_ns);
    for (size_t i = 0; i < RATES; i++) mt_doc_number(s->doc, NAN);
    return MT_OK;
}

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    double values[RATES];
    bool has_some;
    mt_status st = read_rates(s, row, values, &has_some, err);
    if (st != MT_OK || !has_some || s->rows++ >= s->most_rows) return st;
    s->best_ns = row->outcome.timing.median_ns;
    s->shown[0] = '\0';
    s->row = row;
    add_names(s, row);
    mt_doc_text(s->doc, "best");
    add_time(s, s->best_ns);
    for (size_t i = 0; i < RATES; i++) mt_doc_number(s->doc, values[i] * rates[i].scale);
    return mt_query_yardsticks(s->store, row->id, add_yardstick, s, err);
}

static const mt_explanation explanations[] = {{NULL, NULL, "Bytes, flops and ops are those of the search space's [model]."},
                                              {"What", "yardstick", "Under each best: its yardsticks, which compute nothing and show what could be reached at all."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {.store = context->store, .data = context->data, .doc = doc, .most_rows = context->most_rows};
    mt_doc_table(doc, "rates", "What the best times mean", columns);
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (!s.rows) mt_doc_note(doc, "No best variant has rates: they need a [model] in the search space with which it was measured.");
    mt_doc_explain(doc, "rates", explanations);
    if (s.rows > s.most_rows) mt_doc_note(doc, "%zu more are not listed here; --format csv --section rates lists all.", s.rows - s.most_rows);
    return st;
}

extern const mt_section mt_section_rates;
const mt_section mt_section_rates = {"rates", "Rates and yardsticks", render};
