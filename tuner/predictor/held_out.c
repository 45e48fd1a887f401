/* The predictor tried as a whole: what it would have answered for each tuned shape had that not been tuned. */
#include <math.h>

#include "tuner/predictor/predictor_internal.h"

/* ---- what building needs too ---- */

/* As the lookup begins: costs of the asked shape count where the rule has a weight for them. */
static void begin(const mt_predictor_data *data, const mt_rule *rule, size_t asked, mt_rule_search *search)
{
    mt_rule_begin(rule, data->shapes + asked * data->feature_count, search);
    if (rule->cost_weight > 0) mt_rule_set_costs(rule, data->cost + asked * data->variant_count, search);
}

bool mt_predictor_offer(const mt_predictor_data *data, const mt_rule *rule, size_t asked, mt_rule_search *search)
{
    begin(data, rule, asked, search);
    while (mt_rule_next(rule, search))
        if (!isinf(mt_predictor_cell(data, asked, search->variant))) return true;
    return false;
}

void mt_predictor_add_score(mt_predictor_score *score, double value)
{
    if (!isfinite(value)) {
        score->unknown++;
        return;
    }
    score->mean += value;
    if (value > score->worst) score->worst = value;
    score->count++;
}

void mt_predictor_end_score(mt_predictor_score *score)
{
    if (score->count) score->mean /= (double)score->count;
}

/* ---- evaluation ---- */

/* Logarithm of the product of all integers and of the lists' sums: what a rule by volume looks at. */
static double volume(const mt_predictor_data *data, size_t shape)
{
    double sum = 0;
    const double *features = data->shapes + shape * data->feature_count;
    for (size_t i = 0; i < data->feature_count; i++) {
        bool is_first = i == 0 || data->name[i - 1] != data->name[i], is_list = is_first && i + 1 < data->feature_count && data->name[i + 1] == data->name[i];
        if (is_first && !data->is_text[i]) sum += features[is_list ? i + 1 : i];
    }
    return sum;
}

/* What is best on shape `there`, of what does not fail on `asked`, tried on `asked`: the mean of equals, since columns are ordered by how many shapes they win, `asked` included. NAN = no time.
 * False = nothing to offer. */
static bool try_best_of_other(const mt_predictor_data *data, size_t there, size_t asked, double *value)
{
    double least = INFINITY, sum = 0;
    size_t count = 0;
    for (size_t v = 0; v < data->variant_count; v++) {
        if (!isinf(mt_predictor_cell(data, asked, v))) least = fmin(least, mt_predictor_cell(data, there, v));
    }
    for (size_t v = 0; v < data->variant_count; v++) {
        if (!(mt_predictor_cell(data, there, v) <= least) || !isfinite(mt_predictor_cell(data, asked, v))) continue;
        sum += mt_predictor_cell(data, asked, v);
        count++;
    }
    *value = count ? sum / (double)count : NAN;
    return isfinite(least);
}

/* Of the nearest shape that has something to offer. */
static double of_nearest_volume(const mt_predictor_data *data, const bool *is_left_out, size_t asked)
{
    double nearest = INFINITY, best = NAN, value;
    for (size_t i = 0; i < data->shape_count; i++) {
        double distance = fabs(volume(data, i) - volume(data, asked));
        if (is_left_out[i] || distance >= nearest || !try_best_of_other(data, i, asked, &value)) continue;
        nearest = distance;
        best = value;
    }
    return best;
}

/* The offer, or the default where that is expected to be faster, as the lookup decides. */
static void decide(const mt_predictor_data *data, const mt_rule *rule, mt_predictor_trial *trial)
{
    mt_rule_search search;
    if (!mt_predictor_offer(data, rule, trial->shape, &search)) return;
    mt_rule_expectation expected = mt_rule_expect(rule, &search);
    bool default_fails = !isfinite(trial->by_default);  /* without a time: excluded, since else it is measured first */
    bool is_default = fabs(data->default_slowdown[search.witness] - mt_predictor_cell(data, search.witness, search.variant)) < 1e-12; /* the lookup knows it by its text */
    trial->nearest = search.nearest;
    trial->distance = search.distance[search.nearest];
    trial->expected = isnan(expected.advantage) ? NAN : expected.of_default;
    bool is_better = expected.advantage >= 0 || (isnan(expected.of_default) && !isnan(expected.slowdown)); /* also where nothing is known of the default */
    if (!is_better && !default_fails && !is_default) return;
    trial->expected = expected.slowdown;
    trial->most = expected.most;
    trial->variant = search.variant;
    trial->slowdown = mt_predictor_cell(data, trial->shape, search.variant);
}

/* The fastest of those that `tune --quick` would try: each chosen beside the others. NAN = none has a time. */
static double best_of_several(const mt_predictor_data *data, const mt_rule *rule, size_t shape)
{
    mt_rule_search search;
    double best = NAN;
    begin(data, rule, shape, &search);
    for (size_t count = 0; count < MT_PREDICTOR_SEVERAL && mt_rule_next_beside(rule, &search);) {
        double value = mt_predictor_cell(data, shape, search.variant);
        if (isinf(value)) continue;
        mt_rule_keep(rule, &search);
        best = fmin(best, value); /* which passes over a NAN */
        count++;
    }
    return best;
}

static void try_shape(const mt_predictor_data *data, const mt_rule *rule, size_t shape, mt_predictor_trial *trial)
{
    *trial = (mt_predictor_trial){.shape = shape, .nearest = SIZE_MAX, .distance = NAN, .variant = data->variant_count, .expected = NAN, .most = NAN, .by_default = data->default_slowdown[shape]};
    trial->slowdown = trial->by_default;
    trial->by_volume = of_nearest_volume(data, rule->is_left_out, shape);
    decide(data, rule, trial);
    trial->best_of_several = best_of_several(data, rule, shape);
}

static bool is_of_family(const size_t *family, size_t first, size_t shape)
{
    return family ? family[shape] == family[first] : shape == first;
}

enum { FEW_SHAPES = 100 };

/* Without the family. Weights and curves are a few numbers, which one family of many hardly changes; learning them takes seconds then, and they are those of all shapes. */
static mt_status build_without(const mt_predictor_data *data, const mt_predictor_options *options, const mt_predictor *of_all, const bool *is_left_out, mt_predictor *predictor, mt_error *err)
{
    if (data->shape_count <= FEW_SHAPES) return mt_predictor_build(data, is_left_out, options, predictor, err);
    *predictor = *of_all;
    mt_predictor_find_usable(data, is_left_out, predictor->is_usable);
    return MT_OK;
}

/* All shapes of the family whose first one this is; another one's were tried with theirs. */
static mt_status try_family(const mt_predictor_data *data, const mt_predictor_options *options, const mt_predictor *of_all, const size_t *family, size_t first, mt_predictor_trial *trials, mt_error *err)
{
    bool is_left_out[MT_RULE_SHAPES] = {false};
    mt_predictor predictor;
    for (size_t i = 0; i < first; i++)
        if (is_of_family(family, first, i)) return MT_OK;
    for (size_t i = 0; i < data->shape_count; i++) is_left_out[i] = is_of_family(family, first, i);
    mt_status st = build_without(data, options, of_all, is_left_out, &predictor, err);
    if (st != MT_OK) return st;
    mt_rule rule = mt_predictor_rule(data, is_left_out, &predictor);
    for (size_t i = first; i < data->shape_count; i++)
        if (is_left_out[i]) try_shape(data, &rule, i, &trials[i]);
    return MT_OK;
}

mt_status mt_predictor_evaluate(const mt_predictor_data *data, const mt_predictor_options *options, const size_t *family, mt_predictor_trial *trials, mt_predictor_evaluation *evaluation, mt_error *err)
{
    mt_predictor of_all;
    *evaluation = (mt_predictor_evaluation){0};
    mt_status st = mt_predictor_build(data, NULL, options, &of_all, err);
    for (size_t i = 0; i < data->shape_count && st == MT_OK; i++) st = try_family(data, options, &of_all, family, i, trials, err);
    if (st != MT_OK) return st;
    for (size_t i = 0; i < data->shape_count; i++) {
        const mt_predictor_trial *t = &trials[i];
        mt_predictor_add_score(&evaluation->alone, t->slowdown);
        mt_predictor_add_score(&evaluation->several, t->best_of_several);
        bool has_bound = isfinite(t->slowdown) && !isnan(t->most);
        evaluation->bounded += has_bound;
        evaluation->within += has_bound && t->slowdown <= t->most + 1e-9;
        if (!isfinite(t->slowdown) || !isfinite(t->by_default) || !isfinite(t->by_volume)) continue;
        mt_predictor_add_score(&evaluation->predictor, t->slowdown);
        mt_predictor_add_score(&evaluation->by_default, t->by_default);
        mt_predictor_add_score(&evaluation->by_volume, t->by_volume);
        evaluation->defaults += t->variant == data->variant_count;
    }
    mt_predictor_end_score(&evaluation->alone);
    mt_predictor_end_score(&evaluation->several);
    mt_predictor_end_score(&evaluation->predictor);
    mt_predictor_end_score(&evaluation->by_default);
    mt_predictor_end_score(&evaluation->by_volume);
    return MT_OK;
}
