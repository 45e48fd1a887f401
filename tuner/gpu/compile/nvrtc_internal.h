/* NVRTC, opened: internal to compile.c and nvrtc.c. */
#pragma once

#include "tuner/base/leftover.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/nvrtc.h"
#include "tuner/gpu/compile/nvrtc_api.h"

struct mt_nvrtc {
    void *handle;
    mt_nvrtc_api api;
    int64_t version;        /* 1000·major + 10·minor */
    char *include_dir;      /* the toolkit's headers; NULL = not found */
    char *cccl_dir;         /* include/cccl of CUDA ≥ 13; NULL = none */
    char *include_searched; /* for the message when a header is missing */
    bool lacks_no_cache;    /* it does not know --no-cache */
    bool lacks_reads;       /* it can't say which files it reads (compile_reads.h) */
    int reads_fd;           /* where it says so: a file in memory; −1 = not made yet */
    mt_temporary temporary; /* cubins without a cache; made when first needed, removed at close */
};

/* Adds a line where this NVRTC says that it has no such architecture ("sm_70"): older GPUs leave newer CUDAs. */
void mt_nvrtc_arch_hint(const mt_nvrtc *nvrtc, const char *arch, mt_strbuf *hint);
/* The same where the log says that NVRTC lacks libnvrtc-builtins. */
void mt_nvrtc_builtins_hint(const mt_nvrtc *nvrtc, const char *log, mt_strbuf *hint);
/* NVRTC looks for headers in the working folder too, whatever the options say. Goes to a folder that holds nothing, as long as the process compiles, and says where it was; -1: it stayed. One thread. */
int mt_nvrtc_leave_folder(void);
void mt_nvrtc_return_to(int folder); /* takes it */
mt_status mt_nvrtc_temporary_dir(mt_nvrtc *nvrtc, mt_error *err);
