/* Curves over distance that never fall: of the mean (monotone regression by pooling adjacent violators, thinned to a few knots), and of a quantile. */
#include <math.h>
#include <stdlib.h>

#include "tuner/base/alloc.h"
#include "tuner/predictor/predictor_internal.h"

typedef struct block { double distance, value, weight; } block;

static int by_distance(const void *a, const void *b)
{
    const mt_predictor_point *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static block merged(const block *a, const block *b)
{
    double weight = a->weight + b->weight;
    return (block){(a->distance * a->weight + b->distance * b->weight) / weight, (a->value * a->weight + b->value * b->weight) / weight, weight};
}

/* Adds a point behind the blocks and pools those that would descend; the pooled blocks lie in the points' own memory, which is passed already. */
static size_t push(block *blocks, size_t count, block next)
{
    while (count > 0 && blocks[count - 1].value >= next.value) next = merged(&blocks[--count], &next);
    blocks[count] = next;
    return count + 1;
}

/* Merges the lightest neighbours until the knots have room. A stack of limited size keeps this cheap: a block more than fits is merged at once. */
static size_t make_room(block *blocks, size_t count)
{
    size_t lightest = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        if (blocks[i].weight + blocks[i + 1].weight < blocks[lightest].weight + blocks[lightest + 1].weight) lightest = i;
    }
    blocks[lightest] = merged(&blocks[lightest], &blocks[lightest + 1]);
    for (size_t i = lightest + 1; i + 1 < count; i++) blocks[i] = blocks[i + 1];
    return count - 1;
}

void mt_predictor_fit_mean(mt_predictor_point *points, size_t count, mt_rule_curve *curve)
{
    block blocks[MT_RULE_KNOTS + 1];
    size_t used = 0;
    curve->count = 0;
    curve->reach = 0;
    if (!count) return;
    qsort(points, count, sizeof *points, by_distance);
    for (size_t i = 0; i < count; i++) {
        used = push(blocks, used, (block){points[i].distance, points[i].value, 1});
        if (used > MT_RULE_KNOTS) used = make_room(blocks, used);
    }
    for (size_t i = 0; i < used; i++) {
        curve->distance[i] = blocks[i].distance;
        curve->value[i] = blocks[i].value > 0 ? blocks[i].value : 0;
    }
    curve->count = used;
    curve->reach = points[count - 1].distance;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that no more than a share of 1 − quantile of further such points exceeds, as a conformal bound has it: of n points the ⌈(n + 1) · quantile⌉-th. */
static size_t rank_of(size_t count, double quantile)
{
    return (size_t)ceil((double)(count + 1) * quantile);
}

static double quantile_of(const mt_predictor_point *points, size_t count, double quantile, double *values)
{
    for (size_t i = 0; i < count; i++) values[i] = points[i].value;
    qsort(values, count, sizeof *values, by_value);
    return values[rank_of(count, quantile) - 1];
}

bool mt_predictor_fit_quantile(mt_predictor_point *points, size_t count, double quantile, mt_rule_curve *curve)
{
    enum { LEAST = 20 /* points of a knot, so that a tenth of them is two */ };
    size_t knots = count / LEAST < 1 ? 1 : count / LEAST > MT_RULE_KNOTS ? MT_RULE_KNOTS : count / LEAST;
    double *values = mt_alloc(count + 1, sizeof *values), most = 0;
    *curve = (mt_rule_curve){0};
    if (!values) return false;
    if (rank_of(count, quantile) > count) count = 0; /* too few to promise anything */
    if (count) qsort(points, count, sizeof *points, by_distance);
    for (size_t k = 0; k < knots && count; k++) {
        size_t from = k * count / knots, to = (k + 1) * count / knots;
        most = fmax(most, quantile_of(points + from, to - from, quantile, values));
        curve->distance[k] = points[k ? (from + to) / 2 : 0].distance; /* nearer than the nearest point nothing is known; from there on the promise holds */
        curve->value[k] = most;
    }
    curve->count = count ? knots : 0;
    curve->reach = count ? points[count - 1].distance : 0;
    mt_free(values);
    return true;
}
