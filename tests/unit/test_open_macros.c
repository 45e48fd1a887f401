/* Which macros a source leaves open, with their values and what conditions compare them with. */
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/open_macros.h"

#include <string.h>

/* "NAME=VALUE(COMPARED,…)ut …", -DGUARD in front; u: behind #pragma unroll, t: chooses a type. */
static char *described(const char *source, const char *others)
{
    mt_open_macros all;
    mt_error err = {0};
    mt_strbuf out = {0};
    ck_assert_int_eq(mt_open_macros_read(source, others, &all, &err), MT_OK);
    if (*all.guard) mt_strbuf_addf(&out, "-D%s ", all.guard);
    for (size_t i = 0; i < all.count; i++) {
        const mt_open_macro *one = &all.items[i];
        mt_strbuf_addf(&out, "%s%s", i ? " " : "", one->name);
        if (one->value >= 0) mt_strbuf_addf(&out, "=%ld", one->value);
        for (size_t k = 0; k < one->compared_count; k++) mt_strbuf_addf(&out, "%s%ld%s", k ? "," : "(", one->compared[k], k + 1 < one->compared_count ? "" : ")");
        mt_strbuf_addf(&out, "%s%s", one->is_unroll ? "u" : "", one->is_of_types ? "t" : "");
    }
    mt_open_macros_free(&all);
    char *text = mt_strdup(mt_strbuf_text(&out));
    mt_strbuf_free(&out);
    return text;
}

static const struct {
    const char *source, *expected;
} cases[] = {
    /* a default that gives way */
    {"#ifndef TILE\n#define TILE 16\n#endif\nint a = TILE;", "TILE=16"},
    {"#ifndef TILE\n  #  define TILE 16 // as we like\n#endif\nint a = TILE;", "TILE=16"},
    {"#ifndef TILE\n#define TILE 16\n#endif\nint a;", ""},
    {"#ifndef USE\n#define USE 1\n#endif\n#if USE == 1\n#endif", "USE=1(1)"},
    {"#ifndef KERNEL_H\n#define KERNEL_H\nint a = TILE_X;\n#endif", "TILE_X"},
    {"#define TILE 16\nint a = TILE;", ""},
    {"#ifndef TILE\n#define TILE float\n#endif\nTILE a = 0;", ""},
    /* defaults behind a guard of another name */
    {"#ifndef tuner_on\n#define A_X 1\n#define B_X 4096\n#endif\nint a = A_X + B_X;", "-Dtuner_on A_X=1 B_X=4096"},
    {"#ifndef tuner_on\n#define A_X 1\n#endif\nint a = A_X;", ""},
    {"#ifndef tuner_on\n#define A_X 1\n#define B_X 2\n#else\n#define A_X 3\n#define B_X 4\n#endif\nint a = A_X + B_X;", ""},
    {"#ifndef tuner_on\n#define A_X 1\n#define REAL float\n#endif\nint a = A_X;", ""},
    {"#ifndef __CUDACC__\n#define A_X 1\n#define B_X 2\n#endif\nint a = A_X;", ""},
    {"#define tuner_on\n#ifndef tuner_on\n#define A_X 1\n#define B_X 2\n#endif\nint a = A_X;", ""},
    /* read and not defined */
    {"#define MWI (MWG/MDIMC) // work\nfloat a[MWI];", "MWG MDIMC"},
    {"#define LAST last_row\n__global__ void k() { }", "last_row"},
    {"#define MAX_OF(AA, BB) (AA > BB ? AA : BB + \\\n CC)\n", "CC"},
    {"void f() { for (int i = 0; i < WORK_PER_THREAD; i++) g(i, WORK_2); return WORK_3; }", "WORK_PER_THREAD WORK_2 WORK_3"},
    {"void f(int AA, float *BB, T &CC, const S *DD) { AA = BB[0] + CC.x + DD->y; }", ""},
    {"int AA, BB = 1, CC[2]; void f() { for (int II = 0, JJ = 1; II < JJ; II++) AA = BB + CC[0]; }", ""},
    {"enum { AA, BB = 3, CC }; int a = AA + BB + CC + DD;", "DD"},
    {"typedef cub::Reduce<T, TILE_X, cub::WITH_WARPS, TILE_Y> R;", "TILE_X TILE_Y"},
    {"template <typename T, int TILE_X> void f() { g<T, TILE_X>(); T_X::h(); }", ""},
    {"int a = INT_MAX + (uint32_t)FLT_EPSILON + NULL + __CUDA_ARCH__ + CUDART_INF_F;", ""},
    {"// int a = TILE_X;\n/* int b = TILE_Y; */ const char *t = \"TILE_Z\";", ""},
    {"void f() {\n#pragma unroll (UNROLL_X)\n for (;;) ; }", "UNROLL_Xu"},
    /* compared */
    {"#if METHOD == 0\n#elif METHOD == 2 || 1 < 2 && METHOD == 1\n#endif", "METHOD(0,1,2)"},
    {"#define CACHE read_only\n#if CACHE == 1\n#endif", "read_only(1)"},
    {"#if method == 1\n#elif method == 2\n#endif", "method(1,2)"},
    {"#define method 1\n#if method == 1\n#endif", ""},
    {"#ifndef VEC_X\n#define VEC_X (4)\n#endif\nint a = VEC_X;", "VEC_X=4"},
    {"#if VECTOR > 1\n#endif", ""}, /* where it is not defined it is 0 */
    {"#ifdef FAST_PATH\nint a = FAST_PATH;\n#endif", ""},
    {"#if defined(FAST_PATH) && FAST_PATH == 1\n#endif", ""},
    {"#if TYPE == 1\ntypedef float real;\n#elif TYPE == 2\ntypedef double real;\n#endif", "TYPE(1,2)t"},
    {"#if TYPE == 1\n#define REAL float\n#endif", "TYPE(1)t"},
    /* what is no source */
    {"", ""}, {"#", ""}, {"#ifndef", ""}, {"#define", ""}, {"#define AA(", ""}, {"#endif\n#endif\n#else\n#if", ""}, {"#if AA ==", ""}, {"\\", ""}, {"}}}}((((", ""}, {"#define AA \\", ""},
};

START_TEST(what_is_left_open)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = described(cases[i].source, "");
        ck_assert_msg(strcmp(text, cases[i].expected) == 0, "%s\nexpected: %s\ngot:      %s", cases[i].source, cases[i].expected, text);
        mt_free(text);
    }
}
END_TEST

START_TEST(what_other_files_have_is_not_open)
{
    char *text = described("int a = TILE_X + TILE_Y;", "#define TILE_X 3\n");
    ck_assert_str_eq(text, "TILE_Y");
    mt_free(text);
}
END_TEST

START_TEST(nothing_nests_too_deep)
{
    mt_strbuf source = {0};
    for (int i = 0; i < 100; i++) mt_strbuf_add(&source, "#if AA == 1\n{([<\n");
    for (int i = 0; i < 100; i++) mt_strbuf_add(&source, "#ifndef BB\n#define BB 1\n#endif\n#endif\n");
    char *text = described(mt_strbuf_text(&source), "");
    ck_assert_str_eq(text, "AA(1)");
    mt_free(text);
    mt_strbuf_free(&source);
}
END_TEST

START_TEST(missing_memory_is_told)
{
    mt_open_macros all;
    mt_error err;
    for (size_t n = 1; n < 3; n++) {
        mt_alloc_fail_at(n);
        ck_assert_int_eq(mt_open_macros_read("int a = TILE_X;", "", &all, &err), MT_ERR_NO_MEMORY);
        mt_alloc_fail_at(0);
        mt_open_macros_free(&all);
    }
}
END_TEST

/* No cut source reads behind its end, and none stays in a loop. */
START_TEST(sources_cut_anywhere)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t length = strlen(cases[i].source); length-- > 0;) {
            char *copy = mt_strndup(cases[i].source, length), *text = described(copy, "");
            mt_free(text);
            mt_free(copy);
        }
}
END_TEST

UNIT_MAIN("open_macros", what_is_left_open, what_other_files_have_is_not_open, nothing_nests_too_deep, missing_memory_is_told, sources_cut_anywhere)
