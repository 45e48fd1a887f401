/* One variant's evaluation in progress: what validating (verify.h), timing (timing.h) and measuring energy (energy.h) work on. */
#pragma once

#include "tuner/gpu/device/launch.h"
#include "tuner/gpu/device/subject.h"
#include "tuner/gpu/trial/evaluate_request.h"

typedef struct mt_gpu_trial {
    mt_gpu *gpu;
    const mt_evaluate_request *request;
    const mt_spec *spec;
    mt_plan plan;
    mt_module module;
    mt_ready *launches;            /* as many as the plan has, in its order */
    bool *is_prepared;             /* per argument: scratch that [prepare] fills; it keeps its contents between runs */
    mt_input_set *set;             /* whose addresses are bound; NULL = none */
    mt_binding binding;
    double prepare_ns;
    double badness;                /* of the worst output so far, in units of its limit */
    mt_outcome *outcome;           /* OK until something is found against the variant */
    bool *sticky;
} mt_gpu_trial;

bool mt_trial_good(const mt_gpu_trial *trial);
/* Turns a CUDA error into the outcome: gpu_fault for what breaks the context, else launch_error. Always returns MT_OK: it is data. */
mt_status mt_trial_fault(mt_gpu_trial *trial, CUresult code, const char *doing);
/* Inside a function with `mt_status st`, `mt_gpu_trial *trial` and one `done:` label: a CUDA error ends it with the outcome set. */
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
mt_status mt_trial_bind(mt_gpu_trial *trial, size_t index, mt_error *err);
/* Restores inout and zeroes what is to be zero before each run. Asynchronous. */
CUresult mt_trial_restore(mt_gpu_trial *trial);
/* True when mt_trial_restore has anything to do. */
bool mt_trial_needs_restore(const mt_gpu_trial *trial);
/* The timed launches, in order. Asynchronous. */
CUresult mt_trial_run(mt_gpu_trial *trial, const mt_binding *binding);
/* [finish]: what makes the outputs of what they left. Asynchronous. */
CUresult mt_trial_finish(mt_gpu_trial *trial);

/* The plan uses this argument and it is a tensor. */
bool mt_trial_uses(const mt_gpu_trial *trial, size_t arg);
/* The tensor's memory while a set of inputs is bound. */
const mt_buffer *mt_trial_buffer(const mt_gpu_trial *trial, size_t arg);
/* Of the first timed launch, for messages. */
const char *mt_trial_entry(const mt_gpu_trial *trial);
bool mt_trial_is_yardstick(const mt_gpu_trial *trial);
