/* What device_worker.c (processes, orders) and device_worker_blame.c (how an evaluation ended) share. Nothing else includes this. */
#ifndef MT_RUN_DEVICE_WORKER_INTERNAL_H
#define MT_RUN_DEVICE_WORKER_INTERNAL_H

#include "tuner/run/device_worker.h"
#include "tuner/run/worker.h"

enum part { PART_SUBJECT, PART_VARIANT, PART_COUNT };

enum { SEATS = 5 /* one at work, its reserve, and those of an incident: two on their way out, one starting */ };

/* One process. What it is for shows in self->active; the rest of those that live are in reserve or leave. */
typedef struct seat {
    mt_device_worker *owner;
    mt_worker *worker;  /* NULL = free */
    bool is_greeted;
    bool is_leaving;    /* it broke its context, or is being killed */
    int served;         /* evaluations that it has ended */
} seat;

struct mt_device_worker {
    mt_device_worker_options options;
    seat seats[SEATS];
    seat *active;       /* NULL = none */
    mt_hello hello;
    bool was_greeted;             /* any worker */
    bool has_no_reserve;          /* a second process could not be had */
    bool is_failed, is_closing;
    int64_t incident_ns;          /* when the last one began; 0 = dealt with */
    const char *incident;         /* how it ended for the variant */
    bool is_refilling;            /* the process at work has no inputs yet, because of an incident */
    int64_t last_gone_ns;         /* when a process of ours last left the GPU, */
    int gone_lately;              /* and how many about then */
    int64_t restarts;
    int idle_deaths;              /* in a row, with nothing under way */
    size_t open_handles;
    /* the evaluation */
    bool has_order, is_sent;
    int64_t ordered_ns;
    uint64_t id;
    mt_strbuf frame;
    int attempts;
    mt_work work;
    enum part part;
    int64_t part_started_ns;
    double left_s[PART_COUNT];
    double extra_s;               /* that the order's energy loop may take beside the variant's limit */
    bool is_crowded;              /* sent while another of our processes was still on the GPU */
    /* a fault that waits for the suspect's replay alone */
    bool is_replay, may_crowd;    /* beside the process that faulted, which may take long to go */
    int served_before;            /* evaluations that the process at work had ended before this one */
    mt_outcome suspicion;
    char *suspicion_launch;
    /* an end that cost its process waits until the GPU has taken another one: of a GPU that is gone no variant is guilty */
    bool has_held;
    mt_outcome held;
    char *held_launch;
};

/* ---- device_worker_blame.c ---- */

/* Takes outcome and launch_json: reports, holds back, or begins the suspect's replay. */
void mt_device_conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json);
/* Ends a replay. `alone`: how it ended; NULL = it could not be run. */
void mt_device_settle_replay(mt_device_worker *self, const mt_outcome *alone);
void mt_device_drop_suspicion(mt_device_worker *self); /* ends a replay without a word */
void mt_device_release_held(mt_device_worker *self);   /* tells the end that was held back, if there is one */
void mt_device_drop_held(mt_device_worker *self);

#endif
