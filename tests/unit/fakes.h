/* Finding and selecting the fake driver and compiler, which lie in lib/ beside the tests' bin/. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

/* Path of lib/<name> of this build, or NULL. The caller frees it. */
static inline char *fakes_path(const char *name)
{
    char *self = mt_path_self(), *bin = self ? mt_path_folder(self) : NULL, *root = bin ? mt_path_folder(bin) : NULL, *lib = root ? mt_path_join(root, "lib") : NULL;
    char *path = lib ? mt_path_join(lib, name) : NULL;
    mt_free(self);
    mt_free(bin);
    mt_free(root);
    mt_free(lib);
    if (path && mt_file_exists(path)) return path;
    mt_free(path);
    return NULL;
}

/* Both in the environment; exits with 77 (skipped) when they were not built. */
static inline void fakes_select(void)
{
    char *cuda = fakes_path("libfake_cuda.so"), *nvrtc = fakes_path("libfake_nvrtc.so");
    if (!cuda || !nvrtc) {
        printf("skipped: the fake driver was not built\n");
        exit(77);
    }
    setenv("MSDA_TUNE_LIBCUDA", cuda, 1);
    setenv("MSDA_TUNE_NVRTC", nvrtc, 1);
    mt_free(cuda);
    mt_free(nvrtc);
}

/* The fake NVML too. */
static inline void fakes_select_nvml(void)
{
    char *nvml = fakes_path("libfake_nvml.so");
    if (nvml) setenv("MSDA_TUNE_NVML", nvml, 1);
    mt_free(nvml);
}
