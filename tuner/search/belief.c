#include "tuner/search/belief.h"

#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"

/* The slope is 1 where the belief is right; TRUST is its deviation before there are results. */
#define TRUST 0.3
#define MOST_SLOPE 1.5
#define LEAST_SPEED -1000
enum { LOOKED_AT = 4096, ALL = 20000, APART = 2, DESCENTS = 8, STEPS = 40, MOST_NEIGHBOURS = 4096 };

/* ---- how much of it holds ---- */

static double log2_of(const mt_features *features, float value)
{
    const mt_feature *item = &features->items[features->prior_feature];
    return (double)item->low + (double)value / (double)item->scale;
}

/* As the targets are: −speed, 1 at the median. */
static double speed_of(const mt_belief *belief, const mt_features *features, float value)
{
    return fmax(-exp2(belief->median_log2 - log2_of(features, value)), LEAST_SPEED);
}

static bool is_success(const mt_evaluation *item)
{
    return !item->is_pending && isfinite(item->time_ns);
}

static float value_at(const mt_features *features, const float *rows, size_t place)
{
    return rows[place * features->count + features->prior_feature];
}

/* Returns the number of successes, of which the median is taken; 0 also when memory ran out. */
static size_t set_median(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, const float *rows)
{
    double *logs = mt_alloc(ledger->count + 1, sizeof *logs);
    size_t count = 0;
    for (size_t i = 0; logs && i < ledger->count; i++)
        if (is_success(&ledger->items[i])) logs[count++] = log2_of(features, value_at(features, rows, i));
    if (count > 0) mt_stats_sort(logs, count);
    if (count > 0) belief->median_log2 = mt_stats_median(logs, count);
    mt_free(logs);
    return count;
}

/* Least squares that begin at a slope of 1: a belief that is right stays, one that results contradict goes. */
static void set_slope(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, const float *rows, const double *targets, size_t count)
{
    double mean_g = 0, mean_t = 0, gg = 0, gt = 0, tt = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        if (!is_success(&ledger->items[i])) continue;
        mean_g += speed_of(belief, features, value_at(features, rows, i)) / (double)count;
        mean_t += targets[i] / (double)count;
    }
    for (size_t i = 0; i < ledger->count; i++) {
        if (!is_success(&ledger->items[i])) continue;
        double g = speed_of(belief, features, value_at(features, rows, i)) - mean_g, t = targets[i] - mean_t;
        gg += g * g;
        gt += g * t;
        tt += t * t;
    }
    double rest = gg > 0 ? fmax(tt - gt * gt / gg, 0.01 * tt) / (double)count : 0, weight = 1 / (TRUST * TRUST);
    belief->centre = mean_g;
    belief->slope = rest > 0 ? fmin(fmax((gt / rest + weight) / (gg / rest + weight), 0), MOST_SLOPE) : 1;
}

void mt_belief_learn(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, const float *rows, double scale, double *targets)
{
    belief->slope = 0;
    if (features->prior_feature == SIZE_MAX) return;
    size_t count = set_median(belief, features, ledger, rows);
    if (count < 2) return;
    for (size_t i = 0; i < ledger->count; i++) targets[i] *= scale;
    set_slope(belief, features, ledger, rows, targets, count);
    belief->slope /= scale;
    for (size_t i = 0; i < ledger->count; i++) targets[i] = targets[i] / scale - mt_belief_mean(belief, features, value_at(features, rows, i));
}

double mt_belief_mean(const mt_belief *belief, const mt_features *features, float value)
{
    return belief->slope > 0 ? belief->slope * (speed_of(belief, features, value) - belief->centre) : 0;
}

/* ---- the first points ---- */

struct candidate {
    size_t point;
    double believed;
};

/* All points of a small space, else random ones. NAN is no candidate. */
static size_t gather(const mt_features *features, mt_rng *rng, struct candidate *out)
{
    bool all = mt_space_is_enumerated(features->space) && mt_space_count(features->space) <= ALL;
    size_t most = all ? mt_space_count(features->space) : LOOKED_AT, count = 0;
    for (size_t i = 0, point; i < most; i++) {
        point = i;
        if (!all && !mt_space_sample(features->space, rng, &point)) break;
        out[count] = (struct candidate){point, mt_features_prior(features, point)};
        count += !isnan(out[count].believed);
    }
    return count;
}

static size_t least_of(const struct candidate *items, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        if (items[i].believed < items[least].believed) least = i;
    return least;
}

/* Downhill by belief alone: to the least of the neighbours, while one is less. */
static void descend(const mt_features *features, struct candidate *at)
{
    size_t *around = mt_alloc(MOST_NEIGHBOURS, sizeof *around);
    for (int step = 0; around && step < STEPS; step++) {
        size_t count = mt_space_neighbours(features->space, at->point, around, MOST_NEIGHBOURS), from = at->point;
        for (size_t i = 0; i < count && i < MOST_NEIGHBOURS; i++) {
            double believed = mt_features_prior(features, around[i]);
            if (believed < at->believed) *at = (struct candidate){around[i], believed};
        }
        if (at->point == from) break;
    }
    mt_free(around);
}

/* Takes out what differs from `point` in fewer than APART knobs. Returns how many are left. */
static size_t drop_alike(const mt_space *space, struct candidate *items, size_t count, size_t point)
{
    size_t kept = 0, params = mt_space_spec(space)->param_count;
    mt_point chosen, other;
    mt_space_at(space, point, &chosen);
    for (size_t i = 0; i < count; i++) {
        size_t apart = 0;
        mt_space_at(space, items[i].point, &other);
        for (size_t p = 0; p < params && apart < APART; p++) apart += chosen.level[p] != other.level[p];
        if (apart >= APART) items[kept++] = items[i];
    }
    return kept;
}

static void rank(mt_belief *belief, const mt_features *features, mt_rng *rng)
{
    struct candidate *items = mt_alloc(ALL + DESCENTS, sizeof *items);
    size_t count = items ? gather(features, rng, items) : 0;
    if (count >= LOOKED_AT && !(mt_space_is_enumerated(features->space) && mt_space_count(features->space) <= ALL)) {
        for (size_t i = 0, drawn = count; i < DESCENTS; i++) { /* each from the best of a share of the draws */
            struct candidate *start = &items[count];
            size_t share = drawn / DESCENTS;
            *start = items[i * share + least_of(items + i * share, share)];
            descend(features, start);
            count++;
        }
    }
    while (count > 0 && belief->ranked_count < MT_BELIEVED_POINTS) {
        size_t point = items[least_of(items, count)].point;
        belief->ranked[belief->ranked_count++] = point;
        count = drop_alike(features->space, items, count, point);
    }
    mt_free(items);
}

bool mt_belief_next(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, mt_rng *rng, size_t *point)
{
    if (features->prior_feature == SIZE_MAX) return false;
    if (!belief->is_ranked) rank(belief, features, rng);
    belief->is_ranked = true;
    while (belief->next < belief->ranked_count) {
        *point = belief->ranked[belief->next++];
        if (!mt_ledger_knows(ledger, *point)) return true;
    }
    return false;
}
