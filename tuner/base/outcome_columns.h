/* What an outcome holds beside its kind and text, as one list that serves the database's statements, the recordings' JSON and the workers' messages, so that they can't disagree about an order, a type or a name. */
#pragma once

#include "tuner/base/outcome.h"

/* column, key in a recording, type, group, member of mt_outcome.
 * Groups: TIMING is NULL unless the variant was timed (ok, censored); ACCURACY is NULL unless something was compared, and then NULL
 * means NaN; PLAIN is always there, 0 where it means nothing. */
#define MT_OUTCOME_COLUMNS(X)                                                     \
    X(median_ns, "ns", REAL, TIMING, timing.median_ns)                            \
    X(low_ns, "lo", REAL, TIMING, timing.low_ns)                                  \
    X(high_ns, "hi", REAL, TIMING, timing.high_ns)                                \
    X(min_ns, "min", REAL, TIMING, timing.min_ns)                                 \
    X(mean_ns, "mean", REAL, TIMING, timing.mean_ns)                              \
    X(stddev_ns, "sd", REAL, TIMING, timing.stddev_ns)                            \
    X(sm_mhz, "mhz", REAL, TIMING, timing.sm_mhz)                                 \
    X(prepare_ns, "prep", REAL, TIMING, timing.prepare_ns)                        \
    X(sample_count, "n", U32, TIMING, timing.samples)                             \
    X(dropped_count, "drop", U32, TIMING, timing.dropped)                         \
    X(batch_count, "batch", U32, TIMING, timing.batch)                            \
    X(accuracy_output, "out", CHARS, ACCURACY, accuracy.output)                   \
    X(norm_error, "en", REAL, ACCURACY, accuracy.norm_error)                      \
    X(worst_error, "ew", REAL, ACCURACY, accuracy.worst_error)                    \
    X(worst_relative, "er", REAL, ACCURACY, accuracy.worst_relative)              \
    X(worst_index, "ei", I64, ACCURACY, accuracy.worst_index)                     \
    X(worst_value, "ev", REAL, ACCURACY, accuracy.worst_value)                    \
    X(worst_reference, "ef", REAL, ACCURACY, accuracy.worst_reference)            \
    X(nan_mismatches, "nan", I64, ACCURACY, accuracy.nan_mismatches)              \
    X(registers, "reg", U32, PLAIN, resources.registers)                          \
    X(spill_bytes, "spill", U32, PLAIN, resources.spill_bytes)                    \
    X(static_smem_bytes, "ssm", U32, PLAIN, resources.static_smem_bytes)          \
    X(dynamic_smem_bytes, "dsm", U32, PLAIN, resources.dynamic_smem_bytes)        \
    X(carveout_percent, "co", I32, PLAIN, resources.carveout_percent)             \
    X(blocks_per_sm, "bps", U32, PLAIN, resources.blocks_per_sm)                  \
    X(active_clusters, "ac", U32, PLAIN, resources.active_clusters)               \
    X(cubin_hash, "cubin", CHARS, PLAIN, cubin.hex)                               \
    X(cubin_cached, "hit", BOOL, PLAIN, cubin_cached)                             \
    X(compile_ns, "tc", I64, PLAIN, compile_ns)                                   \
    X(wait_ns, "tw", I64, PLAIN, wait_ns)                                         \
    X(validate_ns, "tv", I64, PLAIN, validate_ns)                                 \
    X(time_ns, "tt", I64, PLAIN, time_ns)                                         \
    X(spec_digest, "spec", CHARS, PLAIN, spec_digest)                             \
    X(proposed_by, "by", CHARS, PLAIN, proposed_by)                               \
    X(bits, "bits", CHARS, PLAIN, bits)                                           \
    X(row_bits, "row_bits", CHARS, PLAIN, row_bits)
