/* Launches before and after the timed ones, on the fake driver. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"

/* out = a + b, by way of `t`. The fake kernel's time does not depend on what it adds. */
#define HEAD "[kernel]\nname = k\nsource = fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128\nBEHAVIOUR = ok, wrong\n" \
             "[args]\na = in f32 [N] uniform(-1, 1)\nb = in f32 [N] uniform(-1, 1)\nzero = in f32 [N] zeros\nt = scratch f32 [N]\nu = scratch f32 [N]\nv = scratch f32 [N]\nout = out f32 [N] rtol 1e-6\n" \
             "[launch reference 1]\nargs = a, b, out, u64(N)\ngrid = 1\nblock = 128\n"
#define LAUNCH(phase, args) "[" phase "]\nentry = fake_add\nargs = " args ", u64(N)\ngrid = ceil_div(N, 128)\nblock = 128\n"

static mt_outcome outcome_of(const char *ini, const char *behaviour)
{
    char point[96];
    mt_outcome outcome;
    bench *b = &(bench){0};
    snprintf(point, sizeof point, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=128", behaviour);
    open_bench(b, ini, "small");
    GOOD(try_point(b, point, &outcome));
    close_bench(b);
    return outcome;
}

static double median_of(const char *ini)
{
    mt_outcome outcome = outcome_of(ini, "ok");
    ck_assert_msg(outcome.kind == MT_OUTCOME_OK, "%s", outcome.text ? outcome.text : "");
    double median = outcome.timing.median_ns;
    mt_outcome_free(&outcome);
    return median;
}

START_TEST(finishing_is_not_timed_and_is_validated)
{
    double alone = median_of(HEAD LAUNCH("launch 1", "a, b, out"));
    double finished = median_of(HEAD LAUNCH("launch 1", "a, b, t") LAUNCH("finish 1", "t, zero, out"));
    double both = median_of(HEAD LAUNCH("launch 1", "a, b, t") LAUNCH("launch 2", "t, zero, out"));
    ck_assert_double_eq_tol(finished, alone, 0.01 * alone);
    ck_assert_double_gt(both, 1.9 * alone);
    mt_outcome wrong = outcome_of(HEAD LAUNCH("launch 1", "a, b, t") LAUNCH("finish 1", "t, zero, out"), "wrong");
    ck_assert_int_eq(wrong.kind, MT_OUTCOME_WRONG_RESULT);
    mt_outcome_free(&wrong);
    wrong = outcome_of(HEAD LAUNCH("launch 1", "a, b, t") LAUNCH("finish 1", "t, b, out"), "ok"); /* finishes something else */
    ck_assert_int_eq(wrong.kind, MT_OUTCOME_WRONG_RESULT);
    mt_outcome_free(&wrong);
}
END_TEST

/* The launches of all phases, by number within each, whatever the file's order. */
START_TEST(phases_run_in_their_order)
{
    ck_assert_double_gt(median_of(HEAD LAUNCH("finish 2", "v, zero, out") LAUNCH("finish 1", "u, zero, v") LAUNCH("launch 1", "t, b, u") LAUNCH("prepare 1", "a, zero, t")), 0);
}
END_TEST

START_TEST(what_is_finished_needs_a_launch_and_an_output)
{
    static const struct { const char *ini, *says; } cases[] = {
        {HEAD LAUNCH("finish 1", "a, b, out"), "[algorithm fake_add] has no launch: expected [launch fake_add 1] or [launch 1]"},
        {HEAD LAUNCH("launch 1", "a, b, t"), "no launch of [algorithm fake_add] takes an output"},
        {HEAD LAUNCH("launch 1", "a, b, out") LAUNCH("finish reference 1", "a, b, out"), "[finish reference 1]: no [algorithm reference]"},
        {HEAD LAUNCH("launch 1", "a, b, out") LAUNCH("finish", "a, b, out"), "expected [finish N] or [finish ALGORITHM N]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_spec *spec = NULL;
        mt_error err = {0};
        ck_assert_int_eq(mt_spec_parse("k.ini", cases[i].ini, strlen(cases[i].ini), &spec, &err), MT_ERR_SPEC);
        ck_assert_msg(strstr(err.message, cases[i].says), "%s", err.message);
    }
}
END_TEST

/* So that variants that do more at once can be compared with those that do less. */
START_TEST(a_time_is_of_one_unit_of_work)
{
    static const char kernel[] = "[kernel]\n";
    double once = median_of(HEAD LAUNCH("launch 1", "a, b, out"));
    double thrice = median_of(HEAD LAUNCH("launch 1", "a, b, out") "repeat = 3\n");
    ck_assert_double_eq_tol(thrice, 3 * once, 0.05 * once);
    char ini[2048];
    snprintf(ini, sizeof ini, "[kernel]\nper = BLOCK / 32\n%s", HEAD LAUNCH("launch 1", "a, b, out") "repeat = BLOCK / 32\n" + sizeof kernel - 1);
    ck_assert_double_eq_tol(median_of(ini), once, 0.05 * once);
    mt_outcome outcome = outcome_of(ini, "ok");
    for (size_t i = 0; i < outcome.timing.samples; i++) ck_assert_double_eq_tol(outcome.sample_ns[i], once, 0.05 * once); /* as stored */
    mt_outcome_free(&outcome);
}
END_TEST

START_TEST(counts_have_limits)
{
    static const struct { const char *per, *repeat, *says; } cases[] = {
        {"1", "BLOCK - 128", "[launch 1] repeat is 0: must be from 1 to 1000000"},
        {"1", "1000001", "[launch 1] repeat is 1000001: must be from 1 to 1000000"},
        {"BLOCK - 129", "1", "[kernel] per is -1: must be from 1 to"},
        {"IDLE", "1", "[kernel] per reads an inactive knob"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ini[2048];
        snprintf(ini, sizeof ini, "[kernel]\nper = %s\n%s%srepeat = %s\n[param IDLE]\nvalues = 1\nwhen = BLOCK < 0\n", cases[i].per, HEAD + 9, LAUNCH("launch 1", "a, b, out"), cases[i].repeat);
        mt_outcome outcome = outcome_of(ini, "ok");
        ck_assert_int_eq(outcome.kind, MT_OUTCOME_ILLEGAL);
        ck_assert_msg(strstr(outcome.text, cases[i].says), "%s", outcome.text);
        mt_outcome_free(&outcome);
    }
}
END_TEST

/* What can't win is run once and compared, and then timed until that is certain; what may win makes every run. */
START_TEST(hopeless_ones_are_not_validated_to_the_end)
{
    static const char ini[] = HEAD LAUNCH("launch 1", "a, b, out");
    static const mt_stage given_up[] = {MT_STAGE_LOAD, MT_STAGE_VALIDATE, MT_STAGE_TIME, MT_STAGE_DONE},
                          whole[] = {MT_STAGE_LOAD, MT_STAGE_VALIDATE, MT_STAGE_TIME, MT_STAGE_VALIDATE, MT_STAGE_DONE};
    bench *b = &(bench){0};
    mt_outcome outcome;
    open_bench(b, ini, "small");
    b->timing.race_factor = 1.1;
    for (int i = 0; i < 2; i++) { /* the first evaluation makes the inputs */
        GOOD(try_point(b, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &outcome));
        ck_assert_int_eq(outcome.kind, MT_OUTCOME_OK);
        mt_outcome_free(&outcome);
    }
    ck_assert_uint_eq(b->stage_count, sizeof whole / sizeof *whole);
    ck_assert_mem_eq(b->stages, whole, sizeof whole);
    b->timing.race_ns = 1000;
    GOOD(try_point(b, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &outcome));
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_CENSORED);
    ck_assert_str_eq(outcome.accuracy.output, "out"); /* of its one run */
    ck_assert_uint_eq(b->stage_count, sizeof given_up / sizeof *given_up);
    ck_assert_mem_eq(b->stages, given_up, sizeof given_up);
    mt_outcome_free(&outcome);
    GOOD(try_point(b, "ALGO=fake_add;BEHAVIOUR=wrong;BLOCK=128", &outcome)); /* wrong at once */
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_WRONG_RESULT);
    mt_outcome_free(&outcome);
    close_bench(b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {finishing_is_not_timed_and_is_validated, phases_run_in_their_order, what_is_finished_needs_a_launch_and_an_output, hopeless_ones_are_not_validated_to_the_end, a_time_is_of_one_unit_of_work, counts_have_limits};
    fakes_select();
    return unit_run("phases", tests, sizeof tests / sizeof tests[0]);
}
