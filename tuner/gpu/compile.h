/* Compiling with NVRTC, and the cubin cache. Runs in compile workers; needs no GPU and no driver. */
#ifndef MT_GPU_COMPILE_H
#define MT_GPU_COMPILE_H

#include "tuner/base/hash.h"
#include "tuner/base/status.h"
#include "tuner/space/source.h"

typedef struct mt_nvrtc mt_nvrtc; /* the library, opened by dlopen */

/* $MSDA_TUNE_NVRTC (a file), else libnvrtc.so.13, .12, libnvrtc.so in the loader's path, CUDA_HOME/CUDA_PATH, /usr/local/cuda*, wheels' layout. Failing names all places tried. */
mt_status mt_nvrtc_open(mt_nvrtc **nvrtc, mt_error *err);
void mt_nvrtc_close(mt_nvrtc *nvrtc);                  /* NULL is a no-op */
/* Folders that headers are looked for in, in this order; entries may be NULL. */
void mt_nvrtc_header_folders(const mt_nvrtc *nvrtc, const char *folders[2]);
int64_t mt_nvrtc_version(const mt_nvrtc *nvrtc);       /* 1000·major + 10·minor */

typedef struct mt_compile_request {
    const mt_source *source;       /* files[0] compiled, the others given to NVRTC as headers */
    const char *const *options;    /* -D… and the file's own, without -arch and -I of the toolkit */
    size_t option_count;
    const char *arch;              /* "sm_90a" */
    const char *cache_dir;         /* NULL = no cache */
    size_t macro_count;            /* the first so many options are macros that must be in effect (mt_options) */
    const char *headers;           /* digest of the toolkit's headers that the source reads (mt_compile_headers): part of the cache's key; NULL = none */
} mt_compile_request;

typedef struct mt_compile_result {
    bool ok;                       /* false: the log says why */
    bool cached;
    char *log;                     /* NVRTC's log, the ptxas lines included; owned */
    char *cubin_path;              /* in the cache (or a temporary folder); owned */
    mt_hash cubin;                 /* of the content */
    int64_t compile_ns;            /* 0 when cached */
} mt_compile_result;

/* A source that does not compile is MT_OK with ok = false. wgmma/setmaxnreg code compiled for a plain arch gets the hint "needs sm_90a" in the log; a missing toolkit header gets one line that says which
 * path to give. cache: <cache_dir>/<2 hex>/<key>.cubin and .log, key = hash(source, options, arch, NVRTC version); written to a
 * temporary name, then renamed; losing a race is fine; the content hash is checked on reading. */
mt_status mt_compile(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_compile_result *result, mt_error *err);
void mt_compile_result_free(mt_compile_result *result); /* zeroed struct is fine */

/* The worst of what ptxas said of the entries (lines of a text; "" = of all) in the log: false when the log has no such lines. */
bool mt_compile_resources(const char *log, const char *entries, uint32_t *registers, uint32_t *spill_bytes, uint32_t *static_smem_bytes);

/* Digest of those of the toolkit's headers that the source may include, by name and content; *digest is "" where it includes none. */
mt_status mt_compile_headers(const mt_nvrtc *nvrtc, const mt_source *source, mt_hash *digest, mt_error *err);

/* The tool's own kernels (poison, guard, compare, flush, hold, clock …), tuner/gpu/support.cu, as a source for mt_compile. */
mt_status mt_compile_tool_source(mt_source *source, mt_error *err);

#endif
