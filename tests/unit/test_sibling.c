/* tuner/cli/sibling: how the end of a second tuner is told. This program is that tuner, too: mt_sibling_start runs the program that calls it. */
#include "tuner/cli/measure/sibling.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static uv_loop_t loop;

static void on_line(void *context)
{
    if (context) raise(*(const int *)context);
}

/* `end`: "waits", for the signal `told` that we get when it says so, "killed", or its exit code. */
static mt_status run(const char *end, int told, mt_error *err)
{
    static const int ordinal = 3;
    char *words[] = {(char *)end};
    const mt_sibling_options options = {.command = "sibling", .argc = 1, .argv = words, .ordinals = &ordinal, .count = 1, .before_line = on_line, .context = told ? &told : NULL};
    mt_sibling *sibling = NULL;
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mt_sibling_start(&loop, &options, &sibling, err), MT_OK);
    mt_status st = mt_sibling_join(sibling, err);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    return st;
}

START_TEST(ends_are_told)
{
    mt_error err = {0};
    ck_assert_int_eq(run("0", 0, &err), MT_OK);
    ck_assert_int_eq(run("130", 0, &err), MT_ERR_INTERRUPTED);
    ck_assert_int_eq(run("5", 0, &err), MT_ERR_WORKER);
    ck_assert_str_eq(err.message, "the tuner for GPU 3 ended with exit code 5");
    ck_assert_int_eq(run("killed", 0, &err), MT_ERR_WORKER);
    ck_assert_str_eq(err.message, "the tuner for GPU 3 died of signal 9");
}
END_TEST

/* Before its session catches signals, one that is told to end just dies: no fault of its GPU. */
START_TEST(one_that_dies_as_it_was_told_is_interrupted)
{
    mt_error err = {0};
    ck_assert_int_eq(run("waits", SIGINT, &err), MT_ERR_INTERRUPTED);
    ck_assert_int_eq(run("waits", SIGTERM, &err), MT_ERR_INTERRUPTED);
}
END_TEST

static int be_sibling(const char *end)
{
    if (!mt_sibling_enter()) return 99;
    if (strcmp(end, "killed") == 0) raise(SIGKILL);
    if (strcmp(end, "waits") != 0) return atoi(end);
    if (write(STDERR_FILENO, "here\n", 5) != 5) return 98;
    for (;;) pause();
}

int main(int argc, char **argv)
{
    const TTest *const tests[] = {ends_are_told, one_that_dies_as_it_was_told_is_interrupted};
    if (argc > 2 && strcmp(argv[1], "sibling") == 0) return be_sibling(argv[2]);
    return unit_run("sibling", tests, sizeof tests / sizeof tests[0]);
}
