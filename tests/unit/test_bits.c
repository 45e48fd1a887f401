/* Fingerprints of outputs, on the fake driver. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/unit.h"

#define INI(keys) \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128, 256\nBEHAVIOUR = ok, slow, wrong, nondet\n" \
    "[args]\na = in f32 [N] uniform(-1, 1)\nb = in f32 [N] uniform(-1, 1)\nout = out f32 [N] " keys "\ncount = scalar u64 N\n[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"

static char bits[MT_BITS_SIZE], row_bits[MT_ROW_BITS_SIZE]; /* of the last one */

static const char *bits_of(bench *b, const char *behaviour, int block, mt_outcome_kind kind)
{
    char text[96];
    mt_outcome outcome;
    snprintf(text, sizeof text, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=%d", behaviour, block);
    GOOD(try_point(b, text, &outcome));
    ck_assert_msg(outcome.kind == kind, "%s: %s: %s", text, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    memcpy(bits, outcome.bits, sizeof bits);
    memcpy(row_bits, outcome.row_bits, sizeof row_bits);
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

/* What has fewer rows, or none of this batch, has its fingerprints where another one's begin; who computes other rows has others from there on. */
START_TEST(rows_have_their_own)
{
    static char few[MT_ROW_BITS_SIZE], many[MT_ROW_BITS_SIZE], wide[MT_ROW_BITS_SIZE];
    static const char ini[] = "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape few]\nM = 5\nN = 48\n[shape many]\nM = 64\nN = 48\n[shape wide]\nM = 5\nN = 49\n"
                              "[algorithm fake_add]\n[params]\nBLOCK = 128\nBEHAVIOUR = ok, nan\n[args]\na = in f32 [M, N] uniform(-1, 1)\nb = in f32 [M, N] uniform(-1, 1)\n"
                              "out = out f32 [M, N] batch M rtol 9\ncount = scalar u64 M * N\n[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(M * N, BLOCK)\nblock = BLOCK\n";
    bench *b = &(bench){0};
    const struct { const char *shape; char *to; size_t digits; } cases[] = {{"few", few, 4 * 16}, {"many", many, 8 * 16}, {"wide", wide, 4 * 16}};
    for (size_t i = 0; i < 3; i++) {
        open_bench(b, ini, cases[i].shape);
        b->subject.seed = 0;
        bits_of(b, "ok", 128, MT_OUTCOME_OK);
        strcpy(cases[i].to, row_bits);
        ck_assert_uint_eq(strlen(cases[i].to), cases[i].digits);
        ck_assert_uint_eq(strspn(cases[i].to, "0123456789abcdef"), cases[i].digits);
        b->subject.seed = 1;
        bits_of(b, "ok", 128, MT_OUTCOME_OK);
        ck_assert_str_eq(row_bits, "");
        close_bench(b);
    }
    ck_assert_int_eq(strncmp(many, few, strlen(few)), 0);
    ck_assert_int_ne(strncmp(wide, few, 16), 0);
    ck_assert_int_ne(strncmp(few + 16, few + 32, 16), 0);
}
END_TEST

/* An output whose bits may differ has none, so it can't say that its rows are a batch; nor can an input. */
START_TEST(only_of_outputs_in_a_fixed_order)
{
    static const struct { const char *args, *message; } bad[] = {
        {"out = out f32 [N] batch N order any", "`batch` of [arg out] beside order = any: its bits may differ in each run"},
        {"a = in f32 [N] zeros batch N\nout = out f32 [N]", "`batch` of [arg a]: expected only with role out or inout"},
        {"out = out f32 [N] batch M", "`batch = M` of [arg out], whose first dimension is N: expected the shape value"},
        {"out = out f32 [N + 1] batch N", "`batch = N` of [arg out], whose first dimension is N + 1: expected the shape value"},
        {"z = out f32 [M] batch M\nout = out f32 [N] batch N", "`batch = N` of [arg out]: [arg z] has `batch = M`; expected one for all"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char ini[512];
        mt_spec *spec;
        mt_error err;
        snprintf(ini, sizeof ini, "[kernel]\nname = k\nsource = k.cu\nreference = r\n[shape s]\nM = 2\nN = 4\n[algorithm a]\n[args]\n%s\n[launch 1]\nargs = out\ngrid = 1\nblock = 32\n", bad[i].args);
        ck_assert_int_ne(mt_spec_parse("k.ini", ini, strlen(ini), &spec, &err), MT_OK);
        ck_assert_msg(strstr(err.message, bad[i].message), "%s", err.message);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {equal_outputs_have_equal_ones, others_have_none, rows_have_their_own, only_of_outputs_in_a_fixed_order};
    fakes_select();
    return unit_run("bits", tests, sizeof tests / sizeof tests[0]);
}
