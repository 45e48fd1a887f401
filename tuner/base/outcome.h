/* How the evaluation of one variant ended, and what was measured. A variant that fails is data, never an error of the session.
 * Shared vocabulary of the device worker (which finds out), the session (which decides) and the database (which keeps it). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/hash.h"

/* name (stored in the database as lower-case text), what it means */
#define MT_OUTCOME_MAP(X)                                                                        \
    X(OK, "ok", "validated and timed")                                                           \
    X(EXCLUDED, "excluded", "not run: a constraint excludes it on this shape and GPU")            \
    X(NOT_RECORDED, "not_recorded", "not run: the recording lacks it")                            \
    X(COMPILER_KILLED, "compiler_killed", "not run: its compiler was killed from outside")        \
    X(ILLEGAL, "illegal", "the hardware can't run it; the rule is named")                         \
    X(COMPILE_ERROR, "compile_error", "NVRTC refused it; the log is kept")                        \
    X(COMPILE_TIMEOUT, "compile_timeout", "compiling took longer than its limit")                 \
    X(LOAD_ERROR, "load_error", "the driver refused the cubin or the entry is missing")           \
    X(LAUNCH_ERROR, "launch_error", "the driver refused the launch")                              \
    X(WRONG_RESULT, "wrong_result", "an output differs from the reference's")                     \
    X(OUT_OF_BOUNDS, "out_of_bounds", "it wrote outside a buffer; the buffer is named")           \
    X(WROTE_INPUT, "wrote_input", "it changed an input; the input is named")                      \
    X(NONDETERMINISTIC, "nondeterministic", "two runs gave different bits")                       \
    X(QUARANTINED, "quarantined", "not run: it brought down a worker or the host before")         \
    X(TIMEOUT, "timeout", "it ran longer than the per-variant limit")                             \
    X(CRASHED, "crashed", "the worker process died inside it")                                    \
    X(GPU_FAULT, "gpu_fault", "the GPU reported a fault; the error is named")                     \
    X(CENSORED, "censored", "stopped early as hopeless")                                          \
    X(YARDSTICK, "yardstick", "timed for comparison: nothing to validate, never the best")

typedef enum mt_outcome_kind {
#define MT_OUTCOME_ENUM(name, text, meaning) MT_OUTCOME_##name,
    MT_OUTCOME_MAP(MT_OUTCOME_ENUM)
#undef MT_OUTCOME_ENUM
        MT_OUTCOME_KIND_COUNT
} mt_outcome_kind;

/* The largest error, norm-wise, that somebody accepts. */
typedef struct mt_limit { double most; bool is_given; } mt_limit;
/* error NAN: it is not known, and kept by no limit. */
static inline bool mt_limit_admits(const mt_limit *limit, double error)
{
    return !limit->is_given || error <= limit->most;
}

const char *mt_outcome_name(mt_outcome_kind kind); /* "ok" … */
bool mt_outcome_from_name(const char *name, mt_outcome_kind *kind);
bool mt_outcome_is_timed(mt_outcome_kind kind);   /* has a time: measured, stopped as too slow, or a yardstick */
bool mt_outcome_is_failure(mt_outcome_kind kind); /* was an evaluation, and has none */
bool mt_outcome_is_run(mt_outcome_kind kind);     /* was an evaluation, and says how the variant did: not EXCLUDED, NOT_RECORDED or COMPILER_KILLED. In SQL: MT_IS_RUN (db/counted_rows.h) */
bool mt_outcome_is_untried(mt_outcome_kind kind); /* nothing is known of the variant, not even that it is no point of the space: NOT_RECORDED, COMPILER_KILLED */
bool mt_outcome_may_win(mt_outcome_kind kind);    /* its time is what a search goes by */

/* Cold: L2 flushed before each sample. Warm: the same inputs again and again. */
typedef enum mt_l2 { MT_L2_COLD, MT_L2_WARM } mt_l2;
const char *mt_l2_name(mt_l2 l2); /* "cold", "warm" */
bool mt_l2_from_name(const char *name, mt_l2 *l2);

/* Valid only for MT_OUTCOME_OK and YARDSTICK (and CENSORED: what was seen until then). */
typedef struct mt_timing {
    double median_ns;
    double low_ns, high_ns; /* confidence interval of the median, 95 % */
    double min_ns, mean_ns, stddev_ns;
    double sm_mhz;          /* median of the per-sample SM clock; 0 = unknown */
    double prepare_ns;      /* [prepare] launches, once; 0 = none */
    uint32_t samples;       /* kept */
    uint32_t dropped;       /* thrown away as throttled */
    uint32_t limited;       /* samples taken while power or heat held the clock down, as NVML says; they are kept where that does not throttle */
    uint32_t batch;         /* launches per sample: 1 = events around one launch, more = a CUDA graph of that many */
    mt_l2 l2;
} mt_timing;

/* The interval as it is told: NAN where there is none, since nothing says of how many samples the median is (results of other tools). */
double mt_timing_low_ns(const mt_timing *timing);
double mt_timing_high_ns(const mt_timing *timing);
double mt_timing_half_ns(const mt_timing *timing); /* its larger half */

/* The worst output, over outputs and seeds. Filled whenever a comparison took place, also for WRONG_RESULT. */
typedef struct mt_accuracy {
    char output[64];        /* argument's name; "" = nothing compared */
    double norm_error;      /* ‖out − ref‖ / ‖ref‖ */
    double worst_error;     /* max |out − ref| */
    double worst_relative;  /* worst_error / max |ref| */
    uint64_t worst_index;   /* flat element index */
    double worst_value, worst_reference;
    uint64_t nan_mismatches;
} mt_accuracy;

/* What the compiler and the driver said of the kernel: each number is the worst over the variant's launches ([prepare] ones do not count), and may be of another launch than its neighbour. */
typedef struct mt_resources {
    uint32_t registers, spill_bytes, static_smem_bytes, dynamic_smem_bytes;
    int32_t carveout_percent;      /* as set, of the launch that blocks_per_sm is of */
    uint32_t blocks_per_sm;        /* resident, by the occupancy calculator: of the launch that has the fewest */
    uint32_t active_clusters;      /* max active clusters, the fewest of the launches that have clusters; 0 = none has */
} mt_resources;

/* Whose fault a GPU fault is. The coordinator finds out by replaying the suspect alone; only what was shown quarantines at once. */
typedef enum mt_guilt { MT_GUILT_SHOWN, MT_GUILT_NOT_REPRODUCED } mt_guilt;

/* What the kernel's blocks counted (an argument with `cycles = yes`) in the last run. */
typedef struct mt_cycles {
    uint64_t blocks;        /* that wrote their counter; 0 = no such argument */
    uint64_t min, max;
    double mean;
} mt_cycles;

/* Where energy comes from: the driver's counter, or its power readings. */
typedef enum mt_energy_source { MT_ENERGY_NONE, MT_ENERGY_COUNTER, MT_ENERGY_POWER } mt_energy_source;
const char *mt_energy_source_name(mt_energy_source source); /* "none", "counter", "power" */
bool mt_energy_source_from_name(const char *name, mt_energy_source *source);

/* What one run of the variant costs the whole board (idle power included), from a loop of many. Only where it was asked for. */
typedef struct mt_energy {
    mt_energy_source source; /* NONE: not measured; the others are 0 then */
    double run_uj;           /* microjoules of one unit of work: all launches of the variant once, where the file says nothing else */
    double error_uj;         /* ±, of the method's resolution */
    double power_w;          /* mean over the loop */
    double loop_ms;          /* length of the loop */
    double period_ms;        /* between updates of what the driver tells */
    uint64_t runs;           /* in the loop */
} mt_energy;

/* What a pick is for. */
typedef enum mt_objective { MT_OBJECTIVE_TIME, MT_OBJECTIVE_ENERGY, MT_OBJECTIVE_EDP /* energy × time */, MT_OBJECTIVE_COUNT } mt_objective;
const char *mt_objective_name(mt_objective objective); /* "time", "energy", "edp" */
bool mt_objective_from_name(const char *name, mt_objective *objective);

enum { MT_SPEC_DIGEST_SIZE = 9, /* eight hexadecimal digits */ MT_PROPOSER_SIZE = 64, MT_BITS_SIZE = 17 /* sixteen hexadecimal digits */, MT_ROW_BITS_SIZE = 17 * 16 + 1 /* of which batch they are, and of the first 1, 2, 4 … 2^15 rows */ };

typedef struct mt_outcome {
    mt_outcome_kind kind;
    mt_guilt guilt;         /* GPU_FAULT */
    char spec_digest[MT_SPEC_DIGEST_SIZE]; /* EXCLUDED: of the kernel's expressions, whose constraints excluded it (mt_query_spec_digest); "" = not known */
    char proposed_by[MT_PROPOSER_SIZE]; /* who asked for the evaluation: default, baseline, lookup, yardstick, given, other cache state; else what in the strategy (docs/search.md); "" = not known */
    char bits[MT_BITS_SIZE]; /* of what was validated: fingerprint of its outputs' bits on the inputs of seed 0; "" = not known (another seed), or they vary (any_order) */
    char row_bits[MT_ROW_BITS_SIZE]; /* where an output is a batch: 16 digits of the shape without it, then the same of the first 1, 2, 4, … rows: of more rows it goes on where that of fewer ends */
    char *text;             /* reason, rule, log, error name …; may be NULL. Owned. */
    mt_timing timing;
    mt_accuracy accuracy;
    mt_resources resources;
    mt_cycles cycles;
    mt_energy energy;
    mt_hash cubin;          /* content hash; "" = none */
    bool cubin_cached;      /* not compiled in this session */
    int64_t compile_ns;     /* 0 when cached */
    int64_t wait_ns;        /* between compiled and started */
    int64_t validate_ns, time_ns; /* on the device worker */
    float *sample_ns;       /* kept samples in measuring order, timing.samples of them; may be NULL. Owned. */
} mt_outcome;

void mt_outcome_free(mt_outcome *outcome); /* zeroed struct is fine; zeroes it */
/* Sets kind and text (formatted), freeing an older text. */
void mt_outcome_set(mt_outcome *outcome, mt_outcome_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
