/* The session's loop over a scripted evaluator. */
#include <sys/wait.h>

#include "tests/unit/session_fixture.h"

static int thoughts; /* the strategy's, which one thread at a time asks */

/* ---- tests ---- */

START_TEST(whole_space)
{
    set_up();
    evaluator.watched = store;
    tune_ok("", TEN);
    ck_assert_int_eq(rows(), 10);
    ck_assert_uint_eq(result.subjects, 1);
    ck_assert_uint_eq(result.with_winner, 1);
    ck_assert_int_eq(result.worker_restarts, 3);
    ck_assert_str_eq(first_new, "A=5;ALGO=plain"); /* the default comes first */
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
    ck_assert(last.best_ns == 1e6 - 1000 && last.low_ns == last.best_ns - 1 && last.high_ns == last.best_ns + 1);
    ck_assert(last.default_ns == 1e6 - 500 && isinf(last.baseline_ns));
    ck_assert_uint_eq(evaluator.intents_missing, 0); /* each start was announced */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'done' AND evaluated = 10 AND worker_restarts = 3"), 1);
    ck_assert_int_eq(scalar(store, "SELECT json_extract(times_json, '$.total_ns') > 0 FROM session"), 1);
    ck_assert_int_eq(scalar(store, "SELECT truncated FROM session"), 0);
    ck_assert(result.times.total_ns > 0 && result.times.device_ns <= result.times.total_ns && result.times.database_ns <= result.times.total_ns);
    ck_assert_int_eq(scalar(store, "SELECT max(evaluation) FROM measurement"), 10);
    tear_down();
}
END_TEST

/* Says after its 12th thought that nothing more is to be gained. */
static double outlook_of_the_twelfth(void *state)
{
    (void)state;
    return thoughts++ < 11 ? NAN : 0.001;
}

START_TEST(a_search_ends_where_it_is_flat)
{
    mt_strategy ending = *mt_strategy_find("random");
    ending.outlook = outlook_of_the_twelfth;
    set_up();
    evaluator.capacity = 1;
    params.own_strategy = &ending;
    for (int round = 0; round < 2; round++) { /* the second is not asked to end: it goes on */
        thoughts = 0;
        params.until_flat = round == 0;
        tune_ok("budget = 40", HUNDRED);
        ck_assert_int_eq(last.is_flat, round == 0);
        ck_assert_uint_eq(last.meant, 40);
        ck_assert_int_eq(last.end, MT_SUBJECT_COMPLETE);
        ck_assert_uint_eq(result.cut, 0);
        if (round == 0) ck_assert(last.evaluated >= 11 && last.evaluated <= 14);
        else ck_assert_int_eq(rows(), 40);
        if (round == 0) ck_assert_double_eq(last.expected_gain, 0.001);
    }
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'done' AND truncated = 0"), 2);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE json_extract(times_json, '$.flat[0].of') = 40 AND json_extract(times_json, '$.flat[0].evaluated') < 15"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE json_type(times_json, '$.flat') IS NULL"), 1);
    params.own_strategy = NULL;
    params.until_flat = false;
    tear_down();
}
END_TEST

START_TEST(resume_measures_nothing)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 30", HUNDRED);
    ck_assert_int_eq(rows(), 30);
    tune_ok("budget = 30", HUNDRED);
    ck_assert_int_eq(rows(), 30);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_uint_eq(last.known, 30);
    ck_assert_uint_eq(last.measured, 0);
    ck_assert(isfinite(last.default_ns));
    tune_ok("budget = 45", HUNDRED); /* a larger budget goes on */
    ck_assert_int_eq(rows(), 45);
    params.reuse = MT_REUSE_NONE;
    tear_down();
}
END_TEST

START_TEST(added_value_measures_the_new)
{
    set_up();
    tune_ok("", "[param A]\nvalues = 1, 2, 3\n[param B]\nvalues = 1, 2\n");
    ck_assert_int_eq(rows(), 6);
    tune_ok("", "[param B]\nvalues = 2, 1\ndefault = 1\n[param A]\nvalues = 3, 1, 2\ndefault = 1\n"); /* another order is nothing new */
    ck_assert_int_eq(rows(), 6);
    tune_ok("", "[param A]\nvalues = 1, 2, 3, 4\n[param B]\nvalues = 1, 2\n");
    ck_assert_int_eq(rows(), 8);
    ck_assert_uint_eq(last.measured, 2);
    tune_ok("", "[param A]\nvalues = 4\n[param B]\nvalues = 1, 2\n"); /* rows of points that are gone do not count */
    ck_assert_uint_eq(last.known, 2);
    params.kernel_key = mt_hash_text("edited kernel");
    tune_ok("", "[param A]\nvalues = 4\n[param B]\nvalues = 1, 2\n");
    ck_assert_uint_eq(last.measured, 2);
    tear_down();
}
END_TEST

START_TEST(budgets)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 1", HUNDRED);
    ck_assert_int_eq(rows(), 1);
    ck_assert_str_eq(first_new, "A=5;ALGO=plain;B=1");
    params.budget = 7;
    params.budget_given = true;
    tune_ok("budget = 50", HUNDRED);
    ck_assert_int_eq(rows(), 7);
    params.strategy = "exhaustive";
    tune_ok("budget = 50", HUNDRED);
    ck_assert_int_eq(rows(), 7);
    params.budget_given = false;
    params.budget = 0;
    tune_ok("budget = 50", HUNDRED); /* exhaustive by name takes no budget from the file */
    ck_assert_int_eq(rows(), 100);
    params.strategy = "random";
    tune_ok("budget = 3", HUNDRED); /* more is known than was asked for */
    ck_assert_int_eq(rows(), 100);
    ck_assert_uint_eq(last.known, 100);
    tear_down();
}
END_TEST

START_TEST(auto_covers_a_small_space)
{
    set_up();
    tune_ok("budget = 1000", TEN);
    ck_assert_int_eq(rows(), 10);
    ck_assert_uint_eq(totals, 10);
    tear_down();
}
END_TEST

START_TEST(interrupted_then_resumed)
{
    mt_error err = {0};
    set_up();
    evaluator.interrupt_at = 4;
    ck_assert_int_eq(tune("", TEN, &err), MT_OK);
    ck_assert(result.interrupted && last.end == MT_SUBJECT_INTERRUPTED);
    ck_assert_int_eq(rows(), 4); /* the running one was finished and kept */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'interrupted'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_str_ne(last_best, "");
    evaluator.interrupt_at = 0;
    tune_ok("", TEN);
    ck_assert(!result.interrupted);
    ck_assert_uint_eq(last.measured, 6);
    ck_assert_int_eq(rows(), 10);
    tear_down();
}
END_TEST

START_TEST(time_is_up)
{
    set_up();
    evaluator.usleep = 400000;
    params.time_s = 6; /* long enough for two, also on a busy machine */
    params.time_given = true;
    tune_ok("", HUNDRED);
    ck_assert_int_eq(last.end, MT_SUBJECT_OUT_OF_TIME);
    ck_assert_uint_eq(result.cut, 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'done' AND truncated AND warnings LIKE 'small: truncated after %of 100 evaluations (the time was up); the same command with a larger --time completes it'"), 1);
    ck_assert_int_ge(rows(), 2);
    ck_assert_int_le(rows(), 20);
    tear_down();
}
END_TEST

/* More nodes than a lifetime has time for, and no point among the first. */
static const char *const ENDLESS = "[param A]\nvalues = 1..4096\n[param B]\nvalues = 1..4096\n[param C]\nvalues = 1..4096\n[param D]\nvalues = 1..4096\n"
                                   "[param E]\nvalues = 1..4096\n[constraint late]\nexpr = A + B + C + D + E == 20480\n";

/* Again and again, but only while somebody listens: before and after the session SIGINT is ignored or ends this process. */
static void press_ctrl_c(int number)
{
    struct sigaction now;
    (void)number;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) raise(SIGINT);
}

START_TEST(interrupted_while_enumerating)
{
    mt_error err = {0};
    set_up();
    signal(SIGINT, SIG_IGN); /* instead of the test library's handler, which ends the test */
    signal(SIGALRM, press_ctrl_c);
    ualarm(50000, 50000);
    mt_status st = tune("", ENDLESS, &err);
    ualarm(0, 0);
    ck_assert_int_eq(st, MT_OK);
    ck_assert(result.interrupted);
    ck_assert_uint_eq(result.subjects, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'interrupted'"), 1);
    tear_down();
}
END_TEST

START_TEST(time_is_up_while_enumerating)
{
    mt_error err = {0};
    set_up();
    params.time_s = 0.05;
    params.time_given = true;
    ck_assert_int_eq(tune("", ENDLESS, &err), MT_ERR_NOTHING_VALID);
    ck_assert(!result.interrupted);
    ck_assert_uint_eq(result.skipped, 1);
    tear_down();
}
END_TEST

/* Timings of one set of inputs say nothing of another. */
START_TEST(inputs_from_files_are_a_workload_of_their_own)
{
    mt_hash one = mt_hash_text("one"), two = mt_hash_text("two");
    set_up();
    tune_ok("", TEN);
    params.inputs = &one;
    tune_ok("", TEN);
    ck_assert_uint_eq(last.known, 0);
    ck_assert(last.best_ns == 1e6 - 1000); /* read back from its own rows */
    tune_ok("", TEN);
    ck_assert_uint_eq(last.known, 10);
    params.inputs = &two;
    tune_ok("", TEN);
    ck_assert_uint_eq(last.known, 0);
    ck_assert_int_eq(rows(), 30);
    ck_assert_int_eq(scalar(store, "SELECT count(DISTINCT name) FROM workload"), 3);
    tear_down();
}
END_TEST

START_TEST(time_is_shared)
{
    static const char *const shapes[] = {"small", "large"};
    set_up();
    evaluator.usleep = 60000; /* one shape alone would take all of the time */
    params.shapes = shapes;
    params.shape_count = 2;
    params.time_s = 6; /* long enough for a busy machine */
    params.time_given = true;
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(result.subjects, 2);
    ck_assert_int_eq(scalar(store, "SELECT count(DISTINCT subject_id) FROM measurement"), 2);
    tear_down();
}
END_TEST

static mt_outcome_kind mixed(const char *variant)
{
    if (strstr(variant, "A=1;")) return MT_OUTCOME_ILLEGAL;
    if (strstr(variant, "A=2;")) return MT_OUTCOME_COMPILE_ERROR;
    if (strstr(variant, "A=3;")) return MT_OUTCOME_CRASHED;
    if (strstr(variant, "A=4;")) return MT_OUTCOME_TIMEOUT;
    if (strstr(variant, "A=6;")) return MT_OUTCOME_GPU_FAULT;
    if (strstr(variant, "A=7;")) return MT_OUTCOME_WRONG_RESULT;
    return MT_OUTCOME_OK;
}

static const char TWO_LOADS[] = "[param A]\nvalues = 1..8\ndefault = 5\n[workload near]\nsigma = 1\ndefault = yes\n[workload far]\nsigma = 8\n";

START_TEST(failures_are_data)
{
    static const char *const far[] = {"far"};
    set_up();
    evaluator.kind = mixed;
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 8);
    ck_assert_uint_eq(last.ok, 2);
    ck_assert_uint_eq(last.failed, 6);
    ck_assert_str_eq(last_best, "A=8;ALGO=plain");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause IN ('crashed', 'timeout', 'fault')"), 3);
    params.workloads = far; /* what a variant did to the GPU holds for every workload */
    params.workload_count = 1;
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'quarantined'"), 2); /* A=4 and A=6; one crash is not enough */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause = 'crashed'"), 2);
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 16);
    tear_down();
}
END_TEST

static mt_outcome_kind hopeless(const char *variant)
{
    return MT_OUTCOME_WRONG_RESULT;
}

START_TEST(nothing_valid)
{
    mt_error err = {0};
    set_up();
    evaluator.kind = hopeless;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_NOTHING_VALID);
    ck_assert_int_eq(rows(), 10);
    ck_assert(isinf(last.best_ns));
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'failed'"), 1);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_NOTHING_VALID), 4);
    tear_down();
}
END_TEST

START_TEST(one_point_and_none)
{
    mt_error err = {0};
    set_up();
    tune_ok("budget = 5", "[param A]\nvalues = 3\n");
    ck_assert_int_eq(rows(), 1);
    tune_ok("budget = 5", "");
    ck_assert_int_eq(rows(), 2);
    ck_assert_int_eq(tune("budget = 5", "[param A]\nvalues = 1, 2\n[constraint never]\nexpr = A > 10\nwhy = because\n", &err), MT_ERR_NOTHING_VALID);
    ck_assert_uint_eq(skipped, 1);
    ck_assert_msg(strstr(reason, "never") && strstr(reason, "because"), "%s", reason);
    tear_down();
}
END_TEST

START_TEST(constraints_are_counted)
{
    set_up();
    tune_ok("", "[param A]\nvalues = 1..10\n[constraint even]\nexpr = A % 2 == 0\nwhy = pairs\n");
    ck_assert_int_eq(rows(), 5);
    ck_assert_int_ge(scalar(store, "SELECT count(*) FROM pruned"), 1);
    tear_down();
}
END_TEST

/* Rows of points that the space no longer has stay in the database, and none of them is told as what was found. */
START_TEST(the_best_is_a_point_of_the_space)
{
    static const char *const narrower[] = {"[param A]\nvalues = 1..10\ndefault = 5\n[constraint few]\nexpr = A <= 7\nwhy = test\n", "[param A]\nvalues = 5, 6, 7\ndefault = 5\n"};
    set_up();
    tune_ok("", TEN);
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
    for (size_t i = 0; i < sizeof narrower / sizeof *narrower; i++) {
        tune_ok("", narrower[i]);
        ck_assert_str_eq(last_best, "A=7;ALGO=plain");
        ck_assert(last.best_ns == 1e6 - 700);
        ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE warnings LIKE '%no point of the search space%'"), (int)i + 1);
    }
    tune_ok("", TEN);
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
    tear_down();
}
END_TEST

START_TEST(baseline_is_measured)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 2\nbaseline = slow", "[param A]\nvalues = 1..50\n[algorithm slow]\n");
    ck_assert_int_eq(rows(), 2);
    ck_assert(isfinite(last.baseline_ns) && isfinite(last.default_ns));
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM variant WHERE text = 'A=1;ALGO=slow'"), 1);
    tear_down();
}
END_TEST

static mt_outcome_kind yardsticks_are_fast(const char *variant)
{
    return strstr(variant, "ALGO=copy") || strstr(variant, "ALGO=empty") ? MT_OUTCOME_YARDSTICK : MT_OUTCOME_OK;
}

static double time_of_yardsticks(const char *variant, size_t start)
{
    return strstr(variant, "ALGO=empty") ? 2000 : strstr(variant, "ALGO=copy") ? 90000 - (strstr(variant, "A=2") ? 5000 : 0) : 100000;
}

/* Measured first, the fastest of each told, and whatever their times: never the best. */
START_TEST(yardsticks_are_measured_and_never_win)
{
    static const char space[] = "[param A]\nvalues = 1..3\nwhen = ALGO != empty\n[algorithm copy]\nyardstick = yes\n[algorithm empty]\nyardstick = yes\n"
                                "[model]\nops = 264\nmoved_bytes = 1000\n";
    set_up();
    evaluator.kind = yardsticks_are_fast;
    evaluator.time = time_of_yardsticks;
    params.strategy = "random";
    tune_ok("budget = 3", space);
    ck_assert_uint_eq(last.yardstick, 2);
    ck_assert_uint_eq(last.ok, 1);
    params.strategy = "exhaustive";
    params.budget = 100;
    tune_ok("", space);
    ck_assert_uint_eq(last.evaluated, 7);
    ck_assert_uint_eq(last.evaluated, last.ok + last.yardstick);
    ck_assert_uint_eq(last.known, 3);
    ck_assert_uint_eq(last.yardstick_count, 2);
    ck_assert_double_eq_tol(last.yardsticks[0].median_ns, 85000, 1e-9);
    ck_assert_double_eq_tol(last.yardsticks[1].median_ns, 2000, 1e-9);
    ck_assert_double_eq_tol(last.best_ns, 100000, 1e-9);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best b JOIN measurement m ON m.id = b.measurement_id WHERE m.outcome = 'ok'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'yardstick'"), 4);
    ck_assert_int_eq(scalar(store, "SELECT value FROM metric x JOIN best b ON b.measurement_id = x.measurement_id WHERE name = 'ops_per_s'"), 2640000);
    ck_assert_int_eq(scalar(store, "SELECT value FROM metric x JOIN best b ON b.measurement_id = x.measurement_id WHERE name = 'moved_bytes_per_s'"), 10000000);
    tear_down();
}
END_TEST

START_TEST(bad_names)
{
    static const char *const shapes[] = {"smal"}, *const workloads[] = {"nowhere"};
    mt_error err = {0};
    set_up();
    params.strategy = "randm";
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_msg(strstr(err.message, "did you mean 'random'"), "%s", err.message);
    params.strategy = NULL;
    params.shapes = shapes;
    params.shape_count = 1;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_msg(strstr(err.message, "did you mean 'small'"), "%s", err.message);
    params.shape_count = 0;
    params.workloads = workloads;
    params.workload_count = 1;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session"), 0);
    tear_down();
}
END_TEST

START_TEST(evaluator_fails)
{
    mt_error err = {0};
    set_up();
    evaluator.fail_at = 4;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_GPU);
    ck_assert_str_eq(err.message, "the GPU fell off the bus");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'failed'"), 1);
    ck_assert_int_eq(rows(), 3);
    evaluator.fail_at = 0;
    evaluator.running = 0;
    tune_ok("", TEN);
    ck_assert_int_eq(rows(), 10); /* the culprit's intent was settled; same boot: no strike */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

/* kill -9 at some instant, and again, until it gets through: nothing lost, nothing twice, no strike. */
START_TEST(killed_and_resumed)
{
    char path[128];
    set_up();
    snprintf(path, sizeof path, "%s", mt_store_path(store));
    mt_store_close(store);
    store = NULL;
    int kills = 0, status = 0;
    for (int round = 0; round < 60; round++) {
        pid_t child = fork();
        if (child == 0) {
            mt_error err = {0};
            if (mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) != MT_OK) _exit(2);
            evaluator.usleep = 20000; /* two seconds in all: longer than any of the naps below gets on a busy machine */
            _exit(tune("", HUNDRED, &err) == MT_OK ? 0 : 1);
        }
        usleep((useconds_t)(20000 + 7919 * round % 40000));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) {
            ck_assert_int_eq(WEXITSTATUS(status), 0);
            break;
        }
        kills++;
    }
    mt_error err = {0};
    ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) == MT_OK, "%s", err.message);
    int64_t before = rows();
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(last.known, (size_t)before);
    ck_assert_int_eq(rows(), 100);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike"), 0);
    ck_assert_int_gt(kills, 2);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *group = tcase_create("session");
    const TTest *const tests[] = {whole_space, a_search_ends_where_it_is_flat, resume_measures_nothing, added_value_measures_the_new, budgets, auto_covers_a_small_space, interrupted_then_resumed, time_is_up, interrupted_while_enumerating, time_is_up_while_enumerating, inputs_from_files_are_a_workload_of_their_own, time_is_shared, failures_are_data,
        nothing_valid, one_point_and_none, constraints_are_counted, the_best_is_a_point_of_the_space, baseline_is_measured, yardsticks_are_measured_and_never_win, bad_names, evaluator_fails, killed_and_resumed};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
