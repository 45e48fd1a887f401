/* What one compile is asked for, and what comes of it. */
#pragma once

#include <stddef.h>

#include "tuner/base/hash.h"
#include "tuner/gpu/compile/nvcc.h"
#include "tuner/space/source/source.h"
#include "tuner/space/source/visible.h"

typedef struct mt_compile_request {
    const mt_source *source;       /* files[0] compiled, the others given to the compiler as headers */
    const char *const *options;    /* -D… and the file's own, without -arch and -I of the toolkit */
    size_t option_count;
    const char *arch;              /* "sm_90a" */
    const char *cache_dir;         /* NULL = no cache */
    const mt_nvcc *nvcc;           /* which compiles it; NULL = NVRTC */
    size_t macro_count;            /* the first so many options are macros that must be in effect (mt_options) */
    const mt_visible *visible;     /* the toolkit's headers that the source may read (mt_compile_headers): their digest is part of the cache's key, and no other may be read; NULL = nobody cares */
} mt_compile_request;

typedef struct mt_compile_result {
    bool ok;                       /* false: the log says why */
    bool cached;
    char *log;                     /* the compiler's log, the ptxas lines included; owned */
    char *cubin_path;              /* in the cache (or a temporary folder); owned */
    mt_hash cubin;                 /* of the content */
    int64_t compile_ns;            /* 0 when cached */
} mt_compile_result;
