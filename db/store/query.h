/* The reading side: iterators for `show`, reports, replay and exports. No SQL text outside db/. Callbacks stop by returning other than MT_OK. */
#pragma once

#include "db/store/store.h"

/* NULL members do not filter. Names compare exactly; gpu matches the key, the driver's name, the model ("h100-sxm") or a leading
 * part of the model up to '-' ("h100"), without case; kernel_key matches the key's first digits. */
typedef struct mt_filter {
    const char *gpu, *kernel, *kernel_key, *shape, *shape_key, *workload, *workload_key;
    const mt_origin *origin;
    const mt_l2 *l2;
    bool with_samples;
} mt_filter;

typedef mt_status (*mt_query_callback)(void *context, const mt_measurement_row *row, mt_error *err);

/* Rows of table best, ordered by GPU, kernel, shape, workload (SUBJECT_ORDER). */
mt_status mt_query_best(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err);
/* The fastest valid variant of each subject that has no winner: its final is yet to come, or never came. Ordered like mt_query_best. */
mt_status mt_query_so_far(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err);
/* The `count` fastest valid variants of each subject by their newest rows, the winner first, ordered like mt_query_best. Yardsticks are not among them. */
mt_status mt_query_fastest(mt_store *store, const mt_filter *filter, int64_t count, mt_query_callback callback, void *context, mt_error *err);
/* The winner of each subject, and the variants with a smaller error than it that are faster than all others of at most their error (db/front_rows.h). */
mt_status mt_query_front(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err);
typedef mt_status (*mt_query_finalist_callback)(void *context, const mt_finalist_row *row, mt_error *err);
/* The finalists of mt_measurement_row.final_id that stand (db/store/current.h), fastest first. */
mt_status mt_query_finalists(mt_store *store, int64_t final_id, mt_query_finalist_callback callback, void *context, mt_error *err);
/* All measurements in the order they were stored. */
mt_status mt_query_measurements(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err);

/* GPUs with at least one measurement of the origin (NULL = any), for "recorded GPUs: …". `variants`: those that have a result, of all subjects together. */
typedef mt_status (*mt_query_device_callback)(void *context, const mt_device_row *row, int64_t variants, mt_error *err);
mt_status mt_query_devices(mt_store *store, const mt_origin *origin, mt_query_device_callback callback, void *context, mt_error *err);

/* Counts of outcomes by kind for a filter. counts[MT_OUTCOME_KIND_COUNT]. */
mt_status mt_query_outcome_counts(mt_store *store, const mt_filter *filter, int64_t counts[MT_OUTCOME_KIND_COUNT], mt_error *err);

/* Every state of every kernel's source that the file knows. */
typedef mt_status (*mt_query_kernel_callback)(void *context, const char *name, const char *key, mt_error *err);
mt_status mt_query_kernels(mt_store *store, mt_query_kernel_callback callback, void *context, mt_error *err);
/* The programs that a state of a kernel's source is stored with (mt_kernel_row.spec_json), "{}" where the file does not know it. mt_free *json. */
mt_status mt_query_programs(mt_store *store, const char *kernel, const char *key, char **json, mt_error *err);

/* What results of a state of a kernel's source mean, where it is not the usual. */
typedef struct mt_kernel_terms {
    bool is_by_default; /* outputs were compared with what the default variant computes (`reference = default`), and not with a reference of its own */
    char per[128];      /* units of work of one run, as written: times are of one unit; "" = of the run */
} mt_kernel_terms;
mt_status mt_query_terms(mt_store *store, const char *kernel, const char *key, mt_kernel_terms *terms, mt_error *err);
/* The knobs of a state of a kernel's source with their default values, "ALGO=direct;CPB=8", whatever conditions they have; "" where they have none, or the file does not know its programs. mt_free *usual. */
mt_status mt_query_usual(mt_store *store, const char *kernel, const char *key, char **usual, mt_error *err);

typedef struct mt_session_info {
    int64_t id, started_unix_ms, ended_unix_ms; /* ended 0 = still running or killed */
    const char *command, *host, *boot_id, *tool_version, *strategy, *space_path, *state, *times_json, *warnings;
    const char *job, *plan; /* of a batch system, "slurm 4711_3" (tuner/base/job.h), and of a cluster folder; NULL = none */
    bool is_truncated;      /* a subject ended before its budget was spent */
    int64_t process_id, seed, worker_restarts;
    int64_t evaluated, known, failed;           /* without an end: of the rows until now, `known` 0 */
    double drift;           /* NAN = not known */
    mt_origin origin;
} mt_session_info;
typedef mt_status (*mt_query_session_callback)(void *context, const mt_session_info *row, mt_error *err);
mt_status mt_query_sessions(mt_store *store, mt_query_session_callback callback, void *context, mt_error *err);

/* A variant with strikes that were not lifted. */
typedef struct mt_strike_info {
    mt_subject subject;          /* device, kernel, shape, origin: what mt_store_lift_strikes takes */
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *variant;
    const char *cause;           /* "faulted, took the host down (2 times)" */
    int64_t strikes, newest_unix_ms;
    bool is_quarantined;
} mt_strike_info;
typedef mt_status (*mt_query_strike_callback)(void *context, const mt_strike_info *row, mt_error *err);
/* Ordered by GPU, kernel, shape, variant. Of the filter gpu, kernel, kernel_key, shape, shape_key and origin count: strikes hold for every workload. */
mt_status mt_query_strikes(mt_store *store, const mt_filter *filter, mt_query_strike_callback callback, void *context, mt_error *err);

/* Variants whose outputs had the same bits on each of the subjects of one kernel, GPU, cache state and origin that the filter admits and of which fingerprints are known; or whose rows had, whatever the batch. Those
 * that lack one are in no class. */
typedef struct mt_bits_class {
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *l2, *origin;
    bool is_of_rows;                     /* else of whole outputs */
    int64_t subjects, variants;          /* on how many they agree; how many they are */
    const char *member;                  /* the one whose own worst slowdown is least */
    double mean, worst;                  /* slowdowns of the fastest of the class on each subject against the fastest of all: geometric mean; the largest */
} mt_bits_class;
typedef mt_status (*mt_query_bits_callback)(void *context, const mt_bits_class *row, mt_error *err);
/* Ordered by kernel and GPU, classes of whole outputs first. */
mt_status mt_query_bits(mt_store *store, const mt_filter *filter, mt_query_bits_callback callback, void *context, mt_error *err);

/* What was tuned on what: one row for each subject and toolchain, ordered as the best are. */
typedef struct mt_tuned_info {
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *workload, *l2, *origin, *arch;
    const char *sessions;                /* "1, 3" */
    int64_t nvrtc_version, driver_version;
    int64_t variants, ok;                /* different ones that were evaluated; rows that are ok */
    int64_t first_unix_ms, last_unix_ms;
} mt_tuned_info;
typedef mt_status (*mt_query_tuned_callback)(void *context, const mt_tuned_info *row, mt_error *err);
mt_status mt_query_tuned(mt_store *store, const mt_filter *filter, mt_query_tuned_callback callback, void *context, mt_error *err);

/* Whether the last session that measured something of a subject of the filter did not come to its end: it was interrupted or killed, or goes on, and no later one
 * picked the winner anew, which also one does that has nothing left to measure. */
mt_status mt_query_is_cut_short(mt_store *store, const mt_filter *filter, bool *is_cut_short, mt_error *err);

/* Newest valid medians of what a winner's subject is compared with (mt_store_comparison_point), by the id of the winner's measurement. NAN: none, or not ok. *count: how many
 * comparison points are known, valid or not. */
mt_status mt_query_comparison_points(mt_store *store, int64_t measurement, double *default_ns, double *baseline_ns, size_t *count, mt_error *err);

/* The newest rows of the variants that are yardsticks of the measurement's subject, the fastest first. */
typedef mt_status (*mt_query_yardstick_callback)(void *context, const char *variant, double median_ns, mt_error *err);
mt_status mt_query_yardsticks(mt_store *store, int64_t measurement, mt_query_yardstick_callback callback, void *context, mt_error *err);

/* A winner as lookups see it, and whether its code is stored. */
typedef struct mt_codeless_row {
    int64_t subject, nvrtc_version, driver_version;
    const char *gpu_key, *gpu_name, *facts_json, *kernel, *kernel_key, *shape_key, *workload_key, *variant, *arch;
    const char *cubin_hash; /* of the code that was measured; "" = not known */
    bool has_code;
} mt_codeless_row;
typedef mt_status (*mt_query_codeless_callback)(void *context, const mt_codeless_row *row, mt_error *err);
/* All winners, ordered by kernel, its key, GPU, architecture, shape, workload. */
mt_status mt_query_codeless(mt_store *store, const mt_filter *filter, mt_query_codeless_callback callback, void *context, mt_error *err);

/* Shapes that the file knows, in the order they were stored, for people who name one. `kinds`: "int,list,string" in the order of the key's parts; NULL when the kernel's
 * programs are not stored. */
typedef struct mt_shape_info { const char *kernel, *kernel_key, *name, *key, *kinds; } mt_shape_info;
typedef mt_status (*mt_query_shape_callback)(void *context, const mt_shape_info *row, mt_error *err);
mt_status mt_query_shapes(mt_store *store, mt_query_shape_callback callback, void *context, mt_error *err);
