/* The columns of table measurement that come from an outcome, as one list that serves the INSERT, every SELECT and the recordings'
 * JSON, so that the four can't disagree about an order or a name. */
#pragma once

#include "db/store/sql.h"
#include "tuner/base/strbuf.h"

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
    X(proposed_by, "by", CHARS, PLAIN, proposed_by)

/* "median_ns, low_ns, …, " for SELECT and INSERT lists of the table called m, or of no name. */
#define MT_COLUMN_OF_M(column, key, type, group, member) "m." #column ", "
#define MT_COLUMN_BARE(column, key, type, group, member) #column ", "
#define MT_COLUMN_MARK(column, key, type, group, member) "?, "
#define MT_COLUMN_JSON(column, key, type, group, member) "json_extract(?1, '$." key "'), "
#define MT_COLUMN_COUNT(column, key, type, group, member) +1
enum { MT_OUTCOME_COLUMN_COUNT = 0 MT_OUTCOME_COLUMNS(MT_COLUMN_COUNT) };

/* Reads the columns from `first` on into a zeroed outcome. False when one holds another type or a number out of range; *bad names it. */
bool mt_outcome_read(sqlite3_stmt *statement, int first, mt_outcome *outcome, const char **bad);
/* Adds ,"key":value for each column that says something. */
void mt_outcome_add_json(mt_strbuf *json, const mt_outcome *outcome);

/* A number as JSON: as many of `digits` significant digits as needed; NaN = null, infinity = 9e999. */
void mt_json_number(mt_strbuf *json, double value, int digits);

/* The blob of table measurement. Packing uses the store's compressor; mt_free *blob. */
mt_status mt_samples_pack(mt_store *store, const float *samples, size_t count, void **blob, size_t *size, mt_error *err);
/* Exactly `count` samples or an error that says what is wrong with the blob. mt_free *samples. */
mt_status mt_samples_unpack(const mt_store *store, const void *blob, size_t size, size_t count, float **samples, mt_error *err);

/* Appends a row; no transaction of its own. created_unix_ms 0 = now. */
mt_status mt_measurement_insert(mt_store *store, int64_t session, int64_t created_unix_ms, const mt_result *result, mt_error *err);
