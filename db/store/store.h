/* The tuning database: one SQLite file. The writing side (and the reads that tuning itself needs).
 *
 * Every function runs in its own transaction unless said otherwise; a store serves one thread; several processes may write to one file.
 * Features up to SQLite 3.26 only. application_id 0x6d736474 ("msdt"); user_version = schema version; migrations in migrate.c.
 * Local file systems: WAL; elsewhere (statfs says network, or WAL can't be had): DELETE. synchronous = FULL. */
#pragma once

#include "db/store/row.h"
#include "tuner/base/status.h"

typedef struct mt_store mt_store;
typedef enum mt_store_mode { MT_STORE_READ_WRITE /* creates */, MT_STORE_READ_ONLY, MT_STORE_NO_TABLES /* ":memory:", for SQLite's own functions (JSON, dates) */ } mt_store_mode;

/* Opens, creates or migrates. Errors say what is wrong with the file: missing (read only), not a database, truncated, newer schema, not
 * writable, locked. READ_ONLY on read-only media falls back to immutable=1.
 * ":memory:" (exactly) is a private database that is gone after closing. */
mt_status mt_store_open(const char *path, mt_store_mode mode, mt_store **store, mt_error *err);
void mt_store_close(mt_store *store); /* NULL is a no-op */
/* The same for a command that may have been refused: a file that this handle made and that still holds nothing goes again, unless somebody else has it open, or nobody can tell (network file systems). */
void mt_store_close_unused(mt_store *store);
const char *mt_store_path(const mt_store *store);
/* --db FILE, else $MSDA_TUNE_DB, else <user data>/tuning.sqlite. Nothing is created: asking needs no folder. mt_free the result. */
mt_status mt_store_default_path(const char *option, char **path, mt_error *err);
/* The same for a command that is going to write: the folder of the user's own database is made when it is missing. */
mt_status mt_store_writable_path(const char *option, char **path, mt_error *err);

/* Find-or-insert; ids are stable within the file. */
mt_status mt_store_device(mt_store *store, const mt_device_row *row, int64_t *id, mt_error *err);
mt_status mt_store_kernel(mt_store *store, const mt_kernel_row *row, int64_t *id, mt_error *err);
mt_status mt_store_shape(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err);
mt_status mt_store_workload(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err);
mt_status mt_store_toolchain(mt_store *store, const mt_toolchain_row *row, int64_t *id, mt_error *err);

mt_status mt_store_session_begin(mt_store *store, const mt_session_row *row, int64_t *id, mt_error *err);
mt_status mt_store_session_end(mt_store *store, int64_t session, const mt_session_end_row *row, mt_error *err);
/* Constraint counts of a session's space, for the report. */
mt_status mt_store_pruned(mt_store *store, int64_t session, const mt_subject *subject, const char *constraint, const char *why, int64_t count, mt_error *err);

/* The largest error that the subject's winner may have; not given: any. From then on mt_store_refresh_best, near-ties and finals keep to it. */
mt_status mt_store_set_error_limit(mt_store *store, const mt_subject *subject, const mt_limit *limit, mt_error *err);
mt_status mt_store_error_limit(mt_store *store, const mt_subject *subject, mt_limit *limit, mt_error *err);

/* What a subject's variants are compared with; `role` is "default" or "baseline". NULL: there is none (any more). */
mt_status mt_store_comparison_point(mt_store *store, const mt_subject *subject, const char *role, const char *variant, mt_error *err);

/* A number beside a measurement; its unit stands in its name. */
typedef struct mt_metric {
    const char *name;
    double value;
} mt_metric;

/* A result to keep. */
typedef struct mt_result {
    const mt_subject *subject;
    const char *variant;
    const char *launch_json;        /* may be NULL */
    double model_flops, model_dram_bytes, model_floor_ns;
    const mt_metric *metrics;       /* that follow from the model, source "model"; kept where there is a time */
    size_t metric_count;
    int64_t evaluation;
    int64_t measured_unix_ms;       /* 0 = now */
    const mt_outcome *outcome;
} mt_result;

/* A variant that is about to run on the device. */
typedef struct mt_intent {
    const mt_subject *subject;
    const char *variant;
    const char *boot_id;            /* of the host, /proc/sys/kernel/random/boot_id */
    int64_t worker_pid;
} mt_intent;

/* One FULL-synchronous transaction: the result (or NULL) is appended and its intent removed; the next intent (or NULL) is written. */
mt_status mt_store_step(mt_store *store, int64_t session, const mt_result *result, const mt_intent *intent, mt_error *err);

/* For runs that leave no result (drift references, finals): in one transaction the intent of `done` (NULL = none) goes and `next` (NULL = none) is written. */
mt_status mt_store_next_intent(mt_store *store, int64_t session, const mt_intent *done, const mt_intent *next, mt_error *err);

/* Intents that an earlier process left behind (killed coordinator or host down), for this device and origin; they are removed. An intent of this host
 * (the name given to mt_store_session_begin, else the machine's) with another boot id than `boot_id` becomes a strike against its variant. Intents of
 * another tuner that is alive are left alone: same host and its process exists, or another host (a shared file) and younger than an hour. */
mt_status mt_store_settle_intents(mt_store *store, int64_t device, mt_origin origin, const char *boot_id, int64_t *left_behind, mt_error *err);

/* A strike: the variant brought down the worker ("crashed") or the host ("host_down"), or faulted, but not when it ran alone ("fault_once"). Two strikes, or
 * one "fault"/"timeout", quarantine. */
mt_status mt_store_strike(mt_store *store, const mt_subject *subject, const char *variant, const char *cause, mt_error *err);
typedef mt_status (*mt_store_text_callback)(void *context, const char *variant, const char *text, mt_error *err);
/* Calls back for each quarantined variant of the subject (device, kernel, shape) with the reason. */
mt_status mt_store_quarantined(mt_store *store, const mt_subject *subject, mt_store_text_callback callback, void *context, mt_error *err);

/* Forgives the strikes of a variant (NULL = of all) of the subject's device and shape: quarantine ends, and rows that ended in crash, fault,
 * timeout or quarantine before now are no longer known, so that the variant is tried again. */
mt_status mt_store_lift_strikes(mt_store *store, const mt_subject *subject, const char *variant, int64_t *lifted, mt_error *err);

/* How strictly a stored row must match the toolchain to count as known. */
typedef enum mt_reuse { MT_REUSE_MAJOR, MT_REUSE_ANY, MT_REUSE_EXACT, MT_REUSE_NONE } mt_reuse;
/* Calls back once per variant known for the subject, whatever its outcome: the newest row counts. `median_ns` is INFINITY unless kind is OK
 * or CENSORED (then what was seen until it was stopped); norm_error NAN = not known. `text` is a failure's, cut to 200 characters; NULL = none.
 * Major: same major version of NVRTC and of the driver's CUDA, same arch. */
typedef mt_status (*mt_store_known_callback)(void *context, const char *variant, mt_outcome_kind kind, double median_ns, double norm_error, const char *text, mt_error *err);
mt_status mt_store_known(mt_store *store, const mt_subject *subject, mt_reuse reuse, mt_store_known_callback callback, void *context, mt_error *err);

/* `elsewhere` becomes what `subject` of `store` is called in another store; not *found where that has no row of it yet, or of no toolchain that counts by `reuse`. */
mt_status mt_store_subject_elsewhere(mt_store *store, const mt_subject *subject, mt_store *other, mt_reuse reuse, mt_subject *elsewhere, bool *found, mt_error *err);

/* Finalists, the fastest first, at most MT_FINALISTS_MAX. For MT_OBJECTIVE_TIME those within MT_NEAR_TIE of the fastest; for the others simply the fastest
 * ones, since one that is slower may well take less energy. */
enum { MT_FINALISTS_MAX = 8 };
#define MT_NEAR_TIE 0.03
#define MT_EVENT_LATENCY_NS 3000 /* at most so much of it is in a row timed by events and not in one timed in graphs (docs/measurement.md) */
typedef mt_status (*mt_store_near_tie_callback)(void *context, const mt_near_tie *row, mt_error *err);
mt_status mt_store_near_ties(mt_store *store, const mt_subject *subject, mt_objective objective, mt_store_near_tie_callback callback, void *context, mt_error *err);
/* The fastest whose launches all wait for the kernel in front of them, as a library's do; nothing where it is the fastest of all. */
mt_status mt_store_plain_rival(mt_store *store, const mt_subject *subject, mt_store_near_tie_callback callback, void *context, mt_error *err);
/* *final: the newest final of the subject, when it covers every near-tie of now by its newest row, and its pick still stands; 0 = there is none.
 * `objective`: it must be for this one; NULL = for any. */
mt_status mt_store_final_current(mt_store *store, const mt_subject *subject, const mt_objective *objective, int64_t *final, mt_error *err);
/* Was the pick of a final (its id) compared with this plugin's library? */
mt_status mt_store_final_has_library(mt_store *store, int64_t final, const char *plugin, bool *has, mt_error *err);
mt_status mt_store_final(mt_store *store, int64_t session, const mt_subject *subject, const mt_final_row *final, const mt_finalist_row *rows, size_t count, mt_error *err);
/* Appends to the series of a drift reference; the outcome is OK. */
mt_status mt_store_drift(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, const mt_outcome *outcome, mt_error *err);

/* Launches per sample of the subject's best: 1 = timed by events; 0 = there is none, or it is not known. */
mt_status mt_store_best_batch(mt_store *store, const mt_subject *subject, uint32_t *batch, mt_error *err);
/* Recomputes table `best` for the subject: the pick of the current final; where there is none the fastest OK row (newest per variant) for (device, kernel, shape, workload, cache state, origin); ties by least dynamic
 * shared memory, smallest cluster, canonical text. Removes the row when nothing is OK. Ties are equal medians; the size of the statistically tied
 * set (intervals that reach into the winner's) is stored beside it. launch_json: an array of objects, "cluster" a number or [x,y,z]. */
mt_status mt_store_refresh_best(mt_store *store, const mt_subject *subject, mt_error *err);

/* Keeps a cubin by its content hash (no-op when present). */
mt_status mt_store_cubin(mt_store *store, const mt_hash *hash, const void *bytes, size_t count, mt_error *err);
/* The code that lookups hand out for a subject's winner, and what compiled it. The measurement stays as it was: a winner that changes is to be compiled again. */
mt_status mt_store_answer_code(mt_store *store, int64_t subject, const mt_toolchain_row *toolchain, const mt_hash *hash, const void *bytes, size_t count, mt_error *err);

/* Keeps a number beside a measurement; a newer one of the same name replaces. `source`: "cycles", "ncu". `at_unix_ms`: when it was measured; 0 = now. */
mt_status mt_store_metric(mt_store *store, int64_t measurement, int64_t at_unix_ms, const char *source, const char *name, double value, mt_error *err);
/* *value: the metric of that name; NAN = there is none. */
mt_status mt_query_metric(mt_store *store, int64_t measurement, const char *name, double *value, mt_error *err);

/* Keeps how a finalist did against a library; a newer comparison with the same plugin replaces. The algorithms are as the plugin describes them; NULL = not known. `at_unix_ms` as above. */
mt_status mt_store_library(mt_store *store, int64_t measurement, int64_t at_unix_ms, const mt_row_library *library, const char *first_algorithm, const char *best_algorithm, mt_error *err);

/* Several calls in one transaction. Nests: a failing call undoes itself and leaves what was done before it. Rolling back undoes the innermost. */
mt_status mt_store_begin(mt_store *store, mt_error *err);
mt_status mt_store_commit(mt_store *store, mt_error *err);
void mt_store_rollback(mt_store *store);

/* From now on a commit need not reach the disk before the call returns, as long as the file stays sound: for replays, which run nothing that could take the
 * host down and can be repeated. */
mt_status mt_store_relax(mt_store *store, mt_error *err);

/* Makes the file fit for shipping: no write-ahead log any more, so that it can be read on read-only media and by one copied alone, and of imports neither host nor folder nor
 * time, so that equal files make equal databases wherever they are imported. The store stays usable. */
mt_status mt_store_seal(mt_store *store, mt_error *err);
