/* One variant's evaluation in progress; shared by evaluate.c, trial.c, verify.c, timing.c and batch.c. */
#ifndef MT_GPU_TRIAL_H
#define MT_GPU_TRIAL_H

#include "tuner/gpu/evaluate_request.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/subject.h"

typedef struct mt_trial {
    mt_gpu *gpu;
    const mt_evaluate_request *request;
    const mt_spec *spec;
    mt_plan plan;
    CUmodule module;
    mt_ready *launches, *prepares; /* as many as the plan has */
    bool *is_prepared;             /* per argument: scratch that [prepare] fills; it keeps its contents between runs */
    mt_input_set *set;             /* whose addresses are bound; NULL = none */
    mt_binding binding;
    double prepare_ns;
    double badness;                /* of the worst output so far, in units of its limit */
    mt_outcome *outcome;           /* OK until something is found against the variant */
    bool *sticky;
} mt_trial;

/* ---- trial.c ---- */

bool mt_trial_good(const mt_trial *trial);
/* Turns a CUDA error into the outcome: gpu_fault for what breaks the context, else launch_error. Always returns MT_OK: it is data. */
mt_status mt_trial_fault(mt_trial *trial, CUresult code, const char *doing);
/* Inside a function with `mt_status st`, `mt_trial *trial` and one `done:` label: a CUDA error ends it with the outcome set. */
#define MT_TRIAL_CU(call, doing)                                  \
    do {                                                            \
        CUresult mt_code_ = (call);                                 \
        if (mt_code_ != CUDA_SUCCESS) {                             \
            st = mt_trial_fault(trial, mt_code_, (doing));      \
            goto done;                                              \
        }                                                           \
    } while (0)
/* A step that may have set the outcome: then there is nothing more to do. */
#define MT_TRIAL_TRY(call)                                \
    do {                                                    \
        st = (call);                                        \
        if (st != MT_OK || !mt_trial_good(trial)) goto done; \
    } while (0)

/* Binds the set of seed number `index` (making it where it was not kept) and runs [prepare] for it. */
mt_status mt_trial_bind(mt_trial *trial, size_t index, mt_error *err);
/* Restores inout and zeroes what is to be zero before each run. Asynchronous. */
CUresult mt_trial_restore(mt_trial *trial);
/* True when mt_trial_restore has anything to do. */
bool mt_trial_needs_restore(const mt_trial *trial);
/* All launches, in order. Asynchronous. */
CUresult mt_trial_run(mt_trial *trial, const mt_binding *binding);

bool mt_arg_is_output(const mt_arg *arg); /* out, inout */
/* The plan uses this argument and it is a tensor. */
bool mt_trial_uses(const mt_trial *trial, size_t arg);
bool mt_trial_is_yardstick(const mt_trial *trial);

/* ---- verify.c ---- */

/* Two runs per seed against the reference: faults, guard bands, inputs, values, bits. */
mt_status mt_trial_validate(mt_trial *trial, mt_error *err);
/* After timing: what the last timed run left, and one more run in the scratch that it left. */
mt_status mt_trial_validate_again(mt_trial *trial, mt_error *err);

/* ---- timing.c, batch.c ---- */

mt_status mt_trial_time(mt_trial *trial, mt_error *err);

/* Fills outcome->energy after mt_trial_time; where it can't be measured the outcome's text says why, and it stays OK. */
mt_status mt_trial_energy(mt_trial *trial, mt_error *err); /* energy.c */

/* A graph of many launches over several copies of the buffers, for kernels too short for events. */
typedef struct mt_batch mt_batch;
/* Bytes of the buffers that the variant uses. */
uint64_t mt_batch_set_bytes(const mt_trial *trial);
/* sets == 1: the trial's own buffers. *batch stays NULL when the device has no room for the copies or the launches can't be captured. */
mt_status mt_batch_create(mt_trial *trial, uint32_t sets, uint32_t launches, mt_batch **batch, mt_error *err);
void mt_batch_free(mt_gpu *gpu, mt_batch *batch); /* NULL is a no-op */
CUresult mt_batch_launch(mt_gpu *gpu, const mt_batch *batch);
uint32_t mt_batch_size(const mt_batch *batch); /* launches of the variant per graph */

#endif
