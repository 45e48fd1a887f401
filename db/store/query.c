#include "db/store/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/front_rows.h"
#include "db/store/current.h"
#include "db/store/measurement.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

/* ?10 asks for samples. */
#define ROW_COLUMNS \
    "SELECT m.id, m.session_id, d.key, d.name, k.name, k.key, h.name, h.key, w.name, w.key, v.text, s.origin, s.regime, m.created_unix_ms, " \
    "t.nvrtc_version, t.driver_version, t.arch, m.launch_json, m.model_flops, m.model_dram_bytes, m.model_floor_ns, m.evaluation, m.outcome, " \
    "m.text, CASE WHEN ?10 THEN m.samples END, " MT_OUTCOME_COLUMNS(MT_COLUMN_OF_M) \
    "(SELECT json_group_object(name, value) FROM (SELECT name, value FROM metric WHERE measurement_id = m.id ORDER BY name)), " MT_LIBRARY_COLUMNS MT_IS_PROGRAMMATIC("m") ", "
/* The winner's figures are the final's that picked it. */
#define ENERGY_OF(finalist) finalist ".energy_uj, " finalist ".energy_error_uj, " finalist ".power_w, " finalist ".energy_loop_ms, " finalist ".energy_period_ms, " \
    finalist ".energy_runs, " finalist ".energy_source "
enum { ENERGY_COLUMNS = 7 }; /* of ENERGY_OF */
/* A final times all by one method, in graphs if any of its finalists was: also those whose own rows are by events. */
#define FINAL_BATCH ", CASE WHEN fr.method = 'interleaved' THEN (SELECT max(fm.batch_count) FROM finalist ff JOIN measurement fm ON fm.id = ff.measurement_id WHERE ff.final_id = fr.id) END, (SELECT l.max_error FROM error_limit l WHERE l.subject_id = s.id) "
#define NO_FINAL "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL "
#define BEST_FINAL "b.tied_count, fi.final_id, fi.median_ns, fi.low_ns, fi.high_ns, fr.objective, " ENERGY_OF("fi") FINAL_BATCH
#define ROW_TABLES "JOIN variant v ON v.id = m.variant_id JOIN toolchain t ON t.id = m.toolchain_id " MT_LIBRARY_JOIN
enum { SAMPLES_COLUMN = 24, FIRST_OUTCOME_COLUMN, METRICS_COLUMN = FIRST_OUTCOME_COLUMN + MT_OUTCOME_COLUMN_COUNT, FIRST_LIBRARY_COLUMN,
       PROGRAMMATIC_COLUMN = FIRST_LIBRARY_COLUMN + MT_LIBRARY_COLUMN_COUNT, FIRST_FINAL_COLUMN };

/* --- measurements ------------------------------------------------------------------------------------------------------------------- */

static mt_status fail_row(const mt_store *store, const mt_measurement_row *row, const char *column, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_DB, "%s: measurement %lld: column %s holds something impossible", store->path, (long long)row->id, column);
}

static mt_status read_names(const mt_store *store, sqlite3_stmt *statement, mt_measurement_row *row, mt_error *err)
{
    row->id = sqlite3_column_int64(statement, 0);
    row->session = sqlite3_column_int64(statement, 1);
    const char **names[] = {&row->gpu_key, &row->gpu_name, &row->kernel, &row->kernel_key, &row->shape, &row->shape_key,
                            &row->workload, &row->workload_key, &row->variant};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) *names[i] = mt_sql_column(statement, 2 + i);
    if (!mt_origin_from_name(mt_sql_column(statement, 11), &row->origin)) return fail_row(store, row, "origin", err);
    if (!mt_l2_from_name(mt_sql_column(statement, 12), &row->outcome.timing.l2)) return fail_row(store, row, "regime", err);
    row->created_unix_ms = sqlite3_column_int64(statement, 13);
    row->nvrtc_version = sqlite3_column_int64(statement, 14);
    row->driver_version = sqlite3_column_int64(statement, 15);
    row->arch = mt_sql_column(statement, 16);
    row->launch_json = mt_sql_column_or_null(statement, 17);
    row->model_flops = mt_sql_column_real(statement, 18);
    row->model_dram_bytes = mt_sql_column_real(statement, 19);
    row->model_floor_ns = mt_sql_column_real(statement, 20);
    row->evaluation = sqlite3_column_int64(statement, 21);
    row->metrics_json = mt_sql_column(statement, METRICS_COLUMN);
    mt_query_read_library(statement, FIRST_LIBRARY_COLUMN, &row->library);
    row->is_programmatic = sqlite3_column_int(statement, PROGRAMMATIC_COLUMN) != 0;
    return MT_OK;
}

/* ENERGY_OF from column `first` on. */
static mt_energy read_energy(sqlite3_stmt *statement, int first)
{
    mt_energy energy = {0};
    if (!mt_energy_source_from_name(mt_sql_column(statement, first + 6), &energy.source) || energy.source == MT_ENERGY_NONE) return (mt_energy){0};
    double *numbers[] = {&energy.run_uj, &energy.error_uj, &energy.power_w, &energy.loop_ms, &energy.period_ms};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++) *numbers[i] = sqlite3_column_double(statement, first + i);
    energy.runs = (uint64_t)sqlite3_column_int64(statement, first + 5);
    return energy;
}

static void read_final(sqlite3_stmt *statement, mt_measurement_row *row)
{
    mt_timing *timing = &row->outcome.timing;
    row->tied_count = sqlite3_column_int64(statement, FIRST_FINAL_COLUMN);
    row->final_id = sqlite3_column_int64(statement, FIRST_FINAL_COLUMN + 1);
    row->error_limit.most = mt_sql_column_real(statement, FIRST_FINAL_COLUMN + 14);
    row->error_limit.is_given = !isnan(row->error_limit.most);
    if (!row->final_id) return;
    timing->median_ns = sqlite3_column_double(statement, FIRST_FINAL_COLUMN + 2);
    timing->low_ns = sqlite3_column_double(statement, FIRST_FINAL_COLUMN + 3);
    timing->high_ns = sqlite3_column_double(statement, FIRST_FINAL_COLUMN + 4);
    if (!mt_objective_from_name(mt_sql_column(statement, FIRST_FINAL_COLUMN + 5), &row->objective)) row->objective = MT_OBJECTIVE_TIME;
    row->outcome.energy = read_energy(statement, FIRST_FINAL_COLUMN + 6);
    if (sqlite3_column_int64(statement, FIRST_FINAL_COLUMN + 13) > 0) timing->batch = (uint32_t)sqlite3_column_int64(statement, FIRST_FINAL_COLUMN + 13);
}

/* Fills *row from the statement at hand. row->outcome.sample_ns is the caller's to free. */
static mt_status read_row(mt_store *store, sqlite3_stmt *statement, mt_measurement_row *row, mt_error *err)
{
    const char *bad;
    memset(row, 0, sizeof *row);
    mt_status st = read_names(store, statement, row, err);
    if (st != MT_OK) return st;
    mt_outcome *outcome = &row->outcome;
    if (!mt_outcome_from_name(mt_sql_column(statement, 22), &outcome->kind)) return fail_row(store, row, "outcome", err);
    outcome->text = (char *)mt_sql_column_or_null(statement, 23); /* borrowed */
    if (!mt_outcome_read(statement, FIRST_OUTCOME_COLUMN, outcome, &bad)) return fail_row(store, row, bad, err);
    read_final(statement, row);
    const void *blob = sqlite3_column_blob(statement, SAMPLES_COLUMN);
    if (!blob) return MT_OK;
    size_t size = (size_t)sqlite3_column_bytes(statement, SAMPLES_COLUMN);
    return mt_samples_unpack(store, blob, size, outcome->timing.samples, &outcome->sample_ns, err);
}

/* A query of ROW_COLUMNS. `last`: its ?11; 0 = it has none. */
static mt_status query_rows(mt_store *store, const char *sql, const mt_filter *filter, int64_t last, mt_query_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_filter_values values = mt_query_values(filter);
    values.in[9] = (mt_sql_in)MT_INT(filter && filter->with_samples);
    if (last) values.in[10] = (mt_sql_in)MT_INT(last);
    mt_sql_args rows = mt_sql_query(store, sql, values.in, &st, err);
    while (mt_sql_each(store, &rows, "read measurements", &st, err)) {
        mt_measurement_row row = {0};
        st = read_row(store, rows.statement, &row, err);
        if (st == MT_OK) st = callback(context, &row, err);
        mt_free(row.outcome.sample_ns);
    }
    return st;
}

mt_status mt_query_measurements(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err)
{
    return query_rows(store, ROW_COLUMNS NO_FINAL SUBJECT_TABLES "CROSS JOIN measurement m ON m.subject_id = s.id " ROW_TABLES
                      "WHERE " SUBJECT_FILTER "ORDER BY m.id", filter, 0, callback, context, err);
}

mt_status mt_query_best(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err)
{
    return query_rows(store, ROW_COLUMNS BEST_FINAL SUBJECT_TABLES "CROSS JOIN best b ON b.subject_id = s.id JOIN measurement m ON m.id = b.measurement_id AND m.subject_id = s.id AND m.outcome = 'ok' "
                      "LEFT JOIN finalist fi ON fi.final_id = b.final_id AND fi.measurement_id = m.id LEFT JOIN final_round fr ON fr.id = fi.final_id " ROW_TABLES "WHERE " SUBJECT_FILTER SUBJECT_ORDER, filter, 0, callback, context, err);
}

mt_status mt_query_so_far(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err)
{
    return query_rows(store, ROW_COLUMNS NO_FINAL SUBJECT_TABLES "CROSS JOIN measurement m ON m.id = (SELECT m.id FROM current_result c " MT_JOIN_CURRENT("c.measurement_id")
                      "WHERE c.subject_id = s.id AND m.outcome = 'ok' AND m.median_ns > 0 ORDER BY m.median_ns, m.id LIMIT 1) " ROW_TABLES
                      "WHERE " SUBJECT_FILTER "AND NOT EXISTS (SELECT 1 FROM best b WHERE b.subject_id = s.id) " SUBJECT_ORDER, filter, 0, callback, context, err);
}

/* The winner first, which may not have the least median: finalists by what they took in the final, side by side; the others by their own rows. A finalist's row is the one that
 * the final was held with. */
#define FASTEST \
    "WITH fastest AS (SELECT m.id, b.measurement_id = m.id AS is_best, b.tied_count, fi.final_id, row_number() OVER (PARTITION BY m.subject_id " \
    "ORDER BY b.measurement_id IS NOT m.id, ifnull(fi.median_ns, m.median_ns), m.id) AS place FROM current_result c " MT_JOIN_CURRENT("c.measurement_id") \
    "LEFT JOIN best b ON b.subject_id = m.subject_id LEFT JOIN finalist fi ON fi.final_id = b.final_id AND fi.measurement_id = m.id " \
    "WHERE m.outcome = 'ok' AND m.median_ns > 0) "
#define FASTEST_FINAL "CASE WHEN f.is_best THEN f.tied_count END, f.final_id, fi.median_ns, fi.low_ns, fi.high_ns, fr.objective, " ENERGY_OF("fi") FINAL_BATCH

mt_status mt_query_fastest(mt_store *store, const mt_filter *filter, int64_t count, mt_query_callback callback, void *context, mt_error *err)
{
    return query_rows(store, FASTEST ROW_COLUMNS FASTEST_FINAL SUBJECT_TABLES "CROSS JOIN measurement m ON m.subject_id = s.id JOIN fastest f ON f.id = m.id "
                      "LEFT JOIN finalist fi ON fi.final_id = f.final_id AND fi.measurement_id = m.id LEFT JOIN final_round fr ON fr.id = fi.final_id " ROW_TABLES
                      "WHERE " SUBJECT_FILTER "AND f.place <= ?11 " SUBJECT_ORDER ", f.place", filter, count, callback, context, err);
}

mt_status mt_query_front(mt_store *store, const mt_filter *filter, mt_query_callback callback, void *context, mt_error *err)
{
    return query_rows(store, ROW_COLUMNS BEST_FINAL SUBJECT_TABLES "JOIN (" MT_FRONT_OF("1") ") f ON f.subject_id = s.id JOIN measurement m ON m.id = f.id LEFT JOIN best b ON b.subject_id = s.id AND b.measurement_id = m.id "
                      "LEFT JOIN finalist fi ON fi.final_id = b.final_id AND fi.measurement_id = m.id LEFT JOIN final_round fr ON fr.id = fi.final_id " ROW_TABLES
                      "WHERE " SUBJECT_FILTER SUBJECT_ORDER ", b.measurement_id IS NULL, m.median_ns, m.id", filter, 0, callback, context, err);
}

mt_status mt_query_newest(mt_store *store, int64_t subject, bool with_samples, mt_query_callback callback, void *context, mt_error *err)
{
    const mt_filter filter = {.with_samples = with_samples};
    return query_rows(store, ROW_COLUMNS NO_FINAL SUBJECT_TABLES "CROSS JOIN current_result c ON c.subject_id = s.id " MT_JOIN_CURRENT(MT_TELLING) ROW_TABLES
                      "WHERE s.id = ?11 ORDER BY v.text", &filter, subject, callback, context, err);
}

/* Medians of a final's rounds. Not worth an error: a damaged blob is as good as none. */
static float *read_rounds(const mt_store *store, sqlite3_stmt *statement, int at, size_t *count)
{
    float *rounds = NULL;
    mt_error ignored;
    int64_t stored = sqlite3_column_int64(statement, at + 1);
    *count = 0;
    if (sqlite3_column_type(statement, at) != SQLITE_BLOB || stored < 1) return NULL;
    const void *blob = sqlite3_column_blob(statement, at);
    if (mt_samples_unpack(store, blob, (size_t)sqlite3_column_bytes(statement, at), (size_t)stored, &rounds, &ignored) == MT_OK) *count = (size_t)stored;
    return rounds;
}

mt_status mt_query_finalists(mt_store *store, int64_t final_id, mt_query_finalist_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args found = mt_sql_query(store, MT_WITH_GOOD("(SELECT subject_id FROM final_round WHERE id = ?1)") "SELECT f.measurement_id, v.text, f.median_ns, f.low_ns, f.high_ns, f.ratio, f.ratio_low, f.ratio_high, f.tied, f.picked, " ENERGY_OF("f")
                                     ", f.round_ns, r.rounds FROM " MT_STANDING "JOIN final_round r ON r.id = f.final_id JOIN variant v ON v.id = g.variant_id WHERE f.final_id = ?1 "
                                     "ORDER BY f.median_ns, v.text", MT_IN(MT_INT(final_id)), &st, err);
    while (mt_sql_each(store, &found, "read finalists", &st, err)) {
        sqlite3_stmt *statement = found.statement;
        mt_finalist_row row = {.measurement = sqlite3_column_int64(statement, 0), .variant = mt_sql_column(statement, 1),
                               .is_tied = sqlite3_column_int(statement, 8), .is_picked = sqlite3_column_int(statement, 9), .energy = read_energy(statement, 10)};
        double *numbers[] = {&row.median_ns, &row.low_ns, &row.high_ns, &row.ratio, &row.ratio_low, &row.ratio_high};
        for (int i = 0; i < 6; i++) *numbers[i] = sqlite3_column_double(statement, 2 + i);
        float *rounds = read_rounds(store, statement, 10 + ENERGY_COLUMNS, &row.round_count);
        row.round_ns = rounds;
        st = callback(context, &row, err);
        mt_free(rounds);
    }
    return st;
}

/* --- summaries ---------------------------------------------------------------------------------------------------------------------- */

mt_status mt_query_devices(mt_store *store, const mt_origin *origin, mt_query_device_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT d.key, d.name, d.facts_json, count(c.measurement_id) FROM device d JOIN subject s ON s.device_id = d.id "
                                    "JOIN current_result c ON c.subject_id = s.id WHERE ?1 IS NULL OR s.origin = ?1 GROUP BY d.id ORDER BY d.key",
                                    MT_IN(MT_TEXT(origin ? mt_origin_name(*origin) : NULL)), &st, err);
    while (mt_sql_each(store, &rows, "read devices", &st, err)) {
        mt_device_row row = {.key = mt_sql_column(rows.statement, 0), .name = mt_sql_column(rows.statement, 1), .facts_json = mt_sql_column(rows.statement, 2)};
        st = callback(context, &row, sqlite3_column_int64(rows.statement, 3), err);
    }
    return st;
}

mt_status mt_query_outcome_counts(mt_store *store, const mt_filter *filter, int64_t counts[MT_OUTCOME_KIND_COUNT], mt_error *err)
{
    mt_status st;
    memset(counts, 0, MT_OUTCOME_KIND_COUNT * sizeof *counts);
    mt_sql_args rows = mt_sql_query(store, "SELECT m.outcome, count(*) " SUBJECT_TABLES "CROSS JOIN measurement m ON m.subject_id = s.id WHERE "
                                    SUBJECT_FILTER "GROUP BY m.outcome", mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "count outcomes", &st, err)) {
        mt_outcome_kind kind;
        const char *name = mt_sql_column(rows.statement, 0);
        if (mt_outcome_from_name(name, &kind)) counts[kind] = sqlite3_column_int64(rows.statement, 1);
        else st = MT_FAIL(err, MT_ERR_DB, "%s: unknown outcome \"%s\"", store->path, name);
    }
    return st;
}

mt_status mt_query_subjects(mt_store *store, const mt_filter *filter, mt_query_subject_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT s.id, d.key, k.name, k.key, h.name, w.name, s.regime, s.origin, count(*) " SUBJECT_TABLES
                                    "CROSS JOIN measurement m ON m.subject_id = s.id WHERE " SUBJECT_FILTER
                                    "GROUP BY s.id ORDER BY d.key, k.name, k.key, h.key, w.key, s.regime, s.origin", mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read subjects", &st, err)) {
        mt_subject_info info = {.id = sqlite3_column_int64(rows.statement, 0), .measurements = sqlite3_column_int64(rows.statement, 8)};
        const char **texts[] = {&info.gpu_key, &info.kernel, &info.kernel_key, &info.shape, &info.workload, &info.l2, &info.origin};
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) *texts[i] = mt_sql_column(rows.statement, 1 + i);
        st = callback(context, &info, err);
    }
    return st;
}

mt_status mt_query_kernels(mt_store *store, mt_query_kernel_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT name, key FROM kernel ORDER BY id", MT_NO_IN, &st, err);
    while (mt_sql_each(store, &rows, "read kernels", &st, err)) st = callback(context, mt_sql_column(rows.statement, 0), mt_sql_column(rows.statement, 1), err);
    return st;
}

mt_status mt_query_programs(mt_store *store, const char *kernel, const char *key, char **json, mt_error *err)
{
    return mt_sql_one(store, "SELECT ifnull((SELECT spec_json FROM kernel WHERE name = ? AND key = ?), '{}')", "read a kernel", MT_IN(MT_TEXT(kernel), MT_TEXT(key)), MT_OUT(MT_TO_TEXT(json)), err);
}

mt_status mt_query_terms(mt_store *store, const char *kernel, const char *key, mt_kernel_terms *terms, mt_error *err)
{
    static const char sql[] = "SELECT ifnull(max(json_extract(json, '$.reference') = 'default'), 0), ifnull(max(json_extract(json, '$.per')), '') "
                              "FROM (SELECT CASE WHEN json_valid(spec_json) THEN spec_json ELSE '{}' END AS json FROM kernel WHERE name = ? AND key = ?)";
    int64_t is_by_default = 0;
    char *per = NULL;
    mt_status st = mt_sql_one(store, sql, "read a kernel's terms", MT_IN(MT_TEXT(kernel), MT_TEXT(key)), MT_OUT(MT_TO_INT(&is_by_default), MT_TO_TEXT(&per)), err);
    *terms = (mt_kernel_terms){.is_by_default = is_by_default != 0};
    if (st == MT_OK) snprintf(terms->per, sizeof terms->per, "%s", per);
    mt_free(per);
    return st;
}

mt_status mt_query_usual(mt_store *store, const char *kernel, const char *key, char **usual, mt_error *err)
{
    static const char sql[] = "SELECT ifnull(group_concat(CASE WHEN json_type(p.value, '$.default') = 'integer' AND json_extract(p.value, '$.default') >= 0 AND json_type(p.value, '$.no_default') IS NULL THEN " /* below 0: a stranger's, none */
                              "json_extract(p.value, '$.name') || '=' || json_extract(p.value, '$.values[' || json_extract(p.value, '$.default') || ']') END, ';'), '') "
                              "FROM kernel k, json_each(CASE WHEN json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, '$.params') p WHERE k.name = ? AND k.key = ? AND p.type = 'object'";
    return mt_sql_one(store, sql, "read a kernel's knobs", MT_IN(MT_TEXT(kernel), MT_TEXT(key)), MT_OUT(MT_TO_TEXT(usual)), err);
}

/* --- sessions ----------------------------------------------------------------------------------------------------------------------- */

static mt_status read_session(const mt_store *store, sqlite3_stmt *statement, mt_session_info *info, mt_error *err)
{
    int64_t *numbers[] = {&info->id, &info->started_unix_ms, &info->ended_unix_ms, &info->process_id, &info->seed, &info->worker_restarts, &info->evaluated,
                          &info->known, &info->failed};
    const char **texts[] = {&info->command, &info->host, &info->boot_id, &info->tool_version, &info->strategy, &info->space_path, &info->state};
    int column = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = sqlite3_column_int64(statement, column++);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = mt_sql_column(statement, column++);
    info->times_json = mt_sql_column_or_null(statement, column++);
    info->warnings = mt_sql_column_or_null(statement, column++);
    info->drift = mt_sql_column_real(statement, column + 1);
    info->job = mt_sql_column_or_null(statement, column + 2);
    info->plan = mt_sql_column_or_null(statement, column + 3);
    info->is_truncated = sqlite3_column_int(statement, column + 4) != 0;
    if (mt_origin_from_name(mt_sql_column(statement, column), &info->origin)) return MT_OK;
    return MT_FAIL(err, MT_ERR_DB, "%s: session %lld has the unknown origin \"%s\"", store->path, (long long)info->id,
                   mt_sql_column(statement, column));
}

mt_status mt_query_sessions(mt_store *store, mt_query_session_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT id, started_unix_ms, ended_unix_ms, process_id, seed, worker_restarts, "
                                    "CASE WHEN ended_unix_ms IS NULL THEN (SELECT count(*) FROM measurement m WHERE m.session_id = s.id AND " MT_IS_RUN("m") ") ELSE evaluated END, known, "
                                    "CASE WHEN ended_unix_ms IS NULL THEN (SELECT count(*) FROM measurement m WHERE m.session_id = s.id AND " MT_IS_RUN("m") " AND outcome NOT IN ('ok', 'censored', 'yardstick')) "
                                    "ELSE failed END, command, host, boot_id, tool_version, strategy, space_path, state, times_json, warnings, origin, drift, job, plan, truncated FROM session s ORDER BY id", MT_NO_IN, &st, err);
    while (mt_sql_each(store, &rows, "read sessions", &st, err)) {
        mt_session_info info = {0};
        st = read_session(store, rows.statement, &info, err);
        if (st == MT_OK) st = callback(context, &info, err);
    }
    return st;
}
