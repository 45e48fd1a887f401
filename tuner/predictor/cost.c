/* How far the cost model is followed. From a shape to a near one all variants' times change; that of one whose cost grows more than another's (its tiles are smaller, so it has more of them; or its blocks fill the
 * GPU less well) changes otherwise. The slope of the differences in slowdown over those in cost, within pairs of near shapes, drawn towards 0. */
#include <math.h>

#include "tuner/predictor/predictor_internal.h"

enum { NEIGHBOURS = 3, LEAST_VARIANTS = 4 };
static const double MOST = 0.5;   /* log2: a variant that is slower on both shapes says nothing about good ones */
static const double RIDGE = 0.02; /* of a pair; its mean square of costs is that large where half of the variants differ by a fifth of an octave */

typedef struct slope { double xx, xy; } slope;

/* One pair counts once, however many variants it has. */
static void add_pair(const mt_predictor_data *data, size_t a, size_t b, slope *s)
{
    double n = 0, of_x = 0, of_y = 0, xx = 0, xy = 0;
    for (size_t v = 0; v < data->variant_count; v++) {
        double here = mt_predictor_cell(data, a, v), there = mt_predictor_cell(data, b, v), x = data->cost[a * data->variant_count + v] - data->cost[b * data->variant_count + v];
        if (!isfinite(here) || !isfinite(there) || isnan(x) || fmin(here, there) > MOST) continue;
        n++;
        of_x += x;
        of_y += here - there;
        xx += x * x;
        xy += x * (here - there);
    }
    if (n < LEAST_VARIANTS) return;
    s->xx += xx / n - of_x * of_x / (n * n) + RIDGE;
    s->xy += xy / n - of_x * of_y / (n * n);
}

double mt_predictor_learn_cost_weight(const mt_predictor_data *data, const bool *is_left_out, const mt_rule_feature *features)
{
    slope s = {0};
    for (size_t i = 0; i < data->shape_count && data->cost; i++) {
        double distance[MT_RULE_SHAPES];
        if (!mt_predictor_has(is_left_out, i)) continue;
        for (size_t k = 0; k < data->shape_count; k++) {
            bool is_other = k != i && mt_predictor_has(is_left_out, k);
            distance[k] = is_other ? mt_rule_distance(features, data->feature_count, data->shapes + i * data->feature_count, data->shapes + k * data->feature_count) : INFINITY;
        }
        for (int n = 0; n < NEIGHBOURS; n++) {
            size_t nearest = 0;
            for (size_t k = 1; k < data->shape_count; k++) nearest = distance[k] < distance[nearest] ? k : nearest;
            if (isinf(distance[nearest])) break;
            add_pair(data, i, nearest, &s);
            distance[nearest] = INFINITY;
        }
    }
    return s.xy > 0 ? fmin(1, s.xy / s.xx) : 0;
}
