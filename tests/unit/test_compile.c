#include "tests/unit/compile_fixture.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/gpu/compile/nvrtc_internal.h"

static const char kernel_text[] = "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] = 1; }\n";

START_TEST(a_hit_needs_no_compiler)
{
    char log[96], cache[96];
    make_folder();
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(cache, sizeof cache, "%s/a b/cache", folder); /* a space, and a folder to make */
    setenv("MSDA_TUNE_FAKE_LOG", log, 1);
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result first = compile(nvrtc, kernel_text, "sm_90a", "-DA=1", cache), again = compile(nvrtc, kernel_text, "sm_90a", "-DA=1", cache);
    ck_assert(first.ok && !first.cached && first.compile_ns > 0);
    ck_assert(again.ok && again.cached && again.compile_ns == 0);
    ck_assert_str_eq(first.cubin_path, again.cubin_path);
    ck_assert_str_eq(first.cubin.hex, again.cubin.hex);
    ck_assert_str_eq(first.log, again.log);
    ck_assert_int_eq(lines_of(log), 1);
    mt_compile_result other_option = compile(nvrtc, kernel_text, "sm_90a", "-DA=2", cache), other_arch = compile(nvrtc, kernel_text, "sm_120a", "-DA=1", cache);
    ck_assert(!other_option.cached && !other_arch.cached);
    ck_assert_int_eq(lines_of(log), 3);
    mt_compile_result_free(&first), mt_compile_result_free(&again), mt_compile_result_free(&other_option), mt_compile_result_free(&other_arch);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

/* One source, one compiler, two toolkits. */
START_TEST(the_cache_is_of_the_toolkits_headers_too)
{
    char path[128], cache[96];
    mt_error err = {0};
    mt_hash digests[2];
    mt_visible *visible = NULL;
    bool cached[3];
    make_folder();
    snprintf(cache, sizeof cache, "%s/cache", folder);
    mt_source_file file = {(char *)"k.cu", (char *)"k.cu", (char *)"#include <cuda_fp16.h>\nextern \"C\" __global__ void k(float *x) { x[0] = 1; }\n"};
    const mt_source source = {.files = &file, .file_count = 1};
    for (int i = 0; i < 3; i++) {
        char text[32];
        snprintf(path, sizeof path, "%s/toolkit%d/include", folder, i % 2);
        ck_assert_int_eq(mt_dir_make_all(path, &err), MT_OK);
        snprintf(path, sizeof path, "%s/toolkit%d/include/cuda_fp16.h", folder, i % 2);
        snprintf(text, sizeof text, "#define EDITION %d\n", i % 2);
        ck_assert_int_eq(mt_file_write_atomic(path, text, strlen(text), &err), MT_OK);
        snprintf(path, sizeof path, "%s/toolkit%d", folder, i % 2);
        setenv("CUDA_HOME", path, 1);
        mt_nvrtc *nvrtc = open_compiler(false);
        ck_assert_int_eq(mt_compile_headers(nvrtc, NULL, &source, &visible, &err), MT_OK);
        digests[i % 2] = *mt_visible_headers(visible);
        const mt_compile_request request = {.source = &source, .arch = "sm_90a", .cache_dir = cache, .visible = visible};
        mt_compile_result result;
        ck_assert_int_eq(mt_compile(nvrtc, &request, &result, &err), MT_OK);
        cached[i] = result.cached;
        mt_compile_result_free(&result);
        mt_visible_free(visible);
        mt_nvrtc_close(nvrtc);
    }
    ck_assert_str_ne(digests[0].hex, digests[1].hex);
    ck_assert(!cached[0] && !cached[1] && cached[2]);
    unsetenv("CUDA_HOME");
    remove_folder();
}
END_TEST

/* KEY-CUBIN.cubin belongs to KEY.log. */
static void log_of(const char *cubin, char path[256])
{
    snprintf(path, 256, "%.*s.log", (int)(strrchr(cubin, '-') - cubin), cubin);
}

START_TEST(a_damaged_entry_is_compiled_again)
{
    make_folder();
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result first = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
    FILE *out = fopen(first.cubin_path, "a");
    ck_assert_ptr_nonnull(out);
    fputc('x', out);
    fclose(out);
    mt_compile_result second = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
    ck_assert(second.ok && !second.cached);
    ck_assert_str_eq(first.cubin.hex, second.cubin.hex);
    mt_compile_result third = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
    ck_assert(third.cached);
    ck_assert_int_eq(unlink(third.cubin_path), 0);
    mt_compile_result fourth = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
    ck_assert(fourth.ok && !fourth.cached);
    char log_path[256];
    log_of(fourth.cubin_path, log_path);
    struct stat info;
    ck_assert_int_eq(stat(log_path, &info), 0);
    ck_assert_int_eq(truncate(log_path, info.st_size - 1), 0); /* as a power cut may leave it */
    mt_compile_result fifth = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
    ck_assert(fifth.ok && !fifth.cached);
    mt_compile_result_free(&fifth);
    mt_compile_result_free(&first), mt_compile_result_free(&second), mt_compile_result_free(&third), mt_compile_result_free(&fourth);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

static void spoil(const char *path, int how)
{
    if (how == 4) ck_assert_int_eq(chmod(path, 0666), 0);
    if (how == 3) ck_assert_int_eq(chown(path, 4242, 4242), 0);
    if (how >= 3) return;
    ck_assert_int_eq(unlink(path), 0);
    if (how == 0) ck_assert_int_eq(mkfifo(path, 0600), 0);
    if (how == 1) ck_assert_int_eq(symlink("/dev/zero", path), 0);
    if (how == 2) ck_assert_int_eq(symlink("/etc/hostname", path), 0);
}

/* A pipe, a device without an end, a link, another user's file, one that everybody may write: each is a miss at once, and what is compiled takes its place. */
START_TEST(an_entry_that_others_laid_is_not_used)
{
    make_folder();
    mt_nvrtc *nvrtc = open_compiler(false);
    for (int how = 0; how < 5; how++) {
        if (how == 3 && geteuid() != 0) continue; /* only root can make one */
        for (int is_log = 0; is_log < 2; is_log++) {
            char path[256];
            mt_compile_result first = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
            log_of(first.cubin_path, path);
            spoil(is_log ? path : first.cubin_path, how);
            mt_compile_result second = compile(nvrtc, kernel_text, "sm_90a", NULL, folder), third = compile(nvrtc, kernel_text, "sm_90a", NULL, folder);
            ck_assert_msg(second.ok && !second.cached && third.cached, "case %d", how);
            mt_compile_result_free(&first), mt_compile_result_free(&second), mt_compile_result_free(&third);
        }
    }
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

START_TEST(an_entry_under_anothers_name_is_not_used)
{
    make_folder();
    mt_nvrtc *nvrtc = open_compiler(false);
    char from[256], to[256];
    mt_compile_result one = compile(nvrtc, kernel_text, "sm_90a", "-DA=1", folder), two = compile(nvrtc, kernel_text, "sm_90a", "-DA=2", folder);
    log_of(one.cubin_path, from), log_of(two.cubin_path, to);
    ck_assert_int_eq(rename(one.cubin_path, two.cubin_path), 0);
    ck_assert_int_eq(rename(from, to), 0);
    mt_compile_result again = compile(nvrtc, kernel_text, "sm_90a", "-DA=2", folder);
    ck_assert(again.ok && !again.cached);
    mt_compile_result_free(&one), mt_compile_result_free(&two), mt_compile_result_free(&again);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

/* Two processes compile one request at the same time into different bytes, as with -lineinfo in two folders: the reference and the default variant of one kernel did. Whoever writes which file last, the entry is
 * whole, and what one of them was told stays true. */
START_TEST(writers_of_one_entry_do_not_tear_it)
{
    char ours[96], theirs[96], command[512], ours_log[256], theirs_log[256];
    make_folder();
    snprintf(ours, sizeof ours, "%s/ours", folder), snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    mt_nvrtc *nvrtc = open_compiler(false);
    setenv("MSDA_TUNE_FAKE_STAMP", "1", 1);
    mt_compile_result first = compile(nvrtc, kernel_text, "sm_90a", NULL, ours);
    setenv("MSDA_TUNE_FAKE_STAMP", "2", 1);
    mt_compile_result second = compile(nvrtc, kernel_text, "sm_90a", NULL, theirs);
    unsetenv("MSDA_TUNE_FAKE_STAMP");
    ck_assert_str_ne(first.cubin.hex, second.cubin.hex);
    log_of(first.cubin_path, ours_log), log_of(second.cubin_path, theirs_log);
    for (int last = 0; last < 2; last++) { /* the other's cubin in any case, then its log too */
        snprintf(command, sizeof command, "cp %s %.*s/", last ? theirs_log : second.cubin_path, (int)(strrchr(ours_log, '/') - ours_log), ours_log);
        ck_assert_int_eq(system(command), 0);
        mt_compile_result again = compile(nvrtc, kernel_text, "sm_90a", NULL, ours);
        ck_assert(again.ok && again.cached);
        ck_assert_str_eq(again.cubin.hex, last ? second.cubin.hex : first.cubin.hex);
        mt_compile_result_free(&again);
        char *bytes = NULL;
        size_t length = 0;
        mt_error err = {0};
        ck_assert_int_eq(mt_file_read(first.cubin_path, 0, &bytes, &length, &err), MT_OK);
        ck_assert_str_eq(mt_hash_bytes(bytes, length).hex, first.cubin.hex);
        mt_free(bytes);
    }
    mt_compile_result_free(&first), mt_compile_result_free(&second);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

/* The order fails, so that the pool goes on in a folder of its own. */
START_TEST(a_folder_that_strangers_may_write_is_no_cache)
{
    make_folder();
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result first = compile(nvrtc, kernel_text, "sm_90a", NULL, folder), second;
    const mode_t modes[] = {0777, 01777};
    char *place = mt_path_folder(first.cubin_path);
    mt_source_file file = {(char *)"test.cu", (char *)"test.cu", (char *)kernel_text};
    const mt_source source = {.files = &file, .file_count = 1};
    const mt_compile_request request = {.source = &source, .arch = "sm_90a", .cache_dir = folder};
    for (size_t i = 0; i < 2; i++) {
        mt_error err = {0};
        ck_assert_int_eq(chmod(place, modes[i]), 0);
        ck_assert_int_eq(mt_compile(nvrtc, &request, &second, &err), MT_ERR_IO);
        ck_assert_msg(strstr(err.message, "everybody may write in") && strstr(err.message, place), "%s", err.message);
        mt_compile_result_free(&second);
    }
    mt_free(place);
    mt_compile_result_free(&first);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

START_TEST(without_a_cache_cubins_go_with_the_compiler)
{
    struct stat info;
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result result = compile(nvrtc, kernel_text, "sm_90a", NULL, NULL);
    ck_assert(result.ok && !result.cached);
    ck_assert_int_eq(stat(result.cubin_path, &info), 0);
    mt_nvrtc_close(nvrtc);
    ck_assert_int_ne(stat(result.cubin_path, &info), 0);
    mt_compile_result_free(&result);
}
END_TEST

START_TEST(a_refused_source_is_a_result)
{
    make_folder();
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result result = compile(nvrtc, kernel_text, "sm_90a", "-DBEHAVIOUR=BEHAVIOUR_compile_error", folder);
    ck_assert(!result.ok && !result.cubin_path);
    ck_assert_ptr_nonnull(strstr(result.log, "#error"));
    mt_compile_result_free(&result);
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

START_TEST(what_verbose_hides_is_asked_for)
{
    static const char *const wishes[][2] = {{NULL, NULL}, {"--ptxas-options=-v", NULL}, {"-Xptxas=--verbose", NULL}, {"-Xptxas", "-v"}};
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_source_file file = {(char *)"test.cu", (char *)"test.cu", (char *)kernel_text};
    const mt_source source = {.files = &file, .file_count = 1};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        const char *options[] = {"-DBEHAVIOUR=BEHAVIOUR_too_much_smem", wishes[i][0], wishes[i][1]};
        const mt_compile_request request = {.source = &source, .options = options, .option_count = 1 + (wishes[i][0] != NULL) + (wishes[i][1] != NULL), .arch = "sm_90a"};
        mt_compile_result result;
        mt_error err = {0};
        ck_assert_int_eq(mt_compile(nvrtc, &request, &result, &err), MT_OK);
        ck_assert_msg(!result.ok && strstr(result.log, "uses too much shared data (0x40000 bytes, 0xc000 max)"), "case %zu: %s", i, result.log);
        ck_assert_msg(!strstr(result.log, "Compiling entry"), "%s", result.log);
        mt_compile_result_free(&result);
    }
    mt_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(a_log_tells_an_error_or_not)
{
    static const char *const yes[] = {
        "k.cu(3): error: identifier \"x\" is undefined\n", "k.cu(1): catastrophic error: cannot open source file \"x.h\" (no directories in search list)\n",
        "k.cu(1): error #20: identifier\n", "k.cu(1): error #20-D: identifier\n", "ptxas info    : 0 bytes gmem\nptxas error   : Entry function 'k' uses too much shared data (0x40000 bytes, 0xc000 max)\n",
        "ptxas fatal   : Unresolved extern function 'f'\n", "ptxas application ptx input, line 21; error   : Instruction 'wgmma.fence' not supported on .target 'sm_120a'\n",
        "k.cu(2): Error: Formal parameter space overflowed (80008 bytes required, max 32764 bytes allowed) in function k\n", "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n", "error: #error directive\n",
    };
    static const char *const no[] = {
        "", "ptxas info    : Compiling entry function 'error: k' for 'sm_90a'\n", "k.cu(3): warning #177-D: variable \"error\" was declared but never referenced\n",
        "k.cu(3): warning #1-D: text \"an error: none\"\n", "ptxas info    : 0 bytes gmem\nptxas info    : Used 12 registers, used 1 barriers, 262144 bytes smem\n", "    int error = 1;\n",
    };
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) ck_assert_msg(mt_compile_first_error(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) ck_assert_msg(!mt_compile_first_error(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(a_missing_compiler_names_all_places)
{
    mt_nvrtc *nvrtc = NULL;
    mt_error err = {0};
    setenv("MSDA_TUNE_NVRTC", "/nowhere/libnvrtc.so", 1);
    ck_assert_int_eq(mt_nvrtc_open(&nvrtc, &err), MT_ERR_COMPILE);
    ck_assert_ptr_nonnull(strstr(err.message, "MSDA_TUNE_NVRTC=/nowhere/libnvrtc.so"));
    ck_assert_ptr_nonnull(strstr(err.message, "CUDA_HOME"));
}
END_TEST

START_TEST(reads_what_ptxas_says)
{
    static const char log[] = "test.cu(3): warning #177-D: variable \"registers\" was declared\n"
                              "ptxas info    : 0 bytes gmem\n"
                              "ptxas info    : Compiling entry function 'bar' for 'sm_90a'\n"
                              "ptxas info    : Function properties for bar\n"
                              "ptxas         .     1304 bytes stack frame, 3048 bytes spill stores, 3840 bytes spill loads\n"
                              "ptxas info    : Used 32 registers, used 0 barriers, 1304 bytes cumulative stack size\n"
                              "ptxas info    : Compiling entry function 'foo' for 'sm_90a'\n"
                              "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                              "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem, 352 bytes cmem[0]\n";
    uint32_t registers = 0, spill = 0, smem = 0;
    ck_assert(mt_compile_resources(log, "bar", &registers, &spill, &smem));
    ck_assert(registers == 32 && spill == 6888 && smem == 0);
    ck_assert(mt_compile_resources(log, "foo", &registers, &spill, &smem));
    ck_assert(registers == 40 && spill == 0 && smem == 1024);
    ck_assert(mt_compile_resources(log, "", &registers, &spill, &smem));
    ck_assert(registers == 40 && spill == 6888 && smem == 1024);
    registers = spill = smem = 0;
    ck_assert(mt_compile_resources(log, "bar\nfoo\n", &registers, &spill, &smem)); /* the worst of both */
    ck_assert(registers == 40 && spill == 6888 && smem == 1024);
    ck_assert(mt_compile_resources(log, "bar\nbaz\n", &registers, &spill, &smem)); /* not foo's */
    ck_assert(registers == 32 && spill == 6888 && smem == 0);
    ck_assert(!mt_compile_resources(log, "fo", &registers, &spill, &smem));
    ck_assert(!mt_compile_resources(log, "fo\nbarr\n", &registers, &spill, &smem));
    ck_assert(!mt_compile_resources("", "", &registers, &spill, &smem));
    ck_assert(!mt_compile_resources(NULL, "", &registers, &spill, &smem));
}
END_TEST

START_TEST(serialised_wgmma_is_no_build)
{
    mt_strbuf why = {0};
    ck_assert(!mt_compile_serialized("ptxas info    : (C7517) Potential Performance Loss: 'wgmma.wait_group' was injected in around line 7\n", &why));
    ck_assert(!mt_compile_serialized("ptxas info    : Used 168 registers\n", &why));
    ck_assert(!mt_compile_serialized(NULL, &why));
    ck_assert(mt_compile_serialized("ptxas info    : Used 168 registers\nptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
                                    "insufficient register resources for the wgmma pipeline in the function 'k'\nptxas info    : x\n", &why));
    ck_assert_str_eq(mt_strbuf_text(&why), "wgmma is serialised, many times slower than it should be: ptxas: wgmma.mma_async instructions are serialized due to insufficient "
                                           "register resources for the wgmma pipeline in the function 'k'");
    mt_strbuf_free(&why);
}
END_TEST

START_TEST(a_serialised_build_is_refused_from_the_cache_too)
{
    char cache[96];
    make_folder();
    snprintf(cache, sizeof cache, "%s/cache", folder);
    mt_nvrtc *nvrtc = open_compiler(false);
    for (int i = 0; i < 2; i++) {
        mt_compile_result result = compile(nvrtc, kernel_text, "sm_90a", "-DBEHAVIOUR=BEHAVIOUR_serialized", cache);
        ck_assert(!result.ok && !result.cubin_path);
        ck_assert(result.cached == (i == 1));
        ck_assert_msg(strncmp(result.log, "wgmma is serialised, ", 21) == 0 && strstr(result.log, "Used 32 registers"), "%s", result.log);
        mt_compile_result_free(&result);
    }
    mt_nvrtc_close(nvrtc);
    remove_folder();
}
END_TEST

START_TEST(hints)
{
    mt_strbuf text = {0};
    mt_compile_hints("ptxas application ptx input, line 21; error   : Instruction 'wgmma.fence' not supported on .target 'sm_120a'\n", &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "msda-tune: wgmma.fence needs sm_90a\n");
    mt_strbuf_clear(&text);
    mt_compile_hints("ptxas error   : Entry function 'k' uses too much shared data (0x40000 bytes, 0xc000 max)\n", &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "msda-tune: k: 262144 bytes of static shared data, limit 49152\n");
    mt_strbuf_clear(&text);
    mt_compile_hints("ptxas error   : File uses too much global constant data (0x40000 bytes, 0x10000 max)\n", &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "msda-tune: 262144 bytes of global constant data, limit 65536\n");
    mt_strbuf_clear(&text);
    mt_compile_hints("x.cu(1): error: identifier \"wgmma\" is undefined\n", &text);
    ck_assert_str_eq(mt_strbuf_text(&text), "");
    mt_strbuf_free(&text);
}
END_TEST

/* The fake's "cubin" is a text with the options. */
static bool was_told(const mt_compile_result *result, const char *option)
{
    char *text = NULL;
    size_t length;
    mt_error err = {0};
    ck_assert_msg(result->ok, "%s", result->log);
    ck_assert_msg(mt_file_read(result->cubin_path, 0, &text, &length, &err) == MT_OK, "%s", err.message);
    bool is_there = strstr(text, option) != NULL;
    mt_free(text);
    return is_there;
}

START_TEST(the_drivers_cache_is_left_alone)
{
    mt_nvrtc *nvrtc = open_compiler(false);
    mt_compile_result now = compile(nvrtc, kernel_text, "sm_90a", "-DA=1", NULL);
    ck_assert(was_told(&now, "option --no-cache\n"));
    mt_compile_result_free(&now);
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* Of our options it is told those that it knows; one of the file's own that it does not know stays an error, after which ours are as before. */
START_TEST(an_old_compiler_is_told_what_it_knows)
{
    static const struct { const char *unknown; bool knows_no_cache, knows_reads, compiles; } cases[] = {{"--no-cache", false, true, true}, {"-Xcudafe", true, false, true}, {"-", true, true, false}, {"-DA=2", true, true, true}};
    for (size_t i = 0; i < 4; i++) {
        mt_nvrtc *nvrtc = open_compiler(false);
        setenv("MSDA_TUNE_FAKE_OLD_NVRTC", cases[i].unknown, 1);
        for (int k = 2; k > 0; k--) {
            mt_compile_result old = compile(nvrtc, kernel_text, "sm_90a", k == 1 ? "-DA=1" : "-DA=2", NULL);
            ck_assert(old.ok == (cases[i].compiles && !(k == 2 && strcmp(cases[i].unknown, "-DA=2") == 0)));
            ck_assert(!old.ok || (was_told(&old, k == 1 ? "option -DA=1\n" : "option -DA=2\n") && was_told(&old, "option --no-cache\n") == cases[i].knows_no_cache));
            ck_assert(nvrtc->lacks_reads == !cases[i].knows_reads && nvrtc->lacks_no_cache == !cases[i].knows_no_cache);
            mt_compile_result_free(&old);
        }
        mt_nvrtc_close(nvrtc);
    }
    unsetenv("MSDA_TUNE_FAKE_OLD_NVRTC");
}
END_TEST

/* ---- with the real NVRTC, where there is one ---- */

/* Which would start CUDA on every GPU, in every compile worker. */
START_TEST(the_compiler_leaves_the_driver_alone)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    mt_compile_result result = compile(nvrtc, kernel_text, "sm_90a", NULL, NULL);
    ck_assert_msg(result.ok, "%s", result.log);
    ck_assert_ptr_null(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD));
    mt_compile_result_free(&result);
    mt_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(the_tool_compiles_everywhere)
{
    static const char *const archs[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};
    mt_source source;
    mt_error err = {0};
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    ck_assert_int_eq(mt_compile_tool_source(&source, &err), MT_OK);
    const mt_compile_request request = {.source = &source, .arch = archs[_i]};
    mt_compile_result result;
    ck_assert_int_eq(mt_compile(nvrtc, &request, &result, &err), MT_OK);
    ck_assert_msg(result.ok, "%s", result.log);
    uint32_t registers = 0, spill = 1, smem = 0;
    ck_assert(mt_compile_resources(result.log, "mt_compare", &registers, &spill, &smem));
    ck_assert(registers > 0 && spill == 0 && smem > 0);
    mt_compile_result_free(&result);
    mt_source_free(&source);
    mt_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(finds_half_headers)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    mt_compile_result result = compile(nvrtc, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nextern \"C\" __global__ void k(__half *x) { x[0] = __float2half(1); }\n", "sm_90a", NULL, NULL);
    ck_assert_msg(result.ok || strstr(result.log, "set CUDA_HOME"), "%s", result.log);
    mt_compile_result_free(&result);
    mt_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(wgmma_names_its_target)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    const char *text = "extern \"C\" __global__ void k() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n";
    mt_compile_result on_hopper = compile(nvrtc, text, "sm_90a", NULL, NULL), elsewhere = compile(nvrtc, text, "sm_120a", NULL, NULL);
    ck_assert_msg(on_hopper.ok, "%s", on_hopper.log);
    ck_assert(!elsewhere.ok);
    ck_assert_ptr_nonnull(strstr(elsewhere.log, "needs sm_90a"));
    mt_compile_result_free(&on_hopper), mt_compile_result_free(&elsewhere);
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* NVRTC words it in two ways. */
START_TEST(a_missing_header_is_named)
{
    static const char text[] = "#include <nowhere.h>\nextern \"C\" __global__ void k() {}\n";
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    mt_free(nvrtc->include_dir), mt_free(nvrtc->cccl_dir);
    nvrtc->cccl_dir = NULL;
    nvrtc->include_dir = mt_strdup("/proc/self");
    mt_compile_result with = compile(nvrtc, text, "sm_90a", NULL, NULL);
    mt_free(nvrtc->include_dir);
    nvrtc->include_dir = NULL;
    mt_compile_result without = compile(nvrtc, text, "sm_90a", NULL, NULL);
    ck_assert_msg(!with.ok && strstr(with.log, "msda-tune: nowhere.h is neither beside the source") == with.log, "%s", with.log);
    ck_assert_msg(!without.ok && strstr(without.log, "msda-tune: no CUDA headers found for nowhere.h: set CUDA_HOME") == without.log, "%s", without.log);
    mt_compile_result_free(&with), mt_compile_result_free(&without);
    mt_nvrtc_close(nvrtc);
}
END_TEST

/* What ptxas really says of a multiplication whose sums are touched while it runs; and not of the same without that. Turning warnings off does not hide it. */
START_TEST(ptxas_tells_serialised_wgmma)
{
    static const char text[] =
        "extern \"C\" __global__ void k(float *out, unsigned long long a, unsigned long long b)\n"
        "{\n"
        "    float d[8];\n"
        "    for (int i = 0; i < 2; i++) {\n"
        "        asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
        "        asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, 0, 0; }\"\n"
        "                     : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]), \"+f\"(d[4]), \"+f\"(d[5]), \"+f\"(d[6]), \"+f\"(d[7]) : \"l\"(a), \"l\"(b), \"r\"(i));\n"
        "        asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
        "#ifndef UNTOUCHED\n"
        "        d[0] += 1.0f;\n"
        "#endif\n"
        "    }\n"
        "    asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
        "    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = d[i];\n"
        "}\n";
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    mt_compile_result good = compile(nvrtc, text, "sm_90a", "-DUNTOUCHED", NULL);
    ck_assert_msg(good.ok, "%s", good.log);
    mt_compile_result_free(&good);
    static const char *const options[] = {NULL, "--disable-warnings"};
    for (int i = 0; i < 2; i++) {
        mt_compile_result bad = compile(nvrtc, text, "sm_90a", options[i], NULL);
        ck_assert_msg(!bad.ok && !bad.cubin_path && strncmp(bad.log, "wgmma is serialised, ", 21) == 0, "%s", bad.log);
        mt_compile_result_free(&bad);
    }
    mt_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(options_of_the_file_win)
{
    mt_nvrtc *nvrtc = open_compiler(true);
    if (!nvrtc) return;
    mt_compile_result result = compile(nvrtc, "#if __cplusplus < 202002L\n#error old\n#endif\nextern \"C\" __global__ void k() {}\n", "sm_90a", "-std=c++20", NULL);
    ck_assert_msg(result.ok, "%s", result.log);
    mt_compile_result_free(&result);
    mt_nvrtc_close(nvrtc);
}
END_TEST

int main(void)
{
    char *path = fakes_path("libfake_nvrtc.so");
    fakes_select();
    fake_nvrtc = path;
    Suite *suite = suite_create("compile");
    TCase *fake = tcase_create("fake"), *real = tcase_create("real");
    tcase_add_test(fake, a_hit_needs_no_compiler);
    tcase_add_test(fake, the_cache_is_of_the_toolkits_headers_too);
    tcase_add_test(fake, a_damaged_entry_is_compiled_again);
    tcase_add_test(fake, an_entry_that_others_laid_is_not_used);
    tcase_add_test(fake, an_entry_under_anothers_name_is_not_used);
    tcase_add_test(fake, writers_of_one_entry_do_not_tear_it);
    tcase_add_test(fake, a_folder_that_strangers_may_write_is_no_cache);
    tcase_add_test(fake, without_a_cache_cubins_go_with_the_compiler);
    tcase_add_test(fake, a_refused_source_is_a_result);
    tcase_add_test(fake, what_verbose_hides_is_asked_for);
    tcase_add_test(fake, a_log_tells_an_error_or_not);
    tcase_add_test(fake, a_missing_compiler_names_all_places);
    tcase_add_test(fake, reads_what_ptxas_says);
    tcase_add_test(fake, hints);
    tcase_add_test(fake, serialised_wgmma_is_no_build);
    tcase_add_test(fake, a_serialised_build_is_refused_from_the_cache_too);
    tcase_add_test(fake, the_drivers_cache_is_left_alone);
    tcase_add_test(fake, an_old_compiler_is_told_what_it_knows);
    tcase_add_test(real, the_compiler_leaves_the_driver_alone);
    tcase_add_loop_test(real, the_tool_compiles_everywhere, 0, 4);
    tcase_add_test(real, finds_half_headers);
    tcase_add_test(real, a_missing_header_is_named);
    tcase_add_test(real, wgmma_names_its_target);
    tcase_add_test(real, ptxas_tells_serialised_wgmma);
    tcase_add_test(real, options_of_the_file_win);
    suite_add_tcase(suite, fake);
    suite_add_tcase(suite, real);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    mt_free(path);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
