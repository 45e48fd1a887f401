/* libcheck without its boilerplate: tests are START_TEST … END_TEST, and UNIT_MAIN lists them. UNIT_CASE_S (from CMake) is when a case is taken to hang, seconds. */
#pragma once

#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Sanitizers make everything several times slower, and look for faults in code that runs, not for wrong values: of cases that are many of one kind, a share visits the same code.
 * UNIT_SHARE(n) is n in plain builds, n / 5 in those. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { UNIT_SLOWNESS = 5 };
#else
enum { UNIT_SLOWNESS = 1 };
#endif
#define UNIT_SHARE(n) ((n) / UNIT_SLOWNESS)

/* The limit of a test that sets none: libcheck's own 4 s are too short for a loaded machine. And files that only their owner may write, whoever runs this: others are not trusted. */
__attribute__((constructor)) static void unit_set_up(void)
{
    char seconds[16];
    umask(022);
    snprintf(seconds, sizeof seconds, "%d", UNIT_CASE_S);
    setenv("CK_DEFAULT_TIMEOUT", seconds, 0);
}

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
