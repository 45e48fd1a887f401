/* Structs by value: C's own layout of the same fields, what launches reach through them, and the tuner's and the library's offsets (test_tunelookup_spaces.c). */
#include "tests/unit/space_fixture.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/signature/fields.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>

#define INI "[kernel]\nname = k\nsource = k.cu\nreference = ref\n[shape s]\nN = 48\n[algorithm a]\n[params]\nB = 1, 4\n" \
            "[args]\nin = in f32 [N] zeros\nout = out f32 [N]\nterms = scratch f32 [N * B]\n%s\n[launch 1]\nargs = p\ngrid = N\nblock = 32\n"

static mt_spec *must_parse_lines(const char *lines)
{
    char ini[2048];
    mt_spec *spec = NULL;
    mt_error err = {0};
    snprintf(ini, sizeof ini, INI, lines);
    ck_assert_msg(mt_spec_parse("k.ini", ini, strlen(ini), &spec, &err) == MT_OK, "%s", err.message);
    return spec;
}

static size_t index_of(const mt_spec *spec, const char *name)
{
    size_t i = 0;
    while (strcmp(spec->args[i].name, name) != 0) i++;
    return i;
}

static void check_layout(const char *lines, size_t bytes, const size_t *offsets, size_t count)
{
    mt_spec *spec = must_parse_lines(lines);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    char *illegal = NULL;
    mt_error err = {0};
    must_set(env, "ALGO=a;B=4");
    ck_assert_msg(mt_plan_make(env, &plan, &illegal, &err) == MT_OK && !illegal, "%s: %s", lines, illegal ? illegal : err.message);
    const mt_plan_arg *made = &plan.args[index_of(spec, "p")];
    ck_assert_msg(mt_plan_parameter_bytes(made) == bytes, "%s: %llu bytes", lines, (unsigned long long)mt_plan_parameter_bytes(made));
    ck_assert_uint_eq(spec->args[index_of(spec, "p")].member_count, count);
    for (size_t i = 0; i < count; i++) ck_assert_msg(made->offsets[i] == offsets[i], "%s: member %zu at %llu", lines, i, (unsigned long long)made->offsets[i]);
    ck_assert(plan.args[index_of(spec, "out")].used);
    mt_plan_free(&plan);
    mt_env_free(env);
    mt_spec_free(spec);
}

typedef struct { alignas(16) float x[4]; } float4_like;
typedef struct { unsigned char a; double b; unsigned short c; } inner;
typedef struct { unsigned char a; short b; int c; unsigned char d; double e; unsigned char f; float *out; } mixed;
typedef struct { float *out; unsigned char a; float4_like v; unsigned char b; } vectors;
typedef struct { unsigned char a; inner i; unsigned char b[3]; short c[2]; float *out; } nested;
typedef struct { float *out; alignas(64) char map[128]; int n; } with_map;

START_TEST(lies_as_c_lays_it_out)
{
    check_layout("p = struct u8(1), i16(2), i32(N), bool(true), f64(0.5), f8e4m3(1), out", sizeof(mixed),
                 (size_t[]){offsetof(mixed, a), offsetof(mixed, b), offsetof(mixed, c), offsetof(mixed, d), offsetof(mixed, e), offsetof(mixed, f), offsetof(mixed, out)}, 7);
    check_layout("v = struct f32[4](1) align 16\np = struct out, u8(1), v, i8(2)", sizeof(vectors), (size_t[]){offsetof(vectors, out), offsetof(vectors, a), offsetof(vectors, v), offsetof(vectors, b)}, 4);
    check_layout("i = struct u8(1), f64(2), u16(3)\np = struct u8(0), i, i8[3](1, 2, 3), bf16[2](0), out", sizeof(nested),
                 (size_t[]){offsetof(nested, a), offsetof(nested, i), offsetof(nested, b), offsetof(nested, b) + 1, offsetof(nested, b) + 2, offsetof(nested, c), offsetof(nested, c) + 2, offsetof(nested, out)}, 8);
    check_layout("[arg m]\nkind = tensormap\nof = terms\ndims = 48\nbox = 4\n[arg p]\nkind = struct\nmembers = out, m, i32(N)", sizeof(with_map),
                 (size_t[]){offsetof(with_map, out), offsetof(with_map, map), offsetof(with_map, n)}, 3);
    check_layout("p = struct out, f16[2, 3](0)", 24, (size_t[]){0, 8, 10, 12, 14, 16, 18}, 7);
}
END_TEST

static bool takes(const mt_spec *spec, const char *launch_of, const char *name, bool itself)
{
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        if (!launch->algorithm != !launch_of) continue;
        const size_t *list = itself ? launch->args : launch->reached, count = itself ? launch->arg_count : launch->reached_count;
        for (size_t k = 0; k < count; k++)
            if (strcmp(spec->args[list[k]].name, name) == 0) return true;
    }
    return false;
}

/* A reference without [launch reference 1] gets the struct in the place of what is in it, unless that reads knobs: then nobody would write the output. */
#define OWN_REFERENCE "\n[launch reference 1]\nargs = out\ngrid = N\nblock = 32"
START_TEST(launches_reach_into_structs)
{
    static const char reads_knob[] = "n = scalar i32 N\nq = struct n, in\np = struct out, terms, q\nr = struct i32(B)";
    char ini[2048];
    mt_error err = {0};
    mt_spec *spec = NULL;
    snprintf(ini, sizeof ini, INI, reads_knob);
    ck_assert(mt_spec_parse("k.ini", ini, strlen(ini), &spec, &err) != MT_OK && strstr(err.message, "no launch of the reference takes the output out"));
    snprintf(ini, sizeof ini, "%s" OWN_REFERENCE, reads_knob);
    spec = must_parse_lines(ini);
    static const char *const inside[] = {"out", "terms", "q", "n", "in", "p"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) ck_assert_msg(takes(spec, NULL, inside[i], false), "%s", inside[i]);
    ck_assert(!takes(spec, NULL, "r", false));
    mt_spec_free(spec);
    spec = must_parse_lines("n = scalar i32 N\nq = struct n, in\np = struct out, q");
    ck_assert(!takes(spec, NULL, "terms", false));
    ck_assert(takes(spec, "reference", "p", true) && !takes(spec, "reference", "n", true) && !takes(spec, "reference", "q", true) && !takes(spec, "reference", "out", true));
    mt_spec_free(spec);
    spec = must_parse_lines("[arg m]\nkind = tensormap\nof = terms\ndims = 48\nbox = 4\n[arg p]\nkind = struct\nmembers = out, m\n[prepare 1]\nentry = fill\nargs = m\ngrid = 1\nblock = 1" OWN_REFERENCE);
    ck_assert(takes(spec, NULL, "terms", false));
    ck_assert_int_eq(spec->launches[0].phase, MT_LAUNCH_PREPARE);
    ck_assert_uint_eq(spec->launches[0].reached_count, 2); /* the map and its tensor, which keeps what the launch leaves */
    mt_spec_free(spec);
}
END_TEST

/* "type name*elements" of each field, or nothing where the declaration says more than fields. */
static void check_fields(const char *source, const char *wanted)
{
    mt_signatures fields;
    mt_error err = {0};
    char got[512] = "";
    ck_assert_int_eq(mt_fields_read(source, "S", &fields, NULL, &err), MT_OK);
    for (size_t i = 0; fields.count && i < fields.items[0].parameter_count; i++) {
        const mt_parameter *p = &fields.items[0].parameters[i];
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s %s%s*%lld", i ? ", " : "", p->is_const ? "const " : "", p->type, p->pointers ? "&" : "", p->name, (long long)p->elements);
    }
    ck_assert_msg(strcmp(got, wanted) == 0, "%s: %s", source, got);
    mt_signatures_free(&fields);
}

static void check_align(const char *source, int64_t align)
{
    mt_signatures fields;
    mt_error err = {0};
    ck_assert_int_eq(mt_fields_read(source, "a::S", &fields, NULL, &err), MT_OK);
    ck_assert_uint_eq(fields.count, 1);
    ck_assert_int_eq(fields.items[0].align, align);
    mt_signatures_free(&fields);
}

START_TEST(fields_of_a_declaration)
{
    check_fields("struct S { int n; float a, b[3]; };", "int n*1, float a*1, float b*3");
    check_fields("#define T 4\nstruct __align__(16) S { const float *__restrict__ x; float *y, z; unsigned long long m[T][2]; };", "const float &x*1, float &y*1, float z*1, unsigned long long m*8");
    check_fields("struct S; struct R { int k; }; typedef struct { bool a = true; R r; } S; __global__ void f(S s) { }", "bool a*1, R r*1");
    check_fields("struct S { int n; /* struct T { */ __half h; // };\n };", "int n*1, __half h*1");
    check_fields("namespace a { struct S { int n; }; }\nstruct T { int k; };", "int n*1");
    check_fields("#pragma pack(1)\nstruct S { int n; };", "int n*1");
    check_fields("struct __attribute__((packed)) S { int n; };", "int n*1");
    check_fields("struct S { int n; } __attribute__((packed));", "int n*1");
    check_align("struct S { int n; };", 0);
    check_align("#define WIDTH 32\nstruct __align__(WIDTH) S { int n; };", 32);
    check_align("typedef struct alignas(16) { int n; } S;", 16);
    static const char *const others[] = {"struct S { int n; S() { } };", "struct S { int n : 3; };", "struct S { union { int a; float b; }; };", "struct S { void f(); int a; };", "struct S : R { int a; };", "struct S { int n", "struct S { };", "class S { int n; };",
                                         "template <typename T> struct S { A<T> t; };", "",
                                         "struct S {\n#if A\nint n;\n#endif\nint m; };", "namespace a { struct S { int n; }; } struct S { int m; };",
                                         "struct __align__(WIDTH) S { int n; };"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) check_fields(others[i], "");
}
END_TEST

UNIT_MAIN("struct", lies_as_c_lays_it_out, launches_reach_into_structs, fields_of_a_declaration)
