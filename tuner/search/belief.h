/* What the space's author believes a point takes (setup.prior): the models' mean, as far as results bear it out, and the order of the first points. */
#pragma once

#include "tuner/search/features.h"
#include "tuner/search/ledger.h"

enum { MT_BELIEVED_POINTS = 8 };

typedef struct mt_belief {
    double slope, median_log2, centre; /* median_log2: of what is believed of the successes. slope 0: results contradict it, or there is none */
    size_t ranked[MT_BELIEVED_POINTS], ranked_count, next; /* the fastest believed, no two alike */
    bool is_ranked;
} mt_belief; /* zero-initialise */

/* Learns from results how much of the belief holds: targets[i] of ledger.items[i] are speeds, scale times raw ones (see mt_model_search_refresh), `rows` their features.
 * Takes what is believed away from the targets, so that models learn the rest. */
void mt_belief_learn(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, const float *rows, double scale, double *targets);
/* What to add to a model's mean where the belief's feature (features->prior_feature) has this value; 0 without one. */
double mt_belief_mean(const mt_belief *belief, const mt_features *features, float value);
/* The next of the points that are believed to be fastest and that nobody asked for yet. */
bool mt_belief_next(mt_belief *belief, const mt_features *features, const mt_ledger *ledger, mt_rng *rng, size_t *point);
