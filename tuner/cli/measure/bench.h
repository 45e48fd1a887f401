/* A search space opened for evaluating variants by name: what `verify`, `profile` and `portfolio --measure` share. */
#pragma once

#include "db/key.h"
#include "db/store/store.h"
#include "tuner/evaluate/eval_worker.h"

typedef struct mt_bench_options {
    const char *space;      /* path or shipped name */
    const char *gpu;        /* as of `tune`, of several GPUs those of the first one's model; or "recorded:NAME"; NULL = `device` */
    const char *recordings; /* of a recorded GPU: a file instead of the shipped one; NULL = that */
    int device;
    size_t jobs;            /* compile workers; 0 = as many as the host is good for */
    uint64_t seed;
    double variant_limit_s; /* ≤ 0: 10 */
    bool guard_pages;
    const char *const *shape_keys; size_t shape_key_count; /* "N=1;M=8": shapes that the file need not name (tuner/space/spec/adhoc.h); those that do not fit it are passed over */
} mt_bench_options;

/* The members are for reading. It must not move while it is open. */
typedef struct mt_bench {
    uv_loop_t loop;
    bool has_loop;
    char *path, *cache_dir;
    mt_spec *spec;
    mt_source source;
    mt_hash kernel_key;     /* of the source as it is now; with a recorded GPU of the source that was recorded */
    char gpu_key[MT_KEY_GPU_SIZE];
    mt_store *recordings;
    mt_evaluator *evaluator;
} mt_bench;

/* Starts the workers, or opens the recording. NO_GPU when there is no device. What was opened before a failure is closed. */
mt_status mt_bench_open(const mt_bench_options *options, mt_bench *bench, mt_error *err);
void mt_bench_close(mt_bench *bench); /* an empty one is fine */
