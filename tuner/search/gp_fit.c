/* Length scales and nugget by coordinate search on the marginal likelihood with log-normal priors.
 *
 * The logarithm of a product kernel is a sum over features: a step of one length scale changes one summand of each pair. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/search/gp.h"

#define SQRT5 2.23606797749979
#define USUAL_LENGTH 0.5
#define USUAL_NUGGET 1e-3
#define ORDER_PRIOR 2 /* log of the odds that a feature has an order */
#define USE_PRIOR 2   /* … that an optional one says nothing */

enum { ROUNDS = 2 };

struct fit {
    size_t width, count, pair_count;
    float *distances; /* width × pair_count: |difference| of each pair of rows */
    double *logs;     /* pair_count: log kernel of the accepted length scales */
    double *trial;    /* pair_count */
    double *factor;   /* packed */
    double *targets, *solved;
    double *inverse_length;
    mt_gp *gp;
    const float *rows;
    double nugget, score;
};

/* −log k of one feature at a scaled distance, with its sign turned. */
static double log_factor(double distance)
{
    return log(1 + distance + distance * distance / 3) - distance;
}

/* False: not positive definite. */
static bool factorise(struct fit *fit, const double *logs, double nugget)
{
    const double *log_kernel = logs;
    for (size_t i = 0; i < fit->count; i++) {
        double *line = fit->factor + i * (i + 1) / 2, rest = 1 + nugget;
        for (size_t j = 0; j < i; j++, log_kernel++) {
            const double *other = fit->factor + j * (j + 1) / 2;
            double value = exp(*log_kernel), second = 0;
            size_t k = 0;
            for (; k + 1 < j; k += 2) { /* two sums: the latency of one chain of additions is what this loop would take */
                value -= line[k] * other[k];
                second -= line[k + 1] * other[k + 1];
            }
            if (k < j) value -= line[k] * other[k];
            line[j] = (value + second) / other[j];
            rest -= line[j] * line[j];
        }
        if (rest < 1e-10) return false;
        line[i] = sqrt(rest);
    }
    return true;
}

static double score_of(struct fit *fit, const double *logs, double nugget)
{
    double squares = 0, determinant = 0, n = (double)fit->count;
    if (!factorise(fit, logs, nugget)) return -INFINITY;
    for (size_t i = 0; i < fit->count; i++) {
        const double *line = fit->factor + i * (i + 1) / 2;
        double value = fit->targets[i];
        for (size_t k = 0; k < i; k++) value -= line[k] * fit->solved[k];
        fit->solved[i] = value / line[i];
        squares += fit->solved[i] * fit->solved[i];
        determinant += log(line[i]);
    }
    return -n / 2 * log(squares / n + 1e-9) - determinant;
}

static double prior(double inverse_length)
{
    double x = log(inverse_length * USUAL_LENGTH);
    return -x * x / 2;
}

static double nugget_prior(double nugget)
{
    double x = log(nugget / USUAL_NUGGET) / 1.5;
    return -x * x / 2;
}

static bool try_length(struct fit *fit, size_t feature, double factor)
{
    const float *distance = fit->distances + feature * fit->pair_count;
    double old = fit->inverse_length[feature], new = old * factor;
    for (size_t i = 0; i < fit->pair_count; i++) {
        double d = SQRT5 * (double)distance[i];
        fit->trial[i] = d > 0 ? fit->logs[i] - log_factor(d * old) + log_factor(d * new) : fit->logs[i];
    }
    double gain = prior(new) - prior(old), score = score_of(fit, fit->trial, fit->nugget) + gain;
    /* Scores without the other features' priors: those don't change in this step. */
    if (!(score > fit->score)) return false;
    fit->score = score - gain;
    fit->inverse_length[feature] = new;
    memcpy(fit->logs, fit->trial, fit->pair_count * sizeof *fit->logs);
    return true;
}

static void fill_distances(struct fit *fit, size_t feature)
{
    float *distance = fit->distances + feature * fit->pair_count;
    for (size_t i = 0; i < fit->count; i++) {
        for (size_t k = 0; k < i; k++) *distance++ = mt_gp_distance(fit->gp, feature, fit->rows[i * fit->width + feature], fit->rows[k * fit->width + feature]);
    }
}

/* The kernel without one feature's part, or with it again. */
static void add_part(struct fit *fit, size_t feature, double sign, const double *from, double *to)
{
    const float *distance = fit->distances + feature * fit->pair_count;
    for (size_t i = 0; i < fit->pair_count; i++) {
        to[i] = from[i];
        if (distance[i] > 0) to[i] += sign * log_factor(SQRT5 * (double)distance[i] * fit->inverse_length[feature]);
    }
}

/* Takes the values of a feature as names instead of places in an order, or the other way round, where that explains the targets better. */
static bool try_metric(struct fit *fit, size_t feature)
{
    bool *lacks_order = &fit->gp->lacks_order[feature];
    double gain = *lacks_order ? ORDER_PRIOR : -ORDER_PRIOR;
    add_part(fit, feature, -1, fit->logs, fit->trial);
    *lacks_order = !*lacks_order;
    fill_distances(fit, feature);
    add_part(fit, feature, 1, fit->trial, fit->trial);
    double score = score_of(fit, fit->trial, fit->nugget);
    if (score + gain > fit->score) {
        fit->score = score;
        memcpy(fit->logs, fit->trial, fit->pair_count * sizeof *fit->logs);
        return true;
    }
    *lacks_order = !*lacks_order;
    fill_distances(fit, feature);
    return false;
}

/* Leaves a feature out of the kernel, or takes it in, where that explains the targets better. */
static bool try_use(struct fit *fit, size_t feature)
{
    bool *is_unused = &fit->gp->is_unused[feature];
    double gain = *is_unused ? -USE_PRIOR : USE_PRIOR;
    add_part(fit, feature, *is_unused ? 1 : -1, fit->logs, fit->trial);
    double score = score_of(fit, fit->trial, fit->nugget);
    if (!(score + gain > fit->score)) return false;
    fit->score = score;
    memcpy(fit->logs, fit->trial, fit->pair_count * sizeof *fit->logs);
    *is_unused = !*is_unused;
    return true;
}

static bool try_nugget(struct fit *fit, double factor)
{
    double new = fmin(fmax(fit->nugget * factor, 1e-6), 0.3);
    double gain = nugget_prior(new) - nugget_prior(fit->nugget), score = score_of(fit, fit->logs, new) + gain;
    if (!(score > fit->score)) return false;
    fit->score = score - gain;
    fit->nugget = new;
    return true;
}

static void climb(struct fit *fit)
{
    double factor = 2;
    fit->score = score_of(fit, fit->logs, fit->nugget);
    for (int round = 0; round < ROUNDS; round++) {
        bool has_moved = false;
        for (size_t j = 0; j < fit->width; j++) has_moved = (fit->gp->is_optional[j] && try_use(fit, j)) || has_moved;
        for (size_t j = 0; j < fit->width; j++) has_moved = (!fit->gp->is_unused[j] && (try_length(fit, j, factor) || try_length(fit, j, 1 / factor))) || has_moved;
        for (size_t j = 0; j < fit->width; j++) has_moved = (fit->gp->may_lack_order[j] && try_metric(fit, j)) || has_moved;
        has_moved = try_nugget(fit, factor * factor) || try_nugget(fit, 1 / (factor * factor)) || has_moved;
        if (!has_moved) factor = sqrt(factor);
    }
}

static void fill(struct fit *fit, const float *rows, const double *targets)
{
    double mean = 0;
    size_t pair = 0;
    for (size_t i = 0; i < fit->count; i++) {
        mean += targets[i] / (double)fit->count;
        for (size_t k = 0; k < i; k++, pair++) {
            for (size_t j = 0; j < fit->width; j++) {
                float distance = mt_gp_distance(fit->gp, j, rows[i * fit->width + j], rows[k * fit->width + j]);
                fit->distances[j * fit->pair_count + pair] = distance;
                if (distance > 0 && !fit->gp->is_unused[j]) fit->logs[pair] += log_factor(SQRT5 * (double)distance * fit->inverse_length[j]);
            }
        }
    }
    for (size_t i = 0; i < fit->count; i++) fit->targets[i] = targets[i] - mean;
}

bool mt_gp_fit(mt_gp *gp, const float *rows, const double *targets, size_t count)
{
    struct fit fit = {.width = gp->width, .count = count, .pair_count = count * (count - 1) / 2, .inverse_length = gp->inverse_length, .gp = gp, .rows = rows, .nugget = gp->nugget};
    assert(count >= 2 && count <= MT_GP_MOST_FITTED);
    fit.distances = mt_alloc(fit.width * fit.pair_count, sizeof *fit.distances);
    fit.logs = mt_alloc(fit.pair_count, sizeof *fit.logs);
    fit.trial = mt_alloc(fit.pair_count, sizeof *fit.trial);
    fit.factor = mt_alloc(count * (count + 1) / 2, sizeof *fit.factor);
    fit.targets = mt_alloc(count, sizeof *fit.targets);
    fit.solved = mt_alloc(count, sizeof *fit.solved);
    bool has_memory = fit.distances && fit.logs && fit.trial && fit.factor && fit.targets && fit.solved;
    if (has_memory) {
        fill(&fit, rows, targets);
        climb(&fit);
        gp->nugget = fit.nugget;
        gp->count = 0;
    }
    MT_FREE_EACH(fit.distances, fit.logs, fit.trial, fit.factor, fit.targets, fit.solved);
    return has_memory;
}
