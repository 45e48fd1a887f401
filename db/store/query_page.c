#include "db/store/query_page.h"

#include <math.h>

#include "db/store/query_internal.h"

#define NAMES "d.key, d.name, k.name, k.key, h.name, h.key, w.name, w.key, s.regime, s.origin, "
enum { NAME_COUNT = 10 };

static mt_subject_names read_names(sqlite3_stmt *statement)
{
    mt_subject_names names;
    const char **texts[NAME_COUNT] = {&names.gpu_key, &names.gpu_name, &names.kernel, &names.kernel_key, &names.shape, &names.shape_key, &names.workload, &names.workload_key,
                                      &names.l2, &names.origin};
    for (int i = 0; i < NAME_COUNT; i++) *texts[i] = mt_sql_column(statement, i);
    return names;
}

/* ---- drift references ---- */

static mt_drift_info read_drift(sqlite3_stmt *statement)
{
    return (mt_drift_info){.subject = read_names(statement), .session = sqlite3_column_int64(statement, NAME_COUNT), .created_unix_ms = sqlite3_column_int64(statement, NAME_COUNT + 1),
                                 .variant = mt_sql_column(statement, NAME_COUNT + 2), .median_ns = mt_sql_column_real(statement, NAME_COUNT + 3), .low_ns = mt_sql_column_real(statement, NAME_COUNT + 4),
                                 .high_ns = mt_sql_column_real(statement, NAME_COUNT + 5), .sm_mhz = mt_sql_column_real(statement, NAME_COUNT + 6)};
}

mt_status mt_query_drift(mt_store *store, const mt_filter *filter, mt_query_drift_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT " NAMES "a.session_id, a.created_unix_ms, v.text, a.median_ns, a.low_ns, a.high_ns, a.sm_mhz " SUBJECT_TABLES
                                    "CROSS JOIN anchor a ON a.subject_id = s.id JOIN variant v ON v.id = a.variant_id WHERE " SUBJECT_FILTER "ORDER BY a.id", mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read times of drift references", &st, err)) {
        const mt_drift_info info = read_drift(rows.statement);
        st = callback(context, &info, err);
    }
    return st;
}

/* ---- what constraints cut ---- */

mt_status mt_query_pruned(mt_store *store, const mt_filter *filter, mt_query_pruned_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT " NAMES "p.constraint_name, max(p.why), max(p.point_count) " SUBJECT_TABLES "CROSS JOIN pruned p ON p.subject_id = s.id WHERE " SUBJECT_FILTER
                                    "GROUP BY s.id, p.constraint_name ORDER BY d.key, k.name, k.id, h.key, w.key, s.regime, s.origin, p.constraint_name", mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read what constraints exclude", &st, err)) {
        const mt_pruned_info info = {.subject = read_names(rows.statement), .constraint = mt_sql_column(rows.statement, NAME_COUNT), .why = mt_sql_column(rows.statement, NAME_COUNT + 1),
                                     .points = sqlite3_column_int64(rows.statement, NAME_COUNT + 2)};
        st = callback(context, &info, err);
    }
    return st;
}

/* ---- JSON ---- */

static void add_launch(sqlite3_stmt *statement, mt_strbuf *text)
{
    static const struct { const char *name, *unit; } parts[] = {{"", ""}, {"grid ", ""}, {"block ", ""}, {"cluster ", ""}, {"smem ", " B"}, {"carveout ", " %"}, {"cooperative ", ""}, {"programmatic ", ""}};
    if (text->length) mt_strbuf_add_char(text, '\n');
    for (int i = 0; i < (int)(sizeof parts / sizeof *parts); i++) {
        const char *value = mt_sql_column_or_null(statement, i);
        if (value) mt_strbuf_addf(text, "%s%s%s%s", i ? "  " : "", parts[i].name, value, parts[i].unit);
    }
}

mt_status mt_query_launch_text(mt_store *store, int64_t measurement, mt_strbuf *text, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT json_extract(l.value, '$.entry'), trim(json_extract(l.value, '$.grid'), '[]'), trim(json_extract(l.value, '$.block'), '[]'), "
                                    "trim(json_extract(l.value, '$.cluster'), '[]'), json_extract(l.value, '$.smem'), nullif(json_extract(l.value, '$.carveout'), -1), json_extract(l.value, '$.cooperative'), "
                                    "json_extract(l.value, '$.programmatic') FROM measurement m JOIN json_each(CASE WHEN json_valid(m.launch_json) THEN m.launch_json ELSE '{}' END, '$.launches') l "
                                    "WHERE m.id = ? AND l.type = 'object'", MT_IN(MT_INT(measurement)), &st, err);
    while (mt_sql_each(store, &rows, "read launches", &st, err)) add_launch(rows.statement, text);
    return st;
}

mt_status mt_query_default_variant(mt_store *store, int64_t measurement, mt_strbuf *text, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT v.text FROM landmark l JOIN variant v ON v.id = l.variant_id WHERE l.role = 'default' AND l.subject_id = (SELECT subject_id FROM measurement WHERE id = ?)",
                                    MT_IN(MT_INT(measurement)), &st, err);
    while (mt_sql_each(store, &rows, "read the default", &st, err)) mt_strbuf_add(text, mt_sql_column(rows.statement, 0));
    return st;
}

mt_status mt_query_numbers(mt_store *store, const char *json, mt_query_number_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT key, value FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '{}' END) WHERE type IN ('integer', 'real') AND typeof(key) = 'text'",
                                    MT_IN(MT_TEXT(json)), &st, err);
    while (mt_sql_each(store, &rows, "read numbers", &st, err)) st = callback(context, mt_sql_column(rows.statement, 0), sqlite3_column_double(rows.statement, 1), err);
    return st;
}

/* ---- portfolios ---- */

static mt_portfolio_info read_portfolio(sqlite3_stmt *statement)
{
    mt_portfolio_info info;
    int column = 0;
    const char **texts[] = {&info.gpu_key, &info.gpu_name, &info.kernel, &info.kernel_key, &info.l2, &info.origin};
    int64_t *counts[] = {&info.id, &info.shapes, &info.members, &info.max_count, &info.unserved, &info.apart, &info.held_out, &info.updated_unix_ms};
    double *factors[] = {&info.within, &info.worst, &info.held_out_mean, &info.held_out_worst};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = mt_sql_column(statement, column++);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = sqlite3_column_int64(statement, column++);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) *factors[i] = mt_sql_column_real(statement, column++);
    return info;
}

/* Shapes on which no member has a time with every workload that is within the portfolio's factor of that workload's best. */
#define APART \
    "(SELECT count(DISTINCT shape_key) FROM portfolio_shape WHERE portfolio_id = p.id) - (SELECT count(DISTINCT shape_key) FROM (SELECT s.shape_key FROM portfolio_shape s " \
    "JOIN portfolio_variant v ON v.portfolio_id = s.portfolio_id AND v.position > 0 LEFT JOIN portfolio_cell c ON c.portfolio_id = s.portfolio_id AND c.subject_id = s.subject_id " \
    "AND c.variant_id = v.variant_id WHERE s.portfolio_id = p.id GROUP BY s.shape_key, v.variant_id HAVING count(c.slowdown) = count(*) AND max(c.slowdown) <= p.within + 1e-8))"

mt_status mt_query_portfolios(mt_store *store, const mt_filter *filter, mt_query_portfolio_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT d.key, d.name, k.name, k.key, p.regime, p.origin, p.id, (SELECT count(DISTINCT shape_key) FROM portfolio_shape WHERE portfolio_id = p.id), "
                                    "(SELECT count(*) FROM portfolio_variant WHERE portfolio_id = p.id AND position > 0), p.max_count, p.unserved_count, " APART ", p.held_out_count, p.updated_unix_ms, "
                                    "p.within, p.worst, p.held_out_mean, p.held_out_worst FROM portfolio p JOIN device d ON d.id = p.device_id JOIN kernel k ON k.id = p.kernel_id "
                                    "WHERE (?1 IS NULL OR mt_device_matches(?1, d.key, d.name)) AND (?2 IS NULL OR k.name = ?2) AND " MT_KEY_BEGINS("?3") " AND ?4 IS ?4 AND ?5 IS ?5 "
                                    "AND ?6 IS ?6 AND ?7 IS ?7 AND (?8 IS NULL OR p.origin = ?8) AND (?9 IS NULL OR p.regime = ?9) ORDER BY k.name, k.id, d.key, p.regime, p.origin",
                                    mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read portfolios", &st, err)) {
        const mt_portfolio_info info = read_portfolio(rows.statement);
        st = callback(context, &info, err);
    }
    return st;
}

static mt_covered_info read_covered(sqlite3_stmt *statement)
{
    return (mt_covered_info){.shape = mt_sql_column(statement, 0), .workload = mt_sql_column(statement, 1), .default_outcome = mt_sql_column_or_null(statement, 2),
                             .position = sqlite3_column_int64(statement, 3), .best_ns = mt_sql_column_real(statement, 4), .slowdown = mt_sql_column_real(statement, 5),
                             .default_slowdown = mt_sql_column_real(statement, 6)};
}

mt_status mt_query_covered(mt_store *store, int64_t portfolio, mt_query_covered_callback callback, void *context, mt_error *err)
{
    mt_status st;
    /* Beside a bare min() SQLite takes the other columns of the row that has it. */
    mt_sql_args rows = mt_sql_query(store, "SELECT p.shape_name, w.name, p.default_outcome, coalesce(c.position, 0), p.best_ns, c.slowdown, p.default_ns / p.best_ns FROM portfolio_shape p "
                                    "JOIN workload w ON w.id = p.workload_id LEFT JOIN (SELECT c.subject_id, v.position, min(c.slowdown) slowdown FROM portfolio_cell c JOIN portfolio_variant v "
                                    "ON v.portfolio_id = c.portfolio_id AND v.variant_id = c.variant_id AND v.position > 0 WHERE c.portfolio_id = ?1 AND c.slowdown IS NOT NULL GROUP BY c.subject_id) c "
                                    "ON c.subject_id = p.subject_id WHERE p.portfolio_id = ?1 ORDER BY p.shape_key, w.name", MT_IN(MT_INT(portfolio)), &st, err);
    while (mt_sql_each(store, &rows, "read what a portfolio covers", &st, err)) {
        const mt_covered_info info = read_covered(rows.statement);
        st = callback(context, &info, err);
    }
    return st;
}

/* How a member did where it has a time. */
static mt_status add_times(mt_store *store, int64_t portfolio, int64_t variant, mt_member_info *info, mt_error *err)
{
    static const char sql[] = "SELECT slowdown FROM portfolio_cell WHERE portfolio_id = ? AND variant_id = ? AND slowdown IS NOT NULL";
    mt_status st;
    double log_sum = 0;
    mt_sql_args cells = mt_sql_query(store, sql, MT_IN(MT_INT(portfolio), MT_INT(variant)), &st, err);
    while (mt_sql_each(store, &cells, "read a member's times", &st, err)) {
        double slowdown = sqlite3_column_double(cells.statement, 0);
        if (!(slowdown > 0)) continue;
        info->measured++;
        log_sum += log(slowdown);
        info->worst = fmax(info->worst, slowdown);
    }
    if (info->measured) info->mean = exp(log_sum / (double)info->measured);
    return st;
}

mt_status mt_query_members(mt_store *store, int64_t portfolio, mt_query_member_callback callback, void *context, mt_error *err)
{
    static const char sql[] = "SELECT p.position, v.id, v.text FROM portfolio_variant p JOIN variant v ON v.id = p.variant_id WHERE p.portfolio_id = ? AND p.position > 0 ORDER BY p.position";
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, sql, MT_IN(MT_INT(portfolio)), &st, err);
    while (mt_sql_each(store, &rows, "read a portfolio's members", &st, err)) {
        mt_member_info info = {.position = sqlite3_column_int64(rows.statement, 0), .variant = mt_sql_column(rows.statement, 2), .mean = NAN, .worst = NAN};
        st = add_times(store, portfolio, sqlite3_column_int64(rows.statement, 1), &info, err);
        if (st == MT_OK) st = callback(context, &info, err);
    }
    return st;
}
