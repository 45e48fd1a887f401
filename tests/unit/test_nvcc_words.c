/* Which options of a search space may reach nvcc. */
#include "tests/unit/unit.h"
#include "tuner/space/source/nvcc_words.h"

START_TEST(code_is_allowed)
{
    static const char *const words[] = {"-use_fast_math", "--use_fast_math", "-maxrregcount=64", "--maxrregcount=64", "-std=c++20", "--expt-relaxed-constexpr", "-lineinfo", "-G", "-Xptxas=-O3", "-Xptxas=-dlcm=cg",
                                        "-DX=$(id) \"a b\"", "-UX", "-fmad=false", "--diag-suppress=177", "-rdc=false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) ck_assert_msg(!mt_nvcc_word_refusal(words[i]), "%s", words[i]);
}
END_TEST

START_TEST(all_else_is_refused)
{
    static const char *const words[] = {"-run", "--run", "-ccbin=/bin/sh", "-Xcompiler=-B.", "-Xlinker=x", "-odir=x", "-keep", "-o", "-optf=x", "-lib", "-rdc=true", "x.cu", "@x", "-", "--", "-maxrregcount=`id`",
                                        "-maxrregcount=$(id)", "-std=c++17;id", "-Xptxas=-v|id", "-use_fast_math_", "---use_fast_math", "-lineinfo=\"", "-w x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) ck_assert_msg(mt_nvcc_word_refusal(words[i]), "%s", words[i]);
}
END_TEST

UNIT_MAIN("nvcc_words", code_is_allowed, all_else_is_refused)
