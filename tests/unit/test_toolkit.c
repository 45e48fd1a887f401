/* What lies where CUDA_HOME says. */
#include "tests/unit/unit.h"
#include "tuner/base/toolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void make(const char *path)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

START_TEST(headers_and_nvrtc_apart)
{
    bool is_installed = access("/usr/local/cuda", F_OK) == 0; /* another toolkit answers then */
    char folder[] = "/tmp/test_toolkit.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", folder, 1);
    ck_assert_int_eq(chdir(folder), 0);
    if (!is_installed) ck_assert(!mt_toolkit_has_headers() && !mt_toolkit_has_nvrtc());
    mkdir("targets", 0700);
    mkdir("targets/x", 0700);
    mkdir("targets/x/include", 0700);
    make("targets/x/include/cuda_fp16.h");
    ck_assert(mt_toolkit_has_headers());
    if (!is_installed) ck_assert(!mt_toolkit_has_nvrtc());
    mkdir("lib", 0700);
    make("lib/libnvrtc.so.13");
    ck_assert(mt_toolkit_has_nvrtc());
    remove("lib/libnvrtc.so.13");
    remove("targets/x/include/cuda_fp16.h");
    const char *const folders[] = {"lib", "targets/x/include", "targets/x", "targets", folder};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) ck_assert_int_eq(rmdir(folders[i]), 0);
}
END_TEST

UNIT_MAIN("toolkit", headers_and_nvrtc_apart)
