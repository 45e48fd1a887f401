/* Scalars that are a byte each: bool and fp8; and names as texts write them. */
#include "tests/unit/space_fixture.h"
#include "tuner/space/launch/plan.h"

#include <stdio.h>

#define INI "[kernel]\nname = k\nsource = k.cu\nreference = ref\n[shape s]\nN = 48\nT = f16\n[algorithm a]\n[params]\nB = 1, 4\nF = 0.5, 1.5, -2\nW = wide, \"a b\"\n[constraints]\nc = ${N} >= ${B}\n" \
            "[args]\nout = out f32 [N]\n%s\n[launch 1]\nargs = out, %s\ngrid = ${N}\nblock = 32\n"

/* Each value of a knob of fractions, as the bytes of its dtype, which programs see as those of an integer. */
START_TEST(fractions_of_a_knob)
{
    static const struct { const char *dtype, *point; uint64_t bits; const char *seen; } cases[] = {
        {"f32", "0.5", 0x3f000000, "u32"}, {"f32", "1.5", 0x3fc00000, "u32"}, {"f32", "-2", 0xc0000000, "u32"}, {"f64", "1.5", UINT64_C(0x3ff8000000000000), "i64"}, {"f64", "-2", UINT64_C(0xc000000000000000), "i64"},
        {"f16", "-2", 0xc000, "u16"}, {"bf16", "0.5", 0x3f00, "u16"}, {"f32", "-0.0", 0x80000000, "u32"}, {"f64", "-0.0", UINT64_C(0x8000000000000000), "i64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ini[512], point[32];
        mt_spec *spec = NULL;
        mt_plan plan;
        char *illegal = NULL;
        mt_error err = {0};
        uint64_t bits;
        snprintf(ini, sizeof ini, "[kernel]\nname = k\nsource = k.cu\nreference = ref\n[shape s]\nN = 48\n[algorithm a]\n[params]\nF = 0.5, 1.5, -2, -0.0\n[args]\nout = out f32 [N]\n[launch 1]\nargs = out, %s(F)\ngrid = 1\nblock = 32\n", cases[i].dtype);
        ck_assert_msg(mt_spec_parse("k.ini", ini, strlen(ini), &spec, &err) == MT_OK, "%s", err.message);
        ck_assert_str_eq(spec->args[1].dtype_text, cases[i].seen);
        mt_env *env = must_env(spec, &spec->shapes[0], &h100);
        snprintf(point, sizeof point, "ALGO=a;F=%s", cases[i].point);
        must_set(env, point);
        ck_assert_msg(mt_plan_make(env, &plan, &illegal, &err) == MT_OK && !illegal, "%s", illegal ? illegal : err.message);
        memcpy(&bits, plan.args[1].scalar, sizeof bits);
        ck_assert_msg(bits == cases[i].bits, "%s(%s): %llx", cases[i].dtype, cases[i].point, (unsigned long long)bits);
        mt_plan_free(&plan);
        mt_env_free(env);
        mt_spec_free(spec);
    }
}
END_TEST

/* The byte of the one scalar; −1: refused, *err says why. */
static int byte_of(const char *line, const char *name, mt_error *err)
{
    char ini[1024];
    mt_spec *spec = NULL;
    mt_plan plan;
    char *illegal = NULL;
    snprintf(ini, sizeof ini, INI, line, name);
    if (mt_spec_parse("k.ini", ini, strlen(ini), &spec, err) != MT_OK) return -1;
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    must_set(env, "ALGO=a;B=4;F=1.5;W=wide");
    ck_assert_msg(mt_plan_make(env, &plan, &illegal, err) == MT_OK && !illegal, "%s", illegal ? illegal : err->message);
    ck_assert_uint_eq(plan.launches[0].grid[0], 48);
    ck_assert_uint_eq(mt_plan_parameter_bytes(&plan.args[1]), 1);
    int byte = plan.args[1].scalar[0];
    mt_plan_free(&plan);
    mt_env_free(env);
    mt_spec_free(spec);
    return byte;
}

START_TEST(a_byte_each)
{
    static const struct { const char *literal; int byte; } cases[] = {
        {"bool(1)", 1}, {"bool(0)", 0}, {"bool(N)", 1}, {"bool(N - 48)", 0}, {"bool(B == 4)", 1}, {"bool(B == 4 && N < 48)", 0}, {"bool(false)", 0}, {"bool(B in (1, 2))", 0},
        {"f8e4m3(1.5)", 0x3c}, {"f8e4m3(-1)", 0xb8}, {"f8e4m3(448)", 0x7e}, {"f8e4m3(0)", 0}, {"f8e4m3(N)", 0x64}, {"f8e5m2(B)", 0x44}, {"f8e4m3(0.001953125)", 1}, {"f8e4m3(0.0009)", 0}, {"f8e4m3(1.06)", 0x38}, {"f8e4m3(1.07)", 0x39},
        {"f8e4m3(F)", 0x3c}, {"f8e5m2(F)", 0x3e}, {"f8e5m2(1.5)", 0x3e}, {"f8e5m2(57344)", 0x7b}, {"f8e5m2(-0.25)", 0xb4}, {"f8e5m2(0.0000152587890625)", 1},
    };
    mt_error err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int byte = byte_of("", cases[i].literal, &err);
        ck_assert_msg(byte == cases[i].byte, "%s: %d %s", cases[i].literal, byte, byte < 0 ? err.message : "");
    }
    ck_assert_int_eq(byte_of("flag = scalar bool N > 3", "flag", &err), 1);
}
END_TEST

START_TEST(what_is_no_such_value)
{
    static const struct { const char *line, *name, *says; } cases[] = {
        {"", "bool(M)", "unknown name 'M'"},
        {"", "i32(F)", "value = F, which has texts, of dtype i32: expected f16, bf16, f32, f64, f8e4m3 or f8e5m2"},
        {"", "f32(W)", "value = W: `wide`, one of its values, is no number that f32 holds"},
        {"", "bool(T)", "value = T of dtype bool: expected a condition, true, false, or an integer, which is true where it is not 0"},
        {"f = in bool [N] zeros", "f", "dtype `bool` is of scalars alone: expected u8"},
        {"f = in e4m3 [N] zeros", "f", "unknown dtype `e4m3`, did you mean `f8e4m3`?"},
        {"", "half(1)", "half of half(1) is no dtype; expected one of f16, "},
        {"t = in cudaTextureObject_t [N] zeros", "t", "there are no textures and surfaces: expected a tensor"},
        {"t = scalar cudaSurfaceObject_t 0", "t", "there are no textures and surfaces: expected a tensor"},
        {"[arg t]\nkind = texture", "t", "kind = texture: there are no textures and surfaces: expected a tensor"},
        {"[constraints]\nd = ${N >= 2", "bool(1)", "'${N' has no closing brace"},
        {"[constraints]\nd = ${M} >= 2", "bool(1)", "unknown name 'M'"},
        {"[constraints]\nd = $N >= 2", "bool(1)", "'$' is not part of the expression language"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_error err = {0};
        ck_assert_int_eq(byte_of(cases[i].line, cases[i].name, &err), -1);
        ck_assert_msg(strstr(err.message, cases[i].says), "%s: %s", cases[i].name, err.message);
    }
}
END_TEST

START_TEST(floats_of_few_bits)
{
    uint16_t bits;
    ck_assert(mt_small_float(1.0, 5, 10, true, &bits) && bits == 0x3c00);
    ck_assert(mt_small_float(65504, 5, 10, true, &bits) && bits == 0x7bff);
    ck_assert(!mt_small_float(65520, 5, 10, true, &bits));
    ck_assert(mt_small_float(-2.5, 8, 7, true, &bits) && bits == 0xc020);
    ck_assert(mt_small_float(464, 4, 3, false, &bits) && bits == 0x7e); /* halfway to what is NaN: to even */
    ck_assert(!mt_small_float(480, 4, 3, false, &bits) && !mt_small_float(1e300, 4, 3, false, &bits) && !mt_small_float(1.0 / 0.0, 5, 2, true, &bits));
}
END_TEST

UNIT_MAIN("scalars", fractions_of_a_knob, a_byte_each, what_is_no_such_value, floats_of_few_bits)
