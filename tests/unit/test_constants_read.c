/* The __constant__ variables of a source whose contents somebody else must give. */
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature_constants.h"

#include <string.h>

/* "ENTRY DTYPExLANES[ELEMENTS]" of each, with * where it is used. */
static char *described(const char *source)
{
    mt_constants all = {0};
    mt_error err;
    mt_strbuf out = {0};
    ck_assert_int_eq(mt_constants_read(source, &all, &err), MT_OK);
    for (size_t i = 0; i < all.count; i++) mt_strbuf_addf(&out, "%s%s %sx%d[%lld]%s", i ? " " : "", all.items[i].entry, all.items[i].dtype ? all.items[i].dtype : "?", all.items[i].lanes, (long long)all.items[i].elements, all.items[i].is_used ? "*" : "");
    mt_free(all.items);
    char *text = mt_strdup(mt_strbuf_text(&out));
    mt_strbuf_free(&out);
    return text;
}

static const struct {
    const char *source, *expected;
} cases[] = {
    {"__constant__ float a[33*33];\nfloat f() { return a[1]; }", "a f32x1[1089]*"},
    {"#define COUNT 600 // of them\nstatic __constant__ const float2 a[COUNT][2];", "a f32x2[1200]"},
    {"__constant__ unsigned int a;\nint f() { return a; }", "a u32x1[1]*"},
    {"__constant__ __align__(16) Box a[3];", "a ?x1[3]"},
    {"__constant__ int a[N + 1];", "a i32x1[0]"},
    {"#if X\n#define N 1\n#else\n#define N 2\n#endif\n__constant__ int a[N];", "a i32x1[0]"},
    {"__constant__ int a[] = {1, 2};\n__constant__ int b{3}; __constant__ int c[2]{};", ""},
    {"extern __constant__ int a[3];", ""},
    {"// __constant__ int a;\n/* __constant__ int b; */ const char *c = \"__constant__ int d;\";", ""},
    /* used where a condition may leave it out */
    {"__constant__ int a[3];\n#if X == 1\nint f() { return a[0]; }\n#endif", "a i32x1[3]"},
    {"__constant__ int a[3];\n#if X == 1\n#else\n#endif\nint f() { return a[0]; }", "a i32x1[3]*"},
    {"#ifndef FILE_H\n#define FILE_H\n__constant__ int a[3];\nint f() { return a[0]; }\n#endif", "a i32x1[3]*"},
    {"namespace a { __constant__ int b[3]; void f() { } namespace { __constant__ int c; } }\n__constant__ int d;", "a::b i32x1[3] a::c i32x1[1] d i32x1[1]"},
    {"constexpr int N = 4; enum { M = 2, L }; float f(int K = 3);\n#define H (5)\n__constant__ int a[N][M], b;\n__constant__ int c[H];\n__constant__ int d[L];", "a i32x1[8] c i32x1[5] d i32x1[0]"},
    {"__constant__", ""}, {"__constant__ int", ""}, {"__constant__ int a[", ""}, {"#if\n#endif\n#endif", ""}, {"", ""},
};

START_TEST(constants_without_values)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = described(cases[i].source);
        ck_assert_msg(strcmp(text, cases[i].expected) == 0, "%s\nexpected: %s\ngot:      %s", cases[i].source, cases[i].expected, text);
        mt_free(text);
    }
}
END_TEST

/* No cut source reads behind its end, and none stays in a loop. */
START_TEST(sources_cut_anywhere)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t length = strlen(cases[i].source); length-- > 0;) {
            char *copy = mt_strndup(cases[i].source, length), *text = described(copy);
            mt_free(text);
            mt_free(copy);
        }
}
END_TEST

UNIT_MAIN("constants_read", constants_without_values, sources_cut_anywhere)
