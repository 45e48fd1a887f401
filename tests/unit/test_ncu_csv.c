#include <math.h>
#include <stdio.h>

#include "tests/unit/unit.h"
#include "tuner/cli/output/ncu_csv.h"

static const char head[] = "==PROF== Connected to process 77\noutcome: ok\n==PROF== Disconnected\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
#define ROW(id, metric, value) "\"" id "\",\"77\",\"msda-tune\",\"127.0.0.1\",\"k(float *, \"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(4, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"" metric "\",\"%\",\"" value "\"\n"

static mt_error err;

static mt_ncu parse(const char *rows)
{
    char text[8192];
    mt_ncu result;
    snprintf(text, sizeof text, "%s%s", head, rows);
    ck_assert_msg(mt_ncu_parse(text, &result, &err) == MT_OK, "%s", err.message);
    return result;
}

START_TEST(one_launch)
{
    mt_ncu r = parse(ROW("0", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "61.25") ROW("0", "gpu__time_duration.sum", "1,234,567") ROW("0", "something.else", "5"));
    ck_assert_int_eq(r.launches, 1);
    ck_assert_double_eq(r.dram_percent, 61.25);
    ck_assert_double_eq(r.duration_ns, 1234567);
    ck_assert(isnan(r.l2_percent)); /* n/a is no zero */
}
END_TEST

START_TEST(several_launches_are_weighted)
{
    mt_ncu r = parse(ROW("0", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "10") ROW("0", "gpu__time_duration.sum", "300") ROW("1", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "50")
                     ROW("1", "gpu__time_duration.sum", "100"));
    ck_assert_int_eq(r.launches, 2);
    ck_assert_double_eq(r.duration_ns, 400);
    ck_assert_double_eq_tol(r.sm_percent, 20, 1e-9);
}
END_TEST

START_TEST(what_stands_in_the_way)
{
    mt_ncu r;
    ck_assert_int_eq(mt_ncu_parse("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n", &r, &err), MT_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "NVreg_RestrictProfilingToAdminUsers"));
    ck_assert_int_eq(mt_ncu_parse("x\n==WARNING== No kernels were profiled.\nmore\n", &r, &err), MT_ERR_NOT_FOUND);
    ck_assert_str_eq(err.message, "ncu profiled nothing: ==WARNING== No kernels were profiled.");
    ck_assert_int_eq(mt_ncu_parse("", &r, &err), MT_ERR_NOT_FOUND);
    ck_assert_int_eq(mt_ncu_parse("\"ID\",\"Metric Name\"\n\"0\n\"\n\"\"\"", &r, &err), MT_ERR_NOT_FOUND); /* broken in every way */
    ck_assert_ptr_nonnull(strstr(mt_ncu_metrics(), "dram__throughput"));
}
END_TEST

UNIT_MAIN("ncu_csv", one_launch, several_launches_are_weighted, what_stands_in_the_way)
