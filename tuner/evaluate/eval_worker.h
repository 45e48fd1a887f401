/* The real evaluator: compile workers and one device worker for each GPU, exec'ed from this executable (hidden command `worker`). */
#pragma once

#include <uv.h>

#include "tuner/evaluate/evaluator.h"
#include "tuner/worker/proto.h"
#include "tuner/space/source/source.h"

typedef struct mt_worker_options {
    size_t jobs;                /* compile workers; 0 = the host's cores, at most 32 */
    int device;                 /* ordinal of the first GPU */
    const int *more_devices;    /* further ones that share the trials as far as they are of its model (mt_eval_worker_others) */
    size_t more_count;
    bool all_devices;           /* instead: every GPU that the driver shows */
    const char *arch;           /* --arch; NULL = from the device */
    const char *cache_dir;      /* cubin cache; NULL = a temporary folder, removed by destroy */
    uint64_t seed;
    double graph_below_ns;      /* kernels shorter than this are timed in a CUDA graph; 0 = as the search space says */
    double compile_limit_s;     /* per variant: 60 */
    double variant_limit_s;     /* per variant on the device: 10 */
    double subject_limit_s;     /* inputs and references: 60 */
    const char *const *inputs;  /* "name=path" */
    size_t input_count;
    bool guard_pages;
    const char *diagnose;       /* path of compute-sanitizer: faults that were shown are run under it, and the text is stored; NULL = not */
    const char *const *env;     /* tests: extra NAME=value for workers; NULL-terminated or NULL */
} mt_worker_options;

/* Starts the workers and waits for their HELLO (deadline 30 s). MT_ERR_NO_GPU when there is no device; ERR_UNSUPPORTED naming the library when NVRTC is missing.
 * spec, source and options' texts must outlive the evaluator; its workers live on `loop`. */
mt_status mt_eval_worker_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, mt_evaluator **evaluator, mt_error *err);

/* GPUs that were asked for, but are of another model than the first: ordinals into others[MT_DEVICES_MAX], the number of them returned. */
size_t mt_eval_worker_others(const mt_evaluator *evaluator, int *others);

/* Between sessions: only this one of its GPUs stays, the others are there for other processes. */
void mt_eval_worker_keep(mt_evaluator *evaluator, size_t device);

/* Compile workers that it may start, and fewer of them from now on (a sibling needs some). */
size_t mt_eval_worker_jobs(const mt_evaluator *evaluator);
void mt_eval_worker_set_jobs(mt_evaluator *evaluator, size_t jobs);

/* Writes the case (single_run.h) of the variant that was started last on the first GPU. */
mt_status mt_eval_worker_save_case(const mt_evaluator *evaluator, const char *path, mt_depth depth, mt_error *err);

/* The compile half alone, for `msda-tune check`: no device; facts and arch are given; trials end with OK (resources filled) or a compile outcome. */
mt_status mt_eval_compile_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, const mt_device_facts *facts, mt_evaluator **evaluator, mt_error *err);
