/* A small decision tree: each leaf holds the variant with the least mean slowdown over its shapes. */
#include <math.h>
#include <string.h>

#include "tuner/predictor/predictor_internal.h"

enum { DEPTH = 3, LEAST_IN_LEAF = 2, LEAST_SHAPES = 6, MOST_SHAPES = 32 /* with more, the nearest one is near, and growing trees for leave-one-out takes long */ };
static const double LEAST_GAIN = 0.03; /* log2, of the mean over the node's shapes: 2 % */

typedef struct growing {
    const mt_predictor_data *data;
    const bool *is_usable;
    mt_rule_node *nodes;
    size_t count;
} growing;

/* Sum over the shapes of the slowdown of the variant that is best for them together. */
static double leaf_cost(const growing *g, const size_t *shapes, size_t count, uint32_t *variant)
{
    double least = INFINITY;
    for (size_t v = 0; v < g->data->variant_count; v++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            double value = mt_predictor_cell(g->data, shapes[i], v);
            sum += isfinite(value) ? value : MT_RULE_UNKNOWN_LOG2 * (isnan(value) ? 1 : 8);
        }
        if (!g->is_usable[v] || !(sum < least)) continue;
        least = sum;
        *variant = (uint32_t)v;
    }
    return least;
}

static double feature_of(const growing *g, size_t shape, size_t feature)
{
    return g->data->shapes[shape * g->data->feature_count + feature];
}

static size_t part(const growing *g, const size_t *shapes, size_t count, size_t feature, double below, size_t *low, size_t *high)
{
    size_t lows = 0, highs = 0;
    for (size_t i = 0; i < count; i++) {
        double value = feature_of(g, shapes[i], feature);
        bool is_low = g->data->is_text[feature] ? value != below : value < below;
        if (is_low) low[lows++] = shapes[i];
        else high[highs++] = shapes[i];
    }
    return lows;
}

/* Half way to the next greater value; a text's own value. */
static double threshold(const growing *g, const size_t *shapes, size_t count, size_t feature, double value)
{
    double next = INFINITY;
    if (g->data->is_text[feature]) return value;
    for (size_t i = 0; i < count; i++) {
        double other = feature_of(g, shapes[i], feature);
        if (other > value && other < next) next = other;
    }
    return (value + next) / 2; /* INFINITY behind the greatest: parts nothing */
}

static bool is_first(const growing *g, const size_t *shapes, size_t index, size_t feature)
{
    for (size_t i = 0; i < index; i++) {
        if (feature_of(g, shapes[i], feature) == feature_of(g, shapes[index], feature)) return false;
    }
    return true;
}

static bool best_split(const growing *g, const size_t *shapes, size_t count, double cost, mt_rule_node *node)
{
    size_t low[MT_RULE_SHAPES], high[MT_RULE_SHAPES];
    uint32_t ignored;
    double least = cost - LEAST_GAIN * (double)count;
    bool found = false;
    for (size_t f = 0; f < g->data->feature_count; f++) {
        for (size_t i = 0; i < count; i++) {
            if (!is_first(g, shapes, i, f)) continue;
            double below = threshold(g, shapes, count, f, feature_of(g, shapes[i], f));
            size_t lows = part(g, shapes, count, f, below, low, high), highs = count - lows;
            if (lows < LEAST_IN_LEAF || highs < LEAST_IN_LEAF) continue;
            double sum = leaf_cost(g, low, lows, &ignored) + leaf_cost(g, high, highs, &ignored);
            if (!(sum < least)) continue;
            least = sum;
            node->feature = (uint32_t)f;
            node->below = below;
            found = true;
        }
    }
    return found;
}

static uint32_t grow(growing *g, const size_t *shapes, size_t count, int depth)
{
    size_t low[MT_RULE_SHAPES], high[MT_RULE_SHAPES];
    uint32_t at = (uint32_t)g->count++;
    mt_rule_node node = {0};
    double cost = leaf_cost(g, shapes, count, &node.variant);
    if (depth < DEPTH && best_split(g, shapes, count, cost, &node)) {
        size_t lows = part(g, shapes, count, node.feature, node.below, low, high);
        node.low = grow(g, low, lows, depth + 1);
        node.high = grow(g, high, count - lows, depth + 1);
    }
    g->nodes[at] = node;
    return at;
}

size_t mt_predictor_grow_tree(const mt_predictor_data *data, const bool *is_left_out, const bool *is_usable, mt_rule_node nodes[MT_RULE_NODES])
{
    size_t shapes[MT_RULE_SHAPES], count = 0;
    growing g = {.data = data, .is_usable = is_usable, .nodes = nodes};
    for (size_t i = 0; i < data->shape_count; i++) {
        if (mt_predictor_has(is_left_out, i)) shapes[count++] = i;
    }
    if (count < LEAST_SHAPES || count > MOST_SHAPES) return 0;
    grow(&g, shapes, count, 0);
    return g.nodes[0].low ? g.count : 0; /* one leaf chooses nothing */
}
