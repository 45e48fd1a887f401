/* Integer outputs of which a share may differ, on the fake driver: its `nan` spoils one element, whose bits are all that an integer has. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/space_fixture.h"

#define INI "[kernel]\nname = k\nsource = fake.cu\nreference = default\n[shape small]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128\nBEHAVIOUR = ok, nan, wrong\n" \
            "[args]\na = in f32 [N] uniform(-1, 1)\nb = in f32 [N] uniform(-1, 1)\nout = out %s [N] %s\n" \
            "[launch 1]\nargs = a, b, out, u64(N)\ngrid = ceil_div(N, 128)\nblock = 128\n"

static void expect(const char *keys, const char *behaviour, mt_outcome_kind kind, const char *says)
{
    char ini[1024], point[96];
    mt_outcome outcome;
    bench *b = &(bench){0};
    snprintf(ini, sizeof ini, INI, "i32", keys);
    snprintf(point, sizeof point, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=128", behaviour);
    open_bench(b, ini, "small");
    GOOD(try_point(b, point, &outcome));
    ck_assert_msg(outcome.kind == kind, "%s, %s: %s", keys, behaviour, outcome.text ? outcome.text : "ok");
    if (says) ck_assert_msg(strstr(outcome.text, says), "%s", outcome.text);
    mt_outcome_free(&outcome);
    close_bench(b);
}

START_TEST(as_many_as_the_share_may_differ)
{
    expect("", "ok", MT_OUTCOME_OK, NULL);
    expect("", "nan", MT_OUTCOME_WRONG_RESULT, "limit 0");
    expect("may_differ 0.001", "nan", MT_OUTCOME_OK, NULL);
    expect("may_differ 0.0009", "nan", MT_OUTCOME_WRONG_RESULT, "out: 1 of 1000 elements differ (may_differ = 0.0009, which is 0), first 7");
    expect("may_differ 0.5", "wrong", MT_OUTCOME_WRONG_RESULT, "of 1000 elements differ (may_differ = 0.5, which is 500), first 0");
    expect("may_differ 1", "wrong", MT_OUTCOME_OK, NULL);
}
END_TEST

START_TEST(only_of_integers_and_alone)
{
    static const struct { const char *dtype, *keys, *says; } cases[] = {
        {"f32", "may_differ 0.1", "`may_differ` of [arg out], whose dtype is f32: expected only of integers"},
        {"i32", "may_differ 0.1 rtol 1e-3", "`may_differ` of [arg out] beside rtol, worst or atol"},
        {"i32", "may_differ 0", "may_differ = 0: expected a number above 0 and at most 1"},
        {"i32", "may_differ 1.5", "may_differ = 1.5: expected a number above 0 and at most 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ini[1024];
        mt_spec *spec = NULL;
        mt_error err = {0};
        snprintf(ini, sizeof ini, INI, cases[i].dtype, cases[i].keys);
        ck_assert_int_eq(mt_spec_parse("k.ini", ini, strlen(ini), &spec, &err), MT_ERR_SPEC);
        ck_assert_msg(strstr(err.message, cases[i].says), "%s", err.message);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {as_many_as_the_share_may_differ, only_of_integers_and_alone};
    fakes_select();
    return unit_run("may_differ", tests, sizeof tests / sizeof tests[0]);
}
