/* Statistics on samples: pure functions. */
#pragma once

#include <stddef.h>

void mt_stats_sort(double *samples, size_t count);
/* Quantile q in [0,1] of sorted samples, linear interpolation (Hyndman–Fan type 7). count ≥ 1. */
double mt_stats_quantile(const double *sorted, size_t count, double q);
double mt_stats_median(const double *sorted, size_t count);
double mt_stats_mean(const double *samples, size_t count);
double mt_stats_stddev(const double *samples, size_t count); /* n−1; 0 for count < 2 */
/* Distribution-free confidence interval of the median from order statistics (binomial), coverage ≥ confidence where count allows
 * it (count ≥ 6 for 95 %), else [min, max]. */
void mt_stats_median_interval(const double *sorted, size_t count, double confidence, double *low, double *high);
