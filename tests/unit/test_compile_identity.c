/* What the real compiler reads, and whether knobs reach it. */
#include "tests/unit/compile_fixture.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/compile/nvrtc_internal.h"
#include "tuner/space/source/macro_names.h"

static mt_compile_result compile_macros(mt_nvrtc *nvrtc, const mt_source *source, const char *const *options, size_t count)
{
    const mt_compile_request request = {.source = source, .options = options, .option_count = count, .macro_count = count, .arch = "sm_90a"};
    mt_compile_result result;
    mt_error err = {0};
    ck_assert_msg(mt_compile(nvrtc, &request, &result, &err) == MT_OK, "%s", err.message);
    return result;
}

/* A knob whose macro the source defines anew, or undefines, is not turned. */
START_TEST(a_knob_must_be_in_effect)
{
    static const char *const options[] = {"-DBLOCK=32", "-DMODE=MODE_fast", "-DMODE_fast=1", "-DMODE_slow=2", "-DSHAPE_H=3,5", "-DWORKLOAD_s=1.5"};
    static const struct { const char *text, *words; } cases[] = {
        {"#define BLOCK 64\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as 64 where it is 32 (k.cu(1)); expected #ifndef"},
        {"#pragma nv_diag_suppress 47\n#define BLOCK 64\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as 64 where it is 32 (k.cu(2)); expected"},
        {"\n#def\\\nine /* so */ BLOCK \\\n64\n#error behind\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as 64 where it is 32 (k.cu(2))"},
        {"#ifndef kernel_tuner\n#define BLOCK 64\n#define TILE 2\n#endif\nint a = BLOCK * TILE;\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as 64 where it is 32 (k.cu(2)); expected options = -Dkernel_tuner, since the source gives it a value where that macro is not defined"},
        {"#define BLOCK 64\n#undef BLOCK\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew"},
        {"#define BLOCK (32)\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as (32) where it is 32"},
        {"#define BLOCK(x) 32\n", "knob BLOCK is not in effect: the source defines the macro BLOCK anew, as (x) 32 where"},
        {"#undef BLOCK\n#define BLOCK 64\n", "knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(1)); expected no #undef of it"},
        {"#undef BLOCK\nconstexpr int BLOCK = 64;\n", "knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(1))"},
        {"%:un\\\ndef BLOCK\nenum { BLOCK = 64 };\n", "knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(1))"},
        {"#include \"header.h\"\nconst int BLOCK = 64;\n", "knob BLOCK is not in effect: the source undefines the macro BLOCK (header.h(2))"},
        {"#undef MODE\n#define MODE MODE_slow\n", "knob MODE is not in effect: the source undefines the macro MODE"},
        {"#define MODE MODE_slow // not fast\n", "knob MODE is not in effect: the source defines the macro MODE anew, as MODE_slow where it is MODE_fast (k.cu"},
        {"#define SHAPE_H 1\n", "shape value SHAPE_H is not in effect: the source defines"},
        {"#undef SHAPE_H\n", "shape value SHAPE_H is not in effect: the source undefines"},
        {"#undef WORKLOAD_s\n", "workload value WORKLOAD_s is not in effect: the source undefines"},
        {"#ifndef BLOCK\n#define BLOCK 64\n#endif\n", NULL},
        {"#if BLOCK > 64\n#undef BLOCK\n#define BLOCK 64\n#endif\n", NULL},
        {"#define BLOCK 32\n#define /* a */ MODE /* b */ MODE_fast // c\n", NULL},
        {"// #undef BLOCK\n/*\n#undef BLOCK\n*/\n__device__ const char text[] = R\"(\n#undef BLOCK\n)\";\n", NULL},
        {"#define BLOCK_SIZE 64\n#define OTHER 1\n#undef OTHER\n#define OTHER 2", NULL},
    };
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_strbuf text = {0};
        mt_strbuf_addf(&text, "%s\nextern \"C\" __global__ void k(float *out) { out[0] = 1; } // no end of line", cases[i].text);
        mt_source_file files[] = {{(char *)"k.cu", (char *)"k.cu", (char *)mt_strbuf_text(&text)}, {(char *)"header.h", (char *)"header.h", (char *)"#pragma once\n#undef BLOCK\n"}};
        const mt_source source = {.files = files, .file_count = 2};
        mt_compile_result result = compile_macros(nvrtc, &source, options, sizeof options / sizeof *options);
        ck_assert_msg(result.ok == !cases[i].words && (result.ok || strstr(result.log, cases[i].words) == result.log), "%s: %s", cases[i].text, result.log);
        mt_compile_result_free(&result);
        mt_strbuf_free(&text);
    }
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* Each name that `check` warns of does break what it is said to break, and the log says whose it is. */
START_TEST(taken_names_are_told)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    for (size_t i = 0; i < mt_taken_name_count; i++) {
        const mt_taken_name *taken = &mt_taken_names[i];
        mt_strbuf option = {0}, words = {0};
        mt_strbuf_addf(&option, "-D%s=4", taken->name);
        mt_strbuf_addf(&words, " uses the name %s, which is the macro of a knob here: where that is not meant, rename it, or let knobs arrive as KNOB_", taken->name);
        mt_source_file file = {(char *)"k.cu", (char *)"k.cu", taken->header ? (char *)"#include <cub/block/block_reduce.cuh>\n#include <cub/warp/warp_reduce.cuh>\n" : (char *)"__device__ int i;\n"};
        const mt_source source = {.files = &file, .file_count = 1};
        const char *options[] = {mt_strbuf_text(&option)};
        mt_compile_result result = compile_macros(nvrtc, &source, options, 1), prefixed;
        bool lacks_header = taken->header && strstr(result.log, "source file \"cub/");
        ck_assert_msg(lacks_header || (!result.ok && strstr(result.log, mt_strbuf_text(&words)) && strncmp(result.log, "msda-tune: ", 11) == 0), "%s: %s", taken->name, result.log);
        mt_strbuf_clear(&option);
        mt_strbuf_addf(&option, "-DKNOB_%s=4", taken->name);
        options[0] = mt_strbuf_text(&option);
        prefixed = compile_macros(nvrtc, &source, options, 1);
        ck_assert_msg(lacks_header || prefixed.ok, "%s: %s", options[0], prefixed.log);
        mt_compile_result_free(&result);
        mt_compile_result_free(&prefixed);
        mt_strbuf_free(&option);
        mt_strbuf_free(&words);
    }
    mt_nvrtc_close(nvrtc);
}
END_TEST

static void write_text(const char *name, const char *text)
{
    char path[128];
    mt_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(mt_file_write_atomic(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
}

/* What nobody named is not read: the working folder, which NVRTC searches by itself, and neighbours of the toolkit's. */
START_TEST(only_what_is_handed_over_is_read)
{
    char here[4096];
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    make_folder();
    write_text("stray.h", "#define STRAY 1\n");
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(folder), 0);
    mt_compile_result read = compile(nvrtc, "#include \"stray.h\"\n", "sm_90a", NULL, NULL);
    mt_compile_result probe = compile(nvrtc, "#if __has_include(\"stray.h\")\n#error seen\n#endif\n", "sm_90a", NULL, NULL);
    ck_assert_msg(!read.ok && strstr(read.log, "stray.h"), "%s", read.log);
    ck_assert_msg(probe.ok, "%s", probe.log);
    char now[4096];
    ck_assert_ptr_nonnull(getcwd(now, sizeof now));
    ck_assert_ptr_nonnull(strstr(now, strrchr(folder, '/'))); /* back again */
    ck_assert_int_eq(chdir(here), 0);
    mt_compile_result_free(&read), mt_compile_result_free(&probe);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

/* In memory: __has_include sees what #include sees, <…> too; a header in front of the toolkit's can include that. */
START_TEST(headers_in_memory_are_as_on_disk)
{
    static const char text[] = "#include \" blank.h\"\n#if !__has_include(\"own.h\") || !__has_include(<own.h>) || __has_include(\"none.h\")\n#error probe\n#endif\n#include <own.h>\n#include <cuda_fp16.h>\n"
                               "extern \"C\" __global__ void k(__half *out) { out[0] = __float2half(OWN + SHADOW); }\n";
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    mt_source_file files[] = {{(char *)"k.cu", (char *)"k.cu", (char *)text},
                              {(char *)"own.h", (char *)"own.h", (char *)"#pragma once\n#define OWN 1\n"},
                              {(char *)"cuda_fp16.h", (char *)"cuda_fp16.h", (char *)"#include <./cuda_fp16.h>\n#define SHADOW 1\n"},
                              {(char *)" blank.h", (char *)" blank.h", (char *)"#include \"  blanks.h\"\n"},
                              {(char *)"  blanks.h", (char *)"  blanks.h", (char *)"#pragma once\n"}};
    const mt_source source = {.files = files, .file_count = 5};
    mt_compile_result result = compile_macros(nvrtc, &source, NULL, 0);
    ck_assert_msg(result.ok || strstr(result.log, "set CUDA_HOME"), "%s", result.log);
    mt_compile_result_free(&result);
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* However it comes to a file that nobody handed over: the compiler's own word of what it read decides. The path stands between both parts. */
START_TEST(what_was_not_handed_over_is_refused)
{
    static const char *const ways[][2] = {
        {"#include \"", "h\"\n"}, {"#include <", "h>\n"}, {"#include_next \"", "h\"\n"}, {"#include \"", "\\\nh\"\n"}, {"#in\\\nclude \"", "h\"\n"}, {"#define EMPTY\n#include EMPTY \"", "h\"\n"}, {"\f#\vinclude\f\"", "h\"\n"},
        {"#define Q R\"x(/* )x\"\n#include \"", "h\"\n"}, {"#define TEXT(x) #x\n#define PLACE(x) TEXT(x)\n#include PLACE(", "h)\n"}, {"#include \"../../..", "h\"\n"}, {"#include <../../../..", "h>\n"},
    };
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    make_folder();
    write_text("stray.h", "#define STRAY 1\n");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        mt_strbuf all = {0};
        mt_strbuf_addf(&all, "%s%s/stray.%sextern \"C\" __global__ void k(float *out) { out[0] = 1; }\n", ways[i][0], folder, ways[i][1]);
        mt_compile_result result = compile(nvrtc, mt_strbuf_text(&all), "sm_90a", NULL, folder);
        bool is_named = strstr(result.log, "msda-tune: the compiler reads ") == result.log && strstr(result.log, "/stray.h, which the tool did not find in the source's includes");
        bool is_not_found = strstr(result.log, "open source file") && strstr(result.log, "stray.h"); /* where the dots lead elsewhere */
        ck_assert_msg(!result.ok && !result.cubin_path && (is_named || (is_not_found && strstr(ways[i][0], ".."))), "%s: %s", mt_strbuf_text(&all), result.log);
        mt_compile_result_free(&result);
        mt_strbuf_free(&all);
    }
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

/* Of the toolkit too only what the cache's key counts: here the tool looked at another text. */
START_TEST(headers_of_the_toolkit_that_do_not_count_are_refused)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    if (!nvrtc->include_dir) goto done;
    static const char *const looked_at[] = {"#include <cuda_fp16.h>\n", "#define NAME <cuda_fp16.h>\n#include NAME\n", "#include <./cuda_fp16.h>\n", "int none;\n"};
    for (size_t i = 0; i < 4; i++) {
        mt_source_file file = {(char *)"k.cu", (char *)"k.cu", (char *)looked_at[i]}, compiled = {(char *)"k.cu", (char *)"k.cu", (char *)"#include <cuda_fp16.h>\nextern \"C\" __global__ void k(float *out) { out[0] = 1; }\n"};
        const mt_source source = {.files = &file, .file_count = 1}, other = {.files = &compiled, .file_count = 1};
        mt_visible *visible = NULL;
        mt_compile_result result;
        mt_error err = {0};
        ck_assert_int_eq(mt_compile_headers(nvrtc, NULL, &source, &visible, &err), MT_OK);
        const mt_compile_request request = {.source = &other, .arch = "sm_90a", .visible = visible};
        ck_assert_int_eq(mt_compile(nvrtc, &request, &result, &err), MT_OK);
        ck_assert_msg(result.ok == (i < 3) && (result.ok || strstr(result.log, "cuda_fp16.h of the toolkit, which the tool did not find")), "%s: %s", looked_at[i], result.log);
        mt_compile_result_free(&result);
        mt_visible_free(visible);
    }
done:
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* What decides it lies anywhere on the disk, and no key tells of it. */
START_TEST(what_the_toolkit_asks_for_through_macros_of_the_users_is_refused)
{
    static const struct { const char *header, *source, *option, *words; } cases[] = {
        {"#if __has_include(FILE)\n#endif\n", "#define FILE </x.h>\n#include <ask.h>\n", NULL, "the macro FILE names, which test.cu defines"},
        {"#if __has_include(FILE)\n#endif\n", "#include <ask.h>\n", "-DFILE=</x.h>", "the macro FILE names, which -DFILE=</x.h> defines"},
        {"#define MADE FILE\n#if __has_include(MADE)\n#endif\n", "#define FILE </x.h>\n#include <ask.h>\n", NULL, "the macro FILE names"},
        {"#define HAS(x) __has_include(x)\n#if HAS(FILE)\n#endif\n", "#define FILE </x.h>\n#include <ask.h>\n", NULL, "the macro FILE names"},
        {"#define HAS __has_include(FILE)\n#if HAS\n#endif\n", "#define FILE </x.h>\n#include <ask.h>\n", NULL, "the macro FILE names"},
        {"#if __has_include(FILE)\n#endif\n", "#define FILE </x.h>\n#define NAME <ask.h>\n#include NAME\n", NULL, "the macro FILE names"}, /* all headers count */
        {"#define FILE <ask.h>\n#if __has_include(FILE)\n#endif\n", "#define OTHER </x.h>\n#include <ask.h>\n", NULL, NULL},
        {"#define HAS(FILE) __has_include(FILE)\n#if HAS(<ask.h>)\n#endif\n", "#define FILE </x.h>\n#include <cuda_fp16.h>\n", NULL, NULL},
        {"#if __has_include(<FILE>) && defined(FILE)\n#endif\n", "#define FILE </x.h>\n#include <ask.h>\n", NULL, NULL},
    };
    make_folder();
    char include[128];
    snprintf(include, sizeof include, "%s/include", folder);
    ck_assert_int_eq(mkdir(include, 0755), 0);
    write_text("include/cuda_fp16.h", "");
    char *home = getenv("CUDA_HOME") ? mt_strdup(getenv("CUDA_HOME")) : NULL;
    setenv("CUDA_HOME", folder, 1);
    mt_nvrtc *nvrtc = open_compiler(true);
    for (size_t i = 0; nvrtc && i < sizeof cases / sizeof *cases; i++) {
        write_text("include/ask.h", cases[i].header);
        mt_strbuf text = {0};
        mt_strbuf_addf(&text, "%sextern \"C\" __global__ void k(float *out) { out[0] = 1; }\n", cases[i].source);
        mt_source_file file = {(char *)"test.cu", (char *)"test.cu", (char *)mt_strbuf_text(&text)};
        const mt_source source = {.files = &file, .file_count = 1};
        mt_visible *visible = NULL;
        mt_compile_result result;
        mt_error err = {0};
        ck_assert_msg(mt_compile_headers(nvrtc, NULL, &source, &visible, &err) == MT_OK, "%s", err.message);
        const mt_compile_request request = {.source = &source, .options = &cases[i].option, .option_count = cases[i].option != NULL, .arch = "sm_90a", .visible = visible};
        ck_assert_int_eq(mt_compile(nvrtc, &request, &result, &err), MT_OK);
        ck_assert_msg(result.ok == !cases[i].words && (result.ok || strstr(result.log, cases[i].words)), "%zu: %s", i, result.log);
        mt_compile_result_free(&result);
        mt_visible_free(visible);
        mt_strbuf_free(&text);
    }
    if (home) setenv("CUDA_HOME", home, 1);
    else unsetenv("CUDA_HOME");
    mt_free(home);
    if (nvrtc) mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

UNIT_MAIN("compile_identity", a_knob_must_be_in_effect, taken_names_are_told, only_what_is_handed_over_is_read, headers_in_memory_are_as_on_disk, what_was_not_handed_over_is_refused, headers_of_the_toolkit_that_do_not_count_are_refused, what_the_toolkit_asks_for_through_macros_of_the_users_is_refused)
