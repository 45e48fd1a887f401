#include "tuner/search/forest.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"

enum { MAX_DEPTH = 30, SPLITS_TRIED = 6 };

struct mt_forest_node {
    float threshold;
    int32_t feature; /* −1: a leaf */
    uint32_t right;  /* the left child stands next to its parent */
    float mean, variance;
};

struct split {
    int32_t feature;
    float threshold;
    double gain;
};

struct fit {
    mt_forest *forest;
    const float *rows;
    const double *targets;
    size_t width;
    mt_rng *rng;
    float *values, *here; /* scratch of the node under work: one feature and the targets of its rows, in its order */
};

/* One random threshold on one random feature; gain is what it takes off the sum of squares. Loops without branches on data: a mispredicted
 * one costs more than all the rest. */
static struct split try_split(const struct fit *fit, const uint32_t *order, size_t count, double total)
{
    size_t feature = (size_t)mt_rng_below(fit->rng, fit->width), left_count = 0;
    const float *column = fit->rows + feature;
    float low = INFINITY, high = -INFINITY, *values = fit->values;
    double left = 0;
    for (size_t i = 0; i < count; i++) {
        float value = values[i] = column[order[i] * fit->width];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    float threshold = low + (high - low) * (float)mt_rng_uniform(fit->rng);
    if (!(high > low)) return (struct split){-1, 0, 0};
    for (size_t i = 0; i < count; i++) {
        int is_left = values[i] <= threshold;
        left += (double)((float)is_left * fit->here[i]);
        left_count += (size_t)is_left;
    }
    if (left_count == 0 || left_count == count) return (struct split){-1, 0, 0};
    double right = total - left, n = (double)count, a = (double)left_count, b = n - a;
    return (struct split){(int32_t)feature, threshold, left * left / a + right * right / b - total * total / n};
}

static size_t part(const struct fit *fit, uint32_t *order, size_t count, struct split split)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (fit->rows[order[i] * fit->width + (size_t)split.feature] > split.threshold) continue;
        uint32_t swapped = order[left];
        order[left++] = order[i];
        order[i] = swapped;
    }
    return left;
}

/* Room was made before: a tree of n rows has at most 2n − 1 nodes. */
static void grow_tree(const struct fit *fit, uint32_t *order, size_t count, int depth)
{
    mt_forest *forest = fit->forest;
    double total = 0, squares = 0;
    struct split best = {-1, 0, 0};
    for (size_t i = 0; i < count; i++) {
        fit->here[i] = (float)fit->targets[order[i]];
        total += (double)fit->here[i];
    }
    double mean = total / (double)count;
    for (size_t i = 0; i < count; i++) squares += ((double)fit->here[i] - mean) * ((double)fit->here[i] - mean);
    double variance = squares / (double)count;
    size_t here = forest->node_count++;
    forest->nodes[here] = (struct mt_forest_node){.feature = -1, .mean = (float)mean, .variance = (float)variance};
    if (count < 2 || depth > MAX_DEPTH || variance < 1e-9) return;
    for (int i = 0; i < SPLITS_TRIED; i++) {
        struct split split = try_split(fit, order, count, total);
        if (split.feature >= 0 && (best.feature < 0 || split.gain > best.gain)) best = split;
    }
    if (best.feature < 0) return;
    size_t left = part(fit, order, count, best);
    grow_tree(fit, order, left, depth + 1);
    forest->nodes[here].feature = best.feature;
    forest->nodes[here].threshold = best.threshold;
    forest->nodes[here].right = (uint32_t)forest->node_count;
    grow_tree(fit, order + left, count - left, depth + 1);
}

static bool make_room(mt_forest *forest, size_t count)
{
    size_t needed = MT_FOREST_TREES * 2 * count;
    if (!forest->roots && !(forest->roots = mt_alloc(MT_FOREST_TREES, sizeof *forest->roots))) return false;
    if (count > forest->order_capacity) {
        uint32_t *order = mt_realloc(forest->order, 2 * count, sizeof *order);
        if (!order) return false;
        forest->order = order;
        float *scratch = mt_realloc(forest->scratch, 4 * count, sizeof *scratch);
        if (!scratch) return false;
        forest->scratch = scratch;
        forest->order_capacity = 2 * count;
    }
    if (needed > forest->capacity) {
        struct mt_forest_node *nodes = mt_realloc(forest->nodes, 2 * needed, sizeof *nodes);
        if (!nodes) return false;
        forest->nodes = nodes;
        forest->capacity = 2 * needed;
    }
    return true;
}

bool mt_forest_fit(mt_forest *forest, const float *rows, size_t width, const double *targets, size_t count, mt_rng *rng)
{
    forest->tree_count = forest->node_count = 0;
    if (count == 0 || width == 0 || !make_room(forest, count)) return false;
    const struct fit fit = {forest, rows, targets, width, rng, forest->scratch, forest->scratch + count};
    for (; forest->tree_count < MT_FOREST_TREES; forest->tree_count++) {
        for (size_t i = 0; i < count; i++) forest->order[i] = (uint32_t)i;
        forest->roots[forest->tree_count] = forest->node_count;
        grow_tree(&fit, forest->order, count, 0);
    }
    return true;
}

void mt_forest_predict(const mt_forest *forest, const float *row, double *mean, double *deviation)
{
    double sum = 0, squares = 0, within = 0;
    assert(forest->tree_count > 0);
    for (size_t tree = 0; tree < forest->tree_count; tree++) {
        const struct mt_forest_node *node = &forest->nodes[forest->roots[tree]];
        while (node->feature >= 0) node = row[node->feature] > node->threshold ? &forest->nodes[node->right] : node + 1;
        sum += (double)node->mean;
        squares += (double)node->mean * (double)node->mean;
        within += (double)node->variance;
    }
    double n = (double)forest->tree_count;
    *mean = sum / n;
    *deviation = sqrt(fmax(0, squares / n - *mean * *mean) + within / n + 1e-4);
}

void mt_forest_free(mt_forest *forest)
{
    mt_free(forest->nodes);
    mt_free(forest->roots);
    mt_free(forest->order);
    mt_free(forest->scratch);
    *forest = (mt_forest){0};
}
