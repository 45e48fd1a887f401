/* A portfolio for programs. */
#include <math.h>
#include <stdio.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/output/portfolio_print.h"

static void add_text(mt_strbuf *out, const char *before, const char *text)
{
    mt_strbuf_add(out, before);
    mt_strbuf_add_json(out, text);
}

static void add_factor(mt_strbuf *out, const char *name, double log2_slowdown)
{
    if (isfinite(log2_slowdown)) mt_strbuf_addf(out, ",\"%s\":%.6g", name, exp2(log2_slowdown));
    else mt_strbuf_addf(out, ",\"%s\":null", name);
}

static mt_status add_members(mt_strbuf *out, const mt_portfolio_view *view, mt_error *err)
{
    for (size_t k = 0; k < view->predictor->member_count; k++) {
        char *text = NULL;
        mt_status st = mt_query_variant_text(view->store, view->table->variants[view->predictor->members[k]], &text, err);
        if (st != MT_OK) return st;
        add_text(out, k ? "," : "", text);
        mt_free(text);
    }
    return MT_OK;
}

static void add_trial(mt_strbuf *out, const mt_portfolio_view *view, const mt_predictor_trial *t)
{
    bool has_nearest = t->nearest < view->table->shape_count;
    add_text(out, "{\"shape\":", view->table->shape_names[t->shape]);
    if (has_nearest) add_text(out, ",\"nearest\":", view->table->shape_names[t->nearest]);
    if (has_nearest && isfinite(t->distance)) mt_strbuf_addf(out, ",\"distance\":%.6g", t->distance);
    mt_strbuf_addf(out, ",\"is_default\":%s", t->variant == view->table->variant_count ? "true" : "false");
    add_factor(out, "slowdown", t->slowdown);
    add_factor(out, "expected", t->expected);
    add_factor(out, "bound", t->most);
    add_factor(out, "default_slowdown", t->by_default);
    add_factor(out, "by_volume", t->by_volume);
    mt_strbuf_add_char(out, '}');
}

static void add_score(mt_strbuf *out, const char *name, const mt_predictor_score *score)
{
    mt_strbuf_addf(out, ",\"%s\":{\"shapes\":%zu", name, score->count);
    add_factor(out, "geomean", score->count ? score->mean : NAN);
    add_factor(out, "worst", score->count ? score->worst : NAN);
    mt_strbuf_add_char(out, '}');
}

static mt_status add_evaluation(mt_strbuf *out, const mt_portfolio_view *view, mt_error *err)
{
    mt_predictor_evaluation e;
    mt_predictor_trial *trials = mt_alloc(view->table->shape_count + 1, sizeof *trials);
    if (!trials) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    mt_status st = mt_predictor_evaluate(&view->table->data, view->options, view->family, trials, &e, err);
    if (st == MT_OK) {
        mt_strbuf_add(out, ",\"left_out\":[");
        for (size_t i = 0; i < view->table->shape_count; i++) {
            if (i) mt_strbuf_add(out, ",\n  ");
            add_trial(out, view, &trials[i]);
        }
        mt_strbuf_add_char(out, ']');
        add_score(out, "predictor_alone", &e.alone);
        add_score(out, "best_of_several", &e.several);
        mt_strbuf_addf(out, ",\"not_measured\":%zu,\"bounded\":%zu,\"within_bound\":%zu", e.alone.unknown, e.bounded, e.within);
        add_score(out, "predictor", &e.predictor);
        add_score(out, "always_default", &e.by_default);
        add_score(out, "nearest_by_volume", &e.by_volume);
    }
    mt_free(trials);
    return st;
}

mt_status mt_portfolio_print_json(const mt_portfolio_view *view, bool with_evaluation, mt_error *err)
{
    mt_strbuf out = {0};
    mt_status st = MT_OK;
    add_text(&out, "{\"kernel\":", view->kernel);
    add_text(&out, ",\"kernel_key\":", view->kernel_key);
    add_text(&out, ",\"gpu\":", view->gpu_key);
    add_text(&out, ",\"l2\":", mt_l2_name(view->table->group.l2));
    add_text(&out, ",\"origin\":", mt_origin_name(view->table->group.origin));
    mt_strbuf_addf(&out, ",\"within\":%.6g,\"shapes\":%zu,\"unserved\":%zu,\"apart\":%zu", view->options->within, view->table->shape_count, view->predictor->unserved, view->predictor->apart);
    add_factor(&out, "worst", view->predictor->worst);
    mt_strbuf_add(&out, ",\"members\":[");
    MT_TRY(add_members(&out, view, err));
    mt_strbuf_add_char(&out, ']');
    if (with_evaluation) MT_TRY(add_evaluation(&out, view, err));
    mt_strbuf_add_char(&out, '}');
    if (out.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    else fputs(mt_strbuf_text(&out), stdout);
done:
    mt_strbuf_free(&out);
    return st;
}
