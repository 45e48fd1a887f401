/* Comparing two sides of what was measured: two files, two GPUs, two drivers, two dates. */
#pragma once

#include "db/store/store.h"

/* Which rows are a side. NULL and 0 do not restrict. */
typedef struct mt_diff_side {
    mt_store *store;
    const char *gpu;                    /* as mt_filter has it */
    const char *source;                 /* leading digits of the kernel's key */
    int64_t driver, nvrtc;              /* versions, 1000·major + 10·minor */
    int64_t session;
    int64_t since_ms, until_ms;         /* unix; since ≤ row < until */
} mt_diff_side;

typedef struct mt_diff_filter {
    const char *gpu;                       /* as mt_filter has it, on both sides; NULL = any */
    const char *kernel, *shape, *workload; /* exact names; NULL = any */
    const mt_origin *origin;
    const mt_l2 *l2;
} mt_diff_filter;

typedef enum mt_diff_verdict {
    MT_DIFF_SAME, /* the whole interval of the difference lies within ± the threshold, or it is one measurement that both sides have */
    MT_DIFF_FAST, /* B is faster than A: the intervals do not meet */
    MT_DIFF_SLOW, /* B is slower */
    MT_DIFF_AMBG  /* the measurements do not tell, or one has no interval */
} mt_diff_verdict;
const char *mt_diff_verdict_name(mt_diff_verdict verdict); /* "SAME" … */

typedef struct mt_diff_time {
    const char *variant;
    double median_ns, low_ns, high_ns;  /* NAN: no interval */
    int64_t nvrtc_version, driver_version, created_unix_ms;
} mt_diff_time;

/* Relative difference of B to A and its interval, by the ends of both. */
typedef struct mt_diff_ratio { double change, low, high; } mt_diff_ratio;
mt_diff_verdict mt_diff_judge(const mt_diff_time *a, const mt_diff_time *b, double threshold, mt_diff_ratio *ratio);

/* One subject; texts are borrowed for the call. */
typedef struct mt_diff_subject {
    const char *kernel, *shape, *workload, *l2, *origin;
    const char *source_a, *source_b, *gpu_a, *gpu_b; /* "" on a side that has nothing */
    const mt_diff_time *a, *b;          /* the winners; NULL = that side has nothing that passed */
    const mt_diff_time *variants_a, *variants_b; /* those that passed on both sides, by variant */
    size_t variant_count;
} mt_diff_subject;
typedef mt_status (*mt_diff_callback)(void *context, const mt_diff_subject *subject, mt_error *err);

/* Calls back for each subject that a side has, ordered by kernel, source, shape, workload, cache state, origin, GPU. A subject is the same on both sides when these are equal;
 * the GPU (the source) is not compared when both sides name one. A variant's time is its newest row of the side. USAGE when a side's gpu or source fits several. */
mt_status mt_diff_run(const mt_diff_side *a, const mt_diff_side *b, const mt_diff_filter *filter, mt_diff_callback callback, void *context, mt_error *err);
