/* Accuracy against speed: which variants nothing beats in both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/section.h"
#include "tuner/base/alloc.h"

static const mt_column columns[] = {{"Subject", NULL}, {"Time (µs)", MT_DOC_US}, {"× best", "%.3f"}, {"Error", "%.2g"}, {"Knobs", NULL}, {0}};

static int by_time(const void *a, const void *b)
{
    double x = (*(const mt_row *const *)a)->median_ns, y = (*(const mt_row *const *)b)->median_ns;
    return (x > y) - (x < y);
}

static mt_status add_front(const mt_report_subject *s, size_t most, size_t *rows, mt_doc *doc, mt_error *err)
{
    const mt_row **sorted = mt_alloc(s->count, sizeof *sorted);
    size_t count = 0;
    double least = INFINITY;
    if (!sorted) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].is_newest && s->rows[i].kind == MT_OUTCOME_OK && s->rows[i].is_timed && isfinite(s->rows[i].norm_error)) sorted[count++] = &s->rows[i];
    qsort(sorted, count, sizeof *sorted, by_time);
    for (size_t i = 0; i < count && *rows < most; i++) {
        if (sorted[i]->norm_error >= least) continue;
        least = sorted[i]->norm_error;
        ++*rows;
        mt_doc_subject(doc, s->place, s->label);
        mt_doc_number(doc, sorted[i]->median_ns / 1e3);
        mt_doc_number(doc, sorted[i]->median_ns / sorted[0]->median_ns);
        mt_doc_number(doc, least);
        mt_doc_knobs(doc, sorted[i]->variant);
    }
    mt_free(sorted);
    return MT_OK;
}

static bool is_first_of_kernel(const mt_report_data *data, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(data->subjects[k].kernel, data->subjects[i].kernel) == 0 && strcmp(data->subjects[k].kernel_key, data->subjects[i].kernel_key) == 0) return false;
    return true;
}

/* Errors against the default variant say nothing about what is right, and times of units nothing about a run. */
static mt_status note_terms(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    for (size_t i = 0; i < data->count; i++) {
        mt_kernel_terms terms;
        if (!is_first_of_kernel(data, i)) continue;
        mt_status st = mt_query_terms(context->store, data->subjects[i].kernel, data->subjects[i].kernel_key, &terms, err);
        if (st != MT_OK) return st;
        if (terms.per[0]) mt_doc_note_on(doc, "front", "%s, source %.8s: times are per unit of work (per = %s).", data->subjects[i].kernel, data->subjects[i].kernel_key, terms.per);
        if (terms.is_by_default) mt_doc_note_on(doc, "front", "%s, source %.8s: the reference is what the default variant computes (reference = default).", data->subjects[i].kernel, data->subjects[i].kernel_key);
    }
    return MT_OK;
}

static const mt_explanation explanations[] = {
    {NULL, NULL, "Error: norm of the difference to the reference over the reference's norm, the worst output over the seeds. Only variants within the search space's tolerance are valid at all."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    size_t rows = 0;
    mt_status st = MT_OK;
    mt_doc_chart(doc, "accuracy", "Each validated variant's error against its time; the line joins those that nothing beats in both");
    mt_doc_table(doc, "front", "Variants that nothing beats in both time and error", columns);
    for (size_t i = 0; i < context->data->count; i++) MT_TRY(add_front(&context->data->subjects[i], context->most_rows, &rows, doc, err));
    if (rows == context->most_rows) mt_doc_note(doc, "The list ends after %zu rows; --format csv --section accuracy lists all.", rows);
    mt_doc_explain(doc, "front", explanations);
    if (!rows) mt_doc_note(doc, "No variant has an error against a reference.");
    else st = note_terms(context, doc, err);
done:
    return st;
}

extern const mt_section mt_section_accuracy;
const mt_section mt_section_accuracy = {"accuracy", "Accuracy against speed", render};
