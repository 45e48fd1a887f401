/* A covering sample of a space: every value of every knob at least once, for each variant that has valid points with it (in a sampled space: that are found). */
#pragma once

#include "tuner/space/points/space.h"

/* Greedy and deterministic. *points (mt_free) receives *count indices in ascending order; an empty space gives none. */
mt_status mt_cover_sample(const mt_space *space, size_t **points, size_t *count, mt_error *err);
