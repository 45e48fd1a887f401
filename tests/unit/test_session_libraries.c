/* A baseline plugin's algorithms in the rounds of the final. */
#include "tests/unit/session_fixture.h"

static const char PLUGIN[] = "baseline = cublaslt\nstrategy = exhaustive\n";

/* The first is not the fastest; number 5 is. Six of them. The best variant takes 999,000 ns. */
static double six(uint32_t algorithm)
{
    static const double ns[] = {1200000, 1300000, 1500000, 1400000, 1600000, 1100000};
    return algorithm < 6 ? ns[algorithm] : 0;
}

static double of_best(const char *column)
{
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT CAST(1000 * %s AS INTEGER) FROM library_comparison JOIN best USING (measurement_id) WHERE plugin = 'cublaslt'", column);
    return (double)scalar(store, sql) / 1000;
}

START_TEST(both_ratios)
{
    evaluator.base.can_retime = true;
    evaluator.library = six;
    evaluator.watched = store;
    tune_ok(PLUGIN, TEN);
    ck_assert_double_eq_tol(of_best("best_ratio"), 1100000 / 999000.0, 0.002);
    ck_assert_double_eq_tol(of_best("first_ratio"), 1200000 / 999000.0, 0.002);
    ck_assert_double_eq_tol(of_best("best_ns"), 1100000, 1);
    ck_assert_str_eq(last.library.plugin, "cublaslt");
    ck_assert_double_eq_tol(last.library.best_ratio, 1100000 / 999000.0, 1e-9);
    ck_assert_double_eq_tol(last.library.first_ns, 1200000, 1e-3);
    ck_assert(last.library.best_low <= last.library.best_ratio && last.library.best_ratio <= last.library.best_high);
    ck_assert_str_eq(last.library_why, "");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM library_comparison WHERE best_algorithm = 'number 5' AND first_algorithm = 'number 0'"), scalar(store, "SELECT count(*) FROM finalist"));
    ck_assert_uint_eq(evaluator.libraries_validated, 7);     /* its six, once and validated, and one that is not there: none is asked for behind it */
    ck_assert_uint_eq(evaluator.libraries_timed, 4 * 12);    /* the first and the three fastest others, each round */
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
}
END_TEST

START_TEST(one_finalist_is_compared_too)
{
    evaluator.base.can_retime = true;
    evaluator.library = six;
    evaluator.interval = 1e-6;
    tune_ok(PLUGIN, "[param A]\nvalues = 1\n");
    ck_assert_uint_eq(evaluator.libraries_timed, 4 * 12);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist"), 1);
    ck_assert_double_gt(last.library.best_ratio, 1);
    /* The final holds: nothing is timed again, and the ratio is still told. */
    size_t before = evaluator.libraries_timed;
    tune_ok(PLUGIN, "[param A]\nvalues = 1\n");
    ck_assert_uint_eq(evaluator.libraries_timed, before);
    ck_assert_double_gt(last.library.best_ratio, 1);
}
END_TEST

START_TEST(no_plugin_is_said_and_no_failure)
{
    evaluator.base.can_retime = true;
    tune_ok(PLUGIN, TEN);
    ck_assert_str_eq(last.library.plugin, "");
    ck_assert_ptr_nonnull(strstr(last.library_why, "cublaslt: load_error: none"));
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
    ck_assert_uint_eq(evaluator.libraries_timed, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM metric"), 0);
}
END_TEST

/* The second and the fourth cost a worker each: five to eight are not tried. */
static double deadly(uint32_t algorithm)
{
    return algorithm % 2 ? -1 : 1200000 - 1000.0 * algorithm;
}

static double only_deadly(uint32_t algorithm)
{
    return -1;
}

START_TEST(two_deaths_are_enough)
{
    evaluator.base.can_retime = true;
    evaluator.library = deadly;
    tune_ok(PLUGIN, TEN);
    ck_assert_uint_eq(evaluator.libraries_validated, 4);
    ck_assert_uint_eq(evaluator.libraries_timed, 2 * 12); /* the first and the third */
    ck_assert_double_eq_tol(last.library.first_ns, 1200000, 1e-3);
    ck_assert_double_eq_tol(last.library.best_ns, 1198000, 1e-3);
}
END_TEST

START_TEST(a_plugin_is_asked_again_until_it_compares)
{
    evaluator.base.can_retime = true;
    evaluator.library = only_deadly;
    tune_ok(PLUGIN, TEN);
    ck_assert_uint_eq(evaluator.libraries_validated, 2);
    ck_assert_ptr_nonnull(strstr(last.library_why, "cublaslt: crashed: none"));
    size_t retimes = evaluator.retimes;
    tune_ok(PLUGIN, TEN); /* the final holds, and nobody is timed again */
    ck_assert_uint_eq(evaluator.libraries_validated, 4);
    ck_assert_uint_eq(evaluator.retimes, retimes);
    ck_assert_ptr_nonnull(strstr(last.library_why, "cublaslt: crashed: none"));
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 1);
    evaluator.library = six;
    tune_ok(PLUGIN, TEN);
    ck_assert_str_eq(last.library.plugin, "cublaslt");
    ck_assert_str_eq(last.library_why, "");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 2);
    size_t timed = evaluator.libraries_timed;
    tune_ok(PLUGIN, TEN);
    ck_assert_uint_eq(evaluator.libraries_timed, timed);
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
}
END_TEST

START_TEST(a_recording_knows_no_plugin)
{
    evaluator.library = six;
    tune_ok(PLUGIN, TEN);
    ck_assert_uint_eq(evaluator.libraries_validated, 0);
    ck_assert_str_eq(last.library_why, "");
}
END_TEST

START_TEST(unknown_names_are_errors)
{
    mt_error err = {0};
    mt_spec *spec = NULL;
    static const char text[] = "[kernel]\nname = k\nsource = k.cu\nreference = r\n[tune]\nbaseline = cublas\n[shape s]\nN = 1\n[algorithm v]\n"
                               "[arg o]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[launch 1]\nargs = o\ngrid = 1\nblock = 32\n";
    ck_assert_int_eq(mt_spec_parse("x.ini", text, strlen(text), &spec, &err), MT_ERR_SPEC);
    ck_assert_ptr_nonnull(strstr(err.message, "x.ini:6: baseline = cublas: no such algorithm or plugin, did you mean `cublaslt`?"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_libraries");
    TCase *group = tcase_create("session");
    const TTest *const tests[] = {both_ratios, one_finalist_is_compared_too, no_plugin_is_said_and_no_failure, two_deaths_are_enough, a_plugin_is_asked_again_until_it_compares, a_recording_knows_no_plugin, unknown_names_are_errors};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(group, tests[i]);
    tcase_add_checked_fixture(group, set_up, tear_down);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
