/* A baseline plugin that adds two vectors on the fake GPU: MSDA_TUNE_BASELINE=libfake_cuda.so. Algorithm 0 takes 20 µs and is right, 1 leaves the last element out, 2 always fails.
 * A shape without N is refused. MSDA_TUNE_FAKE_BASELINE=BEHAVIOUR makes it a bad one: README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "include/msda_baseline.h"

enum { EARLY = 12 /* runs, before what late_crash and late_fail do */ };

static int is_open, runs;
static long long count;

static int behaves(const char *wanted)
{
    const char *behaviour = getenv("MSDA_TUNE_FAKE_BASELINE");
    return behaviour && strcmp(behaviour, wanted) == 0;
}

static void crash_if(int is_asked_for)
{
    if (is_asked_for) abort();
}

static void hang_if(int is_asked_for)
{
    while (is_asked_for) pause();
}

static void *open_problem(const msda_baseline_problem *problem, char *why, size_t size)
{
    crash_if(behaves("open_crash"));
    hang_if(behaves("open_hang"));
    if (behaves("open_exit")) exit(0);
    if (behaves("open_silent")) return NULL;
    if (behaves("open_unended")) return memset(why, 'x', size), NULL;
    count = 0;
    for (size_t i = 0; i < problem->value_count; i++)
        if (strcmp(problem->values[i].name, "N") == 0 && !problem->values[i].text) count = problem->values[i].number;
    if (count < 5000) snprintf(why, size, "only for 5000 elements and more, not for %lld", count);
    return count < 5000 || is_open++ || !problem->workspace || !problem->workspace_bytes ? NULL : &count;
}

static size_t count_algorithms(const void *self)
{
    if (behaves("no_algorithms")) return 0;
    if (behaves("many_algorithms")) return (size_t)-1;
    return self == &count ? 3 : 0;
}

static void describe(const void *self, size_t algorithm, char *text, size_t size)
{
    if (behaves("describe_unended")) memset(text, 'y', size);
    else if (behaves("describe_control")) snprintf(text, size, "\x1b[31m\"%zu\"\n", algorithm);
    else if (!behaves("describe_nothing")) snprintf(text, size, "fake algorithm %zu of %zu", algorithm, count_algorithms(self));
}

static const float *find(const msda_baseline_arg *args, size_t arg_count, const char *name)
{
    for (size_t i = 0; i < arg_count; i++)
        if (strcmp(args[i].name, name) == 0) return (const float *)(uintptr_t)args[i].address;
    return NULL;
}

static int run(void *self, size_t algorithm, const msda_baseline_arg *args, size_t arg_count, void *stream)
{
    const float *a = find(args, arg_count, "a"), *b = find(args, arg_count, "b");
    float *out = (float *)find(args, arg_count, "out");
    int is_late = ++runs > EARLY;
    (void)self, (void)stream;
    crash_if(behaves("run_crash") || (behaves("crash_of_1") && algorithm == 1) || (behaves("late_crash") && is_late));
    hang_if(behaves("hang_of_1") && algorithm == 1);
    if (algorithm == 2 || !a || !b || !out || (behaves("first_fails") && algorithm == 0) || (behaves("late_fail") && is_late)) return 7;
    long long made = behaves("does_nothing") ? 0 : count - (algorithm == 1 && !behaves("first_fails"));
    for (long long i = 0; i < made; i++) out[i] = behaves("wrong") ? a[i] : a[i] + b[i];
    if (!behaves("takes_no_time")) fake_spend_ns(20000);
    return 0;
}

static void close_problem(void *self)
{
    is_open -= self == &count;
}

FAKE_EXPORT const msda_baseline *msda_baseline_get(void)
{
    static msda_baseline plugin = {MSDA_BASELINE_ABI, open_problem, count_algorithms, describe, run, close_problem};
    if (behaves("other_abi")) plugin.abi++;
    if (behaves("no_function")) plugin.run = NULL;
    return behaves("null") ? NULL : &plugin;
}
