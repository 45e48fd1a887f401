/* What the session's files share: session.c (a whole command), session_plan.c (which subjects), session_subject.c (one subject's loop),
 * session_loop.c, session_replay.c and session_trials.c (its loop, session_run.h), session_hints.c (warm starts), session_known.c (what the database knows already), session_fixed_points.c (points instead of a search), session_drift.c (drift), session_final.c (near-ties), session_rows.c (results → rows).
 * Nothing else includes this. */
#pragma once

#include "db/key.h"
#include "tuner/base/strbuf.h"
#include "tuner/session/session.h"

/* One of the GPUs of a session. */
typedef struct mt_session_device {
    int64_t started;               /* trials that ran on it */
    int64_t busy_ns;               /* from their start to their end, as the coordinator saw it */
    int64_t free_ns;               /* clock: since when nothing has run on it; 0 = nothing ever did */
    int64_t idle_setup_ns, idle_no_compiled_ns, idle_dispatch_ns; /* how long it stood idle: before a subject's first variant was there, with nothing compiled, with something compiled (the coordinator's doing) */
    double ratio;                  /* of the drift reference's time to that on the first GPU, the farthest from 1; NAN = not known */
    bool is_lost;
} mt_session_device;

#define MT_NO_POINT SIZE_MAX

/* By Ctrl-C, SIGTERM or SIGHUP; it only grows. */
typedef enum mt_stop {
    MT_STOP_NOT,
    MT_STOP_AFTER_RUNNING, /* the running variant ends */
    MT_STOP_NOW            /* it is killed */
} mt_stop;

typedef struct mt_session {
    /* Parameters: set when it is made, and never again. */
    uv_loop_t *const loop;
    const mt_session_params *const params;
    const mt_hash kernel_key;      /* whose rows the results are: the source's as it is now, or a recording's */
    mt_evaluator *const evaluator;
    mt_store *const store;
    const mt_origin origin;
    const int64_t started_ns;      /* clock */
    const int64_t started_cpu_ns;  /* of this thread */
    const int64_t deadline_ns;     /* INT64_MAX = none */
    const size_t budget;           /* evaluations per subject; SIZE_MAX = no limit */
    const mt_objective objective;  /* what picks are for; TIME where energy can't be measured */
    mt_session_result *const result;

    /* Its rows: since mt_session_open_rows. */
    int64_t id;                    /* session row; 0 = not begun */
    int64_t device, kernel, toolchain;
    char gpu_key[MT_KEY_GPU_SIZE];
    char boot_id[64];

    /* State. */
    mt_stop stop;
    uint64_t last_trial;
    int64_t evaluated, known, failed;
    mt_session_times times;
    mt_space *space;               /* of the last subject, owned: the next one's when that is of the same shape; NULL = none */
    mt_session_device devices[MT_DEVICES_MAX];
    mt_strbuf notes;               /* warnings about picks, one a line */
    mt_strbuf flat;                /* subjects that ended since going on would hardly gain, as JSON objects with commas between them */
    mt_strbuf cut;                 /* subjects that ended before their budget was spent, one a line */
    double drift;                  /* largest relative deviation of a drift reference from its first time that the intervals of both do not explain; NAN = none was timed twice */
} mt_session;

/* ---- session_subject.c ---- */

typedef enum mt_points_from {
    MT_POINTS_SEARCHED, /* a strategy asks for them */
    MT_POINTS_FIXED,    /* params->fixed */
    MT_POINTS_FOLLOWED  /* those that passed in the other cache state */
} mt_points_from;

typedef struct mt_point_list {
    size_t *items;
    size_t count, capacity;
} mt_point_list;
mt_status mt_point_list_add(mt_point_list *list, size_t index, mt_error *err);

/* What is to be done for one subject. */
typedef struct mt_subject_job {
    size_t number;
    const mt_session_target *target;
    mt_l2 l2;
    mt_points_from from;
    mt_point_list *points; /* SEARCHED: gets what passes, in that order; FIXED: becomes them; FOLLOWED: what is measured */
    int64_t deadline_ns;   /* clock */
} mt_subject_job;

/* Tunes one subject until budget, time or Ctrl-C. *is_skipped: there is nothing to tune, the error says why, and the session goes on. */
mt_status mt_session_subject(mt_session *session, const mt_subject_job *job, mt_subject_summary *summary, bool *is_skipped, mt_error *err);

/* ---- session_fixed_points.c ---- */

/* The targets of params->fixed. */
mt_status mt_session_fixed_plan(const mt_session_params *params, mt_session_target **targets, size_t *count, mt_error *err);
/* job->points becomes the fixed points of the target. Points that the space excludes are stored as that, so that nobody asks for them again. */
mt_status mt_session_fixed_points(mt_session *session, const mt_subject_job *job, const mt_subject *subject, const mt_space *space, mt_error *err);

/* ---- session_hints.c ---- */

enum { MT_HINTS_MAX = 2 };
/* Points of the space that were best for near shapes (distance: sum over dimensions of |log ratio|) on this GPU, then on others of its architecture; nearest first. */
mt_status mt_session_hints(mt_session *session, const mt_subject *subject, const mt_session_target *target, const mt_space *space, size_t hints[MT_HINTS_MAX], size_t *count, mt_error *err);

/* ---- session_known.c ---- */

typedef struct mt_known {
    size_t index;
    mt_outcome_kind kind;
    double median_ns; /* INFINITY unless kind is OK or CENSORED */
    double norm_error; /* NAN = not known */
    char *text;       /* a failure's, cut; NULL = none */
} mt_known;

typedef struct mt_quarantined {
    size_t index;
    char *reason;
} mt_quarantined;

/* What the database says of a subject's points; points that the space no longer has are left out. */
typedef struct mt_history {
    mt_known *known;             /* in the order they were stored */
    size_t known_count, known_capacity;
    size_t own_count;            /* of these from the session's own database; the others from params->shared */
    mt_quarantined *quarantined; /* sorted by index */
    size_t quarantined_count, quarantined_capacity;
} mt_history;

/* `shard`: points of other parts are left out; NULL = none is. */
mt_status mt_history_load(mt_session *session, const mt_subject *subject, const mt_space *space, const mt_shard *shard, mt_history *history, mt_error *err);
const char *mt_history_quarantine(const mt_history *history, size_t index); /* the reason, or NULL */
void mt_history_free(mt_history *history);                                  /* zeroed struct is fine */

/* ---- session_drift.c ---- */

typedef enum mt_drift_state {
    MT_DRIFT_RESTS,
    MT_DRIFT_UNDER_WAY,   /* it is being timed again */
    MT_DRIFT_LOST         /* it failed then, or its GPU is lost: it is timed no more */
} mt_drift_state;

typedef struct mt_drift_reference {
    size_t index;          /* the default point when it is OK, else the first OK one; MT_NO_POINT = none yet */
    mt_drift_state state;
    double first_ns;       /* its first time of this session; NAN = not yet */
    double first_low_ns, first_high_ns; /* and its interval */
    uint32_t batch;        /* launches per sample then: it is timed by the same method every time */
    int64_t last_at_ns;    /* clock */
    size_t since;          /* evaluations on the device since then */
} mt_drift_reference;

/* Enough evaluations or time have gone by, and there was something to measure. */
bool mt_drift_is_due(const mt_session *session, const mt_drift_reference *reference);
/* How it must be timed to be compared with its first time. */
mt_method mt_drift_method(const mt_drift_reference *reference);
/* By how much a median has certainly moved between two measurements: the relative distance of their intervals, 0 where these overlap. */
double mt_drift_moved(double low_ns, double high_ns, double later_low_ns, double later_high_ns);
/* Stores a time of the drift reference (outcome is OK) and follows the drift. */
mt_status mt_drift_note(mt_session *session, const mt_subject *subject, mt_drift_reference *reference, const char *variant, const mt_outcome *outcome, mt_error *err);

/* ---- session_final.c ---- */

typedef struct mt_winner_cubin {
    mt_hash hash;
    char *path;            /* owned; NULL = nothing to keep */
} mt_winner_cubin;

/* A signal keeps near-ties from being timed again. Where nothing is timed (a recording) it cuts nothing: the pick is the stored rows', as that of an undisturbed run over these. */
bool mt_final_is_cut(const mt_session *session);
/* Compares the near-ties unless the database has a final that still holds. *evaluation: number of the last row of this session and subject; *winner becomes the
 * pick's when it was timed again. An interrupted final leaves nothing. Where the file names a baseline plugin, its algorithms are timed in the same rounds: the summary's `libraries`. */
mt_status mt_session_final(mt_session *session, const mt_subject *subject, size_t number, const mt_space *space, int64_t *evaluation, mt_winner_cubin *winner, mt_subject_summary *summary, mt_error *err);

/* ---- session_rows.c ---- */

/* Device, kernel, toolchain; intents that an earlier process left behind are settled; the session row. */
mt_status mt_session_open_rows(mt_session *session, mt_error *err);
/* `failed`: the session ends with an error of its own. */
mt_status mt_session_close_rows(mt_session *session, bool failed, mt_error *err);
/* *limit: the largest error that the subject's winner may have. */
mt_status mt_session_subject_rows(mt_session *session, const mt_subject_job *job, mt_subject *subject, mt_limit *limit, mt_error *err);
mt_status mt_session_store_pruned(mt_session *session, const mt_subject *subject, const mt_space *space, mt_error *err);
/* The points that the winner is compared with, for reports. NULL = there is none. */
mt_status mt_session_store_comparison_points(mt_session *session, const mt_subject *subject, const char *default_variant, const char *baseline_variant, mt_error *err);
/* One transaction: the result (NULL = none), the strike that it brings, and the intent to run `next_variant` (NULL = none). */
mt_status mt_session_store_step(mt_session *session, const mt_subject *subject, const mt_result *result, const char *next_variant, int64_t worker_pid, mt_error *err);
/* Warns, and keeps the line for the session's row. */
__attribute__((format(printf, 2, 3))) void mt_session_warn(mt_session *session, const char *format, ...);
/* Remembers for the session's row that a subject ended early, and what would complete it. */
/* For the session row: a subject that ended flat. */
mt_status mt_session_note_flat(mt_session *session, const mt_session_target *target, const mt_subject_summary *summary, mt_error *err);
mt_status mt_session_note_cut(mt_session *session, const mt_session_target *target, const mt_subject_summary *summary, size_t total, mt_error *err);
/* Keeps a measured winner's cubin for the lookup; nothing to do without a path or for a recording. */
mt_status mt_session_keep_cubin(mt_session *session, const mt_winner_cubin *winner, mt_error *err);
/* What untuned shapes are answered with, chosen anew from the rows of that cache state. */
mt_status mt_session_renew_predictor(mt_session *session, mt_l2 l2, mt_error *err);
/* Keeps the winner's cubin, renews table best and, but for fixed points, the predictor, and reads the winner back: what `show` will say is what the summary says,
 * but where that is no point of `space`: then the summary has the fastest known that is one, and a warning says so. */
mt_status mt_session_store_best(mt_session *session, const mt_subject *subject, const mt_session_target *target, const mt_space *space, const mt_winner_cubin *cubin, mt_subject_summary *summary,
    char **best, mt_error *err);
