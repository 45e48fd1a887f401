/* Programs run to their end: what they print, how they end, what becomes of what they started. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tuner/base/child.h"

static const char *const no_variables[] = {NULL};

static mt_child_end run_shell(const char *script, double limit_s, size_t most)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    const mt_child child = {.argv = argv, .env = no_variables, .limit_s = limit_s, .most_output = most};
    mt_child_end end;
    mt_error err = {0};
    ck_assert_msg(mt_child_run(&child, &end, &err) == MT_OK, "%s", err.message);
    return end;
}

START_TEST(tells_the_end)
{
    mt_child_end end = run_shell("echo out; echo err >&2; exit 7", 60, 100);
    ck_assert_int_eq(end.exit_code, 7);
    ck_assert_int_eq(end.signal, 0);
    ck_assert(strcmp(end.output, "out\nerr\n") == 0);
    mt_child_end_free(&end);
    end = run_shell("kill -SEGV $$", 60, 100);
    ck_assert_int_eq(end.signal, SIGSEGV);
    mt_child_end_free(&end);
}
END_TEST

START_TEST(keeps_what_fits)
{
    mt_child_end end = run_shell("head -c 1000000 /dev/zero | tr '\\0' x", 60, 1000);
    ck_assert_uint_eq(strlen(end.output), 1000);
    ck_assert(end.is_cut);
    ck_assert_int_eq(end.exit_code, 0);
    mt_child_end_free(&end);
}
END_TEST

/* Arguments reach the program as they are; nothing of our environment, our descriptors and our ignored signals does. */
START_TEST(passes_arguments_alone)
{
    const char *argv[] = {"/bin/sh", "-c", "printf '%s|' \"$@\"; env | grep -c SECRET; ls /proc/self/fd | wc -l", "sh", "a b", "$(id)", "\"'", "", NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", NULL};
    const mt_child child = {.argv = argv, .env = env, .folder = "/", .limit_s = 60, .most_output = 1000};
    mt_child_end end;
    mt_error err = {0};
    setenv("SECRET", "1", 1);
    int other = dup(STDERR_FILENO);
    ck_assert_msg(mt_child_run(&child, &end, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(strcmp(end.output, "a b|$(id)|\"'||0\n4\n") == 0, "%s", end.output); /* 0, 1, 2 and the one of ls */
    mt_child_end_free(&end);
    close(other);
}
END_TEST

static bool is_alive(pid_t pid)
{
    char path[64], state[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool is_read = fgets(state, sizeof state, file) != NULL;
    fclose(file);
    return is_read && !strstr(state, ") Z");
}

START_TEST(leaves_nothing)
{
    static const char *const scripts[] = {"sleep 1000 & echo $!; wait", "sleep 1000 & echo $!; exit 1"};
    for (size_t i = 0; i < 2; i++) {
        mt_child_end end = run_shell(scripts[i], i == 0 ? 0.5 : 60, 100);
        ck_assert_int_eq(end.is_timeout, i == 0);
        pid_t pid = (pid_t)strtol(end.output, NULL, 10);
        ck_assert_int_gt(pid, 1);
        for (int tries = 0; tries < 1000 && is_alive(pid); tries++) usleep(10000);
        ck_assert(!is_alive(pid));
        mt_child_end_free(&end);
    }
}
END_TEST

START_TEST(tells_what_is_not_there)
{
    const char *argv[] = {"/nowhere/program", NULL};
    const mt_child child = {.argv = argv, .env = no_variables, .limit_s = 60};
    mt_child_end end;
    mt_error err = {0};
    ck_assert_int_eq(mt_child_run(&child, &end, &err), MT_ERR_IO);
    ck_assert(strstr(err.message, "/nowhere/program: cannot be started: No such file"));
}
END_TEST

/* A descriptor that can be read ends it, with all that it started. */
START_TEST(stops_when_told)
{
    const char *argv[] = {"/bin/sh", "-c", "sleep 1000 & sleep 1000", NULL};
    int pipe_ends[2];
    ck_assert_int_eq(pipe(pipe_ends), 0);
    ck_assert_int_eq(write(pipe_ends[1], "x", 1), 1);
    const mt_child child = {.argv = argv, .env = no_variables, .most_output = 100, .stop = pipe_ends[0]};
    mt_child_end end;
    mt_error err = {0};
    ck_assert_int_eq(mt_child_run(&child, &end, &err), MT_ERR_INTERRUPTED);
    ck_assert_ptr_null(end.output);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}
END_TEST

UNIT_MAIN("child", tells_the_end, keeps_what_fits, passes_arguments_alone, leaves_nothing, tells_what_is_not_there, stops_when_told)
