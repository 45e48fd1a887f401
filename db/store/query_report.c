/* Queries for reports and for people who name things. */
#include <math.h>
#include <string.h>

#include "db/store/current.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"

mt_filter_values mt_query_values(const mt_filter *filter)
{
    static const mt_filter all = {0};
    const mt_filter *f = filter ? filter : &all;
    return (mt_filter_values){{MT_TEXT(f->gpu), MT_TEXT(f->kernel), MT_TEXT(f->kernel_key), MT_TEXT(f->shape), MT_TEXT(f->shape_key), MT_TEXT(f->workload), MT_TEXT(f->workload_key),
                               MT_TEXT(f->origin ? mt_origin_name(*f->origin) : NULL), MT_TEXT(f->l2 ? mt_l2_name(*f->l2) : NULL), {.type = MT_SQL_END}}};
}

static const char tuned_sql[] =
    "SELECT d.key, d.name, k.name, k.key, h.name, w.name, s.regime, s.origin, t.arch, group_concat(DISTINCT m.session_id), t.nvrtc_version, t.driver_version, "
    "count(DISTINCT CASE WHEN " MT_IS_RUN("m") " THEN m.variant_id END), sum(m.outcome = 'ok'), min(m.created_unix_ms), max(m.created_unix_ms) " SUBJECT_TABLES
    "CROSS JOIN measurement m ON m.subject_id = s.id JOIN toolchain t ON t.id = m.toolchain_id WHERE " SUBJECT_FILTER
    "GROUP BY s.id, t.id " SUBJECT_ORDER ", t.id";

mt_status mt_query_tuned(mt_store *store, const mt_filter *filter, mt_query_tuned_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, tuned_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read what was tuned", &st, err)) {
        mt_tuned_info info;
        const char **texts[] = {&info.gpu_key, &info.gpu_name, &info.kernel, &info.kernel_key, &info.shape, &info.workload, &info.l2, &info.origin, &info.arch, &info.sessions};
        int64_t *numbers[] = {&info.nvrtc_version, &info.driver_version, &info.variants, &info.ok, &info.first_unix_ms, &info.last_unix_ms};
        int column = 0;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = mt_sql_column(rows.statement, column++);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = sqlite3_column_int64(rows.statement, column++);
        st = callback(context, &info, err);
    }
    return st;
}

/* Bare columns beside min() come from the row that holds the minimum; group_concat keeps the order of its rows. Of what is a batch, a variant's fingerprints of rows are compared as far as they go: the longest one
 * of a batch stands for all, unless one of them is not its beginning. A class costs what the fastest row of each subject does that has its bits, also those of variants that were not measured on every subject. */
#define GROUP "kernel, device, regime, origin"
static const char bits_sql[] =
    "WITH timed AS (SELECT s.kernel_id AS kernel, s.device_id AS device, s.regime AS regime, s.origin AS origin, s.id AS subject, m.variant_id AS variant, m.bits AS bits, m.row_bits AS row_bits, "
    "m.median_ns / min(m.median_ns) OVER (PARTITION BY s.id) AS slowdown " SUBJECT_TABLES "CROSS JOIN current_result c ON c.subject_id = s.id " MT_JOIN_CURRENT("c.measurement_id")
    "WHERE m.outcome = 'ok' AND m.median_ns > 0 AND " SUBJECT_FILTER "), "
    "batched AS (SELECT *, first_value(row_bits) OVER (PARTITION BY " GROUP ", variant, substr(row_bits, 1, 16) ORDER BY length(row_bits) DESC, subject) AS longest FROM timed WHERE row_bits IS NOT NULL), "
    "printed AS (SELECT " GROUP ", subject, variant, slowdown, 0 AS of_rows, bits AS print FROM timed WHERE bits IS NOT NULL "
    "UNION ALL SELECT " GROUP ", subject, variant, slowdown, 1, CASE WHEN row_bits = substr(longest, 1, length(row_bits)) THEN longest END FROM batched), "
    "whole AS (SELECT " GROUP ", of_rows, count(DISTINCT subject) AS subjects FROM printed GROUP BY " GROUP ", of_rows), "
    "member AS (SELECT " GROUP ", of_rows, variant, group_concat(print) AS signature, count(print) AS known, max(slowdown) AS worst "
    "FROM (SELECT * FROM printed ORDER BY " GROUP ", of_rows, variant, subject) GROUP BY " GROUP ", of_rows, variant), "
    "class AS (SELECT " GROUP ", of_rows, subjects, count(*) AS variants, min(worst), variant FROM member JOIN whole USING (" GROUP ", of_rows) "
    "WHERE known = subjects GROUP BY " GROUP ", of_rows, signature) "
    "SELECT d.key, d.name, k.name, k.key, x.regime, x.origin, v.text, x.of_rows, x.subjects, x.variants, (SELECT min(t.slowdown) FROM timed t WHERE t.subject = p.subject AND "
    "CASE x.of_rows WHEN 0 THEN t.bits = p.print ELSE t.row_bits = substr(p.print, 1, length(t.row_bits)) END) "
    "FROM class x JOIN printed p USING (" GROUP ", of_rows, variant) JOIN device d ON d.id = x.device JOIN kernel k ON k.id = x.kernel JOIN variant v ON v.id = x.variant "
    "ORDER BY k.name, k.id, d.key, x.regime, x.origin, x.of_rows, v.text";

mt_status mt_query_bits(mt_store *store, const mt_filter *filter, mt_query_bits_callback callback, void *context, mt_error *err)
{
    mt_status st;
    double logs = 0, worst = 0;
    int64_t seen = 0;
    mt_sql_args rows = mt_sql_query(store, bits_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read fingerprints", &st, err)) {
        const double slowdown = sqlite3_column_double(rows.statement, 10);
        mt_bits_class row = {.is_of_rows = sqlite3_column_int(rows.statement, 7), .subjects = sqlite3_column_int64(rows.statement, 8), .variants = sqlite3_column_int64(rows.statement, 9)};
        const char **texts[] = {&row.gpu_key, &row.gpu_name, &row.kernel, &row.kernel_key, &row.l2, &row.origin, &row.member};
        logs += log(slowdown);
        if (slowdown > worst) worst = slowdown;
        if (++seen < row.subjects) continue; /* a row for each subject */
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) *texts[i] = mt_sql_column(rows.statement, i);
        row.mean = exp(logs / (double)seen);
        row.worst = worst;
        logs = worst = 0;
        seen = 0;
        st = callback(context, &row, err);
    }
    return st;
}

mt_status mt_query_is_cut_short(mt_store *store, const mt_filter *filter, bool *is_cut_short, mt_error *err)
{
    return mt_sql_one(store, "SELECT n.state IN ('running', 'interrupted') AND coalesce(b.updated_unix_ms, 0) <= coalesce(n.ended_unix_ms, m.created_unix_ms) " SUBJECT_TABLES
                      "CROSS JOIN measurement m ON m.subject_id = s.id JOIN session n ON n.id = m.session_id LEFT JOIN best b ON b.subject_id = s.id WHERE " SUBJECT_FILTER "ORDER BY m.id DESC LIMIT 1", "read how a session ended", mt_query_values(filter).in, MT_OUT(MT_TO_BOOL(is_cut_short)), err);
}

mt_status mt_query_comparison_points(mt_store *store, int64_t measurement, double *default_ns, double *baseline_ns, size_t *count, mt_error *err)
{
    mt_status st;
    *default_ns = *baseline_ns = NAN;
    *count = 0;
    mt_sql_args rows = mt_sql_query(store, "SELECT l.role, CASE m.outcome WHEN 'ok' THEN m.median_ns END FROM landmark l LEFT JOIN current_result c ON c.subject_id = l.subject_id AND c.variant_id = l.variant_id "
                                    "LEFT " MT_JOIN_CURRENT("c.newest_id") "WHERE l.subject_id = (SELECT subject_id FROM measurement WHERE id = ?)", MT_IN(MT_INT(measurement)), &st, err);
    while (mt_sql_each(store, &rows, "read what is compared with", &st, err)) {
        ++*count;
        if (sqlite3_column_type(rows.statement, 1) != SQLITE_FLOAT) continue;
        *(strcmp(mt_sql_column(rows.statement, 0), "default") == 0 ? default_ns : baseline_ns) = sqlite3_column_double(rows.statement, 1);
    }
    return st;
}

mt_status mt_query_yardsticks(mt_store *store, int64_t measurement, mt_query_yardstick_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT v.text, m.median_ns FROM current_result c " MT_JOIN_CURRENT("c.measurement_id") "JOIN variant v ON v.id = m.variant_id WHERE m.outcome = 'yardstick' "
                                    "AND m.median_ns > 0 AND c.subject_id = (SELECT subject_id FROM measurement WHERE id = ?) ORDER BY m.median_ns, v.text", MT_IN(MT_INT(measurement)), &st, err);
    while (mt_sql_each(store, &rows, "read yardsticks", &st, err)) st = callback(context, mt_sql_column(rows.statement, 0), sqlite3_column_double(rows.statement, 1), err);
    return st;
}

mt_status mt_query_shapes(mt_store *store, mt_query_shape_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT k.name, k.key, h.name, h.key, (SELECT group_concat(json_extract(p.value, '$.kind')) FROM json_each(CASE WHEN "
                                    "json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, '$.shape') p WHERE p.type = 'object') FROM shape h JOIN kernel k ON k.id = h.kernel_id "
                                    "ORDER BY h.id", MT_NO_IN, &st, err);
    while (mt_sql_each(store, &rows, "read shapes", &st, err)) {
        mt_shape_info info = {mt_sql_column(rows.statement, 0), mt_sql_column(rows.statement, 1), mt_sql_column(rows.statement, 2), mt_sql_column(rows.statement, 3),
                              mt_sql_column_or_null(rows.statement, 4)};
        st = callback(context, &info, err);
    }
    return st;
}

static const char codeless_sql[] =
    "SELECT s.id, t.nvrtc_version, t.driver_version, d.key, d.name, d.facts_json, k.name, k.key, h.key, w.key, v.text, t.arch, "
    "EXISTS (SELECT 1 FROM cubin c WHERE c.hash = a.cubin_hash AND c.encoding = 'raw'), (SELECT m.cubin_hash FROM measurement m WHERE m.id = a.measurement_id) " SUBJECT_TABLES
    "CROSS JOIN answer a ON a.subject_id = s.id JOIN variant v ON v.id = a.variant_id JOIN toolchain t ON t.id = a.toolchain_id WHERE " SUBJECT_FILTER
    "ORDER BY k.name, k.key, d.key, t.arch, h.key, w.key, s.id";

mt_status mt_query_codeless(mt_store *store, const mt_filter *filter, mt_query_codeless_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, codeless_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read winners", &st, err)) {
        mt_codeless_row row = {.subject = sqlite3_column_int64(rows.statement, 0), .nvrtc_version = sqlite3_column_int64(rows.statement, 1), .driver_version = sqlite3_column_int64(rows.statement, 2),
                               .has_code = sqlite3_column_int(rows.statement, 12), .cubin_hash = mt_sql_column(rows.statement, 13)};
        const char **texts[] = {&row.gpu_key, &row.gpu_name, &row.facts_json, &row.kernel, &row.kernel_key, &row.shape_key, &row.workload_key, &row.variant, &row.arch};
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) *texts[i] = mt_sql_column(rows.statement, 3 + i);
        st = callback(context, &row, err);
    }
    return st;
}
