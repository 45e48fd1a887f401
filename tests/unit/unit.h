/* libcheck without its boilerplate: tests are START_TEST … END_TEST, and UNIT_MAIN lists them. UNIT_CASE_S (from CMake) is when a case is taken to hang, seconds. */
#ifndef MT_TESTS_UNIT_H
#define MT_TESTS_UNIT_H

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

/* Runs the tests in a group that the caller has prepared (timeout, fixture). */
static inline int unit_run_group(const char *name, TCase *group, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int unit_run(const char *name, const TTest *const *tests, size_t count)
{
    return unit_run_group(name, tcase_create(name), tests, count);
}

#define UNIT_MAIN(name, ...)                                                \
    int main(void)                                                          \
    {                                                                       \
        const TTest *const tests[] = {__VA_ARGS__};                         \
        return unit_run(name, tests, sizeof tests / sizeof tests[0]);       \
    }

#endif
