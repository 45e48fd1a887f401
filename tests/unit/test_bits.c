/* Fingerprints of outputs, on the fake driver. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/unit.h"

#define INI(keys) \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128, 256\nBEHAVIOUR = ok, slow, wrong, nondet\n" \
    "[args]\na = in f32 [N] uniform(-1, 1)\nb = in f32 [N] uniform(-1, 1)\nout = out f32 [N] " keys "\ncount = scalar u64 N\n[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"

static char bits[MT_BITS_SIZE]; /* of the last one */

static const char *bits_of(bench *b, const char *behaviour, int block, mt_outcome_kind kind)
{
    char text[96];
    mt_outcome outcome;
    snprintf(text, sizeof text, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=%d", behaviour, block);
    GOOD(try_point(b, text, &outcome));
    ck_assert_msg(outcome.kind == kind, "%s: %s: %s", text, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    memcpy(bits, outcome.bits, sizeof bits);
    mt_outcome_free(&outcome);
    return bits;
}

/* Equal outputs have equal ones, on whatever launch and beside whatever else runs. */
START_TEST(equal_outputs_have_equal_ones)
{
    bench *b = &(bench){0};
    char first[MT_BITS_SIZE];
    open_bench(b, INI(""), "small");
    b->subject.seed = 0;
    strcpy(first, bits_of(b, "ok", 128, MT_OUTCOME_OK));
    ck_assert_uint_eq(strspn(first, "0123456789abcdef"), MT_BITS_SIZE - 1);
    ck_assert_str_eq(bits_of(b, "slow", 128, MT_OUTCOME_OK), first);
    ck_assert_str_eq(bits_of(b, "ok", 256, MT_OUTCOME_OK), first);
    close_bench(b);
    open_bench(b, INI("rtol 1e-3"), "small");
    b->subject.seed = 0;
    ck_assert_str_eq(bits_of(b, "ok", 128, MT_OUTCOME_OK), first); /* another session, and another tolerance */
    close_bench(b);
    open_bench(b, NULL, "small");
    b->subject.seed = 0;
    ck_assert_str_ne(bits_of(b, "ok", 128, MT_OUTCOME_OK), first); /* other inputs */
    close_bench(b);
}
END_TEST

/* What failed, was stopped before its second run, may come out otherwise each time, or had other inputs than those of seed 0. */
START_TEST(others_have_none)
{
    bench *b = &(bench){0};
    open_bench(b, INI(""), "small");
    ck_assert_uint_ne(b->subject.seed, 0);
    ck_assert_str_eq(bits_of(b, "ok", 128, MT_OUTCOME_OK), "");
    b->subject.seed = 0;
    ck_assert_str_eq(bits_of(b, "wrong", 128, MT_OUTCOME_WRONG_RESULT), "");
    ck_assert_str_eq(bits_of(b, "nondet", 128, MT_OUTCOME_NONDETERMINISTIC), "");
    b->timing.race_ns = 1000;
    ck_assert_str_eq(bits_of(b, "ok", 128, MT_OUTCOME_CENSORED), "");
    close_bench(b);
    open_bench(b, INI("order any"), "small");
    b->subject.seed = 0;
    ck_assert_str_eq(bits_of(b, "ok", 128, MT_OUTCOME_OK), "");
    close_bench(b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {equal_outputs_have_equal_ones, others_have_none};
    fakes_select();
    return unit_run("bits", tests, sizeof tests / sizeof tests[0]);
}
