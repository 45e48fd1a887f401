/* A compiler, fake or real, and a folder for what a test writes. */
#pragma once

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fakes.h"
#include "tests/unit/unit.h"
#include "tuner/base/file.h"
#include "tuner/base/alloc.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/compile/compile_log.h"

static const char *fake_nvrtc; /* path */
static char folder[64];

/* The real NVRTC keeps memory of its own until the process ends; there only in sanitizer builds. */
extern void __lsan_disable(void) __attribute__((weak));

static inline mt_nvrtc *open_compiler(bool real)
{
    mt_nvrtc *nvrtc = NULL;
    mt_error err = {0};
    if (real && __lsan_disable) __lsan_disable();
    if (real) unsetenv("MSDA_TUNE_NVRTC");
    else setenv("MSDA_TUNE_NVRTC", fake_nvrtc, 1);
    mt_status st = mt_nvrtc_open(&nvrtc, &err);
    ck_assert_msg(real || st == MT_OK, "%s", err.message);
    return nvrtc; /* NULL: this machine has no NVRTC */
}

static inline mt_compile_result compile(mt_nvrtc *nvrtc, const char *text, const char *arch, const char *option, const char *cache)
{
    mt_source_file file = {(char *)"test.cu", (char *)"test.cu", (char *)text};
    const mt_source source = {.files = &file, .file_count = 1};
    const char *options[] = {option};
    const mt_compile_request request = {.source = &source, .options = options, .option_count = option ? 1 : 0, .arch = arch, .cache_dir = cache};
    mt_compile_result result;
    mt_error err = {0};
    ck_assert_msg(mt_compile(nvrtc, &request, &result, &err) == MT_OK, "%s", err.message);
    return result;
}

static inline int lines_of(const char *path)
{
    int lines = 0, c;
    FILE *in = fopen(path, "r");
    while (in && (c = fgetc(in)) != EOF) lines += c == '\n';
    if (in) fclose(in);
    return lines;
}

static inline void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/mt-compile-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
