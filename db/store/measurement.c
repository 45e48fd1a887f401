#include "db/store/measurement.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "db/store/current.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"

enum { MAX_SAMPLES = 1 << 24 };

typedef enum column_type { REAL, U32, I32, I64, BOOL, CHARS } column_type;
typedef enum column_group { TIMING, ACCURACY, PLAIN } column_group;

typedef struct outcome_column {
    const char *name, *key;
    column_type type;
    column_group group;
    size_t offset, size; /* of the member in mt_outcome */
} outcome_column;

static const outcome_column columns[] = {
#define COLUMN_ENTRY(column, key, type, group, member) \
    {#column, key, type, group, offsetof(mt_outcome, member), sizeof ((mt_outcome *)0)->member},
    MT_OUTCOME_COLUMNS(COLUMN_ENTRY)
#undef COLUMN_ENTRY
};

/* --- one column --------------------------------------------------------------------------------------------------------------------- */

static bool is_timed(const mt_outcome *outcome)
{
    return mt_outcome_is_timed(outcome->kind);
}

static bool is_there(const outcome_column *column, const mt_outcome *outcome)
{
    switch (column->group) {
    case TIMING: return is_timed(outcome);
    case ACCURACY: return outcome->accuracy.output[0] != '\0';
    default: return true;
    }
}

static int64_t integer_of(const outcome_column *column, const void *member)
{
    switch (column->type) {
    case U32: return *(const uint32_t *)member;
    case I32: return *(const int32_t *)member;
    case BOOL: return *(const bool *)member;
    default: {
        int64_t value;
        memcpy(&value, member, sizeof value); /* also the uint64_t ones: no tensor has 2^63 elements */
        return value;
    }
    }
}

static bool set_integer(const outcome_column *column, void *member, int64_t value)
{
    switch (column->type) {
    case U32: *(uint32_t *)member = (uint32_t)value; return value >= 0 && value <= UINT32_MAX;
    case I32: *(int32_t *)member = (int32_t)value; return value >= INT32_MIN && value <= INT32_MAX;
    case BOOL: *(bool *)member = value != 0; return true;
    default: memcpy(member, &value, sizeof value); return value >= 0;
    }
}

static void bind_column(mt_sql_args *args, const outcome_column *column, const void *member)
{
    if (column->type == REAL) mt_sql_real(args, *(const double *)member);
    else if (column->type == CHARS) mt_sql_text(args, *(const char *)member ? member : NULL);
    else mt_sql_int(args, integer_of(column, member));
}

/* Binds the columns in order. outcome->kind decides what is NULL. */
static void bind_outcome(mt_sql_args *args, const mt_outcome *outcome)
{
    for (size_t i = 0; i < MT_OUTCOME_COLUMN_COUNT; i++) {
        if (is_there(&columns[i], outcome)) bind_column(args, &columns[i], (const char *)outcome + columns[i].offset);
        else mt_sql_null(args);
    }
}

static bool read_column(sqlite3_stmt *statement, int at, const outcome_column *column, mt_outcome *outcome)
{
    void *member = (char *)outcome + column->offset;
    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL:
        if (column->type == REAL && column->group == ACCURACY && outcome->accuracy.output[0]) *(double *)member = NAN;
        return true;
    case SQLITE_INTEGER:
        if (column->type == REAL) {
            *(double *)member = sqlite3_column_double(statement, at);
            return true;
        }
        return column->type != CHARS && set_integer(column, member, sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT:
        if (column->type != REAL) return false;
        *(double *)member = sqlite3_column_double(statement, at);
        return true;
    case SQLITE_TEXT: {
        const char *text = mt_sql_column(statement, at);
        size_t length = strlen(text);
        if (column->type != CHARS || length >= column->size || length != (size_t)sqlite3_column_bytes(statement, at)) return false;
        memcpy(member, text, length + 1);
        return true;
    }
    default: return false;
    }
}

bool mt_outcome_read(sqlite3_stmt *statement, int first, mt_outcome *outcome, const char **bad)
{
    for (int i = 0; i < MT_OUTCOME_COLUMN_COUNT; i++) {
        *bad = columns[i].name;
        if (!read_column(statement, first + i, &columns[i], outcome)) return false;
    }
    return true;
}

/* --- JSON --------------------------------------------------------------------------------------------------------------------------- */

void mt_json_number(mt_strbuf *json, double value, int digits)
{
    if (isnan(value)) mt_strbuf_add(json, "null");
    else if (isinf(value)) mt_strbuf_add(json, value < 0 ? "-9e999" : "9e999");
    else
        mt_strbuf_addf(json, "%.*g", digits, value == 0 ? 0.0 : value); /* no "-0": it would come back as an integer without a sign */
}

static void add_member(mt_strbuf *json, const outcome_column *column, const void *member)
{
    bool is_zero = column->type == CHARS  ? *(const char *)member == '\0'
                   : column->type == REAL ? *(const double *)member == 0
                                          : integer_of(column, member) == 0;
    if (is_zero && !(column->group == ACCURACY && column->type == REAL)) return; /* there, nothing would mean NaN */
    mt_strbuf_addf(json, ",\"%s\":", column->key);
    if (column->type == REAL) mt_json_number(json, *(const double *)member, 9);
    else if (column->type == CHARS) mt_strbuf_add_json(json, member);
    else mt_strbuf_addf(json, "%lld", (long long)integer_of(column, member));
}

void mt_outcome_add_json(mt_strbuf *json, const mt_outcome *outcome)
{
    for (size_t i = 0; i < MT_OUTCOME_COLUMN_COUNT; i++) {
        if (is_there(&columns[i], outcome)) add_member(json, &columns[i], (const char *)outcome + columns[i].offset);
    }
}

/* --- samples ------------------------------------------------------------------------------------------------------------------------ */

mt_status mt_samples_pack(mt_store *store, const float *samples, size_t count, void **blob, size_t *size, mt_error *err)
{
    *blob = NULL;
    *size = 0;
    if (!samples || !count) return MT_OK;
    store->is_row_refused = !mt_row_times_are_sound(samples, count);
    if (store->is_row_refused) return MT_FAIL(err, MT_ERR_DB, "%s: samples holds a number that is no time from 0 to %g ns", store->path, MT_ROW_TIME_LIMIT);
    if (!store->compressor) store->compressor = ZSTD_createCCtx();
    size_t capacity = ZSTD_compressBound(count * sizeof *samples);
    *blob = store->compressor ? mt_alloc(capacity, 1) : NULL;
    if (!*blob) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: samples: out of memory", store->path);
    *size = ZSTD_compressCCtx(store->compressor, *blob, capacity, samples, count * sizeof *samples, 1);
    if (!ZSTD_isError(*size)) return MT_OK;
    mt_status st = MT_FAIL(err, MT_ERR_DB, "%s: samples: %s", store->path, ZSTD_getErrorName(*size));
    mt_free(*blob);
    *blob = NULL;
    *size = 0;
    return st;
}

mt_status mt_samples_unpack(const mt_store *store, const void *blob, size_t size, size_t count, float **samples, mt_error *err)
{
    *samples = NULL;
    size_t bytes = count * sizeof **samples;
    if (count > MAX_SAMPLES || ZSTD_getFrameContentSize(blob, size) != bytes) {
        return MT_FAIL(err, MT_ERR_DB, "%s: the samples of a measurement are damaged", store->path);
    }
    float *values = mt_alloc(count, sizeof *values);
    if (!values) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: samples: out of memory", store->path);
    size_t got = ZSTD_decompress(values, bytes, blob, size);
    if (ZSTD_isError(got) || got != bytes || !mt_row_times_are_sound(values, count)) {
        mt_free(values);
        return MT_FAIL(err, MT_ERR_DB, "%s: the samples of a measurement are damaged", store->path);
    }
    *samples = values;
    return MT_OK;
}

/* --- insert ------------------------------------------------------------------------------------------------------------------------- */

static const char insert_sql[] =
    "INSERT INTO main.measurement (subject_id, variant_id, toolchain_id, session_id, created_unix_ms, evaluation, outcome, text, "
    MT_OUTCOME_COLUMNS(MT_COLUMN_BARE) "launch_json, model_flops, model_dram_bytes, model_floor_ns, samples) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, " MT_OUTCOME_COLUMNS(MT_COLUMN_MARK) "?, ?, ?, ?, ?)";

static mt_status insert_cycles(mt_store *store, int64_t measurement, int64_t at_unix_ms, const mt_cycles *cycles, mt_error *err)
{
    mt_status st = MT_OK;
    if (cycles->blocks == 0) return MT_OK;
    MT_TRY(mt_store_metric(store, measurement, at_unix_ms, "cycles", "cycles_min", (double)cycles->min, err));
    MT_TRY(mt_store_metric(store, measurement, at_unix_ms, "cycles", "cycles_mean", cycles->mean, err));
    MT_TRY(mt_store_metric(store, measurement, at_unix_ms, "cycles", "cycles_max", (double)cycles->max, err));
done:
    return st;
}

static mt_status insert_metrics(mt_store *store, int64_t measurement, int64_t at_unix_ms, const mt_result *result, mt_error *err)
{
    mt_status st = insert_cycles(store, measurement, at_unix_ms, &result->outcome->cycles, err);
    for (size_t i = 0; i < result->metric_count && st == MT_OK && is_timed(result->outcome); i++)
        st = mt_store_metric(store, measurement, at_unix_ms, "model", result->metrics[i].name, result->metrics[i].value, err);
    return st;
}

mt_status mt_measurement_insert(mt_store *store, int64_t session, int64_t created_unix_ms, const mt_result *result, mt_error *err)
{
    const mt_outcome *outcome = result->outcome;
    mt_status st;
    void *blob = NULL;
    size_t blob_size = 0;
    int64_t subject, variant;
    sqlite3_stmt *statement;
    mt_row_values row;
    store->is_row_refused = false;
    MT_TRY(mt_subject_id(store, result->subject, &subject, err));
    MT_TRY(mt_variant_id(store, result->subject->kernel, result->variant, &variant, err));
    if (is_timed(outcome)) MT_TRY(mt_samples_pack(store, outcome->sample_ns, outcome->timing.samples, &blob, &blob_size, err));
    MT_TRY(mt_sql_cached_get(store, insert_sql, &statement, err));
    mt_sql_args args = mt_sql_args_row(statement, &row);
    mt_sql_int(&args, subject);
    mt_sql_int(&args, variant);
    mt_sql_int(&args, result->subject->toolchain);
    mt_sql_int(&args, session);
    mt_sql_int(&args, created_unix_ms ? created_unix_ms : mt_clock_unix_ms());
    mt_sql_int(&args, result->evaluation);
    mt_sql_text(&args, mt_outcome_name(outcome->kind));
    mt_sql_note(&args, outcome->text); /* a template-heavy compile log can have megabytes; its beginning says what is wrong */
    bind_outcome(&args, outcome);
    mt_sql_text(&args, result->launch_json);
    mt_sql_real(&args, result->model_flops);
    mt_sql_real(&args, result->model_dram_bytes);
    mt_sql_real(&args, result->model_floor_ns);
    mt_sql_blob(&args, blob, blob_size);
    MT_TRY(mt_sql_run(store, &args, "store a measurement", err));
    MT_TRY(insert_metrics(store, sqlite3_last_insert_rowid(store->db), created_unix_ms, result, err));
    st = mt_current_renew(store, subject, variant, err);
done:
    mt_free(blob);
    return st;
}
