/* What the arms share: candidates and the forest's choice among them. For arms.c and second_start.c. */
#pragma once

#include "tuner/search/model_search.h"

/* search->candidates is a list that is made anew for each proposal; *count is its length. */
/* L1 distance over the knobs alone, of two rows of features. */
double mt_arms_distance(const mt_model_search *search, const float *a, const float *b);
void mt_arms_clear_candidates(size_t *count);
/* Adds the neighbours of a point that nobody asked for yet. */
void mt_arms_add_neighbours(mt_model_search *search, size_t *count, size_t point);
/* All neighbours of a point, kept for a while; NULL when memory ran out. */
const struct mt_neighbours *mt_arms_neighbours_of(mt_model_search *search, size_t point);
/* Brings the forest up to what is known. False when memory ran out. */
bool mt_arms_fit_forest(mt_model_search *search);
/* The candidate with the largest expected improvement by the forest, or with the least mean. False: there is none. */
bool mt_arms_choose_by_forest(mt_model_search *search, size_t count, bool by_mean, mt_proposal *out);
