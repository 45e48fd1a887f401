/* Children of two points: uniform crossover and mutation. */
#pragma once

#include "tuner/space/points/space.h"

/* Each knob from either parent, then changed to any of its values with probability `mutation`. False: no valid child in a few tries. */
bool mt_offspring(const mt_space *space, mt_rng *rng, size_t a, size_t b, double mutation, size_t *child);
/* A uniform draw of a point that differs in one knob. False: there is none. */
bool mt_random_neighbour(const mt_space *space, mt_rng *rng, size_t point, size_t *neighbour);
