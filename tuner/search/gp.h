/* A Gaussian process with a product Matérn-5/2 kernel, one length scale a feature, over a fixed pool of candidates.
 *
 * Factor and cross-covariances depend on the points alone, not on their targets: a point is appended when it is asked, and its target may
 * change from an expectation to the result later at no cost. Appending one point to n costs O(n · (n + pool)). Plain C, one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/rng.h"

enum { MT_GP_BLOCK = 256, MT_GP_MOST_FITTED = 64 }; /* columns of the pool are worked on in blocks that stay in the cache */

typedef struct mt_gp {
    size_t width;
    double *inverse_length; /* per feature */
    bool *may_lack_order;   /* per feature: whether the fit may take its values as names; zero at first */
    bool *lacks_order;      /* per feature: any two different values are equally far apart */
    bool *is_optional;      /* per feature: whether the fit decides if it is used at all; zero at first */
    bool *is_unused;        /* per feature: it has no part in the kernel */
    double nugget;
    /* The points. */
    size_t count, limit;
    float *rows;    /* count × width */
    double *factor; /* packed lower triangle: row i begins at i (i + 1) / 2 */
    double *ones, *centred; /* L⁻¹ 1 and L⁻¹ (y − mean) */
    double mean, variance;
    /* The pool; padded to whole blocks. */
    size_t pool_count, pool_size;
    float *columns;   /* width × pool_size */
    float *whitened;  /* limit × pool_size: L⁻¹ k(X, pool) */
    float *explained; /* pool_size: sums of squares of the columns of `whitened` */
    double *means, *deviations; /* pool_count, by mt_gp_predict */
} mt_gp;

/* At most `limit` points and `pool` candidates: limit × (pool + 8 limit … ) × 4 bytes. False when memory ran out (free it all the same). */
bool mt_gp_init(mt_gp *gp, size_t width, size_t limit, size_t pool);
/* Fits length scales and nugget to at most MT_GP_MOST_FITTED rows, starting from the present ones. Drops the points. */
bool mt_gp_fit(mt_gp *gp, const float *rows, const double *targets, size_t count);
/* Forgets the points and sets the candidates: count × width features by rows. */
void mt_gp_set_pool(mt_gp *gp, const float *rows, size_t count);
/* Appends points; count + gp->count ≤ limit. */
void mt_gp_append(mt_gp *gp, const float *rows, size_t count);
/* Conditions on one target a point, in the order of appending; fills means and deviations of the pool. */
void mt_gp_predict(mt_gp *gp, const double *targets);
/* At any row, after mt_gp_predict. `scratch`: gp->count numbers. */
void mt_gp_at(const mt_gp *gp, const float *row, double *scratch, double *mean, double *deviation);
/* What the kernel takes the distance of two values of feature j to be. */
float mt_gp_distance(const mt_gp *gp, size_t feature, float a, float b);
void mt_gp_free(mt_gp *gp);
