/* `reference = default`: what the default variant computes is taken for right. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/trial/evaluate.h"
#include "tuner/space/source/semantics.h"

#define BY_DEFAULT "[kernel]\nsource = k.cu\nreference = default\n" SHAPE

/* The default variant has launches, an argument and a scratch of its own, and a knob that is inactive beside it. */
#define SCENE                                                                                                                          \
    BY_DEFAULT "[algorithm v]\noptions = -DMORE=${K}\n[algorithm w]\n[let]\nBYTES = K * 4\n[params]\nK = 2..4 default 3\n"             \
               "ONLY_W = 5, 6 when ALGO == w\nDEEP = 1, 2 default 2 when BYTES == 12\n[args]\nout = out f32 [N]\nroom = scratch f32 [K]\n" \
               "[prepare 1]\nentry = first\nargs = room\ngrid = 1\nblock = K\n[launch v 1]\nentry = mine\nargs = room, out\ngrid = N\nblock = 32 * K\n" \
               "[launch w 1]\nargs = out\ngrid = 1\nblock = 32\n"

START_TEST(its_launches_are_those_of_the_default_variant)
{
    mt_spec *spec = must_parse(SCENE);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    mt_error err = { 0 };
    must_set(env, "ALGO=w;K=2;ONLY_W=6"); /* a point that is set changes nothing here */
    ck_assert_msg(mt_plan_reference(env, &plan, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(plan.launch_count, 2);
    ck_assert_str_eq(plan.launches[0].entry, "first");
    ck_assert_str_eq(plan.launches[1].entry, "mine");
    ck_assert_uint_eq(plan.launches[1].block[0], 96);
    ck_assert_uint_eq(plan.args[1].tensor.elements, 3); /* room */
    mt_plan_free(&plan);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

START_TEST(it_is_compiled_as_the_default_variant)
{
    mt_spec *spec = must_parse(SCENE);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    mt_strbuf text = { 0 };
    ck_assert_msg(mt_options_support(env, &spec->workloads[0], &options, &err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < options.count; i++) mt_strbuf_addf(&text, "%s ", options.items[i]);
    ck_assert_str_eq(mt_strbuf_text(&text), "-DALGO=ALGO_v -DALGO_v=1 -DALGO_w=2 -DDEEP=2 -DK=3 -DMT_SUPPORT=1 -DSHAPE_N=128 -DMORE=3 ");
    mt_strbuf_free(&text);
    mt_options_free(&options);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

static char *meaning_of(const char *text)
{
    mt_spec *spec = must_parse(text);
    char *meaning = mt_spec_semantics(spec);
    mt_spec_free(spec);
    return meaning;
}

/* Verdicts by one default say nothing about those by another. */
START_TEST(the_default_is_part_of_the_key)
{
    char *one = meaning_of(BY_DEFAULT VARIANT OUT LAUNCH "[params]\nK = 1, 2\n"), *same = meaning_of(BY_DEFAULT VARIANT OUT LAUNCH "[params]\nK = 1, 2, 4\n");
    char *other = meaning_of(BY_DEFAULT VARIANT OUT LAUNCH "[params]\nK = 1, 2 default 2\n");
    ck_assert_str_eq(one, same);
    ck_assert_str_ne(one, other);
    mt_free(one), mt_free(same), mt_free(other);
}
END_TEST

START_TEST(a_launch_of_the_reference_is_refused)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    static const char text[] = BY_DEFAULT VARIANT OUT LAUNCH "[launch reference 1]\nargs = out\ngrid = 1\nblock = 1\n";
    ck_assert_int_eq(mt_spec_parse("dir/test.ini", text, strlen(text), &spec, &err), MT_ERR_SPEC);
    must_contain(err.message, "[launch reference 1] beside reference = default: expected none");
}
END_TEST

START_TEST(a_default_that_can_t_run_is_an_error)
{
    mt_spec *spec = must_parse(BY_DEFAULT VARIANT OUT "[params]\nK = 1, 2\n[launch 1]\nargs = out\ngrid = N\nblock = 2048 * K\n");
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_plan_reference(env, &plan, &err), MT_ERR_SPEC);
    must_contain(err.message, "the reference, which is the default variant, can't run for shape s: [launch 1] block.x is 2048");
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

/* ---- on the fake driver ---- */

#define ON_ARGS(n, args)                                                                                                              \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = default\n[shape s]\nN = " n "\n[algorithm fake_add]\n[params]\nBLOCK = 128\n" \
    "BEHAVIOUR = ok, wrong, oob\n[args]\n" args "[launch 1]\nargs = a, b, out, u64(N)\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"
#define RUNS(behaviour)                                                                                                                            \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = default\n[shape s]\nN = 10000\n[algorithm fake_add]\n[params]\nBLOCK = 128\n"             \
    "BEHAVIOUR = ok, wrong, oob, wrote_input, nan default " behaviour "\n[args]\na = in f32 [N] kernel(fake_init)\nb = in f32 [N] normal(0, 1)\n" \
    "out = out f32 [N] rtol 1e-6\n[launch 1]\nargs = a, b, out, u64(N)\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"

static void expect(bench *b, const char *behaviour, mt_outcome_kind kind)
{
    char text[96];
    mt_outcome outcome;
    snprintf(text, sizeof text, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=128", behaviour);
    GOOD(try_point(b, text, &outcome));
    ck_assert_msg(outcome.kind == kind, "%s: %s: %s", behaviour, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    mt_outcome_free(&outcome);
}

START_TEST(variants_must_compute_what_the_default_does)
{
    bench *b = &(bench){ 0 };
    open_bench(b, RUNS("ok"), "s");
    expect(b, "ok", MT_OUTCOME_OK);
    expect(b, "wrong", MT_OUTCOME_WRONG_RESULT);
    expect(b, "oob", MT_OUTCOME_OUT_OF_BOUNDS);
    expect(b, "ok", MT_OUTCOME_OK);
    close_bench(b);
    open_bench(b, RUNS("wrong"), "s"); /* nobody says that it is wrong */
    expect(b, "wrong", MT_OUTCOME_OK);
    expect(b, "ok", MT_OUTCOME_WRONG_RESULT);
    close_bench(b);
}
END_TEST

/* Its outputs have the arguments' types, which are not those of expectations; inout begins with its input; with little memory the inputs are made again in the middle of a variant. */
START_TEST(outputs_of_any_kind_are_compared)
{
    static const char *const spaces[] = {
        ON_ARGS("10000", "a = in i32 [N] uniform(1000, 2000)\nb = in i32 [N] uniform(1000, 2000)\nout = out i32 [N]\n"),
        ON_ARGS("10000", "a = in f32 [N] uniform(0, 1)\nb = in f32 [N] uniform(0, 1)\nout = inout f32 [N] constant(7)\n"),
        ON_ARGS("10000", "a = in f32 [N] uniform(0, 1)\nb = in f32 [N] uniform(0, 1)\nout = out f32 [N] zero before_each\n"),
        ON_ARGS("100000", "a = in f32 [N] uniform(0, 1)\nb = in f32 [N] uniform(0, 1)\nout = out f32 [N]\n"),
    };
    bench *b = &(bench){ 0 };
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (i == 3) setenv("MSDA_TUNE_FAKE_MEMORY", "7", 1); /* MiB */
        open_bench(b, spaces[i], "s");
        expect(b, "ok", MT_OUTCOME_OK), expect(b, "wrong", MT_OUTCOME_WRONG_RESULT);
        expect(b, "oob", MT_OUTCOME_OUT_OF_BOUNDS), expect(b, "ok", MT_OUTCOME_OK);
        if (i == 3) ck_assert_uint_gt(b->stage_count, 5);
        close_bench(b);
    }
    unsetenv("MSDA_TUNE_FAKE_MEMORY");
}
END_TEST

START_TEST(a_default_that_breaks_the_rules_is_no_reference)
{
    static const struct { const char *ini, *message; } cases[] = { { RUNS("oob"), "the reference writes outside out" },
                                                                   { RUNS("wrote_input"), "the reference changes its input a" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench *b = &(bench){ 0 };
        mt_outcome outcome;
        open_bench(b, cases[i].ini, "s");
        ck_assert_int_eq(try_point(b, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &outcome), MT_ERR_SPEC);
        must_contain(b->err.message, cases[i].message);
        close_bench(b);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { its_launches_are_those_of_the_default_variant, it_is_compiled_as_the_default_variant, the_default_is_part_of_the_key, a_launch_of_the_reference_is_refused,
                                   a_default_that_can_t_run_is_an_error, variants_must_compute_what_the_default_does, outputs_of_any_kind_are_compared, a_default_that_breaks_the_rules_is_no_reference };
    fakes_select(), fakes_select_nvml();
    return unit_run("reference_default", tests, sizeof tests / sizeof tests[0]);
}
