/* What device_worker.c (processes, orders) and device_worker_faults.c (how an evaluation ended) share. Nothing else includes this. */
#ifndef MT_RUN_DEVICE_WORKER_INTERNAL_H
#define MT_RUN_DEVICE_WORKER_INTERNAL_H

#include "tuner/worker/device_worker.h"
#include "tuner/worker/visible_gpus.h"
#include "tuner/worker/worker.h"

enum part { PART_SUBJECT, PART_VARIANT, PART_COUNT };

enum { SLOTS = 6 /* one at work, two in reserve, and those of an incident: two on their way out, one starting */, USABLE = 3 };

/* One process. What it is for shows in self->active; the rest of those that live are in reserve or leave. */
typedef struct slot {
    mt_device_worker *owner;
    mt_worker *worker;  /* NULL = free */
    bool is_greeted;    /* CUDA has started there */
    bool has_context;
    bool is_preparing;  /* PREPARE sent, not answered */
    bool is_warm;       /* the subject of the last order was asked for */
    bool is_leaving;    /* it broke its context, or is being killed */
    bool is_stopped;    /* killed because somebody had stopped it */
    int stopped_count;  /* how often in a row it was seen stopped */
    int served;         /* evaluations that it has ended */
    int64_t since_ns;   /* when what it is busy with (start, preparation, leaving) began */
} slot;

struct mt_device_worker {
    mt_device_worker_options options;
    bool is_alone;                /* its processes see this GPU alone, by the variable: */
    char alone[MT_VISIBLE_SIZE];
    slot slots[SLOTS];
    slot *active;       /* NULL = none */
    mt_hello hello;
    char bus_id[32];
    bool was_greeted;             /* any worker */
    bool has_no_reserve;          /* a second process could not be had */
    bool takes_one;               /* the GPU lets one process in only: no context in reserve */
    bool is_failed, is_closing;
    int64_t incident_ns;          /* when the last one began; 0 = dealt with */
    int64_t checked_ns;           /* when it was last looked whether somebody stopped them */
    const char *incident;         /* how it ended for the variant */
    bool has_proof;               /* a context was made since: the GPU is still there */
    bool is_refilling;            /* the process at work has no inputs yet, because of an incident */
    int64_t last_gone_ns;         /* when a process of ours last left the GPU, */
    int gone_lately;              /* and how many about then */
    int64_t restarts;
    int idle_deaths;              /* in a row, with nothing under way */
    int false_starts;             /* processes for work, in a row, that died before they said HELLO */
    size_t open_handles;
    /* the evaluation */
    bool has_order, is_sent;
    int64_t ordered_ns, ended_ns; /* when the last order came, and when it was answered */
    uint64_t id;
    mt_strbuf frame, preparation; /* the order, and the same for a process in reserve */
    int attempts, stops;          /* of workers at it: those that may have ended by its doing, and those that somebody stopped */
    mt_work work;
    enum part part;
    int64_t part_started_ns;
    double left_s[PART_COUNT];
    double extra_s;               /* that the order's energy loop may take beside the variant's limit */
    bool is_crowded;              /* sent while another of our processes was still on the GPU */
    /* a fault that waits for the suspect's replay alone */
    bool is_replay, may_crowd;    /* beside the process that faulted, which may take long to go */
    int served_before;            /* evaluations that the process at work had ended before this one */
    mt_outcome suspect;
    char *suspect_launch;
    /* an end that cost its process waits until the GPU has taken another one: of a GPU that is gone no variant is guilty */
    bool has_held;
    mt_outcome held;
    char *held_launch;
};

/* ---- device_worker_slots.c: who lives, and how ready they are ---- */

typedef bool (*mt_slot_is)(const slot *s);
bool mt_slot_is_leaving(const slot *s);
bool mt_slot_is_usable(const slot *s);
bool mt_slot_has_gpu(const slot *s);  /* it has a context, or is making one: also while it leaves */
size_t mt_device_count_slots(const mt_device_worker *self, mt_slot_is is);
/* Nothing of ours may disturb what is timed: no context that is being made, none that is being torn down. (CUDA's start, which makes no context, does not.) */
bool mt_device_is_quiet(const mt_device_worker *self);
/* The readiest of those that could take over; NULL = none. */
slot *mt_device_find_reserve(mt_device_worker *self);
/* Starts processes until there are enough, the first of all for work, the rest for the reserve. False with an error when there is none at all and none can be started. */
bool mt_device_ensure_workers(mt_device_worker *self, const mt_worker_launch *launch, mt_error *err);
/* Makes contexts, and for whoever takes the next order its inputs, where that can be done meanwhile. */
void mt_device_provide(mt_device_worker *self);
/* A process answered PREPARE. False: it has no context, and nobody else has; `err` says why. */
bool mt_device_take_prepared(slot *at, const mt_prepared *prepared, mt_error *err);
/* The reserve could not start: what waits for a proof that the GPU is still there must get it from a new process. */
void mt_device_distrust(mt_device_worker *self);
void mt_device_retire(slot *at); /* SIGKILL */

/* ---- device_worker_faults.c ---- */

/* Takes outcome and launch_json: reports, holds back, or begins the suspect's replay. */
void mt_device_conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json);
/* Ends a replay. `alone`: how it ended; NULL = it could not be run. */
void mt_device_settle_replay(mt_device_worker *self, const mt_outcome *alone);
void mt_device_drop_suspect(mt_device_worker *self); /* ends a replay without a word */
void mt_device_release_held(mt_device_worker *self);   /* tells the end that was held back, if there is one */
void mt_device_drop_held(mt_device_worker *self);

#endif
