/* What each knob is worth. */
#include <math.h>

#include "reports/knobs.h"
#include "reports/section.h"
#include "tuner/base/alloc.h"

static const mt_column importance_columns[] = {{"Subject", NULL}, {"Knob", NULL}, {"Values", "%.0f"}, {"Explains of the variance (%)", "%.1f"}, {"Sets the best tenth apart (%)", "%.1f"},
                                               {"In the winner", NULL}, {0}};
static const mt_column value_columns[] = {{"Subject", NULL}, {"Knob", NULL}, {"Value", NULL}, {"Variants", "%.0f"}, {"Failed", "%.0f"}, {"Fastest ×", "%.3f"}, {"Lower quartile ×", "%.3f"},
                                          {"Median ×", "%.3f"}, {"Upper quartile ×", "%.3f"}, {0}};

static const mt_column ablation_columns[] = {{"Subject", NULL}, {"Knob", NULL}, {"In the winner", NULL}, {"Instead", NULL}, {"Time (µs)", MT_DOC_US}, {"± (µs)", MT_DOC_US}, {"× winner", "%.3f"}, {"Ended", NULL}, {0}};

typedef struct listing {
    const mt_report_context *context;
    size_t rows, left_out;
} listing;

static bool may_add(listing *l)
{
    if (l->rows < l->context->most_rows) return l->rows++, true;
    return l->left_out++, false;
}

static bool add_importances(const mt_report_subject *s, const mt_knob_effect *effects, const size_t *order, listing *l, mt_doc *doc)
{
    const mt_row *best = s->best ? mt_report_newest(s, s->best) : NULL;
    for (size_t i = 0; i < s->knob_count; i++) {
        size_t k = order[i];
        if (isnan(effects[k].overall) || !may_add(l)) continue;
        mt_doc_subject(doc, s->place, s->label);
        mt_doc_text(doc, s->knobs[k].name);
        mt_doc_number(doc, (double)effects[k].values);
        mt_doc_number(doc, 100 * effects[k].overall);
        mt_doc_number(doc, 100 * effects[k].near_best);
        mt_doc_text(doc, best ? s->knobs[k].values[best->levels[k]] : "");
    }
    return true;
}

static bool add_values(const mt_report_subject *s, const mt_knob_effect *effects, const size_t *order, listing *l, mt_doc *doc)
{
    for (size_t i = 0; i < s->knob_count; i++)
        for (size_t k = order[i], v = 0; s->knobs[k].count > 1 && v < s->knobs[k].count; v++) {
            const mt_level_effect *e = &effects[k].levels[v];
            if (!may_add(l)) continue;
            mt_doc_subject(doc, s->place, s->label);
            mt_doc_text(doc, s->knobs[k].name);
            mt_doc_text(doc, s->knobs[k].values[v]);
            const double numbers[] = {(double)e->count, (double)e->failed, e->best, e->low, e->median, e->high};
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) mt_doc_number(doc, numbers[n]);
        }
    return true;
}

/* Around the winner: what was measured of variants that differ from it in one knob. */
static bool add_ablation(const mt_report_subject *s, const mt_knob_effect *effects, const size_t *order, listing *l, mt_doc *doc)
{
    const mt_row *best = s->best ? mt_report_newest(s, s->best) : NULL;
    size_t count;
    mt_neighbour *all = mt_knobs_neighbours(s, &count);
    (void)effects, (void)order;
    for (size_t i = 0; all && best && i < count; i++) {
        const mt_row *row = all[i].row;
        const mt_knob *knob = &s->knobs[all[i].knob];
        if (!may_add(l)) continue;
        mt_doc_subject(doc, s->place, s->label);
        mt_doc_text(doc, knob->name);
        mt_doc_text(doc, knob->values[best->levels[all[i].knob]]);
        mt_doc_text(doc, knob->values[row->levels[all[i].knob]]);
        const double numbers[] = {row->median_ns / 1e3, (row->high_ns - row->low_ns) / 2e3, row->median_ns / s->best_ns};
        for (size_t n = 0; n < 3; n++) mt_doc_number(doc, numbers[n]);
        mt_doc_text(doc, mt_outcome_name(row->kind));
    }
    mt_free(all);
    return all;
}

/* Adds a subject's rows; false when memory runs out. */
typedef bool (*adder)(const mt_report_subject *s, const mt_knob_effect *effects, const size_t *order, listing *l, mt_doc *doc);

static mt_status add_table(const mt_report_context *context, adder add, mt_doc *doc, mt_error *err)
{
    listing l = {.context = context};
    for (size_t i = 0; i < context->data->count; i++) {
        const mt_report_subject *s = &context->data->subjects[i];
        mt_knob_effect *effects = mt_knobs_effects(s);
        size_t *order = mt_alloc(s->knob_count + 1, sizeof *order);
        bool is_ok = effects && order;
        if (is_ok) mt_knobs_rank(s, effects, order);
        is_ok = is_ok && add(s, effects, order, &l, doc);
        mt_knobs_effects_free(s, effects);
        mt_free(order);
        if (!is_ok) return MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
    }
    if (l.left_out) mt_doc_note(doc, "%zu more rows are not listed here; --format csv --section knobs lists all.", l.left_out);
    return MT_OK;
}

static const mt_explanation of_importances[] = {{"Values", NULL, "Values: those with which variants of the winner's algorithm were timed."}, {0}};
static const mt_explanation of_ablation[] = {
    {NULL, NULL, "Compared are the knobs that both variants have, as show --ablation does it: where another value brings other knobs with it, as another algorithm does, the fastest variant that has all others as the winner stands here, and where none has a time, one that failed."}, {0}};

static mt_status render(const mt_report_context *context, mt_doc *doc, mt_error *err)
{
    mt_status st;
    mt_doc_chart(doc, "importance", "Within the winner's algorithm: how much of the time's variance each knob explains, and how much it sets the best tenth apart");
    mt_doc_chart(doc, "pairs", "The fastest time of each pair of values of two knobs");
    mt_doc_chart(doc, "values", "Every variant's time over the values of one knob; what failed or was stopped early is marked");
    mt_doc_chart(doc, "ablation", "Around the winner: how much slower it is when one knob alone has another value");
    mt_doc_chart(doc, "slices", "Slowdown to the fastest by each value of each knob: boxes from quartile to quartile, points are variants");
    mt_doc_chart(doc, "parallel", "All variants as lines through their knobs' values; drag along an axis to pick");
    mt_doc_table(doc, "importances", "What the knobs are worth", importance_columns);
    MT_TRY(add_table(context, add_importances, doc, err));
    mt_doc_table(doc, "values", "What each value brings", value_columns);
    MT_TRY(add_table(context, add_values, doc, err));
    mt_doc_table(doc, "ablation", "Around the winner: variants that differ from it in one knob", ablation_columns);
    MT_TRY(add_table(context, add_ablation, doc, err));
    mt_doc_explain(doc, "importances", of_importances);
    mt_doc_explain(doc, "ablation", of_ablation);
    mt_doc_note_on(doc, "values", "× is the slowdown to the fastest variant of the subject, over all variants that have the value and a time. Explained variance is that of the logarithm of time, by the knob "
                     "alone (main effect), among the variants of the winner's algorithm in which it is active: 0 for one that only matters together with others. The best tenth: how far its values are from those of all of the winner's algorithm (PED-ANOVA), as a share of "
                     "all knobs. Both hold for the variants that were measured: a search measures good ones more often. – = the knob is not active.");
done:
    return st;
}

extern const mt_section mt_section_knobs;
const mt_section mt_section_knobs = {"knobs", "Knob effects", render};
