/* What the evaluators that compile have in common, the one with GPUs (eval_worker) and the one without (eval_compile): the compile workers, the subject, the events and the tick. */
#pragma once

#include "tuner/evaluate/candidate.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/worker/compile_pool.h"

typedef struct mt_eval_core {
    mt_evaluator base;      /* first, so that either evaluator can be found from it */
    uv_loop_t *loop;
    const mt_spec *spec;
    const mt_source *source;
    int bundle_fd;          /* −1 = none */
    mt_compile_pool *pool;
    uv_timer_t tick;
    bool has_tick, is_tick_due;
    void (*ticked)(struct mt_eval_core *self); /* each time, before next() says so; may be NULL */
    mt_event_queue events;
    bool is_held;           /* next() tells no event yet */
    mt_error failure;       /* told after what is queued; status MT_OK = none */
    /* the subject that trials belong to */
    size_t subject;
    const mt_space *space;
    const mt_workload *workload;
    mt_l2 l2;
    mt_env *env;
    size_t awaited_supports; /* the reference and the generators are being compiled, for so many combinations (tuner/space/points/reference_knobs.h) */
    mt_error *support_errors; /* per combination: why it has none; status MT_OK = it has, or will */
    size_t support_count;
} mt_eval_core;

/* Packs the bundle and starts the tick. `self` is zeroed but for what the caller has set; after an error too it is closed. */
mt_status mt_eval_core_open(mt_eval_core *self, uv_loop_t *loop, const mt_spec *spec, const mt_source *source, mt_error *err);
/* `done`: as of mt_pool_options; its context is `self`. Does not wait for a worker's HELLO. */
mt_status mt_eval_core_start_pool(mt_eval_core *self, const mt_worker_options *options, size_t default_jobs, void (*done)(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result), mt_error *err);
/* The toolkit, once the pool has greeted, and the architecture, once base.facts are there. `arch`: NULL = the device's. */
void mt_eval_core_take_facts(mt_eval_core *self, const char *arch);
void mt_eval_core_close(mt_eval_core *self);

/* As the operations of the same names (evaluator.h). begin() drops the events. */
mt_status mt_eval_core_begin(mt_eval_core *self, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err);
mt_status mt_eval_core_next(mt_evaluator *base, mt_event *event, mt_error *err);
/* The point's compile, with mt_candidate_free. One that is illegal has ended: DONE is queued. */
mt_status mt_eval_core_candidate(mt_eval_core *self, const mt_trial *request, mt_candidate *candidate, mt_error *err);
/* A support compile has ended, of the subject at hand or of another one. */
bool mt_eval_core_is_support(const mt_eval_core *self, uint64_t tag, size_t *combination);
/* Without the reference of the defaults nothing works; of another combination the error waits for a variant that needs it. */
void mt_eval_core_support_failed(mt_eval_core *self, size_t combination, const mt_error *error);
/* The combination of a point of the space, whose reference must not have failed. */
mt_status mt_eval_core_reference(const mt_eval_core *self, size_t index, size_t *combination, mt_error *err);
/* What the compiler found out, into the outcome. */
void mt_eval_core_note(const mt_compiled *compiled, mt_outcome *outcome);
mt_status mt_eval_core_compile(mt_eval_core *self, mt_candidate *candidate, uint64_t trial, mt_error *err);
void mt_eval_core_fail(mt_eval_core *self, const mt_error *error); /* the first failure counts */
mt_status mt_eval_core_failure(const mt_eval_core *self, mt_error *err);
