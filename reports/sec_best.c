/* The fastest validated variant per subject, with what is needed to launch it. */
#include <math.h>

#include "reports/section.h"

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    size_t rows;
    mt_geomean beyond; /* × default of the winners that are not listed */
    size_t beyond_count;
} state;

static const mt_column columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"Regime", NULL}, {"Time (µs)", "%.2f"}, {"± (µs)", "%.2f"}, {"× default", "%.2f"},
                                    {"× baseline", "%.2f"}, {"% of floor", "%.0f"}, {"Knobs", NULL}, {"Launches", NULL}, {"Tied with", "%.0f"}, {"Default (µs)", "%.2f"}, {"Baseline (µs)", "%.2f"},
                                    {"Error", "%.2g"}, {"Energy (mJ)", "%.4g"}, {"± (mJ)", "%.2g"}, {"Power (W)", "%.0f"}, {"Picked by", NULL}, {"Rows are", NULL}, {"Shape's values", NULL}, {0}};

/* A time, or how many times the winner's it is. */
static void add_landmark(mt_doc *doc, double value, bool is_unknown)
{
    if (is_unknown) mt_doc_text(doc, "not in the recording");
    else mt_doc_number(doc, value);
}

static void add_names(mt_doc *doc, const mt_measurement_row *row)
{
    mt_doc_text(doc, row->gpu_name);
    mt_doc_text(doc, row->kernel);
    mt_doc_text(doc, row->shape);
    mt_doc_text(doc, row->workload);
    mt_doc_text(doc, mt_regime_name(row->outcome.timing.regime));
}

static void add_energy(mt_doc *doc, const mt_measurement_row *row)
{
    const mt_energy *energy = &row->outcome.energy;
    bool has_energy = energy->source != MT_ENERGY_NONE;
    mt_doc_number(doc, has_energy ? energy->run_uj / 1e3 : NAN);
    mt_doc_number(doc, has_energy ? energy->error_uj / 1e3 : NAN);
    mt_doc_number(doc, has_energy ? energy->power_w : NAN);
    mt_doc_text(doc, mt_objective_name(row->objective));
}

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    mt_doc *doc = s->doc;
    const mt_timing *timing = &row->outcome.timing;
    mt_strbuf launch = {0};
    double default_ns, baseline_ns;
    size_t landmarks;
    mt_status st;
    MT_TRY(mt_query_landmarks(s->context->store, row->id, &default_ns, &baseline_ns, &landmarks, err));
    if (s->rows++ >= s->context->most_rows) {
        s->beyond_count++;
        mt_geomean_add(&s->beyond, default_ns / timing->median_ns);
        goto done;
    }
    MT_TRY(mt_query_launch_text(s->context->store, row->id, &launch, err));
    add_names(doc, row);
    mt_doc_number(doc, timing->median_ns / 1e3);
    mt_doc_number(doc, fmax(timing->high_ns - timing->median_ns, timing->median_ns - timing->low_ns) / 1e3);
    bool is_unknown = !landmarks && row->origin != MT_ORIGIN_MEASURED;
    add_landmark(doc, default_ns / timing->median_ns, is_unknown);
    add_landmark(doc, baseline_ns / timing->median_ns, is_unknown);
    mt_doc_number(doc, row->model_floor_ns > 0 ? 100 * row->model_floor_ns / timing->median_ns : NAN);
    mt_doc_knobs(doc, row->variant);
    mt_doc_code(doc, mt_strbuf_text(&launch));
    mt_doc_number(doc, row->tied_count > 0 ? (double)(row->tied_count - 1) : NAN);
    mt_doc_number(doc, default_ns / 1e3);
    mt_doc_number(doc, baseline_ns / 1e3);
    mt_doc_number(doc, row->outcome.accuracy.output[0] ? row->outcome.accuracy.norm_error : NAN);
    add_energy(doc, row);
    mt_doc_text(doc, mt_origin_name(row->origin));
    mt_doc_knobs(doc, row->shape_key);
    if (launch.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
done:
    mt_strbuf_free(&launch);
    return st;
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    state s = {.context = context, .doc = doc};
    mt_doc_table(doc, "best", "The best per shape, workload and GPU", columns);
    mt_status st = mt_query_best(context->store, context->filter, add_row, &s, err);
    if (st != MT_OK) return st;
    if (s.beyond_count)
        mt_doc_note(doc, "%zu more winners are not listed here: the default takes %.2f times as long on (geometric) average. msda-tune report --format csv --section best lists all.", s.beyond_count,
                    mt_geomean_of(&s.beyond));
    if (s.rows)
        mt_doc_note(doc, "Times are medians; ± is half the 95 %% confidence interval. × default and × baseline say how many times as long those take. The error is the norm of the difference to the "
                         "reference over the reference's norm. Launches are as measured, one a line; libtunelookup evaluates them for other shapes.");
    else mt_doc_note(doc, "No variant passed validation.");
    return MT_OK;
}

extern const mt_section mt_section_best;
const mt_section mt_section_best = {"best", "Best settings", render};
