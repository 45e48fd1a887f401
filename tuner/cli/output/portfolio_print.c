#include "tuner/cli/output/portfolio_print.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"

/* "1.04×" of a log2; "-" for what is not known, "fails". */
static const char *factor(double log2_slowdown, char *out, size_t size)
{
    if (isnan(log2_slowdown)) snprintf(out, size, "-");
    else if (isinf(log2_slowdown)) snprintf(out, size, "fails");
    else snprintf(out, size, "%.2f×", exp2(log2_slowdown));
    return out;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_line(const char *name, const char *text)
{
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "%-13s", name);
    mt_print_clean(&line, text, 0);
    mt_print_wrapped(stdout, mt_strbuf_text(&line), 13, NULL);
    mt_strbuf_free(&line);
}

/* ---- members ---- */

static mt_status print_members(const mt_portfolio_view *view, mt_error *err)
{
    for (size_t k = 0; k < view->predictor->member_count; k++) {
        char *text = NULL;
        mt_strbuf line = {0};
        mt_status st = mt_query_variant_text(view->store, view->table->variants[view->predictor->members[k]], &text, err);
        if (st != MT_OK) return st;
        mt_strbuf_addf(&line, "  %2zu  ", k + 1);
        mt_print_knobs(&line, text);
        mt_print_wrapped(stdout, mt_strbuf_text(&line), 6, NULL);
        mt_strbuf_free(&line);
        mt_free(text);
    }
    return MT_OK;
}

/* Where a shape's workloads have different winners, no variant may be near each one's best: the portfolio is then chosen by what one variant can reach for all of them, and both are told. */
static void print_size(const mt_portfolio_view *view)
{
    const mt_predictor *predictor = view->predictor;
    size_t shapes = view->table->shape_count;
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "%zu variant%s; on %zu of %zu shape%s %s within %.0f %% of the best known, on the worst it takes %.2f×", predictor->member_count, plural(predictor->member_count),
                   shapes - predictor->apart, shapes, plural(shapes), predictor->member_count == 1 ? "it is" : "the best of them is", 100 * (view->options->within - 1), exp2(predictor->worst));
    if (predictor->apart != predictor->unserved) mt_strbuf_addf(&line, "; on %zu it is within %.0f %% of what one variant can reach for all workloads of the shape", shapes - predictor->unserved, 100 * (view->options->within - 1));
    if (predictor->is_exact && predictor->member_count > 1) mt_strbuf_add(&line, "; fewer variants do not suffice");
    print_line("Portfolio:", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
}

/* ---- shapes ---- */

/* Shapes down, the default and the members from `first` to before `last` across. */
static void fill_shapes(const mt_portfolio_view *view, size_t first, size_t last, mt_table *table)
{
    const mt_predictor_data *data = &view->table->data;
    char text[32];
    table->columns = 2 + last - first;
    mt_table_cell(table, "shape");
    mt_table_cell(table, "default");
    for (size_t k = first; k < last; k++) mt_table_cellf(table, "%zu", k + 1);
    for (size_t i = 0; i < data->shape_count; i++) {
        mt_table_cell(table, view->table->shape_names[i]);
        mt_table_cell(table, factor(data->default_slowdown[i], text, sizeof text));
        for (size_t k = first; k < last; k++) mt_table_cell(table, factor(data->slowdown[i * data->variant_count + view->predictor->members[k]], text, sizeof text));
    }
}

/* As many members side by side as the page holds, then the next ones. */
static void print_shapes(const mt_portfolio_view *view)
{
    enum { INDENT = 2 };
    size_t count = view->predictor->member_count, first = 0, last = count;
    char right[MT_RULE_VARIANTS + 4] = "l";
    memset(right + 1, 'r', MT_RULE_VARIANTS + 1);
    do {
        mt_table table = {.right = right};
        fill_shapes(view, first, last, &table);
        bool is_wide = INDENT + mt_table_width(&table) > MT_PAGE_COLUMNS && last > first + 1;
        if (!is_wide) {
            mt_table_print(&table, stdout, "  ");
            first = last;
        }
        last = is_wide ? last - 1 : count;
        mt_table_free(&table);
    } while (first < count);
}

/* ---- the rule ---- */

static void add_weights(mt_strbuf *line, const mt_portfolio_view *view)
{
    const mt_predictor_data *data = &view->table->data;
    char name[128];
    for (size_t i = 0; i < data->feature_count; i++) {
        size_t siblings = 1;
        if (i && data->name[i - 1] == data->name[i]) continue;
        while (i + siblings < data->feature_count && data->name[i + siblings] == data->name[i]) siblings++;
        mt_predictor_feature_name(view->table, i, name, sizeof name);
        mt_strbuf_addf(line, "%s%.*s %.2g", i ? ", " : "", (int)strcspn(name, "."), name, view->predictor->features[i].weight * (double)siblings);
    }
}

static void print_rule(const mt_portfolio_view *view)
{
    const mt_predictor *predictor = view->predictor;
    mt_strbuf line = {0};
    mt_strbuf_addf(&line, "the mean over tuned shapes, the nearer ones counting more; weights%s: ", predictor->is_learned ? " learned from the data" : "");
    add_weights(&line, view);
    if (view->table->data.loss) mt_strbuf_addf(&line, "; among the %d best of these the corrected cost model chooses", MT_RULE_LISTED);
    else if (predictor->cost_weight > 0) mt_strbuf_addf(&line, "; times follow (%s)^%.2f", view->table->time_digest ? "time by the cost model" : "blocks/SM", predictor->cost_weight);
    print_line("Rule:", mt_strbuf_text(&line));
    mt_strbuf_free(&line);
    if (!predictor->score.count) {
        print_line("Held out:", view->table->shape_count < 2 ? "nothing: one shape alone says nothing about others" : "nothing: the candidates were not measured on each other's shapes");
        return;
    }
    mt_strbuf held = {0};
    mt_strbuf_addf(&held, "%zu shape%s%s: what the rule offers takes geomean %.3f×, worst %.3f× of the best", predictor->score.count, plural(predictor->score.count),
        view->table->data.loss ? " that the correction of the cost model had not seen" : ", one at a time", exp2(predictor->score.mean), exp2(predictor->score.worst));
    if (predictor->score.unknown) mt_strbuf_addf(&held, "; on %zu more what it chose was not measured", predictor->score.unknown);
    print_line("Held out:", mt_strbuf_text(&held));
    mt_strbuf_free(&held);
}

/* Of a shape where the default may not run none is stored, and nothing measures it. */
static bool lacks_default(const mt_predictor_table *table, size_t shape)
{
    for (size_t i = 0; i < table->subject_count; i++) {
        const mt_predictor_subject *subject = &table->subjects[i];
        if (subject->shape == shape && subject->default_variant && isnan(subject->default_slowdown)) return true;
    }
    return false;
}

static void print_missing(const mt_portfolio_view *view)
{
    const mt_predictor_data *data = &view->table->data;
    size_t missing = 0, defaults = 0;
    mt_strbuf line = {0};
    for (size_t i = 0; i < data->shape_count; i++) {
        defaults += lacks_default(view->table, i);
        for (size_t k = 0; k < view->predictor->member_count; k++) missing += isnan(data->slowdown[i * data->variant_count + view->predictor->members[k]]);
    }
    if (missing) mt_strbuf_addf(&line, "%zu time%s of members on shapes", missing, plural(missing));
    if (defaults) mt_strbuf_addf(&line, "%sthe default's on %zu shape%s", missing ? ", " : "", defaults, plural(defaults));
    if (line.length) mt_strbuf_add(&line, "; --measure --space FILE measures them");
    if (line.length) print_line("Missing:", mt_strbuf_text(&line));
    if (view->table->left_out) printf("%-13s%zu tuned shapes beyond the first %d take no part\n", "Left out:", view->table->left_out, MT_RULE_SHAPES);
    mt_strbuf_free(&line);
}

mt_status mt_portfolio_print(const mt_portfolio_view *view, mt_error *err)
{
    printf("%s on %s, %s%s  [source %.8s]\n", view->kernel, view->gpu_key, mt_l2_name(view->table->group.l2), view->table->group.origin == MT_ORIGIN_RECORDED ? ", recorded" : "",
           view->kernel_key);
    print_size(view);
    mt_status st = print_members(view, err);
    if (st != MT_OK) return st;
    print_shapes(view);
    print_rule(view);
    print_missing(view);
    return MT_OK;
}

/* ---- evaluation ---- */

static void print_trials(const mt_portfolio_view *view, const mt_predictor_trial *trials)
{
    static const char *const names[] = {"left out", "nearest", "distance", "answer", "expected", "bound", "default", "by volume"};
    char text[32];
    mt_table table = {.columns = sizeof names / sizeof *names, .right = "llrrrrrr"};
    for (size_t i = 0; i < table.columns; i++) mt_table_cell(&table, names[i]);
    for (size_t i = 0; i < view->table->shape_count; i++) {
        const mt_predictor_trial *t = &trials[i];
        bool is_default = t->variant == view->table->variant_count;
        mt_table_cell(&table, view->table->shape_names[i]);
        mt_table_cell(&table, t->nearest < view->table->shape_count ? view->table->shape_names[t->nearest] : "-");
        if (isnan(t->distance)) mt_table_cell(&table, "-");
        else mt_table_cellf(&table, "%.2f", t->distance);
        mt_table_cellf(&table, "%s%s", is_default ? "default " : "", factor(t->slowdown, text, sizeof text));
        mt_table_cell(&table, factor(t->expected, text, sizeof text));
        mt_table_cell(&table, factor(t->most, text, sizeof text));
        mt_table_cell(&table, factor(t->by_default, text, sizeof text));
        mt_table_cell(&table, factor(t->by_volume, text, sizeof text));
    }
    mt_table_print(&table, stdout, "  ");
    mt_table_free(&table);
}

static void print_score(const char *name, const mt_predictor_score *score)
{
    printf("  %-20s geomean %.3f×  worst %.3f×\n", name, exp2(score->mean), exp2(score->worst));
}

static void print_alone(const mt_predictor_evaluation *e)
{
    const mt_predictor_score *score = &e->alone;
    if (score->count) printf("What lookup would have answered, over %zu shape%s: geomean %.3f×, worst %.3f×\n", score->count, plural(score->count), exp2(score->mean), exp2(score->worst));
    if (e->several.count) printf("The fastest of %d offers, as `tune --quick` takes them: geomean %.3f×, worst %.3f×\n", MT_PREDICTOR_SEVERAL, exp2(e->several.mean), exp2(e->several.worst));
    if (e->bounded) printf("The bound for nine of ten cases held in %zu of %zu\n", e->within, e->bounded);
    if (score->unknown) printf("On %zu shape%s its answer was not measured: --measure --space FILE measures more\n", score->unknown, plural(score->unknown));
}

mt_status mt_portfolio_print_evaluation(const mt_portfolio_view *view, mt_error *err)
{
    mt_predictor_evaluation e;
    mt_predictor_trial *trials = mt_alloc(view->table->shape_count + 1, sizeof *trials);
    if (!trials) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    mt_status st = mt_predictor_evaluate(&view->table->data, view->options, view->family, trials, &e, err);
    if (st == MT_OK) {
        printf("\nEach shape as if it%s had not been tuned (weights, rule and expectations chosen without %s):\n", view->family ? ", and all of its family," : "", view->family ? "them" : "it");
        if (view->table->data.loss) printf("The correction of the cost model was learned from these shapes too, so this promises too much: \"Held out\" is what counts.\n");
        print_trials(view, trials);
        print_alone(&e);
        if (!e.predictor.count) {
            printf("No shape has a time of all three: predictor, default, nearest by volume\n");
        } else {
            printf("Over the %zu shape%s on which the predictor, the default and the nearest by volume have a time:\n", e.predictor.count, plural(e.predictor.count));
            print_score("the predictor", &e.predictor);
            print_score("always the default", &e.by_default);
            print_score("nearest by volume", &e.by_volume);
            printf("  The predictor took the default %zu time%s.\n", e.defaults, plural(e.defaults));
        }
    }
    mt_free(trials);
    return st;
}
