#include "tuner/base/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* NaNs go last, so that the order is total and qsort stays defined. */
static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

void mt_stats_sort(double *samples, size_t count)
{
    if (count > 1) qsort(samples, count, sizeof *samples, compare_doubles);
}

double mt_stats_quantile(const double *sorted, size_t count, double q)
{
    assert(count >= 1);
    if (!(q > 0)) return sorted[0];
    if (q >= 1) return sorted[count - 1];
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;
    if (fraction == 0 || below + 1 == count) return sorted[below]; /* no 0 × infinity */
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

double mt_stats_median(const double *sorted, size_t count)
{
    return mt_stats_quantile(sorted, count, 0.5);
}

double mt_stats_mean(const double *samples, size_t count)
{
    assert(count >= 1);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += samples[i];
    return sum / (double)count;
}

double mt_stats_stddev(const double *samples, size_t count)
{
    if (count < 2) return 0;
    double mean = mt_stats_mean(samples, count), squares = 0;
    for (size_t i = 0; i < count; i++) squares += (samples[i] - mean) * (samples[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

/* The number of samples below the median is binomial(count, 1/2), so [x_(r), x_(count+1−r)] covers it with probability
 * 1 − 2·P(at most r−1 below). The largest r that keeps the asked coverage gives the narrowest such interval. Terms are carried as
 * logarithms because 2^−count underflows from a thousand samples on. */
void mt_stats_median_interval(const double *sorted, size_t count, double confidence, double *low, double *high)
{
    assert(count >= 1);
    double tail_limit = (1 - confidence) / 2;
    double log_term = -(double)count * 0.693147180559945309417; /* log P(exactly 0 below) */
    double tail = exp(log_term);
    size_t rank = 1; /* 1-based; [min, max] when even that covers too little */
    while (rank < (count + 1) / 2) {
        log_term += log((double)(count + 1 - rank) / (double)rank);
        tail += exp(log_term);
        if (tail > tail_limit) break;
        rank++;
    }
    *low = sorted[rank - 1];
    *high = sorted[count - rank];
}
