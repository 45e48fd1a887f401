/* The rule that goes into the database, and what it may be expected to lose: tuned shapes are held out, nearest neighbours and all, and what the rule would have answered is compared with what is known. */
#include "tuner/predictor/predictor.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/predictor/predictor_internal.h"

enum { HELD_OUT = 64 /* shapes, at most */, STEPS = 24 /* for each, farther and farther from what is left */, POINTS = HELD_OUT * STEPS };
static const double BOUND = 0.9; /* the share of answers that are to lose no more than said */

/* Whatever is within a quarter of the best somewhere: where constraints leave few variants, those may be nowhere the best, and what is best for one workload may be slower over all of a shape's. */
void mt_predictor_find_usable(const mt_predictor_data *data, const bool *is_left_out, bool is_usable[MT_RULE_VARIANTS])
{
    double limit = MT_RULE_UNKNOWN_LOG2 + 1e-9;
    memset(is_usable, 0, MT_RULE_VARIANTS * sizeof *is_usable);
    for (size_t i = 0; i < data->shape_count; i++) {
        double least = INFINITY;
        if (!mt_predictor_has(is_left_out, i)) continue;
        for (size_t v = 0; v < data->variant_count; v++) least = fmin(least, mt_predictor_cell(data, i, v));
        for (size_t v = 0; v < data->variant_count; v++) {
            double value = mt_predictor_cell(data, i, v);
            if (isfinite(value) && (value <= least + limit || data->loss)) is_usable[v] = true;
        }
    }
}

mt_rule mt_predictor_rule(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor *predictor)
{
    return (mt_rule){.shape_count = data->shape_count, .variant_count = data->variant_count, .feature_count = data->feature_count, .features = predictor->features, .shapes = data->shapes,
                     .slowdown = data->slowdown, .default_slowdown = data->default_slowdown, .is_usable = predictor->is_usable, .is_left_out = is_left_out,
                     .cost = data->cost, .cost_weight = predictor->cost_weight, .costs_decide = data->loss != NULL, .error = predictor->error, .most = predictor->most};
}

/* ---- holding out ---- */

typedef struct holding {
    const mt_predictor_data *data;
    const mt_predictor *predictor;    /* weights are those of all shapes: a few numbers, learned once */
    mt_predictor_point *points;       /* [POINTS]: distance of the nearest shape that is left, and by how much the answer loses more than predicted */
    size_t point_count;
    mt_predictor_score score;         /* of the first step of each */
} holding;

/* As if the shape had not been tuned, then as if its nearest one had not been either, and so on: each step says something about its distance. */
static void hold_out(holding *h, const bool *is_left_out, size_t shape)
{
    const mt_predictor_data *data = h->data;
    bool is_out[MT_RULE_SHAPES];
    mt_predictor predictor = *h->predictor;
    mt_rule_search search;
    for (size_t i = 0; i < data->shape_count; i++) is_out[i] = !mt_predictor_has(is_left_out, i) || i == shape;
    for (size_t step = 0; step < STEPS; step++) {
        mt_predictor_find_usable(data, is_out, predictor.is_usable);
        mt_rule rule = mt_predictor_rule(data, is_out, &predictor);
        bool has_offer = mt_predictor_offer(data, &rule, shape, &search);
        double here = has_offer ? mt_predictor_cell(data, shape, search.variant) : NAN;
        if (step == 0) mt_predictor_add_score(&h->score, here);
        if (!has_offer) return;
        double distance = search.distance[search.nearest], further = distance * (step < STEPS / 2 ? 1 : 1.25); /* of many shapes, not every one */
        if (isfinite(here)) h->points[h->point_count++] = (mt_predictor_point){distance, here - fmax(0, search.predicted[search.variant])};
        for (size_t i = 0; i < data->shape_count; i++) is_out[i] = is_out[i] || search.distance[i] <= further;
    }
}

/* What was learned elsewhere: the same at any distance, as far as shapes were surveyed. */
static void take_errors(const mt_predictor_data *data, mt_predictor *predictor)
{
    const double near = 0.01, reach = 3; /* doublings */
    predictor->error = (mt_rule_curve){.distance = {near}, .value = {data->loss->mean}, .count = 1, .reach = reach};
    predictor->most = (mt_rule_curve){.distance = {near}, .value = {data->loss->most}, .count = 1, .reach = reach};
    predictor->score = (mt_predictor_score){.count = (size_t)data->loss->shapes, .mean = data->loss->mean, .worst = data->loss->worst};
}

/* Evenly spread over the shapes. */
static bool learn_errors(const mt_predictor_data *data, const bool *is_left_out, mt_predictor *predictor)
{
    size_t shapes[MT_RULE_SHAPES], count = 0;
    holding h = {.data = data, .predictor = predictor, .points = mt_alloc(POINTS, sizeof *h.points)};
    if (!h.points) return false;
    for (size_t i = 0; i < data->shape_count; i++)
        if (mt_predictor_has(is_left_out, i)) shapes[count++] = i;
    size_t wanted = count < 2 ? 0 : count < HELD_OUT ? count : HELD_OUT;
    for (size_t k = 0; k < wanted; k++) hold_out(&h, is_left_out, shapes[k * count / wanted]);
    mt_predictor_end_score(&h.score);
    predictor->score = h.score;
    mt_predictor_fit_mean(h.points, h.point_count, &predictor->error);
    bool has_memory = mt_predictor_fit_quantile(h.points, h.point_count, BOUND, &predictor->most);
    mt_free(h.points);
    return has_memory;
}

mt_status mt_predictor_build(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor_options *options, mt_predictor *predictor, mt_error *err)
{
    *predictor = (mt_predictor){0};
    mt_predictor_choose(data, is_left_out, options->max, log2(options->within), predictor);
    mt_predictor_find_usable(data, is_left_out, predictor->is_usable);
    mt_predictor_prior(data, is_left_out, predictor->features);
    bool has_memory = mt_predictor_learn(data, is_left_out, predictor->features, &predictor->is_learned);
    if (has_memory) predictor->cost_weight = data->loss ? 1 : mt_predictor_learn_cost_weight(data, is_left_out, predictor->features);
    if (data->loss) take_errors(data, predictor);
    else if (has_memory) has_memory = learn_errors(data, is_left_out, predictor);
    return has_memory ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
}
