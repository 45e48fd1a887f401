#include "tests/unit/unit.h"
#include "tuner/gpu/device/timer.h"
#include "tuner/gpu/trial/timing_rules.h"

static const mt_timing_options options = {.interval = 0.005, .min_samples = 10, .max_samples = 200, .max_ns = 1000000000, .graph_below_ns = 10000};

START_TEST(drops_throttled_but_never_all)
{
    mt_sample samples[] = {{100, 1980, false}, {101, 1400, false}, {102, 1950, false}, {103, 0, false}, {104, 1980, true}};
    double kept[5], work[5];
    ck_assert_uint_eq(mt_samples_keep(samples, 5, 0, kept, work), 3);
    ck_assert_double_eq(kept[0], 100);
    ck_assert_double_eq(kept[1], 102);
    ck_assert_double_eq(kept[2], 103); /* unknown clock: kept */
    ck_assert_double_eq(mt_samples_mhz(samples, 5, work), 1965);
    for (int i = 0; i < 5; i++) samples[i].mhz = 1200;
    ck_assert_uint_eq(mt_samples_keep(samples, 5, 1980, kept, work), 5); /* all slow against earlier variants */
    ck_assert_double_eq(kept[4], 104);
    ck_assert_uint_eq(mt_samples_keep(samples, 5, 1500, kept, work), 4); /* slower, but not throttled */
}
END_TEST

START_TEST(stops_when_narrow)
{
    double kept[40];
    mt_timing timing = {0};
    for (int i = 0; i < 40; i++) kept[i] = 1000 + i % 3;
    mt_timing_summarize(kept, 9, &timing);
    ck_assert(!mt_timing_is_done(&options, &timing, 9, 0));
    mt_timing_summarize(kept, 10, &timing);
    ck_assert(mt_timing_is_done(&options, &timing, 10, 0));
    ck_assert_double_eq(timing.median_ns, 1001);
    ck_assert_double_eq(timing.min_ns, 1000);
    for (int i = 0; i < 40; i++) kept[i] = 1000 + 50 * (i % 5);
    mt_timing_summarize(kept, 40, &timing);
    ck_assert(!mt_timing_is_done(&options, &timing, 40, 0));
    ck_assert(mt_timing_is_done(&options, &timing, 200, 0));
    ck_assert(mt_timing_is_done(&options, &timing, 40, 1000000000));
}
END_TEST

static mt_timing seen(double *samples, size_t count)
{
    mt_timing timing = {0};
    mt_timing_summarize(samples, count, &timing);
    return timing;
}

START_TEST(races)
{
    mt_timing_options race = options;
    race.race_ns = 1000, race.race_factor = 1.1;
    mt_timing far = seen((double[]){1260, 1255, 1251}, 3), two = seen((double[]){1.02e6, 9e9}, 2), one = seen((double[]){1.03e6}, 1), one_good = seen((double[]){5000, 5000, 1249}, 3);
    ck_assert(mt_timing_is_hopeless(&race, &far));
    ck_assert(!mt_timing_is_hopeless(&race, &two));      /* too few to say */
    ck_assert(mt_timing_is_hopeless(&race, &one));       /* but what is out of reach: 25 times as long and a millisecond */
    ck_assert(!mt_timing_is_hopeless(&race, &one_good)); /* the best sample counts: the others may be disturbed */
    ck_assert(!mt_timing_is_hopeless(&options, &far));   /* no race */
    mt_timing slower = seen((double[]){1101, 1102, 1103, 1104, 1105, 1106}, 6), close = seen((double[]){1099, 1102, 1103, 1104, 1105, 1106}, 6);
    mt_timing five = seen((double[]){1101, 1102, 1103, 1104, 1105}, 5);
    ck_assert(mt_timing_is_hopeless(&race, &slower));
    ck_assert(!mt_timing_is_hopeless(&race, &close));    /* the interval reaches below 1.1 × */
    ck_assert(!mt_timing_is_hopeless(&race, &five));     /* no 95 % interval yet */
    const size_t stops[] = {0, 3, 6, 10, 15};
    for (size_t i = 0; i + 1 < sizeof stops / sizeof stops[0]; i++) ck_assert_uint_eq(mt_timing_chunk(&race, stops[i], 300e3, 16), stops[i + 1] - stops[i]);
}
END_TEST

START_TEST(chunks)
{
    ck_assert_uint_eq(mt_timing_chunk(&options, 0, 300e3, 16), 10);
    ck_assert_uint_eq(mt_timing_chunk(&options, 10, 300e3, 16), 5);
    ck_assert_uint_eq(mt_timing_chunk(&options, 198, 300e3, 16), 2);
    ck_assert_uint_eq(mt_timing_chunk(&options, 0, 20e6, 16), 2);
    ck_assert_uint_eq(mt_timing_chunk(&options, 0, 1e9, 16), 1);
    mt_timing_options many = options;
    many.min_samples = 100;
    ck_assert_uint_eq(mt_timing_chunk(&many, 0, 1e3, 16), 16);
}
END_TEST

START_TEST(batches)
{
    const uint64_t l2 = 50 << 20;
    mt_batch_plan plan = mt_batch_plan_make(MT_L2_COLD, 2000, 10 << 20, l2);
    ck_assert_uint_eq(plan.sets, 15); /* 150 MiB */
    ck_assert_uint_eq(plan.launches, 100);
    plan = mt_batch_plan_make(MT_L2_COLD, 2000, 4096, l2); /* too small to fill 3 × L2: each set once */
    ck_assert_uint_eq(plan.sets, 100);
    ck_assert_uint_eq(plan.launches, 100);
    plan = mt_batch_plan_make(MT_L2_COLD, 500, 4096, l2);
    ck_assert_uint_eq(plan.sets, 128);
    ck_assert_uint_eq(plan.launches, 128);
    plan = mt_batch_plan_make(MT_L2_COLD, 9000, 400 << 20, l2);
    ck_assert_uint_eq(plan.sets, 2);
    ck_assert_uint_eq(plan.launches, 22);
    plan = mt_batch_plan_make(MT_L2_WARM, 1000, 4096, l2);
    ck_assert_uint_eq(plan.sets, 1);
    ck_assert_uint_eq(plan.launches, 256);
    plan = mt_batch_plan_make(MT_L2_WARM, 5500, 4096, l2); /* between events; a launch in a graph takes 3 µs less */
    ck_assert_uint_eq(plan.launches, 72);
    plan = mt_batch_plan_make(MT_L2_WARM, 8000, 4096, l2);
    ck_assert_uint_eq(plan.launches, 40);
    plan = mt_batch_plan_make(MT_L2_WARM, 0, 4096, 0);
    ck_assert_uint_eq(plan.launches, 256);
}
END_TEST

START_TEST(methods_and_warming_up)
{
    mt_timing_options asked = options;
    ck_assert(mt_timing_wants_graph(&asked, 9999) && !mt_timing_wants_graph(&asked, 10000));
    asked.method = MT_METHOD_GRAPH; /* its libraries are */
    ck_assert(mt_timing_wants_graph(&asked, 39999) && !mt_timing_wants_graph(&asked, 40001));
    asked.method = MT_METHOD_EVENTS;
    ck_assert(!mt_timing_wants_graph(&asked, 1000));
    ck_assert_uint_eq(mt_timing_warm_up(5e3), 8);
    ck_assert_uint_eq(mt_timing_warm_up(300e3), 3);
    ck_assert_uint_eq(mt_timing_warm_up(2e6), 0);
    ck_assert_uint_eq(mt_timing_warm_up(0), 8);
}
END_TEST

START_TEST(clock_from_stamps)
{
    const mt_stamp before[] = {{1000, 500, 1}, {7000, 510, 1}, {0, 0, 0}, {5, 600, 1}};
    const mt_stamp after[] = {{20800, 10500, 2}, {26800, 10510, 2}, {99, 99, 2}, {9, 600, 2}};
    double work[4];
    ck_assert_double_eq_tol(mt_stamp_mhz(before, after, 4, 1, 2, work), 1980, 1e-9);
    ck_assert_double_eq(mt_stamp_mhz(before, after, 4, 7, 2, work), 0); /* none of that ticket */
}
END_TEST

UNIT_MAIN("timing_rules", drops_throttled_but_never_all, stops_when_narrow, races, chunks, batches, methods_and_warming_up, clock_from_stamps)
