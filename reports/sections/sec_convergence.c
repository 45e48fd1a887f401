/* How the best came down, by evaluation and by time. */
#include <math.h>

#include "reports/section.h"
#include "reports/timeline.h"
#include "tuner/base/alloc.h"

static const mt_column columns[] = {{"Subject", NULL}, {"Evaluations", "%.0f"}, {"Seconds", "%.1f"}, {"Within 10 % after", "%.0f"}, {"Within 5 % after", "%.0f"}, {"Within 1 % after", "%.0f"},
                                    {"Fastest after", "%.0f"}, {"Seconds to within 1 %", "%.1f"}, {"Fastest (µs)", MT_DOC_US}, {"Winner (µs)", MT_DOC_US}, {0}};

static void add_row(const mt_report_subject *s, mt_doc *doc)
{
    static const double margins[] = {1.10, 1.05, 1.01, 1.00};
    double best = INFINITY, after[4] = {NAN, NAN, NAN, NAN}, seconds_to = NAN, fastest = INFINITY;
    mt_timeline line = mt_timeline_begin(s);
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].kind == MT_OUTCOME_OK && s->rows[i].is_timed) fastest = fmin(fastest, s->rows[i].median_ns);
    for (size_t i = 0; i < s->count; i++) {
        mt_timeline_next(&line, &s->rows[i]);
        if (s->rows[i].kind != MT_OUTCOME_OK || !s->rows[i].is_timed || s->rows[i].median_ns >= best) continue;
        best = s->rows[i].median_ns;
        for (size_t k = 0; k < 4; k++)
            if (isnan(after[k]) && best <= fastest * margins[k]) {
                after[k] = (double)line.evaluation;
                if (k == 2) seconds_to = line.seconds;
            }
    }
    mt_doc_subject(doc, s->place, s->label);
    mt_doc_number(doc, (double)s->evaluations);
    mt_doc_number(doc, line.seconds);
    for (size_t k = 0; k < 4; k++) mt_doc_number(doc, after[k]);
    mt_doc_number(doc, seconds_to);
    mt_doc_number(doc, isfinite(best) ? best / 1e3 : NAN);
    mt_doc_number(doc, s->best && !s->is_so_far ? s->best_ns / 1e3 : NAN);
}

/* ---- what each arm of the strategy gave ---- */

static const mt_column arm_columns[] = {{"Subject", NULL}, {"Proposed by", NULL}, {"Evaluations", "%.0f"}, {"Failed", "%.0f"}, {"Improved the best so far", "%.0f"}, {"Last at evaluation", "%.0f"},
                                        {"Part of the way down (%)", "%.0f"}, {"Fastest (µs)", MT_DOC_US}, {"× the fastest of all", "%.3f"}, {0}};

/* What one arm gave. `way`: of the logarithm by which the best came down since the first time, what its improvements make. */
typedef struct arm_sum { size_t count, failed, better, last; double way, best_ns; } arm_sum;

static void sum_arms(const mt_report_subject *s, arm_sum *sums)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->arm_count; i++) sums[i] = (arm_sum){.best_ns = INFINITY};
    mt_timeline line = mt_timeline_begin(s);
    for (size_t i = 0; i < s->count; i++) {
        const mt_row *row = &s->rows[i];
        arm_sum *sum = &sums[row->arm];
        mt_timeline_next(&line, row);
        sum->count += mt_outcome_is_run(row->kind);
        sum->failed += mt_outcome_is_failure(row->kind);
        if (row->kind != MT_OUTCOME_OK || !row->is_timed) continue;
        sum->best_ns = fmin(sum->best_ns, row->median_ns);
        if (row->median_ns >= best) continue;
        if (isfinite(best)) sum->way += log(best / row->median_ns);
        if (isfinite(best)) sum->better++;
        sum->last = line.evaluation;
        best = row->median_ns;
    }
}

static mt_status add_arms(const mt_report_subject *s, mt_doc *doc, size_t most, size_t *rows, mt_error *err)
{
    if (!mt_report_has_arms(s)) return MT_OK;
    arm_sum *sums = mt_alloc(s->arm_count, sizeof *sums);
    double way = 0, best = INFINITY;
    if (!sums) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    sum_arms(s, sums);
    for (size_t i = 0; i < s->arm_count; i++) way += sums[i].way, best = fmin(best, sums[i].best_ns);
    for (size_t i = 0; i < s->arm_count && *rows < most; i++) {
        const arm_sum *sum = &sums[i];
        if (!sum->count) continue;
        ++*rows;
        mt_doc_subject(doc, s->place, s->label);
        mt_doc_text(doc, *s->arms[i] ? s->arms[i] : "not known");
        const double numbers[] = {(double)sum->count, (double)sum->failed, (double)sum->better, sum->last ? (double)sum->last : NAN, way > 0 ? 100 * sum->way / way : NAN,
                                  isfinite(sum->best_ns) ? sum->best_ns / 1e3 : NAN, isfinite(sum->best_ns) ? sum->best_ns / best : NAN};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) mt_doc_number(doc, numbers[k]);
    }
    mt_free(sums);
    return MT_OK;
}

static mt_status add_all_arms(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    size_t rows = 0;
    mt_status st = MT_OK;
    mt_doc_table(doc, "arms", "What each arm of the strategy gave", arm_columns);
    for (size_t i = 0; st == MT_OK && i < context->data->count; i++) st = add_arms(&context->data->subjects[i], doc, context->most_rows, &rows, err);
    if (rows == context->most_rows) mt_doc_note(doc, "The list of arms ends after %zu rows; --format csv --section convergence lists all.", rows);
    if (rows) mt_doc_note_on(doc, "arms", "Part of the way down: from the first time to the fastest, the best so far went down in steps, and this is the share of the steps that this arm made. A step counts by its factor: each halving counts the same. docs/search.md says what each arm does.");
    return st;
}

static const mt_explanation explanations[] = {
    {"Within 5", NULL, "Within 5 % after 40 means: the 40th evaluation was the first that came within 5 % of the fastest time that was ever measured here."},
    {"Seconds", NULL, "Time between sessions does not count, and evaluations that were imported have no seconds: when their files were read says nothing of a search."},
    {"Winner", NULL, "Fastest is the shortest time that a single evaluation had; Winner is what the final measured of the variant that it picked, and is what the first screen tells. "
                     "They differ where the final, which times near-ties side by side, told that another one is faster, or where power or heat held the clock down meanwhile."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    mt_doc_chart(doc, "convergence", "Each evaluation's time in the order they were made, and the best so far");
    mt_doc_table(doc, "convergence", "Evaluations until the fastest time of all was nearly reached", columns);
    for (size_t i = 0; i < data->count && i < context->most_rows; i++) add_row(&data->subjects[i], doc);
    if (data->count > context->most_rows) mt_doc_note(doc, "%zu more subjects are not listed here; --format csv lists all.", data->count - context->most_rows);
    mt_doc_explain(doc, "convergence", explanations);
    return add_all_arms(context, doc, err);
}

extern const mt_section mt_section_convergence;
const mt_section mt_section_convergence = {"convergence", "Convergence", render};
