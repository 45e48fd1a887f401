/* A small seeded generator (xoshiro256**, seeded by splitmix64). Never seeded from the time. */
#pragma once

#include <stdint.h>

typedef struct mt_rng {
    uint64_t state[4];
} mt_rng;

void mt_rng_seed(mt_rng *rng, uint64_t seed);
uint64_t mt_rng_next(mt_rng *rng);
uint64_t mt_rng_below(mt_rng *rng, uint64_t bound); /* unbiased, bound ≥ 1 */
double mt_rng_uniform(mt_rng *rng);                 /* [0, 1) */
