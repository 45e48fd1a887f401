/* Which of several rules goes into the database: each is tried on tuned shapes as if they had not been tuned. */
#include "tuner/predictor/predictor.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/predictor/predictor_internal.h"

enum { FOLDS = 32 /* shapes left out, at most */, STEPS = 32 /* offers for each, farther and farther */, POINTS = FOLDS * STEPS };

/* A way to choose. */
typedef struct way { bool uses_all, is_learned, is_tree; int power; } way;

/* The first is taken unless another is clearly better. 1/distance⁸ is the nearest shape's word, but where that is nearly indifferent. */
static const way ways[] = {{.uses_all = true, .is_learned = true, .power = 8}, {.is_learned = true, .power = 8}, {.uses_all = true, .power = 2}, {.is_tree = true}};
enum { WAYS = sizeof ways / sizeof *ways };

/* What can be known of the shapes without one of them. */
typedef struct fold {
    size_t shape;
    bool is_left_out[MT_RULE_SHAPES];
    mt_predictor members;            /* the portfolio */
    bool serves[MT_RULE_VARIANTS]; /* some shape, nearly */
    mt_rule_feature prior[MT_RULE_FEATURES], learned[MT_RULE_FEATURES];
    mt_predictor_scales scales;      /* of what was learned */
    double turn_cost;
    mt_rule_node nodes[MT_RULE_NODES];
    size_t node_count;
} fold;

typedef struct building {
    const mt_predictor_data *data;
    const mt_predictor_options *options;
    fold *folds, all;             /* all: nothing left out but what the caller does */
    size_t fold_count;
    mt_predictor_point *slowdowns, *losses; /* [POINTS] */
    size_t slowdown_count, loss_count;
} building;

/* ---- a fold ---- */

/* Whatever is within a quarter of the best somewhere: where constraints leave few variants, those may be nowhere the best, and what is best for one workload may be slower over all of a shape's. */
static void find_serving(const mt_predictor_data *data, fold *f, double within_log2)
{
    double limit = fmax(within_log2, MT_RULE_UNKNOWN_LOG2) + 1e-9;
    for (size_t i = 0; i < data->shape_count; i++) {
        double least = INFINITY;
        if (!mt_predictor_has(f->is_left_out, i)) continue;
        for (size_t v = 0; v < data->variant_count; v++) least = fmin(least, mt_predictor_cell(data, i, v));
        for (size_t v = 0; v < data->variant_count; v++) {
            double value = mt_predictor_cell(data, i, v);
            if (isfinite(value) && value <= least + limit) f->serves[v] = true;
        }
    }
}

static void members_only(const fold *f, bool is_usable[MT_RULE_VARIANTS])
{
    memset(is_usable, 0, MT_RULE_VARIANTS * sizeof *is_usable);
    for (size_t k = 0; k < f->members.member_count; k++) is_usable[f->members.members[k]] = true;
}

static bool fill_fold(const building *b, const mt_predictor_scales *near, fold *f)
{
    const mt_predictor_data *data = b->data;
    bool is_member[MT_RULE_VARIANTS];
    double within = log2(b->options->within);
    mt_predictor_choose(data, f->is_left_out, b->options->max, within, &f->members);
    find_serving(data, f, within);
    members_only(f, is_member);
    f->node_count = mt_predictor_grow_tree(data, f->is_left_out, is_member, f->nodes);
    mt_predictor_prior(data, f->is_left_out, f->prior);
    memcpy(f->learned, f->prior, sizeof f->learned);
    if (!mt_predictor_learn(data, f->is_left_out, near, &f->scales, f->learned)) return false;
    f->turn_cost = mt_predictor_learn_turn_cost(data, f->is_left_out, f->learned);
    return true;
}

/* Evenly spread over the shapes. */
static bool make_folds(building *b, const bool *is_left_out)
{
    size_t shapes[MT_RULE_SHAPES], count = 0;
    for (size_t i = 0; i < b->data->shape_count; i++) {
        b->all.is_left_out[i] = !mt_predictor_has(is_left_out, i);
        if (!b->all.is_left_out[i]) shapes[count++] = i;
    }
    bool has_memory = fill_fold(b, NULL, &b->all);
    size_t wanted = count < 2 ? 0 : count < FOLDS ? count : FOLDS;
    for (size_t k = 0; k < wanted && has_memory; k++) {
        fold *f = &b->folds[b->fold_count++];
        f->shape = shapes[k * count / wanted];
        memcpy(f->is_left_out, b->all.is_left_out, sizeof f->is_left_out);
        f->is_left_out[f->shape] = true;
        has_memory = fill_fold(b, &b->all.scales, f);
    }
    return has_memory;
}

static void dress(const fold *f, const way *w, mt_predictor *predictor)
{
    predictor->uses_all = w->uses_all;
    predictor->is_learned = w->is_learned && f->scales.is_learned;
    predictor->power = w->power;
    predictor->turn_cost = w->is_learned ? f->turn_cost : 0;
    memcpy(predictor->features, w->is_learned ? f->learned : f->prior, sizeof predictor->features);
    if (w->uses_all) memcpy(predictor->is_usable, f->serves, sizeof predictor->is_usable);
    else members_only(f, predictor->is_usable);
    predictor->node_count = w->is_tree ? f->node_count : 0;
    memcpy(predictor->nodes, f->nodes, sizeof predictor->nodes);
}

mt_rule mt_predictor_rule(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor *predictor)
{
    return (mt_rule){.shape_count = data->shape_count, .variant_count = data->variant_count, .feature_count = data->feature_count, .features = predictor->features, .shapes = data->shapes,
                     .slowdown = data->slowdown, .default_slowdown = data->default_slowdown, .is_usable = predictor->is_usable, .is_left_out = is_left_out, .power = predictor->power,
                     .turns = data->turns, .turn_cost = predictor->turn_cost, .nodes = predictor->node_count ? predictor->nodes : NULL, .slowdown_curve = predictor->slowdown_curve, .loss_curve = predictor->loss_curve};
}

/* ---- trying a way ---- */

/* What it loses in each fold, where a choice that was not measured counts as MT_RULE_UNKNOWN_LOG2, so that all ways are judged by the same shapes. */
static void try_way(const building *b, const way *w, double losses[FOLDS], mt_predictor_score *score)
{
    mt_rule_search search;
    *score = (mt_predictor_score){0};
    for (size_t i = 0; i < b->fold_count; i++) {
        const fold *f = &b->folds[i];
        mt_predictor predictor = {0};
        dress(f, w, &predictor);
        mt_rule rule = mt_predictor_rule(b->data, f->is_left_out, &predictor);
        double value = mt_predictor_offer(b->data, &rule, f->shape, &search) ? mt_predictor_cell(b->data, f->shape, search.variant) : NAN;
        mt_predictor_add_score(score, value);
        losses[i] = isfinite(value) ? value : MT_RULE_UNKNOWN_LOG2;
    }
    mt_predictor_end_score(score);
}

/* By more than the standard error of the mean difference: with fewer shapes than that takes, what looks better is chance. */
static bool is_clearly_better(const double *losses, const double *than, size_t count)
{
    double sum = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double gain = than[i] - losses[i];
        sum += gain;
        squares += gain * gain;
    }
    return sum > 0 && sum * sum * (n - 1) > n * squares - sum * sum; /* mean² > variance / n */
}

static const way *best_way(const building *b, mt_predictor_score *score)
{
    const way *best = &ways[0];
    double least[FOLDS], losses[FOLDS];
    try_way(b, best, least, score);
    for (size_t i = 1; i < WAYS && b->fold_count > 2; i++) {
        mt_predictor_score other;
        if (ways[i].is_tree && !b->all.node_count) continue;
        try_way(b, &ways[i], losses, &other);
        if (!is_clearly_better(losses, least, b->fold_count)) continue;
        memcpy(least, losses, sizeof least);
        best = &ways[i];
        *score = other;
    }
    return best;
}

/* ---- curves ---- */

/* One offer for a shape that was left out: how much more it loses there than where it was measured, and how much of its advantage over the default. */
static void note_offer(building *b, const mt_rule *rule, size_t asked, const mt_rule_search *search)
{
    const mt_predictor_data *data = b->data;
    double distance = search->distance[search->nearest];
    double there = fmax(0, mt_rule_moved(rule, search, search->nearest, search->variant)), here = mt_predictor_cell(data, asked, search->variant);
    double advantage_there = data->default_slowdown[search->nearest] - there, advantage_here = data->default_slowdown[asked] - here;
    if (!isfinite(here)) return;
    b->slowdowns[b->slowdown_count++] = (mt_predictor_point){distance, here - there};
    if (isfinite(advantage_there) && isfinite(advantage_here) && advantage_there > 1e-9) b->losses[b->loss_count++] = (mt_predictor_point){distance, advantage_there - advantage_here};
}

/* From the nearest shape, then as if that had not been tuned either, and so on: every pair of shapes says something about its distance. A tree looks at no distance: one offer a fold. */
static void note_fold(building *b, const fold *f, const way *w)
{
    bool is_left_out[MT_RULE_SHAPES];
    mt_rule_search search;
    mt_predictor predictor = {0};
    dress(f, w, &predictor);
    memcpy(is_left_out, f->is_left_out, sizeof is_left_out);
    mt_rule rule = mt_predictor_rule(b->data, is_left_out, &predictor);
    for (size_t step = 0; step < STEPS && mt_predictor_offer(b->data, &rule, f->shape, &search); step++) {
        note_offer(b, &rule, f->shape, &search);
        if (rule.nodes) break;
        double within = search.distance[search.nearest] * (step < STEPS / 2 ? 1 : 1.25); /* of many shapes, not every one */
        for (size_t i = 0; i < b->data->shape_count; i++) is_left_out[i] = is_left_out[i] || search.distance[i] <= within;
    }
}

/* ---- building ---- */

static bool take_memory(building *b)
{
    b->folds = mt_alloc(FOLDS, sizeof *b->folds);
    b->slowdowns = mt_alloc(POINTS, sizeof *b->slowdowns);
    b->losses = mt_alloc(POINTS, sizeof *b->losses);
    return b->folds && b->slowdowns && b->losses;
}

mt_status mt_predictor_build(const mt_predictor_data *data, const bool *is_left_out, const mt_predictor_options *options, mt_predictor *predictor, mt_error *err)
{
    building b = {.data = data, .options = options};
    mt_status st = MT_OK;
    *predictor = (mt_predictor){0};
    if (!take_memory(&b) || !make_folds(&b, is_left_out)) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
        goto done;
    }
    *predictor = b.all.members;
    const way *best = best_way(&b, &predictor->score);
    for (size_t i = 0; i < b.fold_count; i++) note_fold(&b, &b.folds[i], best);
    mt_predictor_fit_curve(b.slowdowns, b.slowdown_count, &predictor->slowdown_curve);
    mt_predictor_fit_curve(b.losses, b.loss_count, &predictor->loss_curve);
    dress(&b.all, best, predictor);
done:
    mt_free(b.folds);
    mt_free(b.slowdowns);
    mt_free(b.losses);
    return st;
}
