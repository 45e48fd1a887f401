/* report --diff: two sides, subject by subject. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/section.h"
#include "tuner/base/alloc.h"

static const mt_column columns[] = {{"Verdict", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"A (µs)", MT_DOC_US}, {"B (µs)", MT_DOC_US}, {"Change (%)", "%+.2f"}, {"From", "%+.2f"}, {"To", "%+.2f"},
                                    {"Is", NULL}, {"L2 cache", NULL}, {"GPU A", NULL}, {"GPU B", NULL}, {"A from", MT_DOC_US}, {"A to", MT_DOC_US}, {"B from", MT_DOC_US}, {"B to", MT_DOC_US}, {"NVRTC A", NULL},
                                    {"Driver A", NULL}, {"NVRTC B", NULL}, {"Driver B", NULL}, {"Measured A", NULL}, {"Measured B", NULL}, {"Knobs A", NULL}, {"Knobs B", NULL}, {0}};
enum { SHOWN = 10 };

typedef struct pair {
    char *label;
    mt_diff_verdict verdict;
    mt_diff_ratio ratio;
} pair;

typedef struct state {
    mt_doc *doc;
    double threshold;
    bool with_variants;
    pair *pairs;               /* winners, for the chart */
    double *keys;              /* of all rows: what they are ordered by */
    size_t rows, key_capacity;
    size_t count, capacity, verdicts[4], only_a, only_b;
} state;

/* Regressions first, the worst of them first; then what is faster, what is not told apart, and what is the same. Winners before other variants, and last what one side lacks. */
static double rank_of(bool is_winner, mt_diff_verdict verdict, const mt_diff_ratio *ratio)
{
    static const int places[] = {[MT_DIFF_SLOW] = 0, [MT_DIFF_FAST] = 1, [MT_DIFF_AMBG] = 2, [MT_DIFF_SAME] = 3};
    double place = ratio ? places[verdict] : 20, part = ratio && isfinite(ratio->change) ? atan(ratio->change) / 4 : 0;
    return 10 * (!is_winner) + place - part; /* |part| < 0.4: it orders within a place */
}

static bool keep_key(state *s, double key)
{
    double *keys = mt_grow(s->keys, s->rows, &s->key_capacity, sizeof *keys);
    if (!keys) return false;
    s->keys = keys;
    keys[s->rows++] = key;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    double p = rank_of(true, x->verdict, &x->ratio), q = rank_of(true, y->verdict, &y->ratio);
    return p != q ? (p < q ? -1 : 1) : strcmp(x->label, y->label);
}

static void add_interval(mt_doc *doc, const mt_diff_time *t)
{
    mt_doc_number(doc, t ? t->low_ns / 1e3 : NAN);
    mt_doc_number(doc, t ? t->high_ns / 1e3 : NAN);
}

static void add_row(mt_doc *doc, const mt_diff_subject *s, const char *is, const mt_diff_time *a, const mt_diff_time *b, const char *verdict, const mt_diff_ratio *ratio)
{
    char model[64];
    const mt_diff_time *sides[] = {a, b};
    const char *texts[] = {verdict, s->kernel, s->shape, s->workload};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) mt_doc_text(doc, texts[i]);
    for (size_t i = 0; i < 2; i++) mt_doc_number(doc, sides[i] ? sides[i]->median_ns / 1e3 : NAN);
    mt_doc_number(doc, ratio ? 100 * ratio->change : NAN);
    mt_doc_number(doc, ratio ? 100 * ratio->low : NAN);
    mt_doc_number(doc, ratio ? 100 * ratio->high : NAN);
    mt_doc_text(doc, is);
    mt_doc_text(doc, s->l2);
    mt_doc_text(doc, mt_gpu_model(s->gpu_a, model, sizeof model));
    mt_doc_text(doc, mt_gpu_model(s->gpu_b, model, sizeof model));
    for (size_t i = 0; i < 2; i++) add_interval(doc, sides[i]);
    for (size_t i = 0; i < 2; i++) {
        mt_doc_cuda(doc, sides[i] ? sides[i]->nvrtc_version : 0);
        mt_doc_cuda(doc, sides[i] ? sides[i]->driver_version : 0);
    }
    for (size_t i = 0; i < 2; i++) mt_doc_time(doc, sides[i] ? sides[i]->created_unix_ms : 0);
    for (size_t i = 0; i < 2; i++) mt_doc_knobs(doc, sides[i] ? sides[i]->variant : "");
}

static bool keep_pair(state *s, const mt_diff_subject *d, mt_diff_verdict verdict, const mt_diff_ratio *ratio)
{
    char model[64];
    mt_strbuf label = {0};
    pair *pairs = mt_grow(s->pairs, s->count, &s->capacity, sizeof *pairs);
    if (!pairs) return false;
    s->pairs = pairs;
    mt_strbuf_addf(&label, "%s · %s", d->kernel, d->shape);
    if (strcmp(d->workload, "default") != 0) mt_strbuf_addf(&label, " · %s", d->workload);
    if (strcmp(d->l2, "cold") != 0) mt_strbuf_addf(&label, " · %s", d->l2);
    if (strcmp(d->gpu_a, d->gpu_b) == 0) mt_strbuf_addf(&label, " · %s", mt_gpu_model(d->gpu_a, model, sizeof model));
    pairs[s->count] = (pair){mt_strbuf_take(&label), verdict, *ratio};
    return pairs[s->count++].label != NULL;
}

static mt_status no_memory(mt_error *err) { return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory"); }

static mt_status on_subject(void *context, const mt_diff_subject *d, mt_error *err)
{
    state *s = context;
    mt_diff_ratio ratio;
    if (!d->a || !d->b) {
        (*(d->a ? &s->only_a : &s->only_b))++;
        add_row(s->doc, d, "winner", d->a, d->b, d->a ? "only A" : "only B", NULL);
        return keep_key(s, rank_of(true, MT_DIFF_AMBG, NULL)) ? MT_OK : no_memory(err);
    }
    mt_diff_verdict verdict = mt_diff_judge(d->a, d->b, s->threshold, &ratio);
    s->verdicts[verdict]++;
    add_row(s->doc, d, strcmp(d->a->variant, d->b->variant) == 0 ? "winner" : "winners", d->a, d->b, mt_diff_verdict_name(verdict), &ratio);
    if (!keep_key(s, rank_of(true, verdict, &ratio)) || !keep_pair(s, d, verdict, &ratio)) return no_memory(err);
    for (size_t i = 0; s->with_variants && i < d->variant_count; i++) {
        verdict = mt_diff_judge(&d->variants_a[i], &d->variants_b[i], s->threshold, &ratio);
        add_row(s->doc, d, "variant", &d->variants_a[i], &d->variants_b[i], mt_diff_verdict_name(verdict), &ratio);
        if (!keep_key(s, rank_of(false, verdict, &ratio))) return no_memory(err);
    }
    return MT_OK;
}

static void add_summary(const state *s, mt_doc *doc)
{
    static const struct { mt_diff_verdict verdict; const char *words; } verdicts[] = {
        {MT_DIFF_SLOW, "SLOW: B is slower"}, {MT_DIFF_FAST, "FAST: B is faster"}, {MT_DIFF_AMBG, "AMBG: not told apart"}, {MT_DIFF_SAME, "SAME"}};
    for (size_t i = 0; i < 4; i++) mt_doc_figure(doc, verdicts[i].words, "%zu", s->verdicts[verdicts[i].verdict]);
    mt_doc_figure(doc, "Only in A", "%zu", s->only_a);
    mt_doc_figure(doc, "Only in B", "%zu", s->only_b);
    mt_doc_note(doc, "SAME: the whole interval of the change lies within ± %.3g %%. FAST, SLOW: B is faster, slower, and the 95 %% intervals do not meet. AMBG: the measurements do not tell.", 100 * s->threshold);
}

static void add_chart(const state *s, mt_doc *doc)
{
    mt_strbuf *json = mt_doc_chart(doc, "diff", "Change of each winner's time from A to B with its interval; the band is what counts as the same");
    mt_strbuf_addf(json, "\"threshold\":%.6g,\"rows\":[", 100 * s->threshold);
    enum { MOST_CHARTED = 40 };
    for (size_t i = 0; i < s->count && i < MOST_CHARTED; i++) {
        mt_strbuf_add(json, i ? ",[" : "[");
        mt_strbuf_add_json(json, s->pairs[i].label);
        const double numbers[] = {100 * s->pairs[i].ratio.change, 100 * s->pairs[i].ratio.low, 100 * s->pairs[i].ratio.high};
        for (size_t k = 0; k < 3; k++) mt_strbuf_add_char(json, ','), mt_json_double(json, numbers[k], 5);
        mt_strbuf_addf(json, ",\"%s\"]", mt_diff_verdict_name(s->pairs[i].verdict));
    }
    mt_strbuf_add_char(json, ']');
    if (s->count > MOST_CHARTED) mt_doc_note(doc, "The chart shows the first %d of %zu subjects, regressions before all; the table has all.", MOST_CHARTED, s->count);
}

mt_status mt_report_make_diff(const mt_diff_side *a, const mt_diff_side *b, const char *const names[2], const mt_diff_filter *filter, double threshold, bool with_variants, mt_doc *doc, size_t *slower, mt_error *err)
{
    state s = {.doc = doc, .threshold = threshold, .with_variants = with_variants};
    mt_strbuf source = {0};
    mt_status st;
    mt_strbuf_addf(&source, "A: %s · B: %s", names[0], names[1]);
    doc->title = mt_strdup("msda-tune comparison");
    doc->source = mt_strbuf_take(&source);
    mt_doc_section_begin(doc, "rows", "Subject by subject");
    mt_doc_table(doc, "diff", "Subject by subject", columns);
    mt_doc_fold(doc, 0, SHOWN, "Details");
    mt_doc_group(doc, false, "On both sides, regressions first", "", "");
    MT_TRY(mt_diff_run(a, b, filter, on_subject, &s, err));
    if (!s.count) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "report: A and B have no subject in common (%zu only in A, %zu only in B)", s.only_a, s.only_b);
    if (st != MT_OK) goto done;
    mt_doc_sort(doc, s.keys);
    mt_doc_split(doc, s.rows - s.only_a - s.only_b, true, "On one side only");
    qsort(s.pairs, s.count, sizeof *s.pairs, by_rank);
    add_chart(&s, doc);
    *slower = s.verdicts[MT_DIFF_SLOW];
    mt_doc_section_begin(doc, "summary", "A against B");
    add_summary(&s, doc);
    if (!mt_doc_is_ok(doc) || !doc->title || !doc->source) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    else {
        mt_doc_section first = doc->sections[0];
        doc->sections[0] = doc->sections[1];
        doc->sections[1] = first;
    }
done:
    for (size_t i = 0; i < s.count; i++) mt_free(s.pairs[i].label);
    mt_free(s.pairs);
    mt_free(s.keys);
    return st;
}
