/* A baseline plugin that adds two vectors on the fake GPU: MSDA_TUNE_BASELINE=libfake_cuda.so. Algorithm 0 takes 20 µs and is right, 1 leaves the last element out, 2 always fails.
 * A shape without N is refused. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "include/msda_baseline.h"

static int is_open;
static long long count;

static void *open_problem(const msda_baseline_problem *problem, char *why, size_t size)
{
    count = 0;
    for (size_t i = 0; i < problem->value_count; i++)
        if (strcmp(problem->values[i].name, "N") == 0 && !problem->values[i].text) count = problem->values[i].number;
    if (count < 5000) snprintf(why, size, "only for 5000 elements and more, not for %lld", count);
    return count < 5000 || is_open++ || !problem->workspace || !problem->workspace_bytes ? NULL : &count;
}

static size_t count_algorithms(const void *self)
{
    return self == &count ? 3 : 0;
}

static void describe(const void *self, size_t algorithm, char *text, size_t size)
{
    snprintf(text, size, "fake algorithm %zu of %zu", algorithm, count_algorithms(self));
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
    (void)self, (void)stream;
    if (algorithm == 2 || !a || !b || !out) return 7;
    for (long long i = 0; i < count - (algorithm == 1); i++) out[i] = a[i] + b[i];
    fake_spend_ns(20000);
    return 0;
}

static void close_problem(void *self)
{
    is_open -= self == &count;
}

FAKE_EXPORT const msda_baseline *msda_baseline_get(void)
{
    static const msda_baseline plugin = {MSDA_BASELINE_ABI, open_problem, count_algorithms, describe, run, close_problem};
    return &plugin;
}
