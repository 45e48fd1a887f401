/* Types by the declarations of a source: what the reference writes, and that outputs are compared with it, whatever it wrote. */
#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/space_fixture.h"
#include "tuner/space/source/declared.h"

#define REFERENCE "[kernel]\nsource = k.cu\nreference = naive\n" SHAPE VARIANT
#define NAIVE(parameters) "extern \"C\" __global__ void naive(" parameters ") { }"

static mt_dtype written(const char *code, const char *ini, mt_dtype own)
{
    mt_source_file file = {.path = (char *)"k.cu", .text = (char *)code};
    const mt_source source = {.files = &file, .file_count = 1};
    mt_declared declared;
    mt_error err;
    mt_spec *spec = must_parse(ini);
    ck_assert_int_eq(mt_declared_read(&source, &declared, &err), MT_OK);
    mt_dtype dtype = mt_declared_reference_dtype(&declared, spec, 0, own);
    mt_declared_free(&declared);
    mt_spec_free(spec);
    return dtype;
}

START_TEST(the_declaration_says_what_the_reference_writes)
{
    static const char out[] = REFERENCE OUT LAUNCH, inout[] = REFERENCE "[args]\nout = inout f16 [N] zeros\n" LAUNCH;
    ck_assert_int_eq(written(NAIVE("double *out"), out, MT_F32), MT_F64);
    ck_assert_int_eq(written(NAIVE("float *out"), out, MT_F32), MT_F32);
    ck_assert_int_eq(written(NAIVE("float4 *out"), out, MT_F32), MT_F32);
    ck_assert_int_eq(written("__global__ void naive(float *__restrict__ out) { out[0] = 1; }", out, MT_F32), MT_F32); /* its C++ name leads to it, too */
    ck_assert_int_eq(written(NAIVE("float *out"), out, MT_F16), MT_F32);
    ck_assert_int_eq(written(NAIVE("__half *out"), out, MT_F16), MT_F16);
    ck_assert_int_eq(written(NAIVE("float *out"), inout, MT_F16), MT_F64); /* what it would read there is f16 */
    ck_assert_int_eq(written(NAIVE("__half *out"), inout, MT_F16), MT_F16);
    /* what can't be told */
    ck_assert_int_eq(written("typedef float real;\n" NAIVE("real *out"), out, MT_F32), MT_F64);
    ck_assert_int_eq(written(NAIVE("float *out, int more"), out, MT_F32), MT_F64);
    ck_assert_int_eq(written("#if A\n" NAIVE("float *out") "\n#else\n" NAIVE("double *out") "\n#endif", out, MT_F32), MT_F64);
    ck_assert_int_eq(written("template <typename T> __global__ void naive(float *out) { }", out, MT_F32), MT_F64);
    ck_assert_int_eq(written("", out, MT_F32), MT_F64);
}
END_TEST

/* On the fake driver fake_add writes floats, as it is declared. */
#define BY_FLOATS(args)                                                                                                                      \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add\n[shape s]\nN = 10000\n[algorithm v]\nentry = fake_add\n[params]\nBLOCK = 128\n" \
    "BEHAVIOUR = ok, wrong, oob\n[args]\na = in f32 [N] uniform(0, 1)\nb = in f32 [N] uniform(0, 1)\n" args "count = scalar u64 N\n"                 \
    "[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"

static void expect(bench *b, const char *behaviour, mt_outcome_kind kind)
{
    char text[96];
    mt_outcome outcome;
    snprintf(text, sizeof text, "ALGO=v;BEHAVIOUR=%s;BLOCK=128", behaviour);
    GOOD(try_point(b, text, &outcome));
    ck_assert_msg(outcome.kind == kind, "%s: %s: %s", behaviour, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    mt_outcome_free(&outcome);
}

START_TEST(floats_of_a_reference_are_widened)
{
    static const char *const spaces[] = {BY_FLOATS("out = out f32 [N] rtol 1e-6\n"), BY_FLOATS("out = out f32 [N] zero before_each\n"), BY_FLOATS("out = inout f32 [N] constant(7)\n")};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        bench *b = &(bench){0};
        open_bench(b, spaces[i], "s");
        expect(b, "ok", MT_OUTCOME_OK), expect(b, "wrong", MT_OUTCOME_WRONG_RESULT);
        expect(b, "oob", MT_OUTCOME_OUT_OF_BOUNDS), expect(b, "ok", MT_OUTCOME_OK);
        close_bench(b);
    }
}
END_TEST

START_TEST(without_a_source_a_reference_writes_doubles)
{
    bench *b = &(bench){0};
    open_bench(b, BY_FLOATS("out = out f32 [N]\n"), "s");
    b->subject.source = NULL;
    expect(b, "ok", MT_OUTCOME_WRONG_RESULT);
    close_bench(b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_declaration_says_what_the_reference_writes, floats_of_a_reference_are_widened, without_a_source_a_reference_writes_doubles};
    fakes_select(), fakes_select_nvml();
    return unit_run("declared", tests, sizeof tests / sizeof tests[0]);
}
