/* Decisions of timing: pure functions, no device. What runs on the device is in timing.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/gpu/trial/evaluate_request.h"

typedef struct mt_sample {
    double ns;          /* of one unit of work: of one run of the variant, where the file says nothing else */
    double mhz;         /* SM clock during the sample; 0 = unknown */
    bool is_throttled;  /* NVML gave a reason */
} mt_sample;

/* Copies into kept[count] the times of the samples that were not throttled, in order: SM clock at least 0.75 × the reference clock (the highest
 * median that any variant had, or these samples' own median when that is higher) and no reason from NVML. When that leaves none, all are kept.
 * Returns how many. work[count] is scratch. */
size_t mt_samples_keep(const mt_sample *samples, size_t count, double reference_mhz, double *kept, double *work);
/* Median clock of the samples that have one; 0 = none. work[count] is scratch. */
double mt_samples_mhz(const mt_sample *samples, size_t count, double *work);

/* Fills timing's statistics from kept[count ≥ 1], which is sorted in place. */
void mt_timing_summarize(double *kept, size_t count, mt_timing *timing);
/* Racing: true when the samples show that the variant has no chance against the incumbent. Three ways, none of which noise can bring about: the best of however few is above 25 × the incumbent and
 * a millisecond; the best
 * of at least 3 samples is far above (2.5 times the factor's excess: 1.25 × for 1.1), or at least 6 samples put the whole 95 % interval of the median
 * above race_factor × race_ns. Always false without race_ns. docs/measurement.md says why. */
bool mt_timing_is_hopeless(const mt_timing_options *options, const mt_timing *timing);
/* True when there are enough samples and the interval of the median is narrow enough, or when no more may be taken. */
bool mt_timing_is_done(const mt_timing_options *options, const mt_timing *timing, size_t taken, int64_t spent_ns);
/* How many samples to queue next: min_samples first (in a race stopping at 3 and 6 for a look), then a few at a time, and never so many that they
 * take long. */
size_t mt_timing_chunk(const mt_timing_options *options, size_t taken, double sample_ns, size_t limit);

/* How many runs to make after a first one of first_ns, before samples are taken: about a millisecond of them. */
size_t mt_timing_warm_up(double first_ns);
/* The method for a kernel that takes about run_ns by events. */
bool mt_timing_wants_graph(const mt_timing_options *options, double run_ns);

/* Shape of the batches for kernels shorter than graph_below_ns. */
typedef struct mt_batch_plan {
    uint32_t sets;     /* copies of the buffers; 1 = the variant's own */
    uint32_t launches; /* per graph */
} mt_batch_plan;
/* Cold: so many sets that they exceed 3 × L2 together; where small sets would need too many copies, each is used once per graph (before which
 * L2 is flushed). set_bytes: of all buffers of one set. */
mt_batch_plan mt_batch_plan_make(mt_l2 l2, double launch_ns, uint64_t set_bytes, uint64_t l2_bytes);
