/* One subject under way, shared by session_subject.c (setting up, the end), session_loop.c and session_replay.c (what is evaluated next) and session_trials.c (what comes of it).
 * Nothing else includes this. */
#pragma once

#include "tuner/predictor/predictor_times.h"
#include "tuner/search/index_map.h"
#include "tuner/session/session_internal.h"
#include "tuner/session/session_search.h"

typedef enum mt_run_trial_state {
    MT_RUN_SUBMITTED,
    MT_RUN_READY,      /* compiled, waits for a GPU */
    MT_RUN_ANNOUNCED,  /* its intent is written: it has the GPU, and is about to be started */
    MT_RUN_RUNNING,
    MT_RUN_ENDED
} mt_run_trial_state;

/* A trial under way: SUBMITTED → READY → ANNOUNCED → RUNNING → ENDED, from SUBMITTED also to ENDED at once. A GPU that is lost makes what had it READY again. */
typedef struct mt_run_trial {
    struct mt_run_trial *next;
    mt_trial request;
    char *variant;      /* owned text of request.variant */
    const char *by;     /* who asked for it, a static text */
    mt_run_trial_state state;
    bool is_drift_reference;     /* timed again, not evaluated: on `device` and no other */
    size_t device;      /* where it runs, or must */
    int64_t ready_ns;   /* clock; since READY */
    int64_t started_ns; /* clock; since RUNNING */
} mt_run_trial;

/* SETTING_UP → SEARCHING → STOPPING → FINAL, or from SEARCHING to FINAL when nothing is left to evaluate. */
typedef enum mt_run_phase {
    MT_RUN_SETTING_UP, /* space, rows, strategy; what the database knows is counted */
    MT_RUN_SEARCHING,  /* trials are asked for, started and told */
    MT_RUN_STOPPING,   /* by time or a signal: what runs comes to its end, nothing else starts */
    MT_RUN_FINAL,      /* near-ties are compared, and the winner is stored */
    MT_RUN_PHASE_COUNT
} mt_run_phase;

typedef struct mt_run {
    /* Parameters. */
    mt_session *const session;
    const mt_subject_job *const job;
    const int64_t started_ns;
    mt_subject_summary *const summary;

    /* What SETTING_UP finds. */
    mt_subject subject;
    mt_space *space;           /* the session's */
    mt_model model;
    mt_history history;
    const mt_strategy *strategy; /* NULL: a follower */
    mt_shard shard;            /* of a strategy that splits; else the whole space */
    size_t total;              /* evaluations meant */
    size_t first[2 + MT_ANSWERS_MAX + MT_YARDSTICKS_MAX], first_count; /* the default point, the baseline's, what the lookup answers, the yardsticks': before the strategy's */
    size_t default_index, baseline_index;

    /* State. */
    mt_run_phase phase;
    mt_search *search;
    mt_times_of *correction;   /* of the cost model, which `believed` borrows from; NULL = it has none */
    mt_env *believed;          /* in which the space's cost model is evaluated, by the search alone; NULL = it has none */
    mt_index_map seen;         /* points that are known, told or under way: never evaluated again; the numbers are session_replay.c's */
    size_t untold;             /* known points that the strategy has not learnt yet */
    int64_t catching_up_ns;    /* clock; since when it learns them; 0 = not yet */
    size_t under_way;
    mt_run_trial *trials;      /* in the order they were submitted */
    mt_run_trial *running[MT_DEVICES_MAX];
    size_t followed;           /* of job->points */
    int64_t stored;            /* evaluations of this session */
    double best_ns;            /* of what was seen until now and is within summary->error_limit */
    uint32_t best_batch;       /* launches per sample of it; 0 = not known */
    char *best;
    char *shared_best;         /* the text of summary->shared_best */
    double best_sm_mhz;        /* 0 = not known */
    mt_cycles best_cycles;
    mt_winner_cubin cubin;     /* of the best, when it was measured now */
    mt_drift_reference drift_references[MT_DEVICES_MAX]; /* the same variant on each GPU, each with its own series */
} mt_run;

void mt_run_enter(mt_run *run, mt_run_phase phase);
size_t mt_run_device_count(const mt_run *run);
bool mt_run_has_seen(const mt_run *run, size_t index);
char *mt_run_variant_text(const mt_run *run, size_t index); /* mt_free; NULL = out of memory */

/* ---- session_loop.c ---- */

/* Evaluates until budget, time, strategy or a signal ends it. */
mt_status mt_run_loop(mt_run *run, mt_error *err);

/* ---- session_replay.c ---- */

/* The known point at `place` of the history is not evaluated again; the strategy, if there is one, learns it when it asks for it. */
mt_status mt_run_note_known(mt_run *run, size_t place, mt_error *err);
/* The next point that is to be evaluated for the strategy, and who asked for it (a static text); not *found: there is none for now. */
mt_status mt_run_next_searched(mt_run *run, size_t *index, const char **by, bool *found, mt_error *err);

/* ---- session_idle.c ---- */

/* The trial's GPU is no longer idle: it is being started. */
void mt_idle_end(const mt_run *run, const mt_run_trial *trial);
/* It has ended. */
void mt_idle_begin(const mt_run *run, const mt_run_trial *trial);

/* ---- session_trials.c ---- */

/* What the search is told of a result: INFINITY where it can't be the best, however fast it is. */
double mt_run_cost(const mt_run *run, mt_outcome_kind kind, double median_ns, double norm_error);
/* Counts and shows what the database knows already. */
mt_status mt_run_count_known(mt_run *run, mt_error *err);
/* Hands a point that was not seen to the evaluator, or refuses it as quarantined. `by`: who asked for it, a static text. */
mt_status mt_run_submit(mt_run *run, size_t index, const char *by, mt_error *err);
/* Ahead of what is compiled but not started: its turn comes next. */
mt_status mt_run_submit_drift_reference(mt_run *run, size_t device, mt_error *err);
/* Takes the event, and those that came with it: stored in one transaction, then the next trials are started. */
mt_status mt_run_handle(mt_run *run, mt_event *event, mt_error *err);
bool mt_run_is_running(const mt_run *run);                            /* on any GPU */
void mt_run_free_trials(mt_run *run);
