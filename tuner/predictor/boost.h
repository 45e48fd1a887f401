/* Regression trees fitted to measurements (db/trees.h), each to what those before it have left: gradient boosting with squared errors. Deterministic. */
#pragma once

#include "db/trees.h"
#include "tuner/base/status.h"

typedef struct mt_boost_data { /* borrowed */
    size_t row_count, name_count; /* names: at most MT_TREES_NAMES */
    const int64_t *numbers;       /* [row_count][name_count], as mt_trees_value gives them */
    const double *targets;        /* [row_count], log2 */
    int64_t *edges;               /* [name_count][MT_TREES_EDGES]: receives the names' edges, */
    size_t *edge_counts;          /* [name_count], and how many they are */
    const bool *is_out;           /* [row_count]: as if it were not there; NULL = none is */
} mt_boost_data;

/* trees->names are the caller's to set. mt_boost_free it. NO_MEMORY only. */
mt_status mt_boost_fit(const mt_boost_data *data, mt_trees *trees, mt_error *err);
void mt_boost_free(mt_trees *trees);

