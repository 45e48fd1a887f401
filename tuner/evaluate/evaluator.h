/* What evaluates trials: worker processes on a real GPU (eval_worker), or a recording (eval_replay). The session drives either through this.
 *
 * A trial's life: submit → (compiled) → READY → start → DONE. Between READY and start the session writes its intent to the database,
 * so that a host that goes down leaves the culprit's name. A trial that ends before it reaches the device (illegal, compile error, recorded) is DONE
 * without READY. At most one trial is started at a time per device.
 *
 * Several GPUs of one model may share the trials. Which one a trial runs on is the caller's choice, at start; intent and result are written for each GPU by itself, so
 * that a host that goes down leaves one name for each. A GPU that is lost leaves the others going: LOST names what was started there without an end, which is
 * ready again and may be started elsewhere. When the last one is lost, next() fails. */
#pragma once

#include <stdbool.h>

#include "tuner/base/hash.h"
#include "tuner/base/method.h"
#include "tuner/base/outcome.h"
#include "tuner/space/points/space.h"

typedef struct mt_trial {
    uint64_t id;            /* unique within the evaluator */
    size_t subject;         /* as begun with `begin` */
    size_t index;           /* point of the space */
    const char *variant;    /* canonical text; borrowed until DONE */
    uint32_t retime;        /* 0 = a whole evaluation; else it passed one before, and is only timed with this many samples (needs can_retime) */
    const char *baseline;   /* a baseline plugin's algorithm is evaluated in the variant's place; borrowed until DONE; NULL = the variant. The outcome's text says what it is */
    uint32_t algorithm;
} mt_trial;

/* How a trial is run that is ready. */
typedef struct mt_trial_start {
    size_t device;          /* which of the GPUs runs it */
    double race_ns;         /* the incumbent's median; 0 = it is timed to the end, as what is timed again always is */
    double best_ns;         /* the best time so far, which says how long a first run may take at all; 0 = none, or it need not be told */
    mt_method method;
    int64_t energy_ns;      /* a retime: also measure energy, in a loop of at least this long; 0 = don't */
} mt_trial_start;

typedef enum mt_event_kind {
    MT_EVENT_READY,         /* compiled; waits for start */
    MT_EVENT_DONE,          /* outcome */
    MT_EVENT_LOST,          /* `device` can't be used any more; `trial` is ready again, 0 = none was under way there */
    MT_EVENT_TICK           /* nothing happened for a while (at most 250 ms), or cancel was called while waiting */
} mt_event_kind;

typedef struct mt_event {
    mt_event_kind kind;
    uint64_t trial;
    int64_t worker_pid;     /* READY: of the first GPU's worker, where worker_pid() is not given */
    size_t device;          /* DONE, LOST: which GPU */
    mt_outcome outcome;     /* DONE; ownership passes to the receiver (mt_outcome_free) */
    int64_t measured_unix_ms; /* DONE: when it was recorded; 0 = now */
    char *launch_json;      /* DONE; may be NULL; mt_free */
    char *cubin_path;       /* DONE with OK: where the cubin lies; may be NULL (a recording); mt_free */
    mt_hash code;           /* DONE, where nothing but compiling is done: of what the launches can run and read of the cubin; "" = not known */
} mt_event;

enum { MT_DEVICES_MAX = 16 };

typedef struct mt_evaluator_device {
    int ordinal;
    bool is_lost;
} mt_evaluator_device;

/* Compiles of variants since the evaluator was made; what is timed again is not counted again. */
typedef struct mt_compile_counts {
    size_t compiled;        /* by the compiler */
    size_t cached;          /* found in the cache of an earlier session */
    size_t shared;          /* another variant of this session has the same macros */
} mt_compile_counts;

typedef struct mt_evaluator mt_evaluator;
typedef struct mt_evaluator_ops {
    /* Says what the following trials belong to, and what their times mean; called once per (space, workload, cache state) with a number that trials then name. Compiles what the
     * subject needs (reference, generators). An error is the session's. */
    mt_status (*begin)(mt_evaluator *self, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err);
    size_t (*capacity)(const mt_evaluator *self);  /* trials that may be under way, so that compiling runs ahead */
    mt_status (*submit)(mt_evaluator *self, const mt_trial *trial, mt_error *err);
    mt_status (*next)(mt_evaluator *self, mt_event *event, mt_error *err); /* waits */
    /* Drops what has not been started, without events, and wakes next(). The started one still ends with DONE; with `now` it is killed and dropped too.
     * May be called from a callback of the loop (a signal's), also while next() waits. */
    void (*cancel)(mt_evaluator *self, bool now);
    void (*destroy)(mt_evaluator *self);
    /* The following may be NULL. */
    mt_status (*start)(mt_evaluator *self, uint64_t trial, const mt_trial_start *how, mt_error *err); /* NULL: it never says READY */
    int64_t (*restarts)(const mt_evaluator *self); /* workers that were lost; NULL: it has none */
    int64_t (*worker_pid)(const mt_evaluator *self, size_t device); /* of the process that runs what is started there; 0 = none right now */
    void (*wake)(mt_evaluator *self);           /* from a callback of the loop: next() returns a TICK, if nothing else, without waiting for more. NULL: next() never waits */
    bool (*has_event)(const mt_evaluator *self); /* next() would return READY, DONE or LOST at once */
    void (*count)(const mt_evaluator *self, mt_compile_counts *counts);
    /* NULL unless points come from a recording: the space of what is recorded for the shape, workload and cache state (mt_space_create_recorded). NOT_FOUND: nothing is. */
    mt_status (*recorded_space)(mt_evaluator *self, const mt_shape *shape, const mt_workload *workload, mt_l2 l2, mt_space **space, mt_error *err);
} mt_evaluator_ops;

struct mt_evaluator {
    const mt_evaluator_ops *ops;
    mt_device_facts facts;  /* of the device, or of the recording */
    const char *headers;    /* digest of the toolkit's headers that the source may include (mt_visible_headers), "" = none; NULL = not known, as of a recording. As long as the evaluator */
    bool is_recorded;       /* rows are marked `recorded` */
    mt_hash kernel_key;     /* of the source that a recording was made of: its answers are stored as that one's. "" = of the source as it is now */
    const char *programs;   /* of a recording, as mt_kernel_row.spec_json; NULL: those of the search space count. As long as the evaluator */
    char arch[16];
    mt_energy_source energy; /* what it can be measured with; NONE = it can't */
    size_t device_count;    /* GPUs that share the trials, all of the model that `facts` tells; 0 is read as 1 */
    mt_evaluator_device devices[MT_DEVICES_MAX];
    bool can_retime;        /* variants may be timed again, for drift references and finals */
    char warning[1024];     /* for the session's record, one a line, "" = none: foreign load on the GPU … */
};

/* Whose rows the evaluator's results are, where `own` is the key of the source as it is now. */
const mt_hash *mt_evaluator_key(const mt_evaluator *evaluator, const mt_hash *own);
int64_t mt_evaluator_restarts(const mt_evaluator *evaluator); /* of workers, since it was made */
/* The space that trials come from: all valid points, or what is recorded of them. USAGE for a spec with `points = recorded` on a real GPU. `watch` may be NULL. */
mt_status mt_evaluator_space(mt_evaluator *evaluator, const mt_spec *spec, const mt_shape *shape, const mt_workload *workload, mt_l2 l2, const mt_space_watch *watch, mt_space **space,
                             mt_error *err);
