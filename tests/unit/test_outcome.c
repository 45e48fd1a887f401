#include "tests/unit/unit.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/outcome.h"

START_TEST(names_round_trip)
{
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        mt_outcome_kind back = MT_OUTCOME_KIND_COUNT;
        ck_assert(mt_outcome_from_name(mt_outcome_name((mt_outcome_kind)kind), &back));
        ck_assert_int_eq(back, kind);
    }
    mt_outcome_kind untouched = MT_OUTCOME_TIMEOUT;
    ck_assert(!mt_outcome_from_name("OK", &untouched));
    ck_assert(!mt_outcome_from_name("", &untouched));
    ck_assert_int_eq(untouched, MT_OUTCOME_TIMEOUT);
    ck_assert_str_eq(mt_outcome_name(MT_OUTCOME_GPU_FAULT), "gpu_fault");
}
END_TEST

/* A variant was evaluated and has a time, or failed; or it was not run. */
START_TEST(each_kind_is_timed_failed_or_not_run)
{
    for (int i = 0; i < MT_OUTCOME_KIND_COUNT; i++) {
        const mt_outcome_kind kind = (mt_outcome_kind)i;
        ck_assert_int_eq(mt_outcome_is_timed(kind) + mt_outcome_is_failure(kind) + !mt_outcome_is_run(kind), 1);
    }
}
END_TEST

START_TEST(l2_states_round_trip)
{
    mt_l2 l2 = MT_L2_COLD;
    ck_assert(mt_l2_from_name("warm", &l2));
    ck_assert_int_eq(l2, MT_L2_WARM);
    ck_assert(mt_l2_from_name(mt_l2_name(MT_L2_COLD), &l2));
    ck_assert_int_eq(l2, MT_L2_COLD);
    ck_assert(!mt_l2_from_name("tepid", &l2));
}
END_TEST

START_TEST(setting_and_freeing)
{
    mt_outcome outcome = {0};
    mt_outcome_free(&outcome); /* a zeroed one is fine */
    mt_outcome_set(&outcome, MT_OUTCOME_ILLEGAL, "cluster %d", 3);
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_ILLEGAL);
    ck_assert_str_eq(outcome.text, "cluster 3");
    mt_outcome_set(&outcome, MT_OUTCOME_CRASHED, "was: %s", outcome.text); /* quotes its own text */
    ck_assert_str_eq(outcome.text, "was: cluster 3");
    outcome.sample_ns = mt_alloc(4, sizeof *outcome.sample_ns);
    outcome.timing.samples = 4;
    mt_outcome_free(&outcome);
    mt_outcome zero = {0};
    ck_assert_mem_eq(&outcome, &zero, sizeof zero);
}
END_TEST

START_TEST(setting_without_memory)
{
    mt_outcome outcome = {0};
    mt_outcome_set(&outcome, MT_OUTCOME_ILLEGAL, "first");
    mt_alloc_fail_at(1);
    mt_outcome_set(&outcome, MT_OUTCOME_TIMEOUT, "second");
    mt_alloc_fail_at(0);
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_TIMEOUT); /* the kind counts more than its text */
    ck_assert_ptr_null(outcome.text);
    mt_outcome_free(&outcome);
}
END_TEST

UNIT_MAIN("outcome", each_kind_is_timed_failed_or_not_run, names_round_trip, l2_states_round_trip, setting_and_freeing, setting_without_memory)
