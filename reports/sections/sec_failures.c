/* How evaluations ended, what failed ones said, which knobs they share, and what is not run again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/knobs.h"
#include "reports/section.h"
#include "tuner/base/alloc.h"

/* ---- by kind ---- */

static const mt_column kind_columns[] = {{"Outcome", NULL}, {"Means", NULL}, {"Evaluations", "%.0f"}, {"% of all", "%.1f"}, {"Not run", "%.0f"}, {0}};

static const char *meaning_of(mt_outcome_kind kind)
{
    switch (kind) {
#define MT_MEANING(name, text, meaning) case MT_OUTCOME_##name: return meaning;
        MT_OUTCOME_MAP(MT_MEANING)
#undef MT_MEANING
    default: return "";
    }
}

/* What does not count as an evaluation has a column of its own, so that all sections speak of as many. */
static void add_kind(mt_doc *doc, mt_outcome_kind kind, const char *meaning, size_t count, size_t evaluations)
{
    const bool is_run = mt_outcome_is_run(kind);
    if (!count) return;
    mt_doc_text(doc, mt_outcome_name(kind));
    mt_doc_text(doc, meaning);
    mt_doc_number(doc, is_run ? (double)count : NAN);
    mt_doc_number(doc, is_run ? 100 * (double)count / (double)evaluations : NAN);
    mt_doc_number(doc, is_run ? NAN : (double)count);
}

/* A row that a file brought, with a time and no error against a reference: nobody here validated it, and the file does not say that somebody did. */
static bool is_taken_on_trust(const mt_row *row) { return row->kind == MT_OUTCOME_OK && !row->is_clocked && isnan(row->norm_error); }

static void add_kinds(const mt_report_data *data, mt_doc *doc)
{
    size_t counts[MT_OUTCOME_KIND_COUNT] = {0}, trusted = 0;
    for (size_t i = 0; i < data->count; i++)
        for (size_t k = 0; k < data->subjects[i].count; k++) {
            counts[data->subjects[i].rows[k].kind]++;
            trusted += is_taken_on_trust(&data->subjects[i].rows[k]);
        }
    counts[MT_OUTCOME_OK] -= trusted;
    mt_doc_table(doc, "outcomes", "How evaluations ended, and what was not run", kind_columns);
    add_kind(doc, MT_OUTCOME_OK, "timed; imported from a file that names no error against a reference, and not validated here", trusted, data->evaluations);
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) add_kind(doc, (mt_outcome_kind)kind, meaning_of((mt_outcome_kind)kind), counts[kind], data->evaluations);
}

/* "rows": [[label, [count of each kind]]]: of all subjects, since those with most failures are drawn. */
static void add_kind_chart(const mt_report_data *data, mt_doc *doc)
{
    mt_strbuf *json = mt_doc_chart(doc, "failures", "How the evaluations of each subject ended, and what was not run");
    mt_strbuf_add(json, "\"rows\":[");
    for (size_t i = 0; i < data->count; i++) {
        size_t counts[MT_OUTCOME_KIND_COUNT] = {0};
        for (size_t k = 0; k < data->subjects[i].count; k++) counts[data->subjects[i].rows[k].kind]++;
        mt_strbuf_add(json, i ? ",[" : "[");
        mt_strbuf_add_json(json, data->subjects[i].label);
        for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) mt_strbuf_addf(json, "%s%zu", kind ? "," : ",[", counts[kind]);
        mt_strbuf_add(json, "]]");
    }
    mt_strbuf_add_char(json, ']');
}

/* ---- by knob ---- */

static const mt_column knob_columns[] = {{"Subject", NULL}, {"Knob", NULL}, {"Value", NULL}, {"Failed", "%.0f"}, {"Of", "%.0f"}, {"% failed", "%.0f"}, {"% of the others", "%.0f"}, {0}};

/* Values of which more fail than of the knob's other values. */
static mt_status add_knobs(const mt_report_subject *s, size_t most, size_t *rows, mt_doc *doc, mt_error *err)
{
    size_t failed = 0, all = 0;
    for (size_t i = 0; i < s->count; i++) all += s->rows[i].is_newest && mt_outcome_is_run(s->rows[i].kind), failed += s->rows[i].is_newest && mt_outcome_is_failure(s->rows[i].kind);
    if (!failed) return MT_OK;
    mt_knob_effect *effects = mt_knobs_effects(s);
    if (!effects) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    for (size_t k = 0; k < s->knob_count; k++)
        for (size_t v = 0; v < s->knobs[k].count && *rows < most; v++) {
            const mt_level_effect *e = &effects[k].levels[v];
            double here = e->count ? 100.0 * (double)e->failed / (double)e->count : 0, elsewhere = all > e->count ? 100.0 * (double)(failed - e->failed) / (double)(all - e->count) : NAN;
            if (!e->failed || !(here > elsewhere)) continue;
            ++*rows;
            mt_doc_subject(doc, s->place, s->label);
            mt_doc_text(doc, s->knobs[k].name);
            mt_doc_text(doc, s->knobs[k].values[v]);
            const double numbers[] = {(double)e->failed, (double)e->count, here, elsewhere};
            for (size_t i = 0; i < 4; i++) mt_doc_number(doc, numbers[i]);
        }
    mt_knobs_effects_free(s, effects);
    return MT_OK;
}

/* ---- what they said ---- */

static const mt_column text_columns[] = {{"Subject", NULL}, {"Outcome", NULL}, {"Times", "%.0f"}, {"Said", NULL}, {"One of them", NULL}, {0}};
typedef struct failure { const mt_report_subject *subject; const mt_row *row; size_t times; } failure;

static int by_text(const void *a, const void *b)
{
    const failure *x = a, *y = b;
    if (x->row->kind != y->row->kind) return x->row->kind < y->row->kind ? -1 : 1;
    int order = strcmp(x->row->text ? x->row->text : "", y->row->text ? y->row->text : "");
    if (!order && x->subject != y->subject) return x->subject->place < y->subject->place ? -1 : 1;
    return order ? order : (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

static int by_times(const void *a, const void *b)
{
    const failure *x = a, *y = b;
    bool has_run = mt_outcome_is_run(x->row->kind), has_other_run = mt_outcome_is_run(y->row->kind);
    if (has_run != has_other_run) return has_run ? -1 : 1;
    return x->times != y->times ? (x->times < y->times ? 1 : -1) : by_text(a, b);
}

static bool says_the_same(const failure *a, const failure *b)
{
    return a->subject == b->subject && a->row->kind == b->row->kind && strcmp(a->row->text ? a->row->text : "", b->row->text ? b->row->text : "") == 0;
}

/* One for each subject, kind and text, with how often; returns how many. */
static size_t merge(failure *all, size_t count)
{
    size_t kept = 0;
    qsort(all, count, sizeof *all, by_text);
    for (size_t i = 0; i < count; i++)
        if (kept && says_the_same(&all[kept - 1], &all[i])) all[kept - 1].times++;
        else all[kept] = all[i], all[kept++].times = 1;
    qsort(all, kept, sizeof *all, by_times);
    return kept;
}

static void add_text_row(const failure *f, size_t most_text, mt_doc *doc)
{
    const char *text = f->row->text ? f->row->text : "";
    char *excerpt = strlen(text) > most_text ? mt_strndup(text, most_text) : NULL;
    mt_doc_subject(doc, f->subject->place, f->subject->label);
    mt_doc_text(doc, mt_outcome_name(f->row->kind));
    mt_doc_number(doc, (double)f->times);
    if (*text) mt_doc_code(doc, excerpt ? excerpt : text);
    else mt_doc_text(doc, "no reason is stored"); /* rows as they are shipped */
    mt_doc_knobs(doc, f->row->variant);
    mt_free(excerpt);
}

/* A page shows the most frequent ones, and some of each subject, whose own page must not lack them. */
static mt_status add_texts(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    enum { MOST_SHOWN = 300, MOST_OF_SUBJECT = 3, MOST_TEXT = 4000, MOST_TEXT_BEYOND = 400 };
    const mt_report_data *data = context->data;
    bool is_page = context->most_rows != SIZE_MAX;
    failure *all = mt_alloc(data->rows, sizeof *all);
    size_t *of_subject = mt_alloc(data->count, sizeof *of_subject), count = 0, shown = 0;
    if (!all || !of_subject) {
        mt_free(all);
        mt_free(of_subject);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    }
    for (size_t i = 0; i < data->count; i++)
        for (size_t k = 0; k < data->subjects[i].count; k++)
            if (!mt_outcome_is_timed(data->subjects[i].rows[k].kind)) all[count++] = (failure){&data->subjects[i], &data->subjects[i].rows[k], 1};
    count = merge(all, count);
    mt_doc_table(doc, "texts", "What variants said that failed or did not run, equal texts of a subject once, with one variant", text_columns);
    for (size_t i = 0; i < count; i++) {
        bool is_beyond = is_page && shown >= MOST_SHOWN;
        if (is_beyond && of_subject[all[i].subject->place] >= MOST_OF_SUBJECT) continue;
        add_text_row(&all[i], !is_page ? SIZE_MAX : is_beyond ? MOST_TEXT_BEYOND : MOST_TEXT, doc);
        of_subject[all[i].subject->place]++;
        shown++;
    }
    mt_free(all);
    mt_free(of_subject);
    if (shown < count) mt_doc_note(doc, "%zu more texts are not shown; --format csv --section failures lists all.", count - shown);
    return MT_OK;
}

/* ---- quarantine and constraints ---- */

static const mt_column strike_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Is", NULL}, {"Why", NULL}, {"Strikes", "%.0f"}, {"Last", NULL}, {"Knobs", NULL}, {0}};
static const mt_column pruned_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"Left out by", NULL}, {"Why", NULL}, {"Points", "%.0f"}, {0}};

static mt_status add_strike(void *context, const mt_strike_info *strike, mt_error *err)
{
    mt_doc *doc = context;
    (void)err;
    const char *texts[] = {strike->gpu_name, strike->kernel, strike->shape, strike->is_quarantined ? "quarantined" : "warned", strike->cause};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) mt_doc_text(doc, texts[i]);
    mt_doc_number(doc, (double)strike->strikes);
    mt_doc_time(doc, strike->newest_unix_ms);
    mt_doc_knobs(doc, strike->variant);
    return MT_OK;
}

static mt_status add_pruned(void *context, const mt_pruned_info *info, mt_error *err)
{
    mt_doc *doc = context;
    (void)err;
    const char *texts[] = {info->subject.gpu_name, info->subject.kernel, info->subject.shape, info->subject.workload, info->constraint, info->why};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) mt_doc_text(doc, texts[i]);
    mt_doc_number(doc, (double)info->points);
    return MT_OK;
}

static const mt_explanation of_knobs[] = {{"Value", "–", "– as a value means that the knob is not active there, as in variants of another algorithm."}, {0}};
static const mt_explanation of_pruned[] = {{NULL, NULL, "These are points of the search space, counted or estimated from samples before a search; they are neither evaluations nor rows."},
                                             {"Left out by", "not recorded", "Not recorded: a replay searches what the recording has. All other points are counted here, also those that a constraint excludes; constraints have rows of their own only for points that are recorded."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    size_t rows = 0;
    mt_status st;
    add_kind_chart(context->data, doc);
    add_kinds(context->data, doc);
    mt_doc_table(doc, "failing_knobs", "Values with which more variants fail than with the knob's other values", knob_columns);
    for (size_t i = 0; i < context->data->count; i++) MT_TRY(add_knobs(&context->data->subjects[i], context->most_rows, &rows, doc, err));
    if (rows == context->most_rows) mt_doc_note(doc, "The list ends after %zu rows; --format csv --section failures lists all.", rows);
    MT_TRY(add_texts(context, doc, err));
    mt_doc_table(doc, "quarantine", "Variants with strikes: what is quarantined is not run again (msda-tune quarantine --lift)", strike_columns);
    MT_TRY(mt_query_strikes(context->store, context->filter, add_strike, doc, err));
    mt_doc_explain(doc, "failing_knobs", of_knobs);
    mt_doc_table(doc, "pruned", "Points that searches left out: a constraint excludes them, or the recording lacks them", pruned_columns);
    MT_TRY(mt_query_pruned(context->store, context->filter, add_pruned, doc, err));
    mt_doc_explain(doc, "pruned", of_pruned);
done:
    return st;
}

extern const mt_section mt_section_failures;
const mt_section mt_section_failures = {"failures", "Failures", render};
