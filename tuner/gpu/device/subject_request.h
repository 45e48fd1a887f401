/* A subject, as the coordinator asks for it: inputs and references on the device. */
#pragma once

#include "tuner/gpu/device/device.h"
#include "tuner/space/source/source.h"

/* Where the evaluation stands; told to the coordinator before each step, so that a dead worker's last step is known. */
typedef enum mt_stage { MT_STAGE_PREPARE_INPUTS, MT_STAGE_REFERENCE, MT_STAGE_LOAD, MT_STAGE_VALIDATE, MT_STAGE_TIME, MT_STAGE_DONE } mt_stage;
typedef void (*mt_stage_callback)(void *context, mt_stage stage);

typedef struct mt_input_file { const char *arg, *path; } mt_input_file; /* --input value=value.npy */

/* The subject: what inputs and references belong to. Kept on the device until another subject or seed comes. */
typedef struct mt_subject_request {
    const mt_spec *spec;
    const mt_source *source;   /* says what the reference writes; NULL = doubles */
    const mt_shape *shape;
    const mt_workload *workload;
    size_t combination;        /* of the knobs that the reference reads (tuner/space/points/reference_knobs.h) */
    const char *support_cubin; /* path: reference and generators; NULL when the file needs none */
    const mt_input_file *inputs;
    size_t input_count;
    uint64_t seed;             /* validation uses seed and seed + 1 */
    bool guard_pages;          /* --guard pages: buffers end at an unmapped page */
} mt_subject_request;

/* Makes inputs and references of the subject unless they are there. An error here is the session's (bad input file, reference does not run), never a variant's. */
mt_status mt_gpu_subject(mt_gpu *gpu, const mt_subject_request *request, mt_stage_callback stage, void *context, mt_error *err);

/* In reserve, beside another process of ours that is at work: as mt_subject_memory, but what does not fit easily (all seeds, half of the device's memory left free) is not kept. Also loads what
 * the tool's own kernels need. An error is of the context; that the subject could not be made is none, since evaluating will tell. */
mt_status mt_gpu_prepare(mt_gpu *gpu, const char *tool_cubin, const mt_subject_request *request, mt_error *err);
