/* What the files of tuner/predictor share. */
#pragma once

#include "tuner/predictor/predictor.h"

/* log2 slowdown of `variant` on `shape`; NAN, INFINITY as in mt_rule. */
static inline double mt_predictor_cell(const mt_predictor_data *data, size_t shape, size_t variant)
{
    return data->slowdown[shape * data->variant_count + variant];
}

static inline bool mt_predictor_has(const bool *is_left_out, size_t shape)
{
    return !is_left_out || !is_left_out[shape];
}

/* choose.c: the portfolio; sets members, member_count, unserved, worst, is_exact. `within_log2`: log2 of the tolerance. */
void mt_predictor_choose(const mt_predictor_data *data, const bool *is_left_out, size_t max, double within_log2, mt_predictor *predictor);

/* weights.c: a weight for each feature. The prior: each value of the shape counts the same, but those that rise and fall together over the shapes (sizes that follow from each
 * other, say) share one weight. */
void mt_predictor_prior(const mt_predictor_data *data, const bool *is_left_out, mt_rule_feature *features);
/* Starts from the prior in `features`; fewer than five shapes change nothing. False = out of memory. */
bool mt_predictor_learn(const mt_predictor_data *data, const bool *is_left_out, mt_rule_feature *features, bool *is_learned);

/* cost.c: as in mt_rule, by how the slowdowns of near shapes differ; 0 where nothing is known of costs. */
double mt_predictor_learn_cost_weight(const mt_predictor_data *data, const bool *is_left_out, const mt_rule_feature *features);

/* predictor.c: which variants may be chosen. */
void mt_predictor_find_usable(const mt_predictor_data *data, const bool *is_left_out, bool is_usable[MT_RULE_VARIANTS]);

/* held_out.c: the rule's offer for shape `asked`; variants that fail there are passed over, as the lookup passes over those that the shape's constraints exclude. False = none. */
bool mt_predictor_offer(const mt_predictor_data *data, const mt_rule *rule, size_t asked, mt_rule_search *search);
/* What is not finite is not known. */
void mt_predictor_add_score(mt_predictor_score *score, double value);
void mt_predictor_end_score(mt_predictor_score *score); /* the sum becomes the mean */

/* curve.c: the mean, and a quantile, as curves that never fall; of the latter there is none where too few points are given (nine, for nine of ten). They sort the points. False = out of memory. */
typedef struct mt_predictor_point { double distance, value; } mt_predictor_point;
void mt_predictor_fit_mean(mt_predictor_point *points, size_t count, mt_rule_curve *curve);
bool mt_predictor_fit_quantile(mt_predictor_point *points, size_t count, double quantile, mt_rule_curve *curve);
