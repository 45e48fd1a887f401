/* What the best times mean in bytes, operations and clocks, and how they compare with the yardsticks of their subjects. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/section.h"

typedef struct state {
    mt_store *store;
    mt_strbuf *page;
    double best_ns; /* of the row whose yardsticks are written */
    size_t rows;
    char shown[256]; /* " NAME NAME…": the yardsticks whose fastest row is written */
} state;

static const char *const titles[] = {"GPU", "Kernel", "Shape", "Workload", "Regime", "Time (µs)", "× best", "DRAM (GB/s)", "Moved (GB/s)", "Gflop/s", "Mops/s", "Clocks per op and SM",
                                     "Cycles of a block: least", "Mean", "Most", NULL};
static const struct {
    const char *metric, *format;
    double scale;
} columns[] = {{"dram_bytes_per_s", "%.0f", 1e-9}, {"moved_bytes_per_s", "%.0f", 1e-9}, {"flops_per_s", "%.0f", 1e-9}, {"ops_per_s", "%.1f", 1e-6}, {"clocks_per_op_per_sm", "%.1f", 1},
               {"cycles_min", "%.0f", 1}, {"cycles_mean", "%.0f", 1}, {"cycles_max", "%.0f", 1}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Of a flat object of numbers, as SQLite writes it. NAN: it has no such member. */
static double member(const char *json, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = json ? strstr(json, key) : NULL;
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static bool has_rates(const mt_measurement_row *row)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (isfinite(member(row->metrics_json, columns[i].metric))) return true;
    return false;
}

static void add_subject(mt_strbuf *page, const mt_measurement_row *row)
{
    mt_strbuf_add(page, "<tr>");
    mt_html_cell(page, row->gpu_name);
    mt_html_cell(page, row->kernel);
    mt_html_cell(page, row->shape);
    mt_html_cell(page, row->workload);
    mt_html_cell(page, mt_regime_name(row->outcome.timing.regime));
}

static void add_time(const state *s, double ns)
{
    mt_html_number(s->page, "%.2f", ns / 1e3);
    mt_html_number(s->page, "%.3f", ns / s->best_ns);
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

static mt_status add_yardstick(void *context, const char *variant, double median_ns, mt_error *err)
{
    state *s = context;
    (void)err;
    if (!is_fastest(s, variant)) return MT_OK;
    mt_strbuf_add(s->page, "<tr><td></td><td colspan=\"4\">yardstick ");
    mt_html_text(s->page, variant);
    mt_strbuf_add(s->page, "</td>");
    add_time(s, median_ns);
    for (size_t i = 0; i < COLUMNS; i++) mt_html_number(s->page, "%.0f", NAN);
    mt_strbuf_add(s->page, "</tr>\n");
    return MT_OK;
}

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    if (!has_rates(row)) return MT_OK;
    s->best_ns = row->outcome.timing.median_ns;
    s->shown[0] = '\0';
    if (!s->rows++) mt_html_table_begin(s->page, titles);
    add_subject(s->page, row);
    add_time(s, s->best_ns);
    for (size_t i = 0; i < COLUMNS; i++) mt_html_number(s->page, columns[i].format, member(row->metrics_json, columns[i].metric) * columns[i].scale);
    mt_strbuf_add(s->page, "</tr>\n");
    return mt_query_yardsticks(s->store, row->id, add_yardstick, s, err);
}

static mt_status render(const mt_report_context *context, mt_strbuf *page, mt_error *err)
{
    state s = {.store = context->store, .page = page};
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (s.rows) {
        mt_html_table_end(page);
        mt_strbuf_add(page, "<p>Bytes, flops and ops are those of the search space's [model]. Under each best: its yardsticks, which compute nothing and show what could be reached at all.</p>\n");
    } else {
        mt_strbuf_add(page, "<p>No search space here has a [model].</p>\n");
    }
    return st;
}

extern const mt_section mt_section_rates;
const mt_section mt_section_rates = {"rates", "Rates and yardsticks", render};
