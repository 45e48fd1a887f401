/* The inside of the real evaluator: eval_worker.c (trials), eval_worker_start.c (its workers) and eval_worker_diagnose.c. Nothing else includes this. */
#ifndef MT_RUN_EVAL_WORKER_INTERNAL_H
#define MT_RUN_EVAL_WORKER_INTERNAL_H

#include "tuner/worker/compile_pool.h"
#include "tuner/worker/device_worker.h"
#include "tuner/evaluate/diagnose.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/open_file.h"

typedef struct eval_worker eval_worker;

enum trial_state { COMPILING, COMPILED, READY, RUNNING };

struct trial {
    struct trial *next;
    mt_trial request;
    enum trial_state state;
    size_t device;       /* RUNNING: where */
    mt_outcome compiled; /* the compiler's part of the outcome */
    bool has_resources;
    char *cubin_path;
    int64_t compiled_ns; /* clock */
    int losses;          /* how often its cubin had gone from the cache when it was to start */
    bool is_recompiling; /* for that reason */
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
    int presence;            /* descriptor that tells other tuners; −1 = none */
    bool has_library;          /* another tuner was seen on it, and told of */
    mt_diagnosis *diagnosis; /* under way; its event waits */
    mt_event undiagnosed;
} eval_gpu;

struct eval_worker {
    mt_evaluator base;
    uv_loop_t *loop;
    const mt_spec *spec;
    const mt_source *source;
    mt_worker_options options;
    int bundle_fd;
    mt_compile_pool *pool;
    eval_gpu *gpus[MT_DEVICES_MAX];
    size_t gpu_count;
    bool is_started;               /* all have said HELLO, and those that stay are of one model */
    int others[MT_DEVICES_MAX];    /* ordinals of GPUs that are of another model */
    size_t other_count;
    uv_timer_t tick;
    bool has_tick, is_tick_due, is_woken;
    unsigned ticks;
    mt_event_queue events;
    mt_error pool_failure, device_failure; /* status MT_OK = none */
    mt_compile_counts counts;
    mt_open_file tool;
    bool is_cache_loss_told, is_kill_told;
    /* the subject that trials belong to */
    size_t subject;
    const mt_space *space;
    const mt_workload *workload;
    mt_env *env;
    bool is_support_ready;
    bool is_vacuous; /* and was told to be */
    mt_open_file support;
    struct trial *trials;
};

/* Printed, and kept for the session's row. */
__attribute__((format(printf, 2, 3))) void mt_eval_worker_warn(eval_worker *self, const char *format, ...);
mt_status mt_eval_worker_failure(const eval_worker *self, mt_error *err);

/* ---- eval_worker_diagnose.c ---- */

/* True when the diagnosis could be started: it takes the event, and tells it later. */
bool mt_eval_worker_diagnose(eval_gpu *gpu, const mt_event *event);

/* ---- eval_worker_start.c ---- */

typedef struct eval_worker_callbacks {
    void (*compiled)(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result);          /* context: the eval_worker */
    void (*pool_failed)(void *context, const mt_error *error);
    void (*done)(void *context, uint64_t id, mt_outcome *outcome, char **launch_json);                         /* context: the eval_gpu, also below */
    void (*foreign)(void *context, int count);
    void (*vacuous)(void *context, const char *output);
    void (*notice)(void *context, const char *text);
    void (*device_failed)(void *context, const mt_error *error);
} eval_worker_callbacks;

/* Starts compile and device workers and waits for their HELLO. */
mt_status mt_eval_worker_start(eval_worker *self, const mt_source *source, const eval_worker_callbacks *callbacks, mt_error *err);
/* Warns, once, of another tuner on the same GPU. */
void mt_eval_worker_look_for_library(eval_gpu *gpu);
void mt_eval_worker_stop_others(eval_worker *self, size_t kept);
void mt_eval_worker_stop(eval_worker *self); /* ends all workers and waits for them */

#endif
