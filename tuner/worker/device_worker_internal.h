/* What device_worker.c (processes, messages), device_worker_state.c (the states), device_worker_slots.c and device_worker_faults.c (how an evaluation ended) share. Beside them
 * only the simulation of tests/unit/ includes this.
 *
 * Three machines, each one enum: what a process is (slot), where the order stands (order), and what became of the GPU since a process was lost (incident). Their transitions are
 * the tables of device_worker_state.c; nothing else writes a state. */
#pragma once

#include "tuner/worker/device_worker.h"
#include "tuner/worker/visible_gpus.h"
#include "tuner/worker/worker.h"

enum part { PART_SUBJECT, PART_VARIANT, PART_COUNT };

enum { SLOTS = 6 /* one at work, two in reserve, and those of an incident: two on their way out, one starting */, USABLE = 3 };

/* In the order of readiness, as far as LEAVING. */
enum slot_state {
    SLOT_FREE,      /* no process */
    SLOT_STARTING,  /* HELLO awaited */
    SLOT_STARTED,   /* CUDA has started there */
    SLOT_ENTERING,  /* makes its context: PREPARE sent, not answered */
    SLOT_READY,     /* has a context */
    SLOT_PREPARING, /* has a context, makes inputs: PREPARE sent, not answered */
    SLOT_LEAVING,   /* it broke its context, or is being killed */
    SLOT_STOPPED,   /* is being killed because somebody had stopped it */
    SLOT_STATE_COUNT
};

/* One process. What it is for shows in self->active; the rest of those that live are in reserve or leave. */
typedef struct slot {
    mt_device_worker *owner;
    mt_worker *worker;  /* NULL: FREE */
    enum slot_state state;
    enum slot_state left; /* LEAVING, STOPPED: the state that it was in before */
    bool is_warm;       /* the subject of the last order was asked for */
    int stopped_count;  /* how often in a row it was seen stopped */
    int served;         /* evaluations that it has ended */
    int64_t since_ns;   /* when what it is busy with (start, preparation, leaving) began */
} slot;

enum order_state {
    ORDER_NONE,
    ORDER_QUEUED,         /* waits for a process */
    ORDER_SENT,
    ORDER_SUSPECT_QUEUED, /* it faulted, and what ran before it in its process may be why: waits for its replay, alone in another */
    ORDER_SUSPECT_SENT,
    ORDER_HELD,           /* it ended, and cost its process: told when the GPU has taken another one, since of a GPU that is gone no variant is guilty */
    ORDER_STATE_COUNT
};

/* The evaluation under way. */
struct order {
    enum order_state state;
    uint64_t id;
    mt_strbuf frame, preparation; /* the order, and the same for a process in reserve; kept after its end */
    int64_t ordered_ns, ended_ns; /* when the last order came, and when it was answered */
    int attempts, stops;          /* of workers at it: those that may have ended by its doing, and those that somebody stopped */
    double extra_s;               /* that the energy loop may take beside the variant's limit */
    double first_run_s;           /* from LOAD to TIME, if that is less than is left; 0 = no other */
    bool may_crowd;               /* SUSPECT: beside the process that faulted, which may take long to go */
    /* SENT, SUSPECT_SENT */
    mt_work work;
    enum part part;
    int64_t part_started_ns;
    double left_s[PART_COUNT];
    double spared_s;              /* of the variant's limit, that the first run may not take; 0 outside of it */
    bool is_crowded;              /* sent while another of our processes was still on the GPU */
    int served_before;            /* evaluations that the process at work had ended before this one */
    /* SUSPECT: how the first run ended; HELD: what will be told */
    mt_outcome outcome;
    char *launch_json;
};

enum incident_state {
    INCIDENT_NONE,
    INCIDENT_OPEN,      /* the process at work was lost: whether the GPU is still there nobody knows */
    INCIDENT_PROVEN,    /* a context was made since: it is */
    INCIDENT_REFILLING, /* dealt with, but the process at work has no inputs yet */
    INCIDENT_STATE_COUNT
};

struct incident {
    enum incident_state state;
    int64_t since_ns;
    const char *outcome; /* how it ended for the variant; NULL = for none */
};

enum life { LIFE_WORKING, LIFE_FAILED, LIFE_STOPPED };

struct mt_device_worker {
    mt_device_worker_options options;
    bool is_alone;                /* its processes see this GPU alone, by the variable: */
    char alone[MT_VISIBLE_SIZE];
    enum life life;
    struct order order;
    struct incident incident;
    slot slots[SLOTS];
    slot *active;       /* NULL = none */
    mt_hello hello;     /* the first one's: */
    bool was_greeted;
    char bus_id[32];
    bool has_no_reserve;          /* a second process could not be had */
    bool takes_one;               /* the GPU lets one process in only: no context in reserve */
    int64_t checked_ns;           /* when it was last looked whether somebody stopped them */
    int64_t last_gone_ns;         /* when a process of ours last left the GPU, */
    int gone_lately;              /* and how many about then */
    int64_t restarts;
    int idle_deaths;              /* in a row, with nothing under way */
    int false_starts;             /* processes for work, in a row, that died before they said HELLO */
    size_t open_handles;
};

/* ---- device_worker_state.c: the transitions ---- */

/* Each asserts that its table has the step. Leaving twice is leaving once, and what a process still tells then moves what it left. */
void mt_slot_enter(slot *at, enum slot_state state);
void mt_order_enter(struct order *order, enum order_state state);
void mt_incident_enter(struct incident *incident, enum incident_state state);
enum slot_state mt_slot_was(const slot *at); /* its state, or what it was before it began to leave */
bool mt_order_is_sent(const struct order *order);
bool mt_order_is_queued(const struct order *order);
bool mt_order_is_suspect(const struct order *order);
bool mt_incident_is_open(const struct incident *incident); /* OPEN or PROVEN */

/* ---- device_worker_slots.c: who lives, and how ready they are ---- */

typedef bool (*mt_slot_is)(const slot *s);
bool mt_slot_is_leaving(const slot *s);
bool mt_slot_is_usable(const slot *s);
bool mt_slot_has_context(const slot *s); /* usable, and could take an order but for what it prepares */
bool mt_slot_has_gpu(const slot *s);  /* it has a context, or is making one: also while it leaves */
size_t mt_device_count_slots(const mt_device_worker *self, mt_slot_is is);
/* Nothing of ours may disturb what is timed: no context that is being made, none that is being torn down. (CUDA's start, which makes no context, does not.) */
bool mt_device_is_quiet(const mt_device_worker *self);
/* Starts processes until there are enough, the first of all for work, the rest for the reserve. False with an error when there is none at all and none can be started. */
bool mt_device_ensure_workers(mt_device_worker *self, const mt_worker_launch *launch, mt_error *err);
/* Makes contexts, and for whoever takes the next order its inputs, where that can be done meanwhile. */
void mt_device_provide(mt_device_worker *self);
/* A process answered PREPARE. False: it has no context, and nobody else has; `err` says why. */
bool mt_device_take_prepared(slot *at, const mt_prepared *prepared, mt_error *err);
/* The reserve could not start: what waits for a proof that the GPU is still there must get it from a new process. */
void mt_device_distrust(mt_device_worker *self);
void mt_device_retire(slot *at, enum slot_state leaving); /* SIGKILL; LEAVING or STOPPED */

/* ---- device_worker_faults.c ---- */

/* Takes outcome and launch_json: reports, holds back, or begins the suspect's replay. */
void mt_device_conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json);
/* Ends a replay. `alone`: how it ended; NULL = it could not be run. */
void mt_device_settle_replay(mt_device_worker *self, const mt_outcome *alone);
void mt_device_release_held(mt_device_worker *self);   /* tells the end that was held back, if there is one */
void mt_device_drop_order(mt_device_worker *self);     /* ends it, in whichever state, without a word */
