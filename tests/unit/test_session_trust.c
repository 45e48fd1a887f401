/* Racing, drift references, finals and the two cache states, over a scripted evaluator. */
#include "tests/unit/session_fixture.h"
#include "tuner/session/session_internal.h"

/* What has no chance is stopped early, known from then on, and never the best; the default and the baseline are always measured. */
START_TEST(racing)
{
    set_up();
    evaluator.races = true;
    tune_ok("", "[param A]\nvalues = 1, 2, 3, 9900\ndefault = 1\n"); /* 9900 takes a hundredth */
    ck_assert_uint_eq(evaluator.raced, 3); /* not the default */
    ck_assert_uint_eq(last.censored, 0);   /* nothing is slower than the default by a tenth */
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3, 4, 5\ndefault = 9900\n");
    ck_assert_uint_eq(last.known, 4);
    ck_assert_uint_eq(last.censored, 2);
    ck_assert_uint_eq(last.failed, 0);
    ck_assert_str_eq(last_best, "A=9900;ALGO=plain");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'censored' AND median_ns > 900000"), 2);
    ck_assert_int_eq(scalar(store, "SELECT failed FROM session ORDER BY id DESC"), 0);
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3, 4, 5\ndefault = 9900\n");
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_uint_eq(last.censored, 2);
    tune_ok("baseline = plain", "[param A]\nvalues = 6, 9900\ndefault = 6\n"); /* slower than the incumbent, but compared with */
    ck_assert_uint_eq(last.censored, 0);
    ck_assert(isfinite(last.default_ns) && isfinite(last.baseline_ns));
    tear_down();
}
END_TEST

START_TEST(no_race_measures_what_was_stopped)
{
    set_up();
    evaluator.races = params.no_race = true;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2\ndefault = 9900\n");
    ck_assert_uint_eq(evaluator.raced, 0);
    ck_assert_uint_eq(last.ok, 3);
    params.no_race = false;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3\ndefault = 9900\n");
    ck_assert_uint_eq(last.censored, 1);
    repeats = 1; /* the row that is superseded stays */
    params.no_race = true;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3\ndefault = 9900\n");
    ck_assert_uint_eq(last.known, 3);
    ck_assert_uint_eq(last.ok, 4);
    repeats = 0;
    tear_down();
}
END_TEST

static mt_outcome_kind third_fails(const char *variant)
{
    return strstr(variant, "A=3;") ? MT_OUTCOME_WRONG_RESULT : MT_OUTCOME_OK;
}

static int knob(const char *variant)
{
    return atoi(strstr(variant, "A=") + 2);
}

/* 1, 2 and 3 are equal, 4 is 1 % slower, the others twice as slow; and the machine slows down by 0.1 % with each start. */
static double drifting(const char *variant, size_t start)
{
    int a = knob(variant);
    return (a <= 3 ? 1e6 : a == 4 ? 1.01e6 : 2e6) * (1 + 0.001 * (double)start) + (double)(start * 7 % 5);
}

static uint32_t second_is_smallest(const char *variant)
{
    return knob(variant) == 2 ? 1000 : 2000;
}

static const char FINAL[] = "[param A]\nvalues = 1..10\ndefault = 1\n";

/* Timed in turns, what drift hides is seen: 4 comes out as slower. Of the tied ones the one with the least memory is taken, and a second run measures nothing. */
START_TEST(finals_see_through_drift)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.smem = second_is_smallest;
    evaluator.watched = store;
    tune_ok("", FINAL);
    ck_assert_str_eq(last_best, "A=2;ALGO=plain");
    ck_assert_uint_eq(last.tied, 2);
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE method = 'interleaved' AND rounds = 12 AND confidence = 0.95"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist"), 4);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist f JOIN measurement m ON m.id = f.measurement_id JOIN variant v ON v.id = m.variant_id "
                                   "WHERE v.text = 'A=4;ALGO=plain' AND NOT f.tied AND f.ratio_low > 1.005 AND f.ratio_high < 1.015 AND length(f.round_ns) > 0"), 1);
    ck_assert_uint_eq(evaluator.retimes, 4 * 12);
    double best_ns = last.best_ns;
    tune_ok("", FINAL);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 1);
    ck_assert_str_eq(last_best, "A=2;ALGO=plain");
    ck_assert(last.best_ns == best_ns && last.tied == 2);
    tear_down();
}
END_TEST

/* It is dropped with its outcome, which stands from then on; the others are compared, and a second run repeats nothing. */
START_TEST(a_finalist_dies)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.smem = second_is_smallest;
    evaluator.dies = "A=2;ALGO=plain";
    repeats = 1;
    tune_ok("", FINAL);
    ck_assert_str_eq(last_best, "A=1;ALGO=plain");
    ck_assert_uint_eq(last.tied, 1);
    ck_assert_int_eq(rows(), 11);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist"), 3);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause = 'crashed'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tune_ok("", FINAL);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 11);
    repeats = 0;
    tear_down();
}
END_TEST

START_TEST(an_interrupted_final_leaves_nothing)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.interrupt_at = 17;
    tune_ok("", FINAL);
    ck_assert(result.interrupted);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT (SELECT count(*) FROM final_round) + (SELECT count(*) FROM intent)"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best"), 1); /* by what is known until then */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE warnings LIKE '%comparison of the near-ties was interrupted%'"), 1);
    evaluator.interrupt_at = 0;
    evaluator.running = 0;
    tune_ok("", FINAL);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 1);
    tear_down();
}
END_TEST

/* A recording can't be timed again: its stored intervals decide, by the same rule for the pick. */
START_TEST(finals_of_a_recording)
{
    set_up();
    evaluator.base.is_recorded = true;
    evaluator.smem = second_is_smallest;
    evaluator.time = drifting;
    tune_ok("", "[param A]\nvalues = 1, 2\n"); /* 0.1 % apart: told apart by intervals of 2 ns */
    ck_assert_str_eq(last_best, "A=1;ALGO=plain");
    ck_assert_uint_eq(last.tied, 0);
    evaluator.time = NULL;
    tune_ok("", "[param A]\nvalues = 1..4\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE method = 'intervals' AND rounds = 0"), 2);
    tune_ok("", "[param A]\nvalues = 1..4\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 2);
    tear_down();
}
END_TEST

static double slowly_drifting(const char *variant, size_t start)
{
    return (knob(variant) == 1 ? 1e6 : 2e6) * (1 + 0.0002 * (double)start);
}

/* The default is timed again now and then; the drift is in the session's row and warned about. */
START_TEST(drift_references_show_drift)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.watched = store;
    evaluator.time = slowly_drifting;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(rows(), 170);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor a JOIN variant v ON v.id = a.variant_id WHERE v.text = 'A=1;ALGO=plain'"), 4);
    ck_assert_uint_eq(evaluator.retimes, 3);
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift BETWEEN 0.029 AND 0.033 AND warnings LIKE '%moved by 3._ % during the session%'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tune_ok("", "[param A]\nvalues = 1..170\n"); /* nothing to measure, nothing to watch */
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift IS NULL AND warnings IS NULL"), 1);
    tune_ok("", "[param A]\nvalues = 1..175\n"); /* a session has its own first time */
    ck_assert_uint_eq(evaluator.retimes, 1 + 3);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 5);
    tear_down();
}
END_TEST

START_TEST(how_far_a_drift_reference_has_certainly_moved)
{
    ck_assert(mt_drift_moved(990, 1010, 1000, 1100) == 0); /* the intervals overlap: nothing is certain */
    ck_assert_double_eq_tol(mt_drift_moved(990, 1000, 1050, 1100), 0.05, 1e-12);
    ck_assert_double_eq_tol(mt_drift_moved(1000, 1010, 900, 950), 0.05, 1e-12);
}
END_TEST

static double jumping(const char *variant, size_t start)
{
    static unsigned turn;
    return knob(variant) == 1 ? 12e3 * (turn++ % 2 ? 1.06 : 1) : 24e3;
}

/* A short kernel whose few samples scatter is no sign of drift: its intervals say so. */
START_TEST(scatter_is_no_drift)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = jumping;
    evaluator.interval = 0.04;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 4);
    ck_assert_int_eq(scalar(store, "SELECT max(median_ns) / min(median_ns) > 1.05 FROM anchor"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift = 0 AND warnings IS NULL"), 1);
    tear_down();
}
END_TEST

static double latency_apart(const char *variant, size_t start)
{
    return (knob(variant) == 1 ? 10e3 : 20e3) + (evaluator.running_batch > 1 ? 0 : 2700);
}

/* Near the threshold the length decides now this way, now that. */
static uint32_t by_chance(const char *variant, mt_method method)
{
    static unsigned turn;
    if (method == MT_METHOD_BY_LENGTH) return turn++ % 2 ? 20 : 1;
    return method == MT_METHOD_GRAPH ? 20 : 1;
}

/* The method of a drift reference is that of its first time: the launch latency that only one of them holds is no drift. */
START_TEST(a_drift_reference_keeps_its_method)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = latency_apart;
    evaluator.batch = by_chance;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 4);
    ck_assert_int_eq(scalar(store, "SELECT count(DISTINCT median_ns) FROM anchor"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift = 0 AND warnings IS NULL"), 1);
    tear_down();
}
END_TEST

static double near_by_graph(const char *variant, size_t start)
{
    return (knob(variant) == 1 ? 9.9e3 : 9.8e3) + (evaluator.running_batch > 1 ? 0 : 2700);
}

/* The default is timed before anything is known to be short; the final times all by one method. */
static uint32_t first_by_events(const char *variant, mt_method method)
{
    return method == MT_METHOD_EVENTS || (method == MT_METHOD_BY_LENGTH && knob(variant) == 1) ? 1 : 20;
}

START_TEST(a_final_has_one_method)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = near_by_graph;
    evaluator.batch = first_by_events;
    tune_ok("", "[param A]\nvalues = 1, 2\ndefault = 1\n");
    ck_assert_int_eq(scalar(store, "SELECT max(median_ns) FROM measurement"), 12600);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist WHERE median_ns IN (9900, 9800)"), 2);
    ck_assert_str_eq(last_best, "A=2;ALGO=plain");
    tear_down();
}
END_TEST

/* A later session measures beside the stored best, by its method. */
START_TEST(a_stored_best_has_its_method)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = near_by_graph;
    evaluator.batch = first_by_events;
    tune_ok("", "[param A]\nvalues = 2\n");
    tune_ok("", "[param A]\nvalues = 1, 2\ndefault = 1\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best"), 1);
    ck_assert_int_eq(scalar(store, "SELECT max(median_ns) FROM measurement"), 9900);
    tear_down();
}
END_TEST

static double least_at_3(const char *variant)
{
    return knob(variant) == 3 ? 500 : 1000;
}

static double never(const char *variant)
{
    return 0;
}

/* The search goes by time, the pick by what was asked for; a second run repeats nothing; another objective is another final. */
START_TEST(objectives)
{
    static const char EIGHT[] = "[param A]\nvalues = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\ndefault = 1\n";
    set_up();
    evaluator.base.can_retime = true;
    evaluator.base.energy = MT_ENERGY_COUNTER;
    evaluator.time = drifting;
    evaluator.energy = least_at_3;
    evaluator.watched = store;
    params.objective = MT_OBJECTIVE_ENERGY;
    params.objective_given = true;
    tune_ok("", EIGHT);
    ck_assert_str_eq(last_best, "A=3;ALGO=plain");
    ck_assert(last.objective == MT_OBJECTIVE_ENERGY && last.energy.run_uj == 500 && last.tied == 0);
    ck_assert_uint_eq(evaluator.energies, 2 * 8); /* the eight fastest, there and back */
    ck_assert_uint_eq(evaluator.retimes, 14 * 8);
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round r JOIN finalist f ON f.final_id = r.id WHERE r.objective = 'energy' AND f.energy_uj IN (500, 1000)"), 8);
    tune_ok("", EIGHT);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_str_eq(last_best, "A=3;ALGO=plain");
    params.objective = MT_OBJECTIVE_TIME;
    tune_ok("", EIGHT);
    ck_assert_str_ne(last_best, "A=3;ALGO=plain"); /* tied in time, but neither first in text */
    ck_assert(last.objective == MT_OBJECTIVE_TIME && last.energy.source == MT_ENERGY_NONE);
    ck_assert_uint_eq(evaluator.energies, 2 * 8);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE objective = 'time'"), 1);
    params.objective = MT_OBJECTIVE_EDP; /* twice as slow at the same energy loses, half the energy wins */
    tune_ok("", EIGHT);
    ck_assert_str_eq(last_best, "A=3;ALGO=plain");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

/* One variant alone has no library, but its energy was asked for. */
START_TEST(energy_of_a_single_variant)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.base.energy = MT_ENERGY_COUNTER;
    evaluator.energy = least_at_3;
    params.objective = MT_OBJECTIVE_ENERGY;
    tune_ok("", "[param A]\nvalues = 3\n");
    ck_assert(last.energy.run_uj == 500);
    tear_down();
}
END_TEST

/* What NVML does not tell can't be picked by: an error where it was asked for on the command line, else time decides. */
START_TEST(energy_that_nobody_tells)
{
    mt_error err = {0};
    set_up();
    evaluator.base.can_retime = true;
    params.objective = MT_OBJECTIVE_ENERGY;
    params.objective_given = true;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "objective energy: NVML tells neither"));
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session"), 0);
    params.objective_given = false;
    tune_ok("", TEN);
    ck_assert(last.objective == MT_OBJECTIVE_TIME);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE objective <> 'time'"), 0);
    evaluator.base.energy = MT_ENERGY_COUNTER; /* it is there, but stands still */
    evaluator.energy = never;
    tune_ok("", TEN);
    ck_assert(last.objective == MT_OBJECTIVE_TIME && last_best[0]);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE objective <> 'time'"), 0);
    params.objective_given = true; /* what turns out in the middle ends no session */
    tune_ok("", TEN);
    ck_assert(last.objective == MT_OBJECTIVE_TIME && last.wanted == MT_OBJECTIVE_ENERGY && last_best[0]);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE warnings LIKE '%picked by time%'"), 3); /* each time, and kept */
    evaluator.base.is_recorded = true;
    evaluator.base.can_retime = false;
    params.objective_given = true;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "a recording holds no energy"));
    tear_down();
}
END_TEST

/* A drift reference that fails no longer counts, and the session goes on without one. */
START_TEST(a_drift_reference_dies)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = slowly_drifting;
    evaluator.dies = "A=1;ALGO=plain";
    repeats = 1;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(rows(), 171);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 1);
    ck_assert_str_ne(last_best, "A=1;ALGO=plain");
    ck_assert(last_best[0]);
    repeats = 0;
    tear_down();
}
END_TEST

/* Both cache states: the search goes by one, what passed is measured in the other too, and a second run measures neither. */
START_TEST(both_l2)
{
    set_up();
    params.l2 = MT_L2_WARM;
    params.both_l2 = true;
    evaluator.kind = third_fails;
    tune_ok("", "[param A]\nvalues = 1..6\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement m JOIN subject s ON s.id = m.subject_id WHERE s.regime = 'warm'"), 6);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement m JOIN subject s ON s.id = m.subject_id WHERE s.regime = 'cold' AND m.outcome = 'ok'"), 5);
    ck_assert_int_eq(rows(), 11);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best"), 2);
    ck_assert_uint_eq(result.subjects, 2);
    ck_assert_int_eq(last.l2, MT_L2_COLD);
    tune_ok("", "[param A]\nvalues = 1..6\n");
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 11);
    params.both_l2 = false;
    tune_ok("", "[param A]\nvalues = 1..7\n");
    ck_assert_int_eq(rows(), 12);
    params.l2 = MT_L2_COLD;
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_trust");
    TCase *group = tcase_create("session");
    const TTest *const tests[] = {racing, no_race_measures_what_was_stopped, finals_see_through_drift, a_finalist_dies, an_interrupted_final_leaves_nothing, 
        finals_of_a_recording, drift_references_show_drift, how_far_a_drift_reference_has_certainly_moved, scatter_is_no_drift, a_drift_reference_keeps_its_method, a_final_has_one_method, a_stored_best_has_its_method,
        objectives, energy_of_a_single_variant, energy_that_nobody_tells, a_drift_reference_dies, both_l2};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
