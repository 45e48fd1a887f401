#include "tuner/base/rng.h"

#include <assert.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* splitmix64 is a bijection of distinct states, so the four words are never all zero. */
void mt_rng_seed(mt_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) rng->state[i] = splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t mt_rng_next(mt_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Multiply-shift with rejection of the few products that would make low results likelier (Lemire). */
uint64_t mt_rng_below(mt_rng *rng, uint64_t bound)
{
    assert(bound >= 1);
    unsigned __int128 product = (unsigned __int128)mt_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (0 - bound) % bound;
        while ((uint64_t)product < threshold) product = (unsigned __int128)mt_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double mt_rng_uniform(mt_rng *rng)
{
    return (double)(mt_rng_next(rng) >> 11) * 0x1p-53;
}

/* Box–Muller without the spare value: a generator's state stays its four words, so that copies replay exactly. */
