/* How well each winner does on every other shape and GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/section.h"
#include "tuner/base/alloc.h"

enum { MOST_CHARTED = 60 };

static const mt_column winner_columns[] = {{"Winner of", NULL}, {"Also measured on", "%.0f"}, {"Not measured on", "%.0f"}, {"Failed on", "%.0f"}, {"Mean slowdown", "%.3f"}, {"Worst", "%.3f"},
                                           {"Worst on", NULL}, {"Knobs", NULL}, {0}};
static const mt_column cell_columns[] = {{"Winner of", NULL}, {"On", NULL}, {"Time (µs)", MT_DOC_US}, {"Best there (µs)", MT_DOC_US}, {"Slowdown", "%.3f"}, {"Outcome", NULL}, {0}};

/* Only subjects of one kernel, source or not, in one cache state and of one origin are compared. */
static bool compares(const mt_report_subject *a, const mt_report_subject *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && a->l2 == b->l2 && a->origin == b->origin && a->best && b->best;
}

/* Newest rows of a subject, sorted by variant, so that a matrix of many takes a search each. */
typedef struct row_index { const mt_row **rows; size_t count; } row_index;

static int by_variant(const void *a, const void *b) { return strcmp((*(const mt_row *const *)a)->variant, (*(const mt_row *const *)b)->variant); }

static const mt_row *find(const row_index *index, const char *variant)
{
    mt_row wanted = {.variant = (char *)variant};
    const mt_row *key = &wanted, **found = index->count ? bsearch(&key, index->rows, index->count, sizeof *index->rows, by_variant) : NULL;
    return found ? *found : NULL;
}

static row_index *make_indexes(const mt_report_data *data)
{
    row_index *indexes = mt_alloc(data->count, sizeof *indexes);
    bool is_ok = indexes != NULL;
    for (size_t i = 0; is_ok && i < data->count; i++) {
        const mt_report_subject *s = &data->subjects[i];
        is_ok = (indexes[i].rows = mt_alloc(s->count, sizeof *indexes[i].rows)) != NULL;
        for (size_t k = 0; is_ok && k < s->count; k++)
            if (s->rows[k].is_newest) indexes[i].rows[indexes[i].count++] = &s->rows[k];
        if (is_ok) qsort(indexes[i].rows, indexes[i].count, sizeof *indexes[i].rows, by_variant);
    }
    if (is_ok) return indexes;
    for (size_t i = 0; indexes && i < data->count; i++) mt_free(indexes[i].rows);
    mt_free(indexes);
    return NULL;
}

static double slowdown_of(const mt_row *row, const mt_report_subject *on)
{
    return row && row->kind == MT_OUTCOME_OK && row->is_timed ? fmax(1, row->median_ns / on->best_ns) : NAN;
}

static bool add_winner(const mt_report_data *data, const row_index *indexes, size_t i, mt_doc *doc)
{
    const mt_report_subject *s = &data->subjects[i], *worst_on = NULL;
    size_t measured = 0, missing = 0, failed = 0;
    mt_geomean mean = {0};
    double worst = NAN;
    for (size_t k = 0; k < data->count; k++) {
        if (k == i || !compares(s, &data->subjects[k])) continue;
        const mt_row *row = find(&indexes[k], s->best);
        double slowdown = slowdown_of(row, &data->subjects[k]);
        missing += !row || !mt_outcome_is_run(row->kind);
        failed += row && mt_outcome_is_failure(row->kind);
        if (isnan(slowdown)) continue;
        measured++;
        mt_geomean_add(&mean, slowdown);
        if (!(worst >= slowdown)) worst = slowdown, worst_on = &data->subjects[k];
    }
    if (!measured && !missing && !failed) return false;
    mt_doc_subject(doc, s->place, s->label);
    const double numbers[] = {(double)measured, (double)missing, (double)failed, mt_geomean_of(&mean), worst};
    for (size_t k = 0; k < 5; k++) mt_doc_number(doc, numbers[k]);
    mt_doc_text(doc, worst_on ? worst_on->label : "");
    mt_doc_knobs(doc, s->best);
    return true;
}

static void add_cell(const mt_report_subject *of, const mt_report_subject *on, const mt_row *row, mt_doc *doc)
{
    mt_doc_subject(doc, of->place, of->label);
    mt_doc_text(doc, on->label);
    const double numbers[] = {row->median_ns / 1e3, on->best_ns / 1e3, slowdown_of(row, on)};
    for (size_t k = 0; k < 3; k++) mt_doc_number(doc, numbers[k]);
    mt_doc_text(doc, mt_outcome_name(row->kind));
}

/* "labels":[…],"cells":[[winner, on, slowdown | null = failed]]. What is missing was not measured. */
static void add_chart(const mt_report_data *data, const row_index *indexes, mt_doc *doc)
{
    mt_strbuf *json = mt_doc_chart(doc, "portability", "Slowdown of each winner (rows) on every subject (columns); red where it failed or was stopped early, empty where it was not measured");
    size_t shown = data->count < MOST_CHARTED ? data->count : MOST_CHARTED;
    mt_strbuf_add(json, "\"labels\":[");
    for (size_t i = 0; i < shown; i++) {
        if (i) mt_strbuf_add_char(json, ',');
        mt_strbuf_add_json(json, data->subjects[i].label);
    }
    mt_strbuf_add(json, "],\"cells\":[");
    bool is_first = true;
    for (size_t i = 0; i < shown; i++)
        for (size_t k = 0; k < shown; k++) {
            const mt_row *row = compares(&data->subjects[i], &data->subjects[k]) ? find(&indexes[k], data->subjects[i].best) : NULL;
            if (!row || (i != k && !mt_outcome_is_run(row->kind))) continue;
            mt_strbuf_addf(json, "%s[%zu,%zu,", is_first ? "" : ",", i, k);
            mt_json_double(json, i == k ? 1 : slowdown_of(row, &data->subjects[k]), 9);
            mt_strbuf_add_char(json, ']');
            is_first = false;
        }
    mt_strbuf_add_char(json, ']');
    if (shown < data->count) mt_doc_note(doc, "The chart shows the first %zu of %zu subjects; the table sums up all.", shown, data->count);
}

static void add_cells(const mt_report_context *context, const row_index *indexes, mt_doc *doc)
{
    const mt_report_data *data = context->data;
    size_t rows = 0, left_out = 0;
    mt_doc_table(doc, "cells", "Winners elsewhere", cell_columns);
    for (size_t i = 0; i < data->count; i++)
        for (size_t k = 0; k < data->count; k++) {
            if (i == k || !compares(&data->subjects[i], &data->subjects[k])) continue;
            const mt_row *row = find(&indexes[k], data->subjects[i].best);
            if (!row) continue;
            if (rows++ < context->most_rows) add_cell(&data->subjects[i], &data->subjects[k], row, doc);
            else left_out++;
        }
    if (left_out) mt_doc_note(doc, "%zu more cells are summed up above; --format csv --section portability lists all.", left_out);
}

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    const mt_report_data *data = context->data;
    row_index *indexes = make_indexes(data);
    size_t rows = 0;
    if (!indexes) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    if (data->count > 1) add_chart(data, indexes, doc);
    mt_doc_table(doc, "portability", "Each winner on the other shapes, workloads and GPUs", winner_columns);
    for (size_t i = 0; i < data->count && rows < context->most_rows; i++)
        if (data->subjects[i].best) rows += add_winner(data, indexes, i, doc);
    if (rows == context->most_rows) mt_doc_note(doc, "The list ends after %zu winners; --format csv --section portability lists all.", rows);
    add_cells(context, indexes, doc);
    if (!rows) mt_doc_note(doc, "There is one subject only: nothing to compare with.");
    else mt_doc_note(doc, "Slowdown: the winner's time there over the best time there. A winner that was not measured elsewhere has no cell: msda-tune portfolio --measure fills them.");
    for (size_t i = 0; i < data->count; i++) mt_free(indexes[i].rows);
    mt_free(indexes);
    return MT_OK;
}

extern const mt_section mt_section_portability;
const mt_section mt_section_portability = {"portability", "Portability", render};
