/* What a difference in one value of the shape is worth, learned from pairs of tuned shapes: how much a shape's best variant loses on another one, as a sum over the values of
 * weight · (squared difference of logarithms). Least squares with weights that are not negative, pulled towards one common weight: a value that never varied, or hardly, keeps it. */
#include <math.h>
#include <string.h>

#include "tuner/ladder/ladder_internal.h"

enum { ROUNDS = 60, LEAST_PAIRS = 12 };
static const double FAR = 9;          /* squared octaves beyond which a difference says no more */
static const double PULL = 0.02;      /* towards the common weight, as a part of the mean evidence */
static const double LEAST = 0.05, MOST = 20; /* of the common weight: nothing is ignored, nothing is all */

typedef struct normal {               /* equations */
    size_t names;
    double matrix[MT_RULE_FEATURES][MT_RULE_FEATURES], right[MT_RULE_FEATURES];
    double sum_square, sum_product;   /* of the common weight alone */
    size_t pairs;
} normal;

static size_t name_count(const mt_ladder_data *data)
{
    return data->feature_count ? data->name[data->feature_count - 1] + 1 : 0;
}

/* Of two features over the shapes, 0 … 1; a text is compared by whether it equals the first shape's. */
static double correlation(const mt_ladder_data *data, const bool *is_left_out, size_t a, size_t b)
{
    double n = 0, of_a = 0, of_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < data->shape_count; i++) {
        const double *row = data->shapes + i * data->feature_count;
        if (!mt_ladder_has(is_left_out, i)) continue;
        double x = data->is_text[a] ? row[a] == data->shapes[a] : row[a], y = data->is_text[b] ? row[b] == data->shapes[b] : row[b];
        n++;
        of_a += x;
        of_b += y;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    double spread_a = n * aa - of_a * of_a, spread_b = n * bb - of_b * of_b;
    return spread_a > 1e-9 * n * aa && spread_b > 1e-9 * n * bb ? fabs(n * ab - of_a * of_b) / sqrt(spread_a * spread_b) : 0;
}

void mt_ladder_prior(const mt_ladder_data *data, const bool *is_left_out, mt_rule_feature *features)
{
    double shares[MT_RULE_FEATURES], of_name[MT_RULE_FEATURES] = {0};
    mt_rule_prior(data->name, data->is_text, data->feature_count, features);
    for (size_t i = 0; i < data->feature_count; i++) {
        shares[i] = 1; /* with itself and the other features of its value */
        for (size_t k = 0; k < data->feature_count; k++) {
            double together = data->name[k] == data->name[i] ? 0 : correlation(data, is_left_out, i, k);
            shares[i] += features[k].weight * together * together * together * together; /* half of a likeness is none */
        }
    }
    for (size_t i = 0; i < data->feature_count; i++) of_name[data->name[i]] += features[i].weight / shares[i]; /* stored per value, not per feature */
    for (size_t i = 0; i < data->feature_count; i++) features[i].weight *= of_name[data->name[i]];
}

static size_t best_on(const mt_ladder_data *data, size_t shape, const bool *is_usable)
{
    size_t best = SIZE_MAX;
    for (size_t v = 0; v < data->variant_count; v++) {
        if (!is_usable[v] || !isfinite(mt_ladder_cell(data, shape, v))) continue;
        if (best == SIZE_MAX || mt_ladder_cell(data, shape, v) < mt_ladder_cell(data, shape, best)) best = v;
    }
    return best;
}

static void differences(const mt_ladder_data *data, const mt_rule_feature *features, size_t a, size_t b, double *out)
{
    const double *x = data->shapes + a * data->feature_count, *y = data->shapes + b * data->feature_count;
    memset(out, 0, name_count(data) * sizeof *out);
    for (size_t i = 0; i < data->feature_count; i++) {
        double difference = data->is_text[i] ? (x[i] == y[i] ? 0 : MT_RULE_TEXT_OCTAVES) : x[i] - y[i];
        out[data->name[i]] += features[i].weight * difference * difference;
    }
    for (size_t i = 0; i < name_count(data); i++) out[i] = out[i] < FAR ? out[i] : FAR;
}

static void add_pair(normal *n, const double *q, double loss)
{
    double sum = 0;
    for (size_t i = 0; i < n->names; i++) {
        sum += q[i];
        n->right[i] += q[i] * loss;
        for (size_t k = 0; k < n->names; k++) n->matrix[i][k] += q[i] * q[k];
    }
    n->sum_square += sum * sum;
    n->sum_product += sum * loss;
    n->pairs++;
}

static void gather(const mt_ladder_data *data, const bool *is_left_out, const bool *is_usable, const mt_rule_feature *features, normal *n)
{
    double q[MT_RULE_FEATURES];
    n->names = name_count(data);
    for (size_t from = 0; from < data->shape_count; from++) {
        size_t best = mt_ladder_has(is_left_out, from) ? best_on(data, from, is_usable) : SIZE_MAX;
        for (size_t to = 0; to < data->shape_count && best != SIZE_MAX; to++) {
            double there = mt_ladder_cell(data, to, best);
            if (to == from || !mt_ladder_has(is_left_out, to) || !isfinite(there)) continue;
            double loss = there - mt_ladder_cell(data, from, best);
            differences(data, features, from, to, q);
            add_pair(n, q, loss > 0 ? loss : 0);
        }
    }
}

/* Coordinate descent. */
static void solve(const normal *n, double common, double pull, double *weights)
{
    for (size_t i = 0; i < n->names; i++) weights[i] = common;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n->names; i++) {
            double rest = n->right[i] + pull * common;
            for (size_t k = 0; k < n->names; k++) rest -= k == i ? 0 : n->matrix[i][k] * weights[k];
            double value = rest / (n->matrix[i][i] + pull);
            weights[i] = fmin(fmax(value, LEAST * common), MOST * common);
        }
    }
}

void mt_ladder_learn(const mt_ladder_data *data, const bool *is_left_out, const bool *is_usable, mt_rule_feature *features)
{
    normal n = {0};
    double weights[MT_RULE_FEATURES], trace = 0, mean = 0;
    gather(data, is_left_out, is_usable, features, &n);
    if (n.pairs < LEAST_PAIRS || n.sum_product <= 0) return;
    for (size_t i = 0; i < n.names; i++) trace += n.matrix[i][i];
    solve(&n, n.sum_product / n.sum_square, PULL * trace / (double)n.names, weights);
    for (size_t i = 0; i < n.names; i++) mean += weights[i] / (double)n.names;
    for (size_t i = 0; i < data->feature_count; i++) features[i].weight *= weights[data->name[i]] / mean;
}
