/* The engine of `surrogate` and `mixed`: models of what was told, and arms that propose points with them.
 *
 * To the Gaussian process a pending point counts as evaluated with the result that was expected of it (a "kriging believer"), so that a batch spreads by itself; the forest knows results alone.
 * Memory: 4.2 MB at most for the Gaussian process and its pool, and about 3 KB for each point asked or told (most of it trees). */
#pragma once

#include "tuner/search/belief.h"
#include "tuner/search/features.h"
#include "tuner/search/forest.h"
#include "tuner/search/gp.h"
#include "tuner/search/hindsight.h"
#include "tuner/search/ledger.h"
#include "tuner/search/outlook.h"
#include "tuner/search/strategy.h"

/* MT_SLOW_AFTER: so many results without a better one, and the search counts as slow. MT_FOREST_AGE: one point in so many may be missing from a forest. */
enum { MT_FIRST_SAMPLE = 8, MT_NEIGHBOURS_KEPT = 32, MT_SECOND_STARTS_KEPT = 64, MT_SLOW_AFTER = 15, MT_FOREST_AGE = 40 };

struct mt_neighbours {
    size_t point, count;
    size_t *items; /* NULL: free */
};

typedef struct mt_model_search { /* the first member of such a strategy's state */
    mt_ledger ledger;
    mt_rng rng;
    mt_features features;
    mt_point *points; /* of ledger.items[i] */
    float *rows; /* features of ledger.items[i] at i × features.count */
    float *deviations; /* of what the forest expected of ledger.items[i], standardised; 0: it was not asked */
    size_t row_capacity;
    size_t since_better, failure_count; /* results since the best became better; failures told */
    double failure_pattern; /* log of the odds that what lies near tells failures, against their share alone */

    /* What the models are fitted to: −(median / time), standardised, less what was believed of it; small is good. */
    double *targets;
    size_t target_capacity;
    double median_ns, shift, scale, best_target;
    mt_belief belief; /* what it expects is not in the targets */

    mt_hindsight hindsight; /* of the forest */
    mt_outlook outlook;
    mt_forest validity;     /* 1: works, 0: fails */
    size_t validity_count;  /* ledger.count when it was fitted */
    mt_forest forest;
    size_t forest_told, forest_best; /* how many results there were, and ledger.best, when it was fitted */
    mt_gp gp;
    bool has_gp;
    size_t gp_limit, next_fit;
    size_t *gp_places;  /* places in ledger of the GP's points */
    size_t *pool;       /* points */
    size_t gp_seen;     /* ledger.items below were considered for the GP */

    struct mt_neighbours kept[MT_NEIGHBOURS_KEPT]; /* of the best few */
    size_t next_kept, neighbour_capacity;
    /* A second local search, away from the best. */
    size_t second_start, second_start_tries; /* a point, SIZE_MAX: none; how many of its neighbours were tried in vain */
    mt_point second_starts_used[MT_SECOND_STARTS_KEPT];
    size_t second_starts_used_count; /* a ring: the latest ones */

    /* Random points of a space that is not enumerated, where a draw takes long: used again and again, and renewed by and by. */
    size_t *stock, stock_count, next_stock; /* NULL: every draw is fresh */

    size_t *candidates, candidate_capacity; /* scratch */
} mt_model_search;

typedef struct mt_proposal {
    size_t point;
    double target;    /* what the model expects, standardised; NAN: nothing */
    double deviation; /* of the forest that is to be judged by the result, standardised; 0: none is */
} mt_proposal;

mt_status mt_model_search_init(mt_model_search *search, const mt_search_setup *setup, mt_error *err);
void mt_model_search_free(mt_model_search *search);
bool mt_model_search_add(mt_model_search *search, mt_proposal proposal); /* marks it as asked */
/* As mt_strategy.ask: what `propose` finds until it finds nothing. It returns the arm's name, a static text; NULL: nothing is left. */
size_t mt_model_search_ask(void *state, const char *(*propose)(void *state, mt_proposal *out), size_t *points, size_t capacity);
/* As mt_strategy's, whose state begins with its mt_model_search. */
void mt_model_search_tell(void *state, size_t point, double time_ns);
double mt_model_search_outlook(void *state);
const char *mt_model_search_arm_of(const void *state, size_t point);
/* Recomputes the targets. False: too little is known for a model (fewer than two different results), or memory ran out. */
bool mt_model_search_refresh(mt_model_search *search);

/* The share of the best's speed that an improvement of 1, standardised, is. */
double mt_model_search_unit(const mt_model_search *search);

/* Failures count as the slowest success while the search makes progress: most have a reason that their neighbours share. When it is slow, that would keep it out of
 * whole regions for good: then they count as what was expected of them, and how likely a point works is a model of its own. Where results say that failures are chance, they say nothing of
 * what is near: then too they count as what was expected, to the forest not at all, and nothing is likelier to work than anything else. */
bool mt_model_search_believes_failures(const mt_model_search *search);
bool mt_model_search_fails_by_chance(const mt_model_search *search);
/* Before a point's result is told, its row being there: how well the nearest results foretold whether it works. */
void mt_model_search_judge_failures(mt_model_search *search, size_t point, bool works);
/* Fits that model where it is needed; false where it is not (or memory ran out). Then its logarithm at a row, ≤ 0. */
bool mt_model_search_fit_validity(mt_model_search *search);
double mt_model_search_log_validity(const mt_model_search *search, const float *row);

/* The arms. Each needs fresh targets, and is false where it has nothing to propose. */
/* Where the most of a random sample of the space is nearest that was not near anything known: the middle first, then the middles of what is left out. Needs no model. */
bool mt_propose_central(mt_model_search *search, mt_proposal *out);
/* What the space's author believes to be fastest. False: nothing is believed, or all of it was asked. */
bool mt_propose_believed(mt_model_search *search, mt_proposal *out);
bool mt_propose_gp(mt_model_search *search, mt_proposal *out);                      /* largest expected improvement, anywhere */
bool mt_propose_forest(mt_model_search *search, size_t elite, size_t draws, mt_proposal *out); /* the same among neighbours of the best `elite` and `draws` random points */
bool mt_propose_offspring(mt_model_search *search, size_t elite, mt_proposal *out); /* the same, by the forest, among children of the best `elite` */
bool mt_propose_second_start(mt_model_search *search, mt_proposal *out);                   /* the most promising neighbour of a good point elsewhere, which moves downhill */
bool mt_propose_sweep(mt_model_search *search, bool by_gp, mt_proposal *out);       /* the most promising neighbour of the best */

/* log of the expected improvement below `best` of a normal variable. */
double mt_log_improvement(double best, double mean, double deviation);
