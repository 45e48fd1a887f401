/* Plain rows that the session writes and that reports, replay and exports read. db/ knows nothing of spaces or workers; tuner/session/
 * converts. Texts are borrowed: on writing they need to live for the call, on reading until the callback returns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/outcome.h"

/* Where a measurement comes from; kinds never mix. */
typedef enum mt_origin { MT_ORIGIN_MEASURED, MT_ORIGIN_RECORDED, MT_ORIGIN_IMPORTED } mt_origin;
const char *mt_origin_name(mt_origin origin); /* "measured" … */
bool mt_origin_from_name(const char *name, mt_origin *origin);

typedef struct mt_device_row {
    const char *key;        /* mt_key_gpu */
    const char *name;       /* the driver's name */
    const char *facts_json; /* {"cc":90,…}: every device fact */
} mt_device_row;

typedef struct mt_kernel_row {
    const char *name;       /* [kernel] name */
    const char *key;        /* mt_source_key, 32 hex digits */
    const char *spec_json;  /* programs that the lookup evaluates; "{}" = not known, never replaces what is stored */
    bool keeps_spec;        /* a stranger's file: programs that are stored already stay */
} mt_kernel_row;

typedef struct mt_shape_row {
    const char *name;
    const char *key;        /* "D=32;H=92,46;…" */
} mt_shape_row;             /* also used for workloads */

typedef struct mt_toolchain_row {
    int64_t nvrtc_version;  /* 1000·major + 10·minor; 0 = unknown */
    int64_t driver_version;
    const char *arch;       /* "sm_90a" */
} mt_toolchain_row;

typedef struct mt_session_row {
    const char *command;    /* command line, for people */
    const char *host, *boot_id, *tool_version;
    const char *strategy;
    const char *space_path;
    const char *job;        /* of a batch system, "slurm 4711_3" (tuner/base/job.h); NULL = none */
    const char *plan;       /* of a cluster folder, whose task it is; NULL = none */
    const char *headers;    /* digest of the toolkit's headers that the kernel's source includes; "" = none, NULL = not known */
    int64_t seed;
    mt_origin origin;
} mt_session_row;

typedef struct mt_session_end_row {
    const char *state;      /* "done", "interrupted", "failed" */
    int64_t worker_restarts;
    int64_t evaluated, known, failed;
    bool is_truncated;      /* a subject ended before its budget was spent */
    const char *times_json; /* where the time went: {"compile_ns":…}; may be NULL */
    const char *warnings;   /* one a line; may be NULL */
    double drift;           /* of the drift references; NAN = not timed twice */
} mt_session_end_row;

/* What identifies a measurement, as ids of a store. */
typedef struct mt_subject {
    int64_t device, kernel, shape, workload, toolchain;
    const char *headers;    /* as in mt_session_row, of who asks for what is known: rows of other headers are not, those of unknown ones are; borrowed, NULL = all are */
    mt_l2 l2;
    mt_origin origin;
} mt_subject;

/* How a row's variant did against a library (the search space's baseline plugin), in rounds in which both were timed: medians; ratios are the library's time / the variant's. NAN: not known. */
typedef struct mt_row_library {
    char plugin[32];                                 /* "" = it was not compared, and the rest means nothing */
    double first_ns, first_ratio;                    /* what a caller who does not choose gets */
    double best_ns, best_ratio, best_low, best_high; /* the fastest of its algorithms; interval of the ratio */
    bool is_limited;                                 /* power or heat held the clock down meanwhile: only the ratios say anything */
} mt_row_library;

/* A stored measurement with its names, as read. */
typedef struct mt_measurement_row {
    int64_t id, session;
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *shape_key, *workload, *workload_key;
    const char *variant;    /* canonical text, "ALGO=direct;…" */
    mt_origin origin;
    int64_t created_unix_ms;
    int64_t nvrtc_version, driver_version;
    const char *arch;
    const char *launch_json; /* as launched: {"launches":[{"entry":…,"grid":[…],"block":[…],"cluster":[…],"smem":…,"carveout":…}]}; may be NULL */
    bool is_programmatic;   /* one of its launches was a programmatic dependent one: it overlaps with the kernel in front */
    double model_flops, model_dram_bytes, model_floor_ns; /* NAN = none */
    const char *metrics_json; /* {"dram_percent":…}: table metric; "{}" = none */
    mt_row_library library; /* the newest comparison */
    int64_t evaluation;     /* 1, 2, … within the session and subject */
    mt_outcome outcome;     /* texts borrowed; sample_ns NULL unless asked for */
    int64_t final_id;       /* winners and finalists of mt_query_fastest: the final that picked the winner, whose median and interval are then in `outcome`; 0 = none */
    mt_objective objective; /* winners only: what it was picked for */
    mt_limit error_limit;   /* winners only: the largest error that its subject's winner may have */
    int64_t tied_count;     /* winners only: variants that it could not be told apart from, itself included */
    const char *refusal;    /* borrowed; why lookups do not hand it out. NULL: they do, or nobody asked: it is in no table */
} mt_measurement_row;

/* A variant whose median is close to the best of its subject. */
typedef struct mt_near_tie {
    int64_t measurement;    /* its newest row */
    const char *variant;
    double median_ns, low_ns, high_ns;
    uint32_t batch;         /* launches per sample: more than 1 = timed in graphs */
    int64_t smem_bytes, cluster; /* dynamic shared memory; thread blocks of its largest cluster, 1 = none */
} mt_near_tie;

/* One variant of a final. */
typedef struct mt_finalist_row {
    int64_t measurement;
    const char *variant;    /* on reading; ignored on writing */
    double median_ns, low_ns, high_ns;
    double ratio, ratio_low, ratio_high; /* to the leader */
    bool is_tied, is_picked;
    const float *round_ns;  /* the final's rounds of them; NULL for intervals, on reading also where the file has none of them */
    size_t round_count;     /* on reading: of round_ns; ignored on writing */
    mt_energy energy;       /* source NONE: not measured */
} mt_finalist_row;

typedef struct mt_final_row {
    int64_t at_unix_ms;     /* when it was measured; 0 = now */
    const char *method;     /* "interleaved", "intervals" */
    size_t rounds;
    double confidence;
    mt_objective objective; /* what the pick is for */
} mt_final_row;
