/* The columns of table measurement that come from an outcome: one list serves the INSERT, every SELECT and the recordings' JSON. */
#pragma once

#include "db/store/sql.h"
#include "tuner/base/outcome_columns.h"
#include "tuner/base/strbuf.h"

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
