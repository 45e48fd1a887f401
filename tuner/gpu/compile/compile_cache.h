/* The cubin cache: what NVRTC made of a request, and what it said. Many processes may read and write one cache. */
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/status.h"
#include "tuner/gpu/compile/compile_request.h"
#include "tuner/gpu/compile/nvrtc.h"

/* <cache_dir>/<2 hex>/KEY.log names the cubin that it belongs to, KEY-CUBIN.cubin beside it. So two processes that compile one request at the same time, into different bytes, leave one whole entry or
 * the other, and a cubin that a process has told of never changes under its name. */
typedef struct mt_cache_entry {
    mt_hash key;
    char *stem;       /* of both paths; owned */
    char *log_path;   /* owned */
    char *cubin_path; /* once read or written; owned */
} mt_cache_entry;

/* Makes the folder; an IO error where strangers may write it. Without a cache_dir the entry lies in the compiler's temporary folder. */
mt_status mt_cache_entry_make(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_cache_entry *entry, mt_error *err);
/* True when both files are there, whole, and of nobody else. Anything else is a miss and is compiled again. *log is the caller's. */
bool mt_cache_entry_read(mt_cache_entry *entry, mt_hash *cubin, char **log);
/* *hash is the cubin's. */
mt_status mt_cache_entry_write(mt_cache_entry *entry, const char *cubin, size_t size, const char *log, mt_hash *hash, mt_error *err);
void mt_cache_entry_free(mt_cache_entry *entry); /* zeroed struct is fine */
