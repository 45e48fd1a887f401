/* What was tuned on what, and what it brought. */
#include <math.h>
#include <string.h>

#include "reports/section.h"

typedef struct total {
    size_t subjects, run, variants, ok, stopped, failed, not_run, with_best; /* run: of all evaluations; the others: of variants, by the newest row */
    mt_geomean by_default, by_baseline, of_floor;
    double least_of_floor, most_of_floor;
} total;

static void count(const mt_report_subject *s, total *t)
{
    t->subjects++;
    for (size_t i = 0; i < s->count; i++) {
        t->run += mt_outcome_is_run(s->rows[i].kind);
        t->variants += s->rows[i].is_newest;
        t->ok += s->rows[i].is_newest && s->rows[i].kind == MT_OUTCOME_OK;
        t->stopped += s->rows[i].is_newest && s->rows[i].kind == MT_OUTCOME_CENSORED;
        t->failed += s->rows[i].is_newest && mt_outcome_is_failure(s->rows[i].kind);
        t->not_run += s->rows[i].is_newest && !mt_outcome_is_run(s->rows[i].kind);
    }
    if (!s->best || s->is_so_far) return;
    t->with_best++;
    mt_geomean_add(&t->by_default, s->default_ns / s->best_ns);
    mt_geomean_add(&t->by_baseline, s->baseline_ns / s->best_ns);
    double part = s->floor_ns / s->best_ns;
    mt_geomean_add(&t->of_floor, part);
    t->least_of_floor = fmin(t->of_floor.count == 1 ? INFINITY : t->least_of_floor, part);
    t->most_of_floor = fmax(t->most_of_floor, part);
}

/* Means over kernels that have nothing to do with each other, or over sources of which one is history, say nothing: the table has one for each. */
static bool are_alike(const mt_report_data *data)
{
    for (size_t i = 1; i < data->count; i++)
        if (!mt_report_is_same_group(&data->subjects[0], &data->subjects[i])) return false;
    return true;
}

static void add_means(const total *t, mt_doc *doc)
{
    if (t->by_default.count) mt_doc_figure(doc, "As fast as the default", "%.2f ×", mt_geomean_of(&t->by_default));
    if (t->by_baseline.count) mt_doc_figure(doc, "As fast as the baseline", "%.2f ×", mt_geomean_of(&t->by_baseline));
    if (t->of_floor.count == 1) mt_doc_figure(doc, "The model's floor, of the time", "%.0f %%", 100 * t->least_of_floor);
    if (t->of_floor.count > 1) mt_doc_figure(doc, "The model's floor, of the time", "%.0f – %.0f %%", 100 * t->least_of_floor, 100 * t->most_of_floor);
}

static void add_figures(const mt_report_data *data, const total *t, mt_doc *doc)
{
    mt_doc_figure(doc, "Evaluations", "%zu", t->run);
    mt_doc_figure(doc, t->subjects == 1 ? "Subject with a winner" : "Subjects with a winner", "%zu of %zu", t->with_best, t->subjects);
    if (are_alike(data)) add_means(t, doc);
    mt_doc_figure(doc, "Variants that failed", "%zu of %zu", t->failed, t->variants - t->not_run);
    if (t->stopped) mt_doc_figure(doc, "Stopped as too slow", "%zu of %zu", t->stopped, t->variants - t->not_run);
    if (t->not_run) mt_doc_figure(doc, "Not run", "%zu of %zu", t->not_run, t->variants);
}

static void add_bars(const mt_report_data *data, mt_doc *doc)
{
    mt_strbuf *json = mt_doc_chart(doc, "summary", "Times of the default, the baseline and the model's floor, each over the best's (dashed)");
    mt_json_name(json, "rows");
    mt_strbuf_add_char(json, '[');
    enum { MOST = 1000 };
    size_t shown = 0;
    for (size_t i = 0; i < data->count && shown < MOST; i++) {
        const mt_report_subject *s = &data->subjects[i];
        if (!s->best || s->is_so_far || !s->is_current) continue;
        mt_strbuf_add(json, shown++ ? ",[" : "[");
        mt_strbuf_add_json(json, s->label);
        const double numbers[] = {s->default_ns / s->best_ns, s->baseline_ns / s->best_ns, s->floor_ns / s->best_ns};
        for (size_t k = 0; k < 3; k++) {
            mt_strbuf_add_char(json, ',');
            mt_json_double(json, numbers[k], 9); /* as the tables have it: rounded once, where it is shown */
        }
        mt_strbuf_add_char(json, ']');
    }
    mt_strbuf_add_char(json, ']');
    if (shown == MOST) mt_doc_note(doc, "The chart knows the first %d winners of today's sources; the table sums up all.", MOST);
}

static void add_group(const mt_report_subject *first, const total *t, mt_doc *doc)
{
    mt_doc_text(doc, first->gpu_name);
    mt_doc_text(doc, first->kernel);
    mt_doc_textf(doc, "%.8s", first->kernel_key);
    mt_doc_text(doc, mt_l2_name(first->l2));
    mt_doc_text(doc, mt_origin_name(first->origin));
    const double numbers[] = {mt_geomean_of(&t->by_default), mt_geomean_of(&t->by_baseline), 100 * mt_geomean_of(&t->of_floor), (double)t->subjects, (double)t->with_best,
                              (double)t->variants, (double)t->ok, t->stopped ? (double)t->stopped : NAN, (double)t->failed, t->not_run ? (double)t->not_run : NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(doc, numbers[i]);
}

static const mt_explanation explanations[] = {
    {NULL, NULL, "A subject is a shape and workload on one GPU in one state of the L2 cache: what is ranked together."},
    {"× as fast as", NULL, "Factors are geometric means over subjects, of times: 1.50 × as fast as another means that the other takes 1.5 times as long as the best."},
    {"Floor", NULL, "The model's floor is the time that the search space's [model] says no kernel can beat."}, {"Stopped", NULL, "Stopped: too slow to be timed in full."},
    {"Not run", NULL, "Not run: a constraint excludes the variant, or the recording lacks it."}, {0}};
/* On a page the GPU is a heading, and what became of the variants is folded: no column is cut on a laptop. */
enum { TOLD = 1, SHOWN = 9 };

static void begin_gpu(mt_doc *doc, const char *name)
{
    mt_strbuf title = {0};
    mt_strbuf_addf(&title, "What was tuned on %s", name);
    mt_doc_group(doc, false, mt_strbuf_text(&title), "", "");
    doc->failed = doc->failed || title.failed;
    mt_strbuf_free(&title);
}

static void add_groups(const mt_report_data *data, mt_doc *doc)
{
    static const mt_column columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Source", NULL}, {"L2 cache", NULL}, {"Rows are", NULL}, {"× as fast as default", "%.2f"}, {"× as fast as baseline", "%.2f"},
                                        {"Floor, % of time", "%.0f"}, {"Subjects", "%.0f"}, {"Winners", "%.0f"}, {"Variants", "%.0f"}, {"Ok", "%.0f"}, {"Stopped", "%.0f"}, {"Failed", "%.0f"}, {"Not run", "%.0f"}, {0}};
    const char *gpu = "";
    mt_doc_table(doc, "groups", "What was tuned on what", columns);
    mt_doc_fold(doc, TOLD, SHOWN, "Outcomes");
    for (size_t i = 0; i < data->count; i++) {
        const mt_report_subject *first = &data->subjects[i];
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++) is_first = !mt_report_is_same_group(&data->subjects[k], first);
        if (!is_first) continue;
        total t = {0};
        for (size_t k = i; k < data->count; k++)
            if (mt_report_is_same_group(first, &data->subjects[k])) count(&data->subjects[k], &t);
        if (strcmp(gpu, first->gpu_key) != 0) begin_gpu(doc, first->gpu_name);
        gpu = first->gpu_key;
        add_group(first, &t, doc);
    }
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    total all = {0};
    (void)err;
    for (size_t i = 0; i < context->data->count; i++) count(&context->data->subjects[i], &all);
    add_figures(context->data, &all, doc);
    if (all.by_default.count || all.by_baseline.count || all.of_floor.count) add_bars(context->data, doc);
    add_groups(context->data, doc);
    mt_doc_explain(doc, "groups", explanations);
    return MT_OK;
}

extern const mt_section mt_section_summary;
const mt_section mt_section_summary = {"summary", "Summary", render};
