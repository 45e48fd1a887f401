/* The inside of the real evaluator: eval_worker.c (its operations, its GPUs), eval_worker_trials.c (the trials), eval_worker_start.c (its workers) and eval_worker_diagnose.c.
 * Nothing else includes this. */
#pragma once

#include "tuner/worker/device_worker.h"
#include "tuner/evaluate/diagnose.h"
#include "tuner/evaluate/eval_core.h"
#include "tuner/evaluate/open_file.h"

typedef struct eval_worker eval_worker;

enum trial_state {
    TRIAL_COMPILING,
    TRIAL_COMPILED,     /* waits for the kernels that it is checked with */
    TRIAL_READY,        /* told; waits for start */
    TRIAL_RUNNING,
    TRIAL_RECOMPILING,  /* started, but its cubin had gone from the cache: runs when it is there again */
    TRIAL_STATE_COUNT
};

struct trial {
    struct trial *next;
    mt_trial request;
    int64_t per;         /* units of work of a run */
    enum trial_state state;
    mt_trial_start how;  /* since start */
    mt_outcome compiled; /* the compiler's part of the outcome; since COMPILED, also below */
    bool has_resources;
    char *cubin_path;
    int64_t compiled_ns; /* clock */
    int losses;          /* how often its cubin had gone from the cache when it was to start */
};

/* One of the GPUs that share the trials. */
typedef struct eval_gpu {
    eval_worker *owner;
    size_t index;            /* in owner->gpus and base.devices */
    int ordinal;
    mt_device_worker *worker;
    mt_open_file cubin;      /* of the last order */
    mt_error failure;        /* before its first HELLO; status MT_OK = none */
    int foreign;             /* processes on it when that was last told to the user */
    int beacon;              /* descriptor that tells other tuners; −1 = none */
    bool has_library;          /* another tuner was seen on it, and told of */
    mt_diagnosis *diagnosis; /* under way; its event waits */
    mt_event undiagnosed;
} eval_gpu;

struct eval_worker {
    mt_eval_core core;             /* first */
    mt_worker_options options;
    eval_gpu *gpus[MT_DEVICES_MAX];
    size_t gpu_count;
    bool is_started;               /* all have said HELLO, and those that stay are of one model */
    int others[MT_DEVICES_MAX];    /* ordinals of GPUs that are of another model */
    size_t other_count;
    unsigned ticks;
    mt_compile_counts counts;
    mt_open_file tool;
    bool is_cache_loss_told, is_kill_told;
    bool is_vacuous_told;          /* of the subject, also below */
    mt_open_file support;
    struct trial *trials;          /* in the order in which they came, so that the first compiled is the first to start */
};

/* Printed, and kept for the session's row. */
__attribute__((format(printf, 2, 3))) void mt_eval_worker_warn(eval_worker *self, const char *format, ...);

/* ---- eval_worker_trials.c ---- */

/* Asserts that the table of transitions has the step. */
void mt_eval_trial_enter(struct trial *trial, enum trial_state state);
bool mt_eval_trial_is_started(const struct trial *trial);
struct trial *mt_eval_trial_find(eval_worker *self, uint64_t id); /* NULL = it has ended, or was dropped */
mt_status mt_eval_trial_add(eval_worker *self, const mt_trial *request, int64_t per, mt_error *err);
void mt_eval_trial_remove(eval_worker *self, struct trial *gone); /* at its end */
void mt_eval_trials_drop(eval_worker *self, bool started_too);
/* Those that are compiled may be started once the kernels that they are checked with are there too. */
void mt_eval_trials_release(eval_worker *self);
/* Runs what has started, or compiles it again first. */
mt_status mt_eval_trial_run(eval_worker *self, struct trial *trial, mt_error *err);
mt_status mt_eval_trial_compile_again(eval_worker *self, const struct trial *trial, mt_error *err);
/* Its compile is over. */
void mt_eval_trial_compiled(eval_worker *self, struct trial *trial, const mt_pool_result *result);
/* The compiler's part joins what the device found: spills are known to ptxas alone. */
void mt_eval_trial_merge(const struct trial *trial, mt_outcome *outcome);

/* ---- eval_worker_diagnose.c ---- */

/* True when the diagnosis could be started: it takes the event, and tells it later. */
bool mt_eval_worker_diagnose(eval_gpu *gpu, const mt_event *event);

/* ---- eval_worker_start.c ---- */

typedef struct eval_worker_callbacks {
    void (*compiled)(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result);          /* context: the eval_worker */
    void (*done)(void *context, uint64_t id, mt_outcome *outcome, char **launch_json);                         /* context: the eval_gpu, also below */
    void (*foreign)(void *context, int count);
    void (*vacuous)(void *context, const char *output);
    void (*notice)(void *context, const char *text);
    void (*device_failed)(void *context, const mt_error *error);
} eval_worker_callbacks;

/* Starts compile and device workers and waits for their HELLO. */
mt_status mt_eval_worker_start(eval_worker *self, const eval_worker_callbacks *callbacks, mt_error *err);
/* Warns, once, of another tuner on the same GPU. */
void mt_eval_worker_look_for_library(eval_gpu *gpu);
void mt_eval_worker_stop_others(eval_worker *self, size_t kept);
void mt_eval_worker_stop(eval_worker *self); /* ends all workers and waits for them */
