/* The portfolio: a set cover. Variants serve shapes; the fewest that serve all that can be served, and of those sets the one with the least mean slowdown. Greedy first, which is the
 * answer when a bounded search finds nothing smaller or better. */
#include <math.h>
#include <string.h>

#include "tuner/predictor/predictor_internal.h"

enum { NODE_LIMIT = 20000 }; /* a fraction of a second at most; an evaluation does this for every shape */

static const double UNSERVED_LOSS = 4; /* log2 */

typedef struct shape_set { uint64_t bits[MT_RULE_SHAPES / 64]; } shape_set;

typedef struct cover {
    const mt_predictor_data *data;
    const bool *is_left_out;
    shape_set all, serves[MT_RULE_VARIANTS]; /* all: that some variant serves */
    size_t served_by[MT_RULE_SHAPES];        /* how many variants serve it */
    size_t depth, nodes;                     /* of the search */
    size_t chosen[MT_RULE_VARIANTS], best[MT_RULE_VARIANTS], best_count;
    double best_loss;
    bool is_cut;                             /* the search ran into its limit */
} cover;

static size_t set_count(const shape_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++) count += (size_t)__builtin_popcountll(set->bits[i]);
    return count;
}

static shape_set set_without(const shape_set *set, const shape_set *other)
{
    shape_set rest = *set;
    for (size_t i = 0; i < sizeof rest.bits / sizeof *rest.bits; i++) rest.bits[i] &= ~other->bits[i];
    return rest;
}

static bool set_has(const shape_set *set, size_t shape)
{
    return set->bits[shape / 64] >> shape % 64 & 1;
}

/* ---- who serves whom ---- */

static double least_on(const mt_predictor_data *data, size_t shape)
{
    double least = INFINITY;
    for (size_t v = 0; v < data->variant_count; v++) {
        double value = mt_predictor_cell(data, shape, v);
        if (value < least) least = value;
    }
    return least;
}

static void fill(cover *c, double within_log2)
{
    const mt_predictor_data *data = c->data;
    for (size_t i = 0; i < data->shape_count; i++) {
        if (!mt_predictor_has(c->is_left_out, i)) continue;
        double limit = least_on(data, i) + within_log2 + 1e-9;
        for (size_t v = 0; v < data->variant_count; v++) {
            if (!(mt_predictor_cell(data, i, v) <= limit) || isinf(mt_predictor_cell(data, i, v))) continue;
            c->serves[v].bits[i / 64] |= UINT64_C(1) << i % 64;
            c->all.bits[i / 64] |= UINT64_C(1) << i % 64;
            c->served_by[i]++;
        }
    }
}

/* Mean over the served shapes of the least slowdown among the chosen. */
static double loss(const cover *c, const size_t *chosen, size_t count)
{
    double sum = 0;
    size_t shapes = 0;
    for (size_t i = 0; i < c->data->shape_count; i++) {
        if (!set_has(&c->all, i)) continue;
        double least = UNSERVED_LOSS;
        for (size_t k = 0; k < count; k++) {
            double value = mt_predictor_cell(c->data, i, chosen[k]);
            if (value < least) least = value;
        }
        sum += least;
        shapes++;
    }
    return shapes ? sum / (double)shapes : 0;
}

/* ---- greedy ---- */

/* The sum of the least slowdowns with one variant more. */
static double loss_with(const cover *c, const double least[MT_RULE_SHAPES], size_t variant)
{
    double sum = 0;
    for (size_t i = 0; i < c->data->shape_count; i++) {
        if (!set_has(&c->all, i)) continue;
        double value = mt_predictor_cell(c->data, i, variant);
        sum += value < least[i] ? value : least[i];
    }
    return sum;
}

/* The variant that serves most of what is left, at the least loss; with `left` not empty there is one. */
static size_t most_useful(const cover *c, const shape_set *left, const double least[MT_RULE_SHAPES])
{
    size_t best = 0, most = 0;
    double lowest = INFINITY;
    for (size_t v = 0; v < c->data->variant_count; v++) {
        shape_set rest = set_without(left, &c->serves[v]);
        size_t gain = set_count(left) - set_count(&rest);
        double value = gain && gain >= most ? loss_with(c, least, v) : INFINITY;
        if (!gain || gain < most || (gain == most && value >= lowest)) continue;
        best = v;
        most = gain;
        lowest = value;
    }
    return best;
}

static void take_greedily(cover *c, size_t max)
{
    shape_set left = c->all;
    double least[MT_RULE_SHAPES];
    for (size_t i = 0; i < MT_RULE_SHAPES; i++) least[i] = UNSERVED_LOSS;
    while (c->best_count < max && set_count(&left)) {
        size_t best = most_useful(c, &left, least);
        c->best[c->best_count++] = best;
        left = set_without(&left, &c->serves[best]);
        for (size_t i = 0; i < c->data->shape_count; i++) least[i] = fmin(least[i], mt_predictor_cell(c->data, i, best));
    }
    c->best_loss = loss(c, c->best, c->best_count);
}

/* ---- exact ---- */

/* The unserved shape with the fewest variants that could serve it: every cover has one of those. */
static size_t hardest(const cover *c, const shape_set *left)
{
    size_t best = SIZE_MAX, fewest = SIZE_MAX;
    for (size_t i = 0; i < c->data->shape_count; i++) {
        if (!set_has(left, i)) continue;
        if (c->served_by[i] >= fewest) continue;
        fewest = c->served_by[i];
        best = i;
    }
    return best;
}

/* All covers of exactly `depth` variants, as far as the limit allows; the best goes to c->best. */
static bool search(cover *c, size_t count, shape_set left)
{
    bool found = false;
    if (!set_count(&left)) {
        double value = loss(c, c->chosen, count);
        if (count < c->best_count || value < c->best_loss - 1e-12) {
            memcpy(c->best, c->chosen, count * sizeof *c->best);
            c->best_count = count;
            c->best_loss = value;
        }
        return true;
    }
    if (count == c->depth) return false;
    size_t shape = hardest(c, &left);
    for (size_t v = 0; v < c->data->variant_count; v++) {
        if (!set_has(&c->serves[v], shape)) continue;
        if (++c->nodes > NODE_LIMIT) {
            c->is_cut = true;
            return found;
        }
        c->chosen[count] = v;
        found |= search(c, count + 1, set_without(&left, &c->serves[v]));
        if (c->is_cut) return found;
    }
    return found;
}

static void search_smaller(cover *c)
{
    size_t greedy = c->best_count;
    for (c->depth = 1; c->depth <= greedy && !c->is_cut; c->depth++) {
        if (search(c, 0, c->all)) break;
    }
}

/* ---- the result ---- */

/* Most shapes first, so that the list reads well. */
static void sort_members(const cover *c, mt_predictor *predictor)
{
    for (size_t i = 1; i < predictor->member_count; i++) {
        for (size_t k = i; k > 0; k--) {
            size_t *a = &predictor->members[k - 1], *b = &predictor->members[k], tmp = *a;
            size_t of_a = set_count(&c->serves[*a]), of_b = set_count(&c->serves[*b]);
            if (of_a > of_b || (of_a == of_b && *a < *b)) break;
            *a = *b;
            *b = tmp;
        }
    }
}

static double least_of_members(const mt_predictor_data *data, const mt_predictor *predictor, size_t shape)
{
    double least = INFINITY;
    for (size_t k = 0; k < predictor->member_count; k++) {
        double value = mt_predictor_cell(data, shape, predictor->members[k]);
        if (value < least) least = value;
    }
    return least;
}

static void judge(const cover *c, double within_log2, mt_predictor *predictor)
{
    shape_set left = c->all;
    for (size_t k = 0; k < predictor->member_count; k++) left = set_without(&left, &c->serves[predictor->members[k]]);
    predictor->unserved = predictor->apart = 0;
    predictor->worst = 0;
    for (size_t i = 0; i < c->data->shape_count; i++) {
        if (!mt_predictor_has(c->is_left_out, i)) continue;
        double least = least_of_members(c->data, predictor, i);
        predictor->apart += !(least <= within_log2 + 1e-9);
        if (!set_has(&c->all, i) || set_has(&left, i)) {
            predictor->unserved++;
            continue;
        }
        if (least > predictor->worst) predictor->worst = least;
    }
}

void mt_predictor_choose(const mt_predictor_data *data, const bool *is_left_out, size_t max, double within_log2, mt_predictor *predictor)
{
    cover c = {.data = data, .is_left_out = is_left_out, .best_loss = INFINITY};
    if (max > MT_RULE_VARIANTS) max = MT_RULE_VARIANTS;
    fill(&c, within_log2);
    take_greedily(&c, max);
    shape_set left = c.all;
    for (size_t k = 0; k < c.best_count; k++) left = set_without(&left, &c.serves[c.best[k]]);
    bool is_cover = set_count(&left) == 0;
    if (is_cover) search_smaller(&c);
    memcpy(predictor->members, c.best, sizeof c.best);
    predictor->member_count = c.best_count;
    predictor->is_exact = is_cover && !c.is_cut;
    sort_members(&c, predictor);
    judge(&c, within_log2, predictor);
}
