/* Normally distributed draws, for tests and benchmarks that need noise. */
#pragma once

#include <math.h>

#include "tuner/base/rng.h"

/* Mean 0, standard deviation 1. */
static inline double draw_normal(mt_rng *rng)
{
    double radius = 1.0 - mt_rng_uniform(rng); /* (0, 1]: log is finite */
    double angle = mt_rng_uniform(rng);
    return sqrt(-2.0 * log(radius)) * cos(6.283185307179586476925287 * angle);
}
