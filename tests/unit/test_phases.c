/* Launches before and after the timed ones, on the fake driver. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"

/* out = a + b, by way of `t`. The fake kernel's time does not depend on what it adds. */
#define HEAD "[kernel]\nname = k\nsource = fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128\nBEHAVIOUR = ok, wrong\n" \
             "[args]\na = in f32 [N] uniform(-1, 1)\nb = in f32 [N] uniform(-1, 1)\nzero = in f32 [N] zeros\nt = scratch f32 [N]\nu = scratch f32 [N]\nv = scratch f32 [N]\nout = out f32 [N] rtol 1e-6\n" \
             "[launch reference 1]\nargs = a, b, out, u64(N)\ngrid = 1\nblock = 128\n"
#define LAUNCH(phase, args) "[" phase "]\nargs = " args ", u64(N)\ngrid = ceil_div(N, 128)\nblock = 128\n"

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
        {HEAD LAUNCH("launch 1", "a, b, out") LAUNCH("finish", "a, b, out"), "expected [finish N] or [finish VARIANT N]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_spec *spec = NULL;
        mt_error err = {0};
        ck_assert_int_eq(mt_spec_parse("k.ini", cases[i].ini, strlen(cases[i].ini), &spec, &err), MT_ERR_SPEC);
        ck_assert_msg(strstr(err.message, cases[i].says), "%s", err.message);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {finishing_is_not_timed_and_is_validated, phases_run_in_their_order, what_is_finished_needs_a_launch_and_an_output};
    fakes_select();
    return unit_run("phases", tests, sizeof tests / sizeof tests[0]);
}
