#include "tests/unit/unit.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"

#include <string.h>
#include <unistd.h>

static char printed[20000];
static int hook_calls;

static void count_hook(void *context)
{
    hook_calls += *(int *)context;
}

/* Runs `print` with stderr on a pipe whose reads show how many writes came. */
static void capture(void (*print)(void))
{
    int ends[2], saved = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    print();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], printed + used, sizeof printed - 1 - used)) > 0;) used += (size_t)got;
    printed[used] = '\0';
    close(ends[0]);
}

static void print_all(void)
{
    mt_log_info("%s %d", "info", 1);
    mt_log_warn("hot \x1b[31m\x07 text \xc2\x9b \xe2\x80\xae µs");
    mt_log_error("two\nlines\tkept");
}

START_TEST(lines)
{
    int step = 10;
    mt_log_set_hook(count_hook, &step);
    capture(print_all);
    ck_assert_str_eq(printed, "msda-tune: info 1\nmsda-tune: warning: hot ?[31m? text ?? ??? µs\nmsda-tune: error: two\nlines\tkept\n");
    ck_assert_int_eq(hook_calls, 30);
    mt_log_set_hook(NULL, NULL);
    capture(print_all);
    ck_assert_int_eq(hook_calls, 30);
}
END_TEST

static void warn_twice(void)
{
    for (int i = 0; i < 3; i++) mt_log_warn("\x1bof %d", i / 2);
    mt_log_info("again");
    mt_log_info("again");
}

START_TEST(a_warning_is_said_once)
{
    static const char said[] = "msda-tune: warning: ?of 1", other[] = "msda-tune: warning: ?of 2";
    ck_assert(!mt_log_has_warned(said, sizeof said - 1));
    capture(warn_twice);
    ck_assert_str_eq(printed, "msda-tune: warning: ?of 0\nmsda-tune: warning: ?of 1\nmsda-tune: again\nmsda-tune: again\n");
    ck_assert(mt_log_has_warned(said, sizeof said - 1) && !mt_log_has_warned(other, sizeof other - 1));
    capture(warn_twice);
    ck_assert_str_eq(printed, "msda-tune: again\nmsda-tune: again\n");
    mt_log_forget_warnings();
    ck_assert(!mt_log_has_warned(said, sizeof said - 1));
}
END_TEST

static char long_text[10001];

static void print_long(void)
{
    mt_log_info("%s", long_text);
}

START_TEST(long_lines_are_whole)
{
    memset(long_text, 'x', sizeof long_text - 1);
    capture(print_long);
    ck_assert_uint_eq(strlen(printed), strlen("msda-tune: ") + 10000 + 1);
}
END_TEST

START_TEST(clocks)
{
    int64_t before = mt_clock_now_ns(), wall = mt_clock_unix_ms();
    usleep(2000);
    int64_t passed = mt_clock_now_ns() - before;
    ck_assert_int_ge(passed, 2000000);
    ck_assert_int_lt(passed, 300000000000); /* it counts nanoseconds, and a busy machine lets a nap be long */
    ck_assert_int_gt(wall, INT64_C(1700000000000));
}
END_TEST

UNIT_MAIN("log", lines, a_warning_is_said_once, long_lines_are_whole, clocks)
