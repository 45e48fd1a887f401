/* Extremely randomised trees (Geurts et al. 2006): each split is the best of a few random ones. Cheap, and at home on stairs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/rng.h"

enum { MT_FOREST_TREES = 32 };

typedef struct mt_forest {
    struct mt_forest_node *nodes;
    size_t roots[MT_FOREST_TREES];
    size_t tree_count, node_count;
    bool *lacks_order; /* as given to the fit; NULL: none does */
    uint32_t salt;
    /* Scratch of fitting. */
    uint32_t *order;
    int32_t *here;  /* targets of the rows of the node under work, in its order */
    float *columns; /* the rows, transposed */
    size_t row_capacity;
} mt_forest; /* zero-initialise; always of one width */

/* Fits to `count` rows of `width` features. A feature that lacks an order (`lacks_order`: per feature, or NULL)
 * stands elsewhere in each tree. False when memory ran out (the forest is then empty). */
bool mt_forest_fit(mt_forest *forest, const float *rows, size_t width, const double *targets, size_t count, const bool *lacks_order, mt_rng *rng);
/* Mean and standard deviation at one row; the forest must have been fitted. */
void mt_forest_predict(const mt_forest *forest, const float *row, double *mean, double *deviation);
void mt_forest_free(mt_forest *forest);
