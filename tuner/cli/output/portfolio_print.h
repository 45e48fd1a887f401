/* A portfolio in words. */
#pragma once

#include "tuner/predictor/table.h"

typedef struct mt_portfolio_view {
    const char *gpu_key, *kernel, *kernel_key;
    const mt_predictor_table *table;
    const mt_predictor *predictor;
    const mt_predictor_options *options;
    const size_t *family;           /* of each shape, for the evaluation; NULL = each is alone */
    mt_store *store;                /* for the variants' texts */
} mt_portfolio_view;

mt_status mt_portfolio_print(const mt_portfolio_view *view, mt_error *err);
/* What each shape would have been answered with had it not been tuned. */
mt_status mt_portfolio_print_evaluation(const mt_portfolio_view *view, mt_error *err);
/* Both as one JSON object on stdout; without `with_evaluation` the members alone. Factors; null = not known, or it fails there. */
mt_status mt_portfolio_print_json(const mt_portfolio_view *view, bool with_evaluation, mt_error *err);
