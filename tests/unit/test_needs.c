/* What compiled code must have, against a compiler's log and a cubin. */
#include "tests/unit/unit.h"
#include "tuner/evaluate/needs.h"

#include <stdio.h>


#define LOG "ptxas info : Compiling entry function 'fake_init' for 'sm_90a'\nptxas info : Compiling entry function '%s' for 'sm_90a'\n"

/* Of one kernel `entry` that is launched with `count` arguments, and `variable` (of no name: none). */
static const char *check(const char *log, const char *cubin, const char *entry, uint64_t *bytes, size_t count, mt_needed_variable variable)
{
    static char said[512];
    const mt_device_facts facts = {.regs_per_sm = 65536, .smem_optin = 232448, .smem_reserved = 1024};
    mt_outcome outcome = {.kind = MT_OUTCOME_OK};
    mt_needed_kernel kernel = {.entry = (char *)entry, .bytes = bytes, .count = count};
    mt_needs needs = {&kernel, &variable, 1, variable.name != NULL};
    mt_compiled compiled = {.ok = true, .log = log, .cubin_path = cubin};
    mt_needs_check(&needs, &compiled, &facts, &outcome, NULL);
    ck_assert_int_eq(outcome.kind, outcome.text ? MT_OUTCOME_COMPILE_ERROR : MT_OUTCOME_OK);
    snprintf(said, sizeof said, "%s", outcome.text ? outcome.text : "");
    mt_outcome_free(&outcome);
    return said;
}

static const char *by_log(const char *has, const char *wants)
{
    static char log[512];
    snprintf(log, sizeof log, LOG, has);
    return check(log, NULL, wants, NULL, 0, (mt_needed_variable){0});
}

START_TEST(in_the_log)
{
    ck_assert_str_eq(by_log("add", "add"), "");
    ck_assert_str_eq(by_log("add", "ad"), "no __global__ function ad in the compiled source, which has fake_init, add");
    ck_assert_str_eq(by_log("_Z3addPf", "add"), "no __global__ function add in the compiled source; it has the C++ name _Z3addPf: the entry of an overloaded kernel has its parameters, such as scale(float *, int)");
    ck_assert_ptr_nonnull(strstr(by_log("_Z3addIfEvPf", "add"), "the entry of a template has its arguments"));
    ck_assert_str_eq(check("another compiler's", NULL, "add", NULL, 0, (mt_needed_variable){0}), "");
    ck_assert_str_eq(check(NULL, NULL, "add", NULL, 0, (mt_needed_variable){0}), "");
}
END_TEST

START_TEST(in_the_cubin)
{
    static const char path[] = TEST_DATA_DIR "/fake/o.cubin";
    uint64_t bytes[] = {8, 8, 8, 8}, narrow[] = {8, 4, 8}, all_narrow[] = {4, 8, 2, 1};
    mt_needed_variable none = {0}, needed = {"filter", "weights", 900}, idle = {"filter", NULL, 900};
    ck_assert_str_eq(check(NULL, path, "fake_init", bytes, 3, none), "");
    ck_assert_str_eq(check(NULL, path, "fake_init", bytes, 2, none), "fake_init has 3 parameters, the launch lists 2");
    ck_assert_str_eq(check(NULL, path, "fake_init", bytes, 4, none), "fake_init has 3 parameters, the launch lists 4");
    ck_assert_str_eq(check(NULL, path, "fake_init", narrow, 3, none), "fake_init: parameter 2 has 8 bytes, the launch gives 4");
    ck_assert_str_eq(check(NULL, path, "fake_init", all_narrow, 3, none), "fake_init: parameter 1 has 8 bytes, the launch gives 4; parameter 3 has 8 bytes, the launch gives 2");
    ck_assert_str_eq(check(NULL, path, "fake_init", all_narrow, 4, none), "fake_init has 3 parameters, the launch lists 4; parameter 1 has 8 bytes, the launch gives 4; parameter 3 has 8 bytes, the launch gives 2");
    ck_assert_str_eq(check(NULL, path, "fake_init", bytes, 3, needed), "no variable filter in the compiled source, which has none, and no launch takes weights");
    ck_assert_str_eq(check(NULL, path, "fake_init", bytes, 3, idle), "");
    ck_assert_str_eq(check(NULL, path, "fake_ini", bytes, 3, none), "no __global__ function fake_ini in the compiled source, which has fake_init, fake_add_reference, fake_add_under_another_name");
    ck_assert_str_eq(check(NULL, "/nowhere.cubin", "fake_init", bytes, 2, none), "");
}
END_TEST

UNIT_MAIN("needs", in_the_log, in_the_cubin)
