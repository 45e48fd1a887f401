/* The life of one variant on the device: load → occupancy → validate → time. DESIGN §5. */
#ifndef MT_GPU_EVALUATE_H
#define MT_GPU_EVALUATE_H

#include "tuner/base/method.h"
#include "tuner/gpu/device.h"

/* Where the evaluation stands; told to the coordinator before each step, so that a dead worker's last step is known. */
typedef enum mt_stage { MT_STAGE_PREPARE_INPUTS, MT_STAGE_REFERENCE, MT_STAGE_LOAD, MT_STAGE_VALIDATE, MT_STAGE_TIME, MT_STAGE_DONE } mt_stage;
typedef void (*mt_stage_callback)(void *context, mt_stage stage);

typedef struct mt_input_file { const char *arg, *path; } mt_input_file; /* --input value=value.npy */

typedef struct mt_timing_options {
    mt_l2 l2;
    double interval;        /* stop when the median's 95 % interval is within ± this part (0.005) */
    uint32_t min_samples, max_samples;  /* 10, 200 */
    int64_t max_ns;         /* wall time spent on timing one variant */
    double graph_below_ns;  /* kernels shorter than this are batched in a CUDA graph (10 µs) */
    double race_ns;         /* median of the incumbent; 0 = time to the end, however slow */
    double race_factor;     /* how much slower than it a variant must be to be given up (1.1) */
    mt_method method;       /* what the figures will be compared with */
} mt_timing_options;

/* The subject: what inputs and references belong to. Kept on the device until another subject or seed comes. */
typedef struct mt_subject_request {
    const mt_spec *spec;
    const mt_shape *shape;
    const mt_workload *workload;
    const char *support_cubin; /* path: reference and generators; NULL when the file needs none */
    const mt_input_file *inputs;
    size_t input_count;
    uint64_t seed;             /* validation uses seed and seed + 1 */
    bool guard_pages;          /* --guard pages: buffers end at an unmapped page */
} mt_subject_request;

/* How far an evaluation goes: a profiler and a sanitizer want less than all of it. */
typedef struct mt_evaluate_request {
    const mt_subject_request *subject;
    const mt_point *point;
    const char *cubin_path;
    bool is_retime;             /* it was validated before: only loaded and timed */
    mt_timing_options timing;
    mt_depth depth;
    int64_t energy_ns;          /* retime: also measure energy, in a loop of at least this long; 0 = don't */
    const char *baseline;       /* name of a baseline plugin whose `algorithm` runs in the variant's place, over the variant's arguments; NULL = the variant.
                                 * The outcome's text then says what the plugin calls it */
    uint32_t algorithm;
} mt_evaluate_request;

/* Makes inputs and references of the subject unless they are there. An error here is the session's (bad input file, reference does not run), never a variant's. */
mt_status mt_gpu_subject(mt_gpu *gpu, const mt_subject_request *request, mt_stage_callback stage, void *context, mt_error *err);

/* In reserve, beside another process of ours that is at work: as mt_gpu_subject, but what does not fit easily (all seeds, half of the device's memory left free) is not kept. Also loads what
 * the tool's own kernels need. An error is of the context; that the subject could not be made is none, since evaluating will tell. */
mt_status mt_gpu_prepare(mt_gpu *gpu, const char *tool_cubin, const mt_subject_request *request, mt_error *err);

/* Evaluates; everything a variant can do wrong is an outcome. *sticky is set when the context is no longer usable (the worker must exit after replying). Calls mt_gpu_subject first. */
mt_status mt_gpu_evaluate(mt_gpu *gpu, const mt_evaluate_request *request, mt_stage_callback stage, void *context, mt_outcome *outcome, bool *sticky, mt_error *err);

/* {"launches":[{"entry":…,"grid":[…],"block":[…],"cluster":[…],"smem":…,"carveout":…}]} of the last evaluation, as launched; NULL when it got not that far. Valid until the next call. */
const char *mt_gpu_launch_json(const mt_gpu *gpu);

/* An output of the subject of which every expected element is NaN or infinite, as a variant that passed showed: its values are hardly checked. NULL = none seen. The spec's text. */
const char *mt_gpu_vacuous(const mt_gpu *gpu);

#endif
