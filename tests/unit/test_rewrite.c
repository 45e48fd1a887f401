/* CUDA's words in a preprocessed source, for the host's compiler. */
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/cpu/rewrite.h"

static void becomes(const char *text, const char *expected)
{
    mt_source_file file = {(char *)"k.cu", (char *)"/x/k.cu", (char *)""};
    const mt_source source = {.files = &file, .file_count = 1};
    mt_strbuf all = {0}, out = {0};
    mt_strbuf_addf(&all, "# 1 \"k.cu\"\n%s", text);
    mt_cpu_rewrite(&source, mt_strbuf_text(&all), &out);
    ck_assert_msg(strncmp(mt_strbuf_text(&out), "# 1 \"k.cu\"\n", 11) == 0 && strcmp(mt_strbuf_text(&out) + 11, expected) == 0, "%s\n%s", text, mt_strbuf_text(&out));
    mt_strbuf_free(&all);
    mt_strbuf_free(&out);
}

START_TEST(dynamic_shared_memory)
{
    becomes("{ extern __shared__ float s[]; }", "{ static float *const s = (float *)mt_cpu::dynamic_shared; }");
    becomes("__shared__ extern float s[];", "static float *const s = (float *)mt_cpu::dynamic_shared;");
    becomes("extern __shared__ __attribute__((aligned(16))) unsigned char s[];", "static unsigned char *const s = (unsigned char *)mt_cpu::dynamic_shared;");
    becomes("extern __shared__ alignas(16)\nfloat s[];", "static float *const s = (float *)mt_cpu::dynamic_shared\n;");
    becomes("extern int other; extern \"C\" { int f(int x[]); }", "extern int other; extern \"C\" { int f(int x[]); }");
    becomes("extern float s[];", "extern float s[];");
}
END_TEST

START_TEST(static_shared_memory)
{
    mt_source_file file = {(char *)"k.cu", (char *)"/x/k.cu", (char *)""};
    const mt_source source = {.files = &file, .file_count = 1};
    static const char *const parts[] = {"struct mt_shared_2_tile { pair<float, int> tile[4][5], other;};", "static auto &tile = mt_cpu::shared<mt_shared_2_tile>(\"tile\", sizeof(std::remove_all_extents_t<decltype(mt_shared_2_tile::tile)>))->tile;",
                                        "static auto &other = ", " int x;\n"};
    mt_strbuf out = {0};
    mt_cpu_rewrite(&source, "# 1 \"k.cu\"\n{\n__shared__ pair<float, int> tile[4][5], other; int x;\n", &out);
    for (size_t i = 0; i < 4; i++) ck_assert_msg(strstr(mt_strbuf_text(&out), parts[i]), "%s", mt_strbuf_text(&out));
    mt_strbuf_free(&out);
    becomes("volatile __shared__ int x;", "volatile static int x;");
}
END_TEST

START_TEST(assembler)
{
    becomes("\nasm volatile(\"cp.async.cg [%0];\\n\" ::\n\"r\"(a), \")\"(b)); x", "\nmt_cpu::refuse(\"k.cu\", 2, \"inline PTX (cp.async.cg)\")\n; x");
    becomes("int asmx; f(\"asm(1)\");", "int asmx; f(\"asm(1)\");");
    becomes("# 7 \"/usr/include/x.h\" 3 4\nint f() __asm__(\"g\"); __shared__\n# 9 \"k.cu\" 2\n__asm__(\"x\");", "# 7 \"/usr/include/x.h\" 3 4\nint f() __asm__(\"g\"); __shared__\n# 9 \"k.cu\" 2\nmt_cpu::refuse(\"k.cu\", 9, \"inline PTX (x)\");");
}
END_TEST

UNIT_MAIN("rewrite", dynamic_shared_memory, static_shared_memory, assembler)
