#include "tuner/search/forest.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"

#define FIXED_ONE 1048576.0 /* standardised targets stay far below 2^11 */
enum { MAX_DEPTH = 30, SPLITS_TRIED = 6, DRAWS = 12 };

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
    const double *targets;
    size_t width, count;
    uint64_t draws; /* state of a generator of its own: splits are drawn by the ten thousand */
};

/* 32 random bits: the upper half of a linear congruential generator. */
static uint32_t draw(struct fit *fit)
{
    fit->draws = fit->draws * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(fit->draws >> 32);
}

static uint32_t draw_below(struct fit *fit, size_t bound)
{
    return (uint32_t)((uint64_t)draw(fit) * bound >> 32);
}

/* A random feature, and a threshold between its values at two random rows of the node: no pass over the node for its range. */
static struct split draw_split(struct fit *fit, const uint32_t *order, size_t count)
{
    for (int i = 0; i < DRAWS; i++) {
        size_t feature = draw_below(fit, fit->width);
        const float *column = fit->forest->columns + feature * fit->count;
        float a = column[order[draw_below(fit, count)]], b = column[order[draw_below(fit, count)]];
        if (!(a < b || b < a)) continue;
        float low = a < b ? a : b, high = a < b ? b : a, threshold = low + (high - low) * ((float)(draw(fit) >> 8) * 0x1p-24f);
        if (threshold < high) return (struct split){(int32_t)feature, threshold, 0};
    }
    return (struct split){-1, 0, 0};
}

/* What the split takes off the sum of squares. Targets are fixed-point numbers here and no branch depends on data: a chain of floating-point
 * additions and mispredicted branches would be most of the search's time. */
static double gain_of(const struct fit *fit, const uint32_t *order, size_t count, double total, struct split split)
{
    const float *column = fit->forest->columns + (size_t)split.feature * fit->count;
    const int32_t *here = fit->forest->here;
    int64_t left_sum = 0, left_count = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t is_left = column[order[i]] <= split.threshold;
        left_sum += here[i] & -is_left;
        left_count += is_left;
    }
    double left = (double)left_sum / FIXED_ONE, right = total - left, n = (double)count, a = (double)left_count, b = n - a;
    return left * left / a + right * right / b - total * total / n; /* neither side is empty, by the choice of the threshold */
}

static size_t part(const struct fit *fit, uint32_t *order, size_t count, struct split split)
{
    const float *column = fit->forest->columns + (size_t)split.feature * fit->count;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t here = order[i];
        order[i] = order[left];
        order[left] = here;
        left += column[here] <= split.threshold;
    }
    return left;
}

/* Room was made before: a tree of n rows has at most 2n − 1 nodes. */
static void grow_tree(struct fit *fit, uint32_t *order, size_t count, int depth)
{
    mt_forest *forest = fit->forest;
    double squares = 0;
    int64_t sum = 0;
    struct split best = {-1, 0, 0};
    for (size_t i = 0; i < count; i++) {
        forest->here[i] = (int32_t)(fit->targets[order[i]] * FIXED_ONE);
        sum += forest->here[i];
    }
    double total = (double)sum / FIXED_ONE, mean = total / (double)count;
    for (size_t i = 0; i < count; i++) {
        double rest = (double)forest->here[i] / FIXED_ONE - mean;
        squares += rest * rest;
    }
    double variance = squares / (double)count;
    size_t here = forest->node_count++;
    forest->nodes[here] = (struct mt_forest_node){.feature = -1, .mean = (float)mean, .variance = (float)variance};
    if (count < 2 || depth > MAX_DEPTH || variance < 1e-9) return;
    for (int i = 0; i < SPLITS_TRIED && best.gain < 0.999999 * squares; i++) { /* a perfect split, as any of two rows is, needs no rival */
        struct split split = draw_split(fit, order, count);
        if (split.feature < 0) break;
        split.gain = gain_of(fit, order, count, total, split);
        if (best.feature < 0 || split.gain > best.gain) best = split;
    }
    if (best.feature < 0) return;
    size_t left = part(fit, order, count, best);
    grow_tree(fit, order, left, depth + 1);
    forest->nodes[here].feature = best.feature;
    forest->nodes[here].threshold = best.threshold;
    forest->nodes[here].right = (uint32_t)forest->node_count;
    grow_tree(fit, order + left, count - left, depth + 1);
}

static bool make_room(mt_forest *forest, size_t width, size_t count)
{
    size_t room = 2 * count;
    if (count <= forest->row_capacity) return true;
    mt_free(forest->nodes);
    mt_free(forest->order);
    mt_free(forest->here);
    mt_free(forest->columns);
    forest->nodes = mt_alloc(MT_FOREST_TREES * 2 * room, sizeof *forest->nodes);
    forest->order = mt_alloc(room, sizeof *forest->order);
    forest->here = mt_alloc(room, sizeof *forest->here);
    forest->columns = mt_alloc(width * room, sizeof *forest->columns);
    bool has_memory = forest->nodes && forest->order && forest->here && forest->columns;
    forest->row_capacity = has_memory ? room : 0;
    return has_memory;
}

bool mt_forest_fit(mt_forest *forest, const float *rows, size_t width, const double *targets, size_t count, mt_rng *rng)
{
    struct fit fit = {forest, targets, width, count, mt_rng_next(rng)};
    forest->tree_count = forest->node_count = 0;
    if (count == 0 || width == 0 || !make_room(forest, width, count)) return false;
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < count; i++) forest->columns[j * count + i] = rows[i * width + j];
    }
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
    mt_free(forest->order);
    mt_free(forest->here);
    mt_free(forest->columns);
    *forest = (mt_forest){0};
}
