/* Tied sets and picks. */
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/base/rng.h"
#include "tuner/session/final_rules.h"

static mt_finalist make(const char *variant, int64_t smem, int64_t cluster)
{
    return (mt_finalist){.near = {.measurement = 1, .variant = variant, .smem_bytes = smem, .cluster = cluster}};
}

static double noise(mt_rng *rng, double most)
{
    return 1 + most * mt_rng_uniform(rng);
}

/* Each round has its own clock: between rounds times differ by far more than the variants do. */
static void fill(mt_finalist *finalists, const double *ns, size_t count, uint64_t seed, double most)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t r = 0; r < MT_FINAL_ROUNDS; r++) {
        double clock = noise(&rng, 0.1);
        for (size_t i = 0; i < count; i++) finalists[i].round_ns[r] = ns[i] * clock * noise(&rng, most);
    }
}

START_TEST(picks_by_memory_cluster_text)
{
    const double ns[] = {1000, 1000, 1000, 1000, 1020};
    mt_finalist f[] = {make("A=1", 4096, 1), make("A=3", 1024, 4), make("A=4", 1024, 2), make("A=2", 1024, 2), make("A=0", 0, 1)};
    fill(f, ns, 5, 1, 0.004);
    mt_final_judge_rounds(f, 5, MT_FINAL_ROUNDS);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(f[i].row.is_tied, i < 4);
        ck_assert_int_eq(f[i].row.is_picked, i == 3);
        ck_assert(f[i].row.low_ns <= f[i].row.median_ns && f[i].row.median_ns <= f[i].row.high_ns);
        ck_assert(f[i].row.ratio_low <= f[i].row.ratio && f[i].row.ratio <= f[i].row.ratio_high);
    }
    ck_assert_double_eq_tol(f[4].row.ratio, 1.02, 0.004);
}
END_TEST

/* The fastest is in the tied set in at least 95 % of repetitions, and one that is 1 % slower rarely is. */
START_TEST(the_fastest_is_tied)
{
    const double ns[] = {1004, 1003, 1000, 1010, 1003, 1004, 1003.5, 1012};
    int missed = 0, slow_tied = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        mt_finalist f[8];
        for (size_t i = 0; i < 8; i++) f[i] = make("A=1", (int64_t)i, 1);
        fill(f, ns, 8, seed, 0.006);
        mt_final_judge_rounds(f, 8, MT_FINAL_ROUNDS);
        missed += !f[2].row.is_tied;
        slow_tied += f[7].row.is_tied;
    }
    ck_assert_int_le(missed, 50);
    ck_assert_int_le(slow_tied, 50);
}
END_TEST

/* The order in which finalists come does not matter. */
START_TEST(order_does_not_matter)
{
    const double ns[] = {1000, 1000, 1000};
    mt_finalist f[] = {make("A=1", 8, 1), make("A=2", 8, 1), make("A=3", 8, 1)}, turned[3];
    fill(f, ns, 3, 5, 0.01);
    for (size_t i = 0; i < 3; i++) turned[i] = f[2 - i];
    mt_final_judge_rounds(f, 3, 9);
    mt_final_judge_rounds(turned, 3, 9);
    for (size_t i = 0; i < 3; i++) ck_assert(memcmp(&f[i].row, &turned[2 - i].row, sizeof f[i].row) == 0);
    ck_assert_uint_eq(mt_final_pick(f, 3), 0);
    ck_assert_uint_eq(mt_final_pick(turned, 3), 2);
}
END_TEST

START_TEST(certain_but_tiny_differences_are_ties)
{
    const double ns[] = {1000, 1001.5, 1002.5};
    mt_finalist f[] = {make("A=3", 3000, 1), make("A=2", 2000, 1), make("A=1", 1000, 1)};
    fill(f, ns, 3, 5, 0);
    mt_final_judge_rounds(f, 3, MT_FINAL_ROUNDS);
    ck_assert(f[1].row.is_tied && f[1].row.ratio_low > 1.001 && !f[2].row.is_tied && f[1].row.is_picked);
}
END_TEST

START_TEST(one_finalist)
{
    mt_finalist f = make("A=1", 0, 1);
    f.round_ns[0] = 5;
    mt_final_judge_rounds(&f, 1, 1);
    ck_assert(f.row.is_tied && f.row.is_picked && f.row.ratio == 1 && f.row.median_ns == 5);
}
END_TEST

START_TEST(intervals)
{
    mt_finalist f[] = {make("A=1", 9, 1), make("A=2", 5, 1), make("A=3", 1, 1)};
    const double medians[] = {1000, 1004, 1011}, half[] = {5, 5, 5};
    for (size_t i = 0; i < 3; i++) f[i].near.median_ns = medians[i], f[i].near.low_ns = medians[i] - half[i], f[i].near.high_ns = medians[i] + half[i];
    mt_final_judge_intervals(f, 3);
    ck_assert(f[0].row.is_tied && f[1].row.is_tied && !f[2].row.is_tied);
    ck_assert(f[1].row.is_picked && !f[0].row.is_picked);
    ck_assert(f[1].row.ratio == 1.004 && f[1].row.ratio_low < 1 && f[2].row.ratio_low > 1);
}
END_TEST

/* Noise makes times longer: an interval reaches far above its median, and into that of what is certainly slower. */
START_TEST(a_pick_is_no_slower_than_the_intervals_say)
{
    mt_rng rng;
    size_t others = 0;
    mt_rng_seed(&rng, 26);
    for (int round = 0; round < 2000; round++) {
        mt_finalist f[MT_FINALISTS_MAX];
        size_t leader = 0, pick = 0;
        for (size_t i = 0; i < MT_FINALISTS_MAX; i++) {
            f[i] = make("A=1", (uint32_t)mt_rng_below(&rng, 9), 1);
            f[i].near.median_ns = 1000 * (1 + 0.03 * mt_rng_uniform(&rng));
            f[i].near.low_ns = f[i].near.median_ns - 5 * mt_rng_uniform(&rng);
            f[i].near.high_ns = f[i].near.median_ns + 25 * mt_rng_uniform(&rng);
            if (f[i].near.median_ns < f[leader].near.median_ns) leader = i;
        }
        mt_final_judge_intervals(f, MT_FINALISTS_MAX);
        while (!f[pick].row.is_picked) pick++;
        others += pick != leader;
        ck_assert(f[pick].row.median_ns <= f[leader].row.high_ns && f[pick].row.low_ns <= f[leader].row.median_ns);
    }
    ck_assert_uint_gt(others, 100);
}
END_TEST

static mt_energy energy_of(double uj, double error_uj)
{
    return (mt_energy){.source = MT_ENERGY_COUNTER, .run_uj = uj, .error_uj = error_uj, .power_w = 300, .loop_ms = 1000, .period_ms = 50, .runs = 100};
}

/* The least energy wins whatever the time, errors make ties, and energy × time weighs both. */
START_TEST(by_energy)
{
    const double ns[] = {1000, 1100, 1500}, uj[] = {400, 300, 299};
    mt_finalist f[] = {make("A=1", 9, 1), make("A=2", 1, 1), make("A=3", 5, 1)};
    fill(f, ns, 3, 3, 0);
    for (size_t i = 0; i < 3; i++) f[i].row.energy = energy_of(uj[i], 0.1);
    mt_final_judge_rounds(f, 3, MT_FINAL_ROUNDS);
    ck_assert(f[0].row.is_picked && !f[1].row.is_tied && f[1].row.energy.run_uj == 300);
    mt_final_judge_energy(f, 3, MT_OBJECTIVE_ENERGY);
    ck_assert(!f[0].row.is_tied && !f[1].row.is_tied && f[2].row.is_picked);
    ck_assert_double_eq_tol(f[2].row.ratio, 1.5, 1e-9); /* of the times still */
    f[1].row.energy.error_uj = 1;
    mt_final_judge_energy(f, 3, MT_OBJECTIVE_ENERGY);
    ck_assert(f[1].row.is_tied && f[2].row.is_tied && f[1].row.is_picked && !f[2].row.is_picked); /* less memory */
    fill(f, ns, 3, 3, 0);
    f[1].row.energy.error_uj = 0.1;
    mt_final_judge_rounds(f, 3, MT_FINAL_ROUNDS);
    for (size_t i = 0; i < 3; i++) f[i].row.low_ns = f[i].row.high_ns = f[i].row.median_ns;
    mt_final_judge_energy(f, 3, MT_OBJECTIVE_EDP);
    ck_assert(f[1].row.is_picked && !f[2].row.is_tied && !f[0].row.is_tied);
}
END_TEST

START_TEST(energy_of_two_rounds)
{
    const mt_energy apart[] = {energy_of(100, 1), energy_of(110, 1)}, near[] = {energy_of(100, 1), energy_of(101, 2)}, missing[] = {energy_of(100, 1), {0}};
    mt_energy mean = mt_final_energy(apart, 2);
    ck_assert(mean.run_uj == 105 && mean.error_uj == 5 && mean.runs == 100 && mean.power_w == 300);
    ck_assert(mt_final_energy(near, 2).error_uj == 2);
    ck_assert_int_eq(mt_final_energy(missing, 2).source, MT_ENERGY_NONE);
}
END_TEST

UNIT_MAIN("final_rules", by_energy, energy_of_two_rounds, picks_by_memory_cluster_text, the_fastest_is_tied, order_does_not_matter, certain_but_tiny_differences_are_ties, one_finalist, intervals, a_pick_is_no_slower_than_the_intervals_say)
