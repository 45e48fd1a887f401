/* What one wants first: per kernel and shape the fastest validated variant, its time, what that is against others, which knobs are its own, and what is needed to launch it. */
#include <math.h>
#include <string.h>

#include "db/key.h"
#include "reports/section.h"
#include "tuner/base/alloc.h"

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    const char *usual; /* the group's defaults */
    size_t rows, most, left_out; /* `most`: where the group ends */
} state;

static const mt_column columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Source", NULL}, {"L2 cache", NULL}, {"Rows are", NULL},
                                    {"Shape", NULL}, {"Workload", NULL}, {"Time (µs)", MT_DOC_US}, {"± (µs)", MT_DOC_US}, {"× as fast as default", "%.2f"}, {"× as fast as baseline", "%.2f"}, {"× as fast as library", "%.2f"},
                                    {"Limited by", NULL}, {"Remark", NULL}, {"Algorithm, knobs that differ", NULL},
                                    {"Knobs", NULL}, {"Launches", NULL}, {"Floor, % of time", "%.0f"}, {"Tied with", "%.0f"}, {"Default (µs)", MT_DOC_US}, {"Baseline (µs)", MT_DOC_US}, {"Error", "%.2g"},
                                    {"Energy (mJ)", "%.4g"}, {"± (mJ)", "%.2g"}, {"Power (W)", "%.0f"}, {"Picked by", NULL}, {"Shape's values", NULL}, {0}};
static const mt_explanation explanations[] = {
    {NULL, NULL, "Times are medians."}, {"± (µs)", NULL, "± is half the 95 % confidence interval."}, {"× as fast as", NULL, "1.50 × as fast as another: the other takes 1.5 times as long."},
    {"Floor", NULL, "The floor is the time that the search space's [model] says no kernel can beat."}, {"Remark", "throttled", "Throttled: power or heat held the clock down while it was compared with the library."},
    {"Remark", "refused", "Refused by lookups: it is not safe on another shape with the same strings, or in another row of this one (wrong results, a fault, a hang); msda-tune lookup tells why, and what it answers."}, {"Remark", "tied", "Tied: the final did not tell the winner from so many others."}, {"Error", NULL, "The error is the norm of the difference to the reference over the reference's norm."},
    {"Launches", NULL, "Launches are as measured, one a line; libtunelookup evaluates them for other shapes."}, {0}};
/* It answers first, so a page has more rows of it than of other tables: as many as open fast. */
enum { TOLD = 5, SHOWN = 10, MOST_ON_PAGE = 700 };

/* What of the GPU a profile found busiest; a kernel that keeps none of it busy waits. */
static mt_status add_limit(const state *s, const mt_measurement_row *row, mt_error *err)
{
    static const struct { const char *metric, *name; } parts[] = {{"dram_percent", "DRAM"}, {"l2_percent", "L2"}, {"l1_percent", "L1"}, {"sm_percent", "SM"}};
    enum { BUSY = 60 };
    double most = -1, percent;
    const char *name = NULL;
    mt_status st = MT_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        MT_TRY(mt_query_metric(s->context->store, row->id, parts[i].metric, &percent, err));
        if (percent > most) most = percent, name = parts[i].name;
    }
    if (!name) mt_doc_text(s->doc, "");
    else mt_doc_textf(s->doc, most < BUSY ? "latency (%s %.0f %%)" : "%s %.0f %%", name, most);
done:
    return st;
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

static void add_told(mt_doc *doc, const mt_measurement_row *row)
{
    mt_doc_text(doc, row->gpu_name);
    mt_doc_text(doc, row->kernel);
    mt_doc_textf(doc, "%.8s", row->kernel_key);
    mt_doc_text(doc, mt_l2_name(row->outcome.timing.l2));
    mt_doc_text(doc, mt_origin_name(row->origin));
}

static void add_remark(const state *s, const mt_report_subject *subject, const mt_measurement_row *row)
{
    const mt_report_lookup *lookup = s->context->lookup;
    const mt_report_question question = {row->gpu_key, row->kernel, row->kernel_key, row->shape_key, row->origin};
    mt_strbuf remark = {0};
    if (!subject->is_so_far && lookup && lookup->refusal(lookup->context, &question, row->variant)) mt_strbuf_add(&remark, "refused by lookups");
    if (!subject->is_so_far && row->library.plugin[0] && row->library.is_limited) mt_strbuf_addf(&remark, "%sthrottled", remark.length ? ", " : "");
    if (!subject->is_so_far && row->tied_count > 1) mt_strbuf_addf(&remark, "%stied with %lld other%s", remark.length ? ", " : "", (long long)row->tied_count - 1, row->tied_count == 2 ? "" : "s");
    mt_doc_text(s->doc, subject->is_so_far ? "best so far" : mt_strbuf_text(&remark));
    s->doc->failed = s->doc->failed || remark.failed;
    mt_strbuf_free(&remark);
}

static mt_status add_shown(const state *s, const mt_report_subject *subject, const mt_measurement_row *row, const char *difference, mt_error *err)
{
    mt_doc *doc = s->doc;
    const mt_timing *timing = &row->outcome.timing;
    mt_doc_subject(doc, subject->place, row->shape);
    mt_doc_text(doc, mt_report_workload(row));
    mt_doc_number(doc, timing->median_ns / 1e3);
    mt_doc_number(doc, mt_timing_half_ns(timing) / 1e3);
    mt_doc_number(doc, subject->default_ns / timing->median_ns);
    mt_doc_number(doc, subject->baseline_ns / timing->median_ns);
    mt_doc_number(doc, row->library.plugin[0] ? row->library.best_ratio : NAN);
    mt_status st = add_limit(s, row, err);
    add_remark(s, subject, row);
    mt_doc_knobs(doc, difference);
    return st;
}

static void add_folded(mt_doc *doc, const mt_report_subject *subject, const mt_measurement_row *row, const char *launch)
{
    mt_doc_knobs(doc, row->variant);
    mt_doc_code(doc, launch);
    mt_doc_number(doc, row->model_floor_ns > 0 ? 100 * row->model_floor_ns / row->outcome.timing.median_ns : NAN);
    mt_doc_number(doc, row->tied_count > 0 ? (double)(row->tied_count - 1) : NAN);
    mt_doc_number(doc, subject->default_ns / 1e3);
    mt_doc_number(doc, subject->baseline_ns / 1e3);
    mt_doc_number(doc, row->outcome.accuracy.output[0] ? row->outcome.accuracy.norm_error : NAN);
    add_energy(doc, row);
    mt_doc_knobs(doc, row->shape_key);
}

/* Of the default only the algorithm would be told, which is its own: it is called so. */
static void add_difference(const char *usual, const char *variant, mt_strbuf *difference)
{
    if (mt_key_is_default(variant, usual)) mt_strbuf_add(difference, "the default");
    if (difference->length) return;
    for (const char *at = variant; *at;) {
        size_t length = strcspn(at, ";");
        if (mt_key_is_told(at, length, usual)) {
            if (difference->length) mt_strbuf_add_char(difference, ';');
            mt_strbuf_add_bytes(difference, at, length);
        }
        at += length + (at[length] == ';');
    }
}

static mt_status add_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    state *s = context;
    size_t place = mt_report_place(s->context->data, row);
    mt_strbuf launch = {0}, difference = {0};
    mt_status st = MT_OK;
    if (place == SIZE_MAX) return MT_OK;
    if (s->rows >= s->most) {
        s->left_out++;
        return MT_OK;
    }
    s->rows++;
    const mt_report_subject *subject = &s->context->data->subjects[place];
    MT_TRY(mt_query_launch_text(s->context->store, row->id, &launch, err));
    add_difference(s->usual, row->variant, &difference);
    add_told(s->doc, row);
    MT_TRY(add_shown(s, subject, row, mt_strbuf_text(&difference), err));
    add_folded(s->doc, subject, row, mt_strbuf_text(&launch));
    s->doc->failed = s->doc->failed || launch.failed || difference.failed;
done:
    mt_strbuf_free(&launch);
    mt_strbuf_free(&difference);
    return st;
}

/* ---- groups ---- */

static bool has_other_source(const mt_report_data *data, const mt_report_subject *first)
{
    for (size_t i = 0; i < data->count; i++)
        if (strcmp(data->subjects[i].kernel, first->kernel) == 0 && strcmp(data->subjects[i].kernel_key, first->kernel_key) != 0) return true;
    return false;
}

static void add_title(const mt_report_context *context, const mt_report_subject *first, mt_strbuf *title)
{
    mt_strbuf_addf(title, "%s · %s · %s", first->kernel, first->gpu_name, mt_l2_name(first->l2));
    if (first->origin != MT_ORIGIN_MEASURED) mt_strbuf_addf(title, " · %s", mt_origin_name(first->origin));
    const mt_report_lookup *lookup = context->lookup;
    const char *today = lookup ? lookup->today(lookup->context, first->kernel) : NULL;
    bool is_today = today ? strcmp(today, first->kernel_key) == 0 : first->is_current;
    if (is_today && !has_other_source(context->data, first)) return;
    mt_strbuf_addf(title, " · %s %.8s", is_today ? "today's source" : today ? "not today's source" : "older source", first->kernel_key);
}

static void add_means(const mt_report_data *data, const mt_report_subject *first, mt_strbuf *note)
{
    mt_geomean by_default = {0}, by_baseline = {0};
    size_t winners = 0, unknown = 0, so_far = 0;
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (!s->best || !mt_report_is_same_group(s, first)) continue;
        winners++;
        unknown += !s->comparison_points && s->origin != MT_ORIGIN_MEASURED;
        so_far += s->is_so_far;
        mt_geomean_add(&by_default, s->default_ns / s->best_ns);
        mt_geomean_add(&by_baseline, s->baseline_ns / s->best_ns);
    }
    if (winners > so_far) mt_strbuf_addf(note, "%zu %s.", winners - so_far, winners - so_far == 1 ? "winner" : "winners");
    if (so_far) mt_strbuf_addf(note, "%s%zu without a winner: no final has picked one, and the fastest so far is listed.", winners > so_far ? " " : "", so_far);
    const struct { const char *name; const mt_geomean *mean; } means[] = {{"default", &by_default}, {"baseline", &by_baseline}};
    for (size_t i = 0; i < 2; i++)
        if (means[i].mean->count) mt_strbuf_addf(note, " %.2f × as fast as the %s%s.", mt_geomean_of(means[i].mean), means[i].name, means[i].mean->count > 1 ? " (geometric mean)" : "");
    if (unknown) mt_strbuf_addf(note, unknown == winners ? " What the default and the baseline take is not in the recording." : " What the default and the baseline take is not in the recording for %zu of them.", unknown);
}

/* What the knobs of the rows are compared with, as in `show`: the defaults, also of knobs that the default point leaves idle. */
static mt_status find_usual(const mt_report_context *context, const mt_report_subject *first, mt_strbuf *usual, mt_strbuf *note, mt_error *err)
{
    char *defaults = NULL;
    mt_status st = mt_query_usual(context->store, first->kernel, first->kernel_key, &defaults, err);
    add_means(context->data, first, note);
    if (st == MT_OK) mt_strbuf_add(usual, defaults);
    mt_free(defaults);
    if (st == MT_OK && !usual->length) st = mt_query_default_variant(context->store, first->best_id, usual, err);
    if (st == MT_OK && usual->length) mt_strbuf_add(note, " Rows tell the algorithm and the knobs in which they differ from the default.");
    if (st == MT_OK && !usual->length) mt_strbuf_add(note, " Rows tell all knobs: no default is known.");
    return st;
}

static mt_status add_group(state *s, const mt_report_subject *first, mt_error *err)
{
    mt_strbuf title = {0}, usual = {0}, note = {0};
    mt_filter filter = s->context->filter ? *s->context->filter : (mt_filter){0};
    mt_status st;
    filter.gpu = first->gpu_key, filter.kernel = first->kernel, filter.kernel_key = first->kernel_key, filter.l2 = &first->l2, filter.origin = &first->origin;
    mt_kernel_terms terms;
    MT_TRY(find_usual(s->context, first, &usual, &note, err));
    MT_TRY(mt_query_terms(s->context->store, first->kernel, first->kernel_key, &terms, err));
    if (terms.per[0]) mt_strbuf_addf(&note, " Times are per unit of work (per = %s).", terms.per);
    if (terms.is_by_default) mt_strbuf_add(&note, " Outputs were compared with what the default variant computes (reference = default); the default itself is unchecked.");
    add_title(s->context, first, &title);
    mt_doc_group(s->doc, !first->is_current, mt_strbuf_text(&title), mt_strbuf_text(&note), mt_strbuf_text(&usual));
    s->usual = mt_strbuf_text(&usual);
    MT_TRY(mt_query_best(s->context->store, &filter, add_row, s, err));
    st = mt_query_so_far(s->context->store, &filter, add_row, s, err);
done:
    s->doc->failed = s->doc->failed || title.failed || usual.failed || note.failed;
    mt_strbuf_free(&title);
    mt_strbuf_free(&usual);
    mt_strbuf_free(&note);
    return st;
}

/* The first winner of its group. */
static bool is_first(const mt_report_data *data, size_t i)
{
    if (!data->subjects[i].best) return false;
    for (size_t k = 0; k < i; k++)
        if (data->subjects[k].best && mt_report_is_same_group(&data->subjects[k], &data->subjects[i])) return false;
    return true;
}

/* How many rows a group may have: where not all winners have room, no kernel's keep another's from the page. */
static mt_status share_rows(const mt_report_context *context, size_t *share, mt_error *err)
{
    const mt_report_data *data = context->data;
    size_t *winners = mt_alloc(data->count, sizeof *winners), sum = SIZE_MAX; /* by the group's first subject */
    if (!winners) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    for (size_t i = 0; i < data->count; i++)
        for (size_t k = i; is_first(data, i) && k < data->count; k++) winners[i] += data->subjects[k].best && mt_report_is_same_group(&data->subjects[i], &data->subjects[k]);
    for (*share = MOST_ON_PAGE + 1; sum > MOST_ON_PAGE && *share > 1;) {
        sum = 0, --*share;
        for (size_t i = 0; i < data->count; i++) sum += winners[i] < *share ? winners[i] : *share;
    }
    mt_free(winners);
    return MT_OK;
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    state s = {.context = context, .doc = doc};
    size_t share = SIZE_MAX;
    mt_status st = MT_OK;
    mt_doc_table(doc, "best", "The best per kernel and shape", columns);
    mt_doc_fold(doc, TOLD, SHOWN, "All knobs, launch");
    if (context->most_rows != SIZE_MAX) MT_TRY(share_rows(context, &share, err));
    for (int older = 0; older < 2; older++)
        for (size_t i = 0; i < data->count; i++) {
            if (data->subjects[i].is_current != !older || !is_first(data, i)) continue;
            s.most = share == SIZE_MAX ? SIZE_MAX : s.rows + share;
            MT_TRY(add_group(&s, &data->subjects[i], err));
        }
    if (s.left_out) mt_doc_note(doc, "%zu more winners are not listed here; msda-tune report --format csv --section best lists all.", s.left_out);
    if (!s.rows) mt_doc_note(doc, "No variant passed validation.");
    mt_doc_explain(doc, "best", explanations);
done:
    return st;
}

extern const mt_section mt_section_best;
const mt_section mt_section_best = {"best", "Best variants", render};
