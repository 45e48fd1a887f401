/* Queries for reports and for people who name things. */
#include <math.h>
#include <string.h>

#include "db/store/current.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"

mt_sql_args mt_query_bind(sqlite3_stmt *statement, const mt_filter *filter, bool with_samples)
{
    static const mt_filter all = {0};
    if (!filter) filter = &all;
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, filter->gpu);
    mt_sql_text(&args, filter->kernel);
    mt_sql_text(&args, filter->kernel_key);
    mt_sql_text(&args, filter->shape);
    mt_sql_text(&args, filter->shape_key);
    mt_sql_text(&args, filter->workload);
    mt_sql_text(&args, filter->workload_key);
    mt_sql_text(&args, filter->origin ? mt_origin_name(*filter->origin) : NULL);
    mt_sql_text(&args, filter->l2 ? mt_l2_name(*filter->l2) : NULL);
    if (with_samples) mt_sql_int(&args, filter->with_samples);
    return args;
}

static const char tuned_sql[] =
    "SELECT d.key, d.name, k.name, k.key, h.name, w.name, s.regime, s.origin, t.arch, group_concat(DISTINCT m.session_id), t.nvrtc_version, t.driver_version, "
    "count(DISTINCT m.variant_id), sum(m.outcome = 'ok'), min(m.created_unix_ms), max(m.created_unix_ms) " SUBJECT_TABLES
    "CROSS JOIN measurement m ON m.subject_id = s.id JOIN toolchain t ON t.id = m.toolchain_id WHERE " SUBJECT_FILTER
    "GROUP BY s.id, t.id ORDER BY d.key, k.name, k.id, h.key, w.key, s.regime, s.origin, t.id";

mt_status mt_query_tuned(mt_store *store, const mt_filter *filter, mt_query_tuned_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    MT_TRY(mt_sql_prepare(store, tuned_sql, &statement, err));
    mt_sql_args args = mt_query_bind(statement, filter, false);
    while (mt_sql_next(store, &args, "read what was tuned", &st, err)) {
        mt_tuned_info info;
        const char **texts[] = {&info.gpu_key, &info.gpu_name, &info.kernel, &info.kernel_key, &info.shape, &info.workload, &info.l2, &info.origin, &info.arch, &info.sessions};
        int64_t *numbers[] = {&info.nvrtc_version, &info.driver_version, &info.variants, &info.ok, &info.first_unix_ms, &info.last_unix_ms};
        int column = 0;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = mt_sql_column(statement, column++);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = sqlite3_column_int64(statement, column++);
        st = callback(context, &info, err);
    }
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_query_comparison_points(mt_store *store, int64_t measurement, double *default_ns, double *baseline_ns, size_t *count, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    *default_ns = *baseline_ns = NAN;
    *count = 0;
    MT_TRY(mt_sql_prepare(store, "SELECT l.role, CASE m.outcome WHEN 'ok' THEN m.median_ns END FROM landmark l LEFT JOIN current_result c ON c.subject_id = l.subject_id AND c.variant_id = l.variant_id "
                          "LEFT " MT_JOIN_CURRENT("c.newest_id") "WHERE l.subject_id = (SELECT subject_id FROM measurement WHERE id = ?)",
                          &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, measurement);
    while (mt_sql_next(store, &args, "read what is compared with", &st, err)) {
        ++*count;
        if (sqlite3_column_type(statement, 1) != SQLITE_FLOAT) continue;
        *(strcmp(mt_sql_column(statement, 0), "default") == 0 ? default_ns : baseline_ns) = sqlite3_column_double(statement, 1);
    }
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_query_yardsticks(mt_store *store, int64_t measurement, mt_query_yardstick_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    MT_TRY(mt_sql_prepare(store, "SELECT v.text, m.median_ns FROM current_result c " MT_JOIN_CURRENT("c.measurement_id") "JOIN variant v ON v.id = m.variant_id WHERE m.outcome = 'yardstick' "
                          "AND m.median_ns > 0 AND c.subject_id = (SELECT subject_id FROM measurement WHERE id = ?) ORDER BY m.median_ns, v.text", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, measurement);
    while (mt_sql_next(store, &args, "read yardsticks", &st, err)) st = callback(context, mt_sql_column(statement, 0), sqlite3_column_double(statement, 1), err);
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_query_shapes(mt_store *store, mt_query_shape_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    MT_TRY(mt_sql_prepare(store, "SELECT k.name, k.key, h.name, h.key, (SELECT group_concat(json_extract(p.value, '$.kind')) FROM json_each(CASE WHEN "
                          "json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, '$.shape') p WHERE p.type = 'object') FROM shape h JOIN kernel k ON k.id = h.kernel_id "
                          "ORDER BY h.id", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    while (mt_sql_next(store, &args, "read shapes", &st, err)) {
        mt_shape_info info = {mt_sql_column(statement, 0), mt_sql_column(statement, 1), mt_sql_column(statement, 2), mt_sql_column(statement, 3),
                              mt_sql_column_or_null(statement, 4)};
        st = callback(context, &info, err);
    }
done:
    sqlite3_finalize(statement);
    return st;
}

static const char codeless_sql[] =
    "SELECT s.id, t.nvrtc_version, t.driver_version, d.key, d.name, d.facts_json, k.name, k.key, h.key, w.key, v.text, t.arch, "
    "EXISTS (SELECT 1 FROM cubin c WHERE c.hash = a.cubin_hash AND c.encoding = 'raw'), (SELECT m.cubin_hash FROM measurement m WHERE m.id = a.measurement_id) " SUBJECT_TABLES
    "CROSS JOIN answer a ON a.subject_id = s.id JOIN variant v ON v.id = a.variant_id JOIN toolchain t ON t.id = a.toolchain_id WHERE " SUBJECT_FILTER
    "ORDER BY k.name, k.key, d.key, t.arch, h.key, w.key, s.id";

mt_status mt_query_codeless(mt_store *store, const mt_filter *filter, mt_query_codeless_callback callback, void *context, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st;
    MT_TRY(mt_sql_prepare(store, codeless_sql, &statement, err));
    mt_sql_args args = mt_query_bind(statement, filter, false);
    while (mt_sql_next(store, &args, "read winners", &st, err)) {
        mt_codeless_row row = {.subject = sqlite3_column_int64(statement, 0), .nvrtc_version = sqlite3_column_int64(statement, 1), .driver_version = sqlite3_column_int64(statement, 2),
                               .has_code = sqlite3_column_int(statement, 12), .cubin_hash = mt_sql_column(statement, 13)};
        const char **texts[] = {&row.gpu_key, &row.gpu_name, &row.facts_json, &row.kernel, &row.kernel_key, &row.shape_key, &row.workload_key, &row.variant, &row.arch};
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) *texts[i] = mt_sql_column(statement, 3 + i);
        st = callback(context, &row, err);
    }
done:
    sqlite3_finalize(statement);
    return st;
}
