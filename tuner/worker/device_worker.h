/* The one worker that owns a GPU's context, replaced whenever there is doubt about it.
 *
 * Its states and their transitions: device_worker_state.c.
 *
 * Two processes are kept in reserve (CUDA started; one of them also with a context), so that neither a fault's replay nor what comes after it waits for a start: one takes over
 * at once, the other makes its context and its inputs meanwhile (device_worker_slots.c), and the next reserves start while the old process is torn down. Nothing is timed while a
 * context of ours is made or torn down. Where the GPU takes one process only, the reserves have no context.
 *
 * An evaluation has two clocks, each stopped while the other runs: the subject's (start, inputs, reference) and the variant's (load, validate, time).
 * Past the variant's, or when the worker dies in it: an outcome. In the subject's part it is not the variant's fault: once more in a
 * fresh worker (an earlier variant may have left damage), then the session's error.
 *
 * An end that costs the process (crash, hang, fault) is told when another process has started on the GPU. When none can, the GPU is gone: `failed` comes without `done`,
 * and the variant has no end. */
#pragma once

#include <uv.h>

#include "tuner/space/ini/ini.h"
#include "tuner/worker/proto.h"

typedef struct mt_device_worker mt_device_worker;

typedef struct mt_device_worker_options {
    uv_loop_t *loop;
    int device, bundle_fd;
    const char *const *env;
    double variant_limit_s, subject_limit_s;
    mt_place reference; /* of the key in [kernel], for messages; its path is borrowed */
    /* The evaluation ended; the callee may take outcome and launch_json (and sets them NULL / zero). */
    void (*done)(void *context, uint64_t id, mt_outcome *outcome, char **launch_json);
    void (*foreign)(void *context, int count); /* other processes on the GPU, told before each `done`; −1 = unknown */
    void (*vacuous)(void *context, const char *output); /* the reference of that output holds no number but 0; told before each `done` that shows it */
    void (*notice)(void *context, const char *text); /* what the user should know of */
    /* The device can't be used any more, or the subject can't be set up. An outcome that explains it may have come before. */
    void (*failed)(void *context, const mt_error *error);
    void *context;
} mt_device_worker_options;

mt_status mt_device_worker_create(const mt_device_worker_options *options, mt_device_worker **worker, mt_error *err);
/* What it said first, NULL until then. Texts inside are not kept; facts and foreign_processes are. */
const mt_hello *mt_device_worker_hello(const mt_device_worker *worker);
const char *mt_device_worker_bus_id(const mt_device_worker *worker); /* PCI; "" until it is known */
int64_t mt_device_worker_pid(const mt_device_worker *worker); /* 0 = none right now */
int64_t mt_device_worker_restarts(const mt_device_worker *worker);
/* One at a time. Waits for a worker that is starting. first_run_s: within the variant's limit, of what comes before timing; 0 = no other. */
mt_status mt_device_worker_evaluate(mt_device_worker *worker, const mt_evaluate_order *order, double first_run_s, mt_error *err);
/* The last order, as it was sent; empty until then. */
const mt_strbuf *mt_device_worker_frame(const mt_device_worker *worker);
/* Several times a second: replaces processes that somebody has stopped, and uses the time in which nobody waits for the device. */
void mt_device_worker_tick(mt_device_worker *worker);
/* Kills the evaluation under way; no `done` comes. */
void mt_device_worker_abort(mt_device_worker *worker);
void mt_device_worker_stop(mt_device_worker *worker); /* kills, and nothing else comes but `destroy`: several go at once so */
void mt_device_worker_destroy(mt_device_worker *worker); /* kills and waits; NULL is a no-op */
