/* What an evaluation is asked for. */
#pragma once

#include "tuner/base/method.h"
#include "tuner/gpu/device/subject_request.h"

typedef struct mt_timing_options {
    mt_l2 l2;
    double interval;        /* stop when the median's 95 % interval is within ± this part (0.005) */
    uint32_t min_samples, max_samples;  /* 10, 200 */
    int64_t max_ns;         /* wall time spent on timing one variant */
    double graph_below_ns;  /* kernels shorter than this are batched in a CUDA graph (10 µs) */
    double race_ns;         /* median of the incumbent; 0 = time to the end, however slow */
    double race_factor;     /* how much slower than it a variant must be to be stopped (1.1) */
    mt_method method;       /* what the figures will be compared with */
} mt_timing_options;

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
