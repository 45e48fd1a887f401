/* Stored variants run again, for `verify` and `profile`: a search space opened on a GPU, and one evaluation at a time. Nothing is stored here. */
#pragma once

#include "db/store/row.h"
#include "tuner/cli/measure/bench.h"

typedef struct mt_rerun mt_rerun;

typedef struct mt_rerun_options {
    mt_bench_options bench; /* jobs does not count: one variant at a time */
    mt_l2 l2;
} mt_rerun_options;

/* Starts the workers. MT_ERR_NO_GPU when there is no device. */
mt_status mt_rerun_open(const mt_rerun_options *options, mt_rerun **rerun, mt_error *err);
void mt_rerun_close(mt_rerun *rerun); /* NULL is a no-op */

const char *mt_rerun_kernel_key(const mt_rerun *rerun); /* of the source as it is now */
const char *mt_rerun_kernel(const mt_rerun *rerun);
const char *mt_rerun_gpu_key(const mt_rerun *rerun);
const mt_spec *mt_rerun_spec(const mt_rerun *rerun);
mt_toolchain_row mt_rerun_toolchain(const mt_rerun *rerun); /* what it compiles with; arch: the rerun's */

/* Compiles, validates and times, as a time with `batch` launches per sample was measured (0: as the file says). A shape, workload or variant that the file no longer has is MT_ERR_NOT_FOUND. *outcome is the caller's (mt_outcome_free). */
mt_status mt_rerun_variant(mt_rerun *rerun, const char *shape, const char *workload, const char *variant, uint32_t batch, mt_outcome *outcome, mt_error *err);

/* What an outside tool said. */
typedef struct mt_rerun_report {
    char *text;          /* mt_free */
    int exit_code;       /* −1 = it died of a signal */
    bool is_timeout;
} mt_rerun_report;
/* The variant that was evaluated last, in a process of its own under a tool: `prefix` is the tool's path and words, NULL-terminated. */
mt_status mt_rerun_under(mt_rerun *rerun, const char *const *prefix, mt_depth depth, double limit_s, mt_rerun_report *report, mt_error *err);

/* "ALGO=a BLOCK=64", as listings print it, is as good as "ALGO=a;BLOCK=64", and so is "BLOCK=64 ALGO=a": the order of knobs does not matter. */
bool mt_rerun_same_variant(const char *given, const char *stored);
