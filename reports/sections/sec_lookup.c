/* What production is answered with: the portfolio, what it covers, and what that costs against the best. */
#include <math.h>

#include "reports/answers.h"

typedef struct state {
    const mt_report_context *context;
    mt_doc *doc;
    mt_strbuf *json;
    const mt_portfolio_info *portfolio;
    size_t rows;
} state;

static const mt_column portfolio_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"L2 cache", NULL}, {"Tuned shapes", "%.0f"}, {"Members", "%.0f"}, {"Apart", "%.0f"}, {"Not served", "%.0f"}, {"Worst served", "%.3f"}, {"Rows are", NULL},
                                              {"Within", "%.2f"}, {"Source", NULL}, {"Updated", NULL}, {0}};
enum { SHOWN_OF_PORTFOLIO = 9 };
static const mt_column covered_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Shape", NULL}, {"Workload", NULL}, {"Best (µs)", MT_DOC_US}, {"Best member", "%.0f"}, {"Its slowdown", "%.3f"},
                                            {"The default's", "%.3f"}, {"Default ended", NULL}, {0}};
static const mt_column member_columns[] = {{"GPU", NULL}, {"Kernel", NULL}, {"Member", "%.0f"}, {"Measured on", "%.0f"}, {"Mean slowdown", "%.3f"}, {"Worst", "%.3f"}, {"Knobs", NULL}, {0}};

static mt_status add_portfolio(void *context, const mt_portfolio_info *p, mt_error *err)
{
    state *s = context;
    (void)err;
    s->rows++;
    mt_doc_text(s->doc, p->gpu_name);
    mt_doc_text(s->doc, p->kernel);
    mt_doc_text(s->doc, p->l2);
    const double numbers[] = {(double)p->shapes, (double)p->members, (double)p->apart, (double)p->unserved, p->worst};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_doc_number(s->doc, numbers[i]);
    mt_doc_text(s->doc, p->origin);
    mt_doc_number(s->doc, p->within);
    mt_doc_textf(s->doc, "%.8s", p->kernel_key);
    mt_doc_time(s->doc, p->updated_unix_ms);
    return MT_OK;
}

static mt_status add_covered(void *context, const mt_covered_info *c, mt_error *err)
{
    state *s = context;
    (void)err;
    if (s->rows++ >= s->context->most_rows) return MT_OK;
    const char *texts[] = {s->portfolio->gpu_name, s->portfolio->kernel, c->shape, c->workload};
    for (size_t i = 0; i < 4; i++) mt_doc_text(s->doc, texts[i]);
    const double numbers[] = {c->best_ns / 1e3, c->position ? (double)c->position : NAN, c->slowdown, c->default_slowdown};
    for (size_t i = 0; i < 4; i++) mt_doc_number(s->doc, numbers[i]);
    mt_doc_text(s->doc, c->default_outcome ? c->default_outcome : "not measured");
    return MT_OK;
}

static mt_status add_covered_json(void *context, const mt_covered_info *c, mt_error *err)
{
    enum { MOST_CHARTED = 1000 };
    state *s = context;
    mt_strbuf label = {0};
    (void)err;
    if (s->rows++ >= MOST_CHARTED) return MT_OK;
    mt_strbuf_addf(&label, "%s · %s", c->shape, c->workload);
    mt_strbuf_add(s->json, s->json->length ? ",[" : "[");
    mt_strbuf_add_json(s->json, mt_strbuf_text(&label));
    mt_strbuf_free(&label);
    mt_strbuf_add_char(s->json, ',');
    mt_json_double(s->json, c->slowdown, 9);
    mt_strbuf_add_char(s->json, ',');
    mt_json_double(s->json, c->default_slowdown, 9);
    mt_strbuf_add_char(s->json, ']');
    return MT_OK;
}

static mt_status add_member(void *context, const mt_member_info *m, mt_error *err)
{
    state *s = context;
    (void)err;
    mt_doc_text(s->doc, s->portfolio->gpu_name);
    mt_doc_text(s->doc, s->portfolio->kernel);
    const double numbers[] = {(double)m->position, (double)m->measured, m->mean, m->worst};
    for (size_t i = 0; i < 4; i++) mt_doc_number(s->doc, numbers[i]);
    mt_doc_knobs(s->doc, m->variant);
    return MT_OK;
}

static mt_status each_covered(void *context, const mt_portfolio_info *p, mt_error *err)
{
    ((state *)context)->portfolio = p;
    return mt_query_covered(((state *)context)->context->store, p->id, add_covered, context, err);
}

static mt_status each_charted(void *context, const mt_portfolio_info *p, mt_error *err)
{
    return mt_query_covered(((state *)context)->context->store, p->id, add_covered_json, context, err);
}

static mt_status each_member(void *context, const mt_portfolio_info *p, mt_error *err)
{
    ((state *)context)->portfolio = p;
    return mt_query_members(((state *)context)->context->store, p->id, add_member, context, err);
}

static const mt_explanation of_answers[] = {
    {"Exactly", NULL, "Counted is what libtunelookup answers, as msda-tune lookup prints it. A shape with a row of its own gets that winner. Another one gets what was measured on shapes like it, unless that is expected to "
                      "lose to the default, which then answers."},
    {"Usually", NULL, "Usually and at worst: how many times its own best that takes; each of these shapes was held out once, and asked for as if it had not been tuned."},
    {"Rows are", "recorded", "Rows that were recorded answer only programs that allow it."}, {0}};
static const mt_explanation of_expected[] = {
    {"Expected", NULL, "Expected: what libtunelookup says of this very shape, as a multiple of its best."},
    {"Interval", NULL, "Interval: in nine of ten cases it is no slower than that, as shapes that were left out say; where too few were tuned, no bound is known."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    mt_strbuf rows = {0};
    state s = {.context = context, .doc = doc, .json = &rows};
    mt_status st;
    MT_TRY(mt_query_portfolios(context->store, context->filter, each_charted, &s, err));
    if (s.rows) mt_strbuf_addf(mt_doc_chart(doc, "lookup", "How far the portfolio's best member and the default are from each tuned shape's own winner"), "\"rows\":[%s]", mt_strbuf_text(&rows));
    MT_TRY(mt_answers_add(context, doc, err));
    mt_doc_table(doc, "portfolios", "Portfolios: the fewest variants that cover the tuned shapes", portfolio_columns);
    mt_doc_fold(doc, 0, SHOWN_OF_PORTFOLIO, "Details");
    mt_doc_group(doc, false, "Portfolios: the fewest variants that cover the tuned shapes", "", "");
    s.rows = 0;
    MT_TRY(mt_query_portfolios(context->store, context->filter, add_portfolio, &s, err));
    bool has_any = s.rows;
    mt_doc_table(doc, "members", "The portfolio's members", member_columns);
    MT_TRY(mt_query_portfolios(context->store, context->filter, each_member, &s, err));
    mt_doc_table(doc, "covered", "What the portfolio costs on each tuned shape", covered_columns);
    s.rows = 0;
    MT_TRY(mt_query_portfolios(context->store, context->filter, each_covered, &s, err));
    if (s.rows > context->most_rows) mt_doc_note(doc, "%zu more shapes are not listed here; --format csv --section lookup lists all.", s.rows - context->most_rows);
    mt_doc_explain(doc, "answers", of_answers);
    mt_doc_explain(doc, "unanswered", of_expected);
    mt_doc_explain(doc, "misses", of_expected);
    if (!context->misses) mt_doc_note(doc, "msda-tune report --misses FILE adds what production asked for in vain.");
    if (has_any)
        mt_doc_note(doc, "Apart: shapes on which no member is within that factor of the best of every workload. Not served: on which none is within it of the best single variant for all of the shape's workloads, "
                         "which have different winners where the two differ. Worst served: the best member's slowdown there, against a workload's own best.");
    if (has_any)
        mt_doc_note(doc, "A tuned shape is answered with its own winner. For others the predictor chooses, not among the members alone, but among all variants that are within a quarter of the best on some tuned shape; msda-tune portfolio --evaluate prints what it answers for each tuned shape "
                         "that is held out.");
    else mt_doc_note(doc, "No portfolio yet: it takes more than one tuned shape of a kernel, or msda-tune portfolio.");
done:
    doc->failed = doc->failed || rows.failed;
    mt_strbuf_free(&rows);
    return st;
}

extern const mt_section mt_section_lookup;
const mt_section mt_section_lookup = {"lookup", "What production gets", render};
