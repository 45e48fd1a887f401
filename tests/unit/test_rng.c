#include "tests/unit/unit.h"
#include "tuner/base/rng.h"

/* A stored seed must give the same search on every machine: values of the published algorithms. */
START_TEST(known_sequence)
{
    mt_rng rng = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240u};
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(mt_rng_next(&rng), expected[i]);
    mt_rng_seed(&rng, 0); /* splitmix64 from 0 */
    ck_assert_uint_eq(rng.state[0], 0xE220A8397B1DCDAFu);
    ck_assert_uint_eq(rng.state[1], 0x6E789E6AA1B965F4u);
}
END_TEST

START_TEST(same_seed_same_numbers)
{
    mt_rng a, b, c;
    mt_rng_seed(&a, 42);
    mt_rng_seed(&b, 42);
    mt_rng_seed(&c, 43);
    int different = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = mt_rng_next(&a);
        ck_assert_uint_eq(x, mt_rng_next(&b));
        different += x != mt_rng_next(&c);
    }
    ck_assert_int_gt(different, 90);
}
END_TEST

START_TEST(below_is_even)
{
    mt_rng rng;
    mt_rng_seed(&rng, 7);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t x = mt_rng_below(&rng, 7);
        ck_assert_uint_lt(x, 7);
        counts[x]++;
    }
    for (int i = 0; i < 7; i++) ck_assert_int_le(abs(counts[i] - 10000), 500);
    for (int i = 0; i < 100; i++) ck_assert_uint_eq(mt_rng_below(&rng, 1), 0);
    uint64_t big = ((uint64_t)1 << 63) + 1, high = 0; /* plain modulo would give the lower half twice as often */
    for (int i = 0; i < 10000; i++) high += mt_rng_below(&rng, big) >= big / 2;
    ck_assert_int_le(abs((int)high - 5000), 300);
}
END_TEST

START_TEST(uniform_draws)
{
    mt_rng rng;
    mt_rng_seed(&rng, 3);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double u = mt_rng_uniform(&rng);
        ck_assert(u >= 0 && u < 1);
        sum += u;
    }
    ck_assert_double_eq_tol(sum / 1e5, 0.5, 0.01);
}
END_TEST

UNIT_MAIN("rng", known_sequence, same_seed_same_numbers, below_is_even, uniform_draws)
