#include "tuner/search/forest.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"

#define FIXED_ONE 1048576.0 /* standardised targets stay far below 2^11 */
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
    const double *targets;
    size_t width, count;
    uint64_t draws; /* state of a generator of its own: splits are drawn by the ten thousand */
};

/* Where a value without order stands in one tree: anywhere. */
static float shuffled(float value, uint32_t salt)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ salt) * 0x9E3779B1u;
    bits = (bits ^ bits >> 15) * 0x85EBCA77u;
    return (float)(bits >> 8) * 0x1p-24f;
}

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

/* A random feature, and a threshold anywhere between its least and greatest value in the node. A feature that is constant there is no split: where few features still
 * differ, fewer splits are tried. */
static struct split draw_split(struct fit *fit, const uint32_t *order, size_t count)
{
    size_t feature = draw_below(fit, fit->width);
    const float *column = fit->forest->columns + feature * fit->count;
    float low = column[order[0]], high = low;
    for (size_t i = 1; i < count; i++) {
        float value = column[order[i]];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    float threshold = low + (high - low) * ((float)(draw(fit) >> 8) * 0x1p-24f);
    return threshold < high ? (struct split){(int32_t)feature, threshold, 0} : (struct split){-1, 0, 0};
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
    for (int i = 0; i < SPLITS_TRIED && best.gain < 0.999999 * squares; i++) { /* a perfect split, as any of two rows is, needs no other */
        struct split split = draw_split(fit, order, count);
        if (split.feature < 0) continue;
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
    MT_FREE_EACH(forest->nodes, forest->order, forest->here, forest->columns);
    forest->nodes = mt_alloc(MT_FOREST_TREES * 2 * room, sizeof *forest->nodes);
    forest->order = mt_alloc(room, sizeof *forest->order);
    forest->here = mt_alloc(room, sizeof *forest->here);
    forest->columns = mt_alloc(width * room, sizeof *forest->columns);
    bool has_memory = forest->nodes && forest->order && forest->here && forest->columns;
    forest->row_capacity = has_memory ? room : 0;
    return has_memory;
}

bool mt_forest_fit(mt_forest *forest, const float *rows, size_t width, const double *targets, size_t count, const bool *lacks_order, mt_rng *rng)
{
    struct fit fit = {forest, targets, width, count, mt_rng_next(rng)};
    forest->tree_count = forest->node_count = 0;
    mt_free(forest->lacks_order);
    forest->lacks_order = lacks_order ? mt_alloc(width, sizeof *lacks_order) : NULL;
    if (lacks_order && !forest->lacks_order) return false;
    if (forest->lacks_order) memcpy(forest->lacks_order, lacks_order, width * sizeof *lacks_order);
    forest->salt = (uint32_t)fit.draws;
    if (count == 0 || width == 0 || !make_room(forest, width, count)) return false;
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < count; i++) forest->columns[j * count + i] = rows[i * width + j];
    }
    for (; forest->tree_count < MT_FOREST_TREES; forest->tree_count++) {
        for (size_t i = 0; i < count; i++) forest->order[i] = (uint32_t)i;
        for (size_t j = 0; lacks_order && j < width; j++) {
            for (size_t i = 0; lacks_order[j] && i < count; i++) forest->columns[j * count + i] = shuffled(rows[i * width + j], forest->salt + (uint32_t)forest->tree_count);
        }
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
        while (node->feature >= 0) {
            float value = row[node->feature];
            if (forest->lacks_order && forest->lacks_order[node->feature]) value = shuffled(value, forest->salt + (uint32_t)tree);
            node = value > node->threshold ? &forest->nodes[node->right] : node + 1;
        }
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
    MT_FREE_EACH(forest->nodes, forest->order, forest->here, forest->columns, forest->lacks_order);
    *forest = (mt_forest){0};
}
