/* Monotone regression (pool adjacent violators), thinned to a few knots. */
#include <stdlib.h>

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

void mt_predictor_fit_curve(mt_predictor_point *points, size_t count, mt_rule_curve *curve)
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
