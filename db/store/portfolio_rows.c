#include "db/store/portfolio_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/answer.h"
#include "db/cells.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"

static double real_or_nan(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}

static void bind_group(mt_sql_args *args, const mt_portfolio_group *group)
{
    mt_sql_int(args, group->kernel);
    mt_sql_int(args, group->device);
    mt_sql_text(args, mt_l2_name(group->l2));
    mt_sql_text(args, mt_origin_name(group->origin));
}

/* ---- groups ---- */

static const char groups_sql[] =
    "SELECT s.kernel_id, s.device_id, s.regime, s.origin, d.key, k.name, k.key, count(DISTINCT s.shape_id) " SUBJECT_TABLES "JOIN best b ON b.subject_id = s.id WHERE " SUBJECT_FILTER
    "AND k.spec_json <> '{}' AND s.origin <> 'imported' GROUP BY s.kernel_id, s.device_id, s.regime, s.origin ORDER BY k.name, k.id, d.key, s.regime, s.origin";

mt_status mt_query_groups(mt_store *store, const mt_filter *filter, mt_query_group_callback callback, void *context, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, groups_sql, &statement, err));
    mt_sql_args args = mt_query_bind(statement, filter, false);
    while (mt_sql_next(store, &args, "list what is tuned", &st, err)) {
        mt_portfolio_group_info info = {.group = {.kernel = sqlite3_column_int64(statement, 0), .device = sqlite3_column_int64(statement, 1)}, .gpu_key = mt_sql_column(statement, 4),
                                        .kernel = mt_sql_column(statement, 5), .kernel_key = mt_sql_column(statement, 6), .shapes = sqlite3_column_int64(statement, 7)};
        info.group.l2 = strcmp(mt_sql_column(statement, 2), "warm") == 0 ? MT_L2_WARM : MT_L2_COLD;
        if (!mt_origin_from_name(mt_sql_column(statement, 3), &info.group.origin)) continue;
        MT_TRY(callback(context, &info, err));
    }
done:
    sqlite3_finalize(statement);
    return st;
}

/* ---- subjects and their times ---- */

mt_status mt_query_spec_digest(mt_store *store, int64_t kernel, char digest[MT_SPEC_DIGEST_SIZE], mt_error *err)
{
    char *spec;
    mt_status st = mt_sql_one(store, "SELECT spec_json FROM kernel WHERE id = ?", "read a kernel's expressions", MT_IN(MT_INT(kernel)), MT_OUT(MT_TO_TEXT(&spec)), err);
    snprintf(digest, MT_SPEC_DIGEST_SIZE, "%.8s", mt_hash_text(spec ? spec : "").hex);
    mt_free(spec);
    return st;
}

/* Of a row of subject s: not one that says other expressions excluded the variant, or that its compiler was killed; what is older counts then. `digest`: of today's expressions. */
#define AND_IS_OF_TODAY(row, digest) "AND (s.origin = 'recorded' OR " MT_IS_RUN(row) " OR " row ".spec_digest = " digest ") "

/* The default's time o beside the best's m; where it is latent, the least that it can be: an answer must not win by launch latency. */
#define DEFAULT_NS(latency) "CASE WHEN s.origin <> 'recorded' AND " MT_IS_LATENT("o", "m") " THEN max(m.median_ns, o.median_ns - " latency ") ELSE o.median_ns END"

static const char subjects_sql[] =
    "SELECT s.id, s.shape_id, s.workload_id, h.key, h.name, w.name, m.median_ns, o.outcome, CASE WHEN o.outcome IN ('ok', 'censored') THEN " DEFAULT_NS("?6") " END, "
    "(SELECT group_concat(json_extract(j.value, '$.kind')) FROM kernel k, json_each(CASE WHEN json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, '$.shape') j WHERE k.id = ?1), "
    "v.text, w.key FROM best b JOIN subject s ON s.id = b.subject_id JOIN measurement m ON m.id = b.measurement_id JOIN shape h ON h.id = s.shape_id "
    "JOIN workload w ON w.id = s.workload_id LEFT JOIN landmark l ON l.subject_id = s.id AND l.role = 'default' LEFT JOIN variant v ON v.id = l.variant_id "
    "LEFT JOIN measurement o ON o.id = (SELECT max(n.id) FROM measurement n WHERE n.subject_id = s.id AND n.variant_id = l.variant_id " AND_IS_OF_TODAY("n", "?5") ") "
    "WHERE s.kernel_id = ?1 AND s.device_id = ?2 AND s.regime = ?3 AND s.origin = ?4 AND m.median_ns > 0 ORDER BY s.id";

mt_status mt_query_portfolio_subjects(mt_store *store, const mt_portfolio_group *group, mt_query_portfolio_subject_callback callback, void *context, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    char digest[MT_SPEC_DIGEST_SIZE];
    MT_TRY(mt_query_spec_digest(store, group->kernel, digest, err));
    MT_TRY(mt_sql_prepare(store, subjects_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    bind_group(&args, group);
    mt_sql_text(&args, digest);
    mt_sql_real(&args, MT_EVENT_LATENCY_NS);
    while (mt_sql_next(store, &args, "list tuned shapes", &st, err)) {
        mt_portfolio_subject subject = {.id = sqlite3_column_int64(statement, 0), .shape = sqlite3_column_int64(statement, 1), .workload = sqlite3_column_int64(statement, 2),
            .shape_key = mt_sql_column(statement, 3), .shape_name = mt_sql_column(statement, 4), .workload_name = mt_sql_column(statement, 5), .workload_key = mt_sql_column(statement, 11),
            .best_ns = sqlite3_column_double(statement, 6), .default_outcome = mt_sql_column_or_null(statement, 7), .default_ns = NAN, .kinds = mt_sql_column(statement, 9),
            .default_variant = mt_sql_column_or_null(statement, 10)};
        if (subject.default_outcome) subject.default_ns = real_or_nan(statement, 8);
        MT_TRY(callback(context, &subject, err));
    }
done:
    sqlite3_finalize(statement);
    return st;
}

/* Bare columns beside max() come from the row that holds the maximum. */
static const char times_sql[] =
    "SELECT o.variant_id, max(o.id), o.outcome, o.median_ns FROM subject s JOIN measurement o ON o.subject_id = s.id WHERE s.id = ?1 " AND_IS_OF_TODAY("o", "?2") "AND NOT " MT_NEEDS_RETIMING("o", "?3") " GROUP BY o.variant_id";

mt_status mt_query_portfolio_times(mt_store *store, const mt_portfolio_group *group, int64_t subject, mt_query_portfolio_time_callback callback, void *context, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    char digest[MT_SPEC_DIGEST_SIZE];
    MT_TRY(mt_query_spec_digest(store, group->kernel, digest, err));
    MT_TRY(mt_sql_prepare(store, times_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, subject);
    mt_sql_text(&args, digest);
    mt_sql_real(&args, MT_EVENT_LATENCY_NS);
    while (mt_sql_next(store, &args, "read a shape's times", &st, err)) {
        mt_portfolio_time time = {.variant = sqlite3_column_int64(statement, 0), .measurement = sqlite3_column_int64(statement, 1), .median_ns = NAN};
        if (!mt_outcome_from_name(mt_sql_column(statement, 2), &time.kind)) continue;
        if (mt_outcome_may_win(time.kind)) time.median_ns = real_or_nan(statement, 3);
        MT_TRY(callback(context, &time, err));
    }
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_query_blocks(mt_store *store, int64_t measurement, double *blocks, mt_error *err)
{
    /* By their whole paths: an element of the list that is no JSON of its own, a text of somebody's file, would be an error. */
    static const char sql[] = "SELECT CASE WHEN count(*) = count(blocks) THEN total(blocks) END FROM (SELECT json_extract(m.launch_json, l.fullkey || '.grid[0]') * "
                              "json_extract(m.launch_json, l.fullkey || '.grid[1]') * json_extract(m.launch_json, l.fullkey || '.grid[2]') AS blocks "
                              "FROM measurement m, json_each(m.launch_json, '$.launches') l WHERE m.id = ? AND json_valid(m.launch_json))";
    return mt_sql_one(store, sql, "read a launch", MT_IN(MT_INT(measurement)), MT_OUT(MT_TO_REAL(blocks)), err);
}

mt_status mt_query_sm_count(mt_store *store, int64_t device, int64_t *count, mt_error *err)
{
    return mt_sql_one(store, "SELECT json_extract(facts_json, '$.sm_count') FROM device WHERE id = ? AND json_valid(facts_json)", "read a GPU's size", MT_IN(MT_INT(device)),
                      MT_OUT(MT_TO_INT(count)), err);
}

mt_status mt_query_expressions(mt_store *store, int64_t kernel, int64_t device, char **spec_json, char **facts_json, mt_error *err)
{
    static const char sql[] = "SELECT ifnull((SELECT spec_json FROM kernel WHERE id = ?), '{}'), ifnull((SELECT facts_json FROM device WHERE id = ?), '{}')";
    return mt_sql_one(store, sql, "read a kernel's expressions", MT_IN(MT_INT(kernel), MT_INT(device)), MT_OUT(MT_TO_TEXT(spec_json), MT_TO_TEXT(facts_json)), err);
}

mt_status mt_query_variant_text(mt_store *store, int64_t variant, char **text, mt_error *err)
{
    return mt_sql_one(store, "SELECT ifnull((SELECT text FROM variant WHERE id = ?), '')", "read a variant", MT_IN(MT_INT(variant)), MT_OUT(MT_TO_TEXT(text)), err);
}

mt_status mt_query_portfolio_limits(mt_store *store, const mt_portfolio_group *group, bool *is_asked, int64_t *max_count, double *within, mt_error *err)
{
    int64_t count;
    double factor;
    mt_status st = mt_sql_one(store, "SELECT is_asked, max_count, within FROM portfolio WHERE kernel_id = ?1 AND device_id = ?2 AND regime = ?3 AND origin = ?4 AND is_asked", "read the portfolio's limits",
                              MT_IN(MT_INT(group->kernel), MT_INT(group->device), MT_TEXT(mt_l2_name(group->l2)), MT_TEXT(mt_origin_name(group->origin))),
                              MT_OUT(MT_TO_BOOL(is_asked), MT_TO_INT(&count), MT_TO_REAL(&factor)), err);
    if (st != MT_OK || !*is_asked) return st;
    *max_count = count;
    *within = factor;
    return MT_OK;
}

/* ---- writing ---- */

static mt_status remove_group(mt_store *store, const mt_portfolio_group *group, mt_error *err)
{
#define OF_GROUP "IN (SELECT id FROM portfolio WHERE kernel_id = ?1 AND device_id = ?2 AND regime = ?3 AND origin = ?4)"
    static const char *const sqls[] = {"DELETE FROM main.portfolio_cell WHERE portfolio_id " OF_GROUP, "DELETE FROM main.portfolio_variant WHERE portfolio_id " OF_GROUP,
                                       "DELETE FROM main.portfolio_shape WHERE portfolio_id " OF_GROUP, "DELETE FROM main.portfolio WHERE id " OF_GROUP};
#undef OF_GROUP
    mt_status st = MT_OK;
    for (size_t i = 0; i < sizeof sqls / sizeof *sqls && st == MT_OK; i++) {
        sqlite3_stmt *statement = NULL;
        st = mt_sql_prepare(store, sqls[i], &statement, err);
        if (st != MT_OK) return st;
        mt_sql_args args = mt_sql_args_of(statement);
        bind_group(&args, group);
        st = mt_sql_run(store, &args, "renew the portfolio", err);
        sqlite3_finalize(statement);
    }
    return st;
}

static mt_status insert_row(mt_store *store, const mt_portfolio_group *group, const mt_portfolio_row *row, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, "INSERT INTO main.portfolio (kernel_id, device_id, regime, origin, is_asked, max_count, within, worst, unserved_count, is_exact, held_out_count, held_out_mean, "
                          "held_out_worst, rule_json, updated_unix_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    bind_group(&args, group);
    mt_sql_int(&args, row->is_asked);
    mt_sql_int(&args, row->max_count);
    mt_sql_real(&args, row->within);
    mt_sql_real(&args, row->worst);
    mt_sql_int(&args, row->unserved_count);
    mt_sql_int(&args, row->is_exact);
    mt_sql_int(&args, row->held_out_count);
    mt_sql_real(&args, row->held_out_mean);
    mt_sql_real(&args, row->held_out_worst);
    mt_sql_text(&args, row->rule_json);
    mt_sql_int(&args, mt_clock_unix_ms());
    MT_TRY(mt_sql_run(store, &args, "store a portfolio", err));
    *id = sqlite3_last_insert_rowid(store->db);
done:
    sqlite3_finalize(statement);
    return st;
}

/* The default's newest row beside the winner's, as subjects_sql reads them. */
static const char shape_sql[] =
    "INSERT INTO main.portfolio_shape SELECT ?1, s.id, s.workload_id, h.key, h.name, m.median_ns, CASE WHEN o.outcome IN ('ok', 'censored') THEN " DEFAULT_NS("?4") " END, o.outcome "
    "FROM best b JOIN subject s ON s.id = b.subject_id JOIN measurement m ON m.id = b.measurement_id JOIN shape h ON h.id = s.shape_id "
    "LEFT JOIN measurement o ON o.id = (SELECT max(n.id) FROM landmark l JOIN measurement n ON n.subject_id = l.subject_id AND n.variant_id = l.variant_id "
    "WHERE l.subject_id = s.id AND l.role = 'default' " AND_IS_OF_TODAY("n", "?3") ") WHERE s.id = ?2";

static mt_status insert_shapes(mt_store *store, const mt_portfolio_group *group, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st = MT_OK;
    char digest[MT_SPEC_DIGEST_SIZE];
    MT_TRY(mt_query_spec_digest(store, group->kernel, digest, err));
    for (size_t i = 0; i < portfolio->subject_count; i++) {
        sqlite3_stmt *statement;
        MT_TRY(mt_sql_cached_get(store, shape_sql, &statement, err));
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_int(&args, id);
        mt_sql_int(&args, portfolio->subjects[i]);
        mt_sql_text(&args, digest);
        mt_sql_real(&args, MT_EVENT_LATENCY_NS);
        MT_TRY(mt_sql_run(store, &args, "store a portfolio's shape", err));
    }
done:
    return st;
}

static mt_status insert_variants(mt_store *store, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < portfolio->variant_count; i++) {
        sqlite3_stmt *statement;
        MT_TRY(mt_sql_cached_get(store, "INSERT INTO main.portfolio_variant (portfolio_id, variant_id, position) VALUES (?, ?, ?)", &statement, err));
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_int(&args, id);
        mt_sql_int(&args, portfolio->variants[i].variant);
        mt_sql_int(&args, portfolio->variants[i].position);
        MT_TRY(mt_sql_run(store, &args, "store a portfolio's variant", err));
    }
done:
    return st;
}

static mt_status insert_cells(mt_store *store, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < portfolio->cell_count; i++) {
        sqlite3_stmt *statement;
        MT_TRY(mt_sql_cached_get(store, "INSERT INTO main.portfolio_cell SELECT ?, m.subject_id, m.variant_id, m.outcome, ?, m.id, m.toolchain_id, m.median_ns, m.low_ns, m.high_ns, "
                                 "m.norm_error, m.created_unix_ms, " MT_CARVEOUTS " FROM measurement m WHERE m.id = ?", &statement, err));
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_int(&args, id);
        mt_sql_real(&args, portfolio->cells[i].slowdown);
        mt_sql_int(&args, portfolio->cells[i].measurement);
        MT_TRY(mt_sql_run(store, &args, "store a portfolio's time", err));
    }
done:
    return st;
}

/* ---- cells as one blob (db/cells.h) ---- */

static void begin_blob(mt_strbuf *blob, const int64_t *variants, size_t count)
{
    int64_t listed = (int64_t)count;
    mt_strbuf_add_bytes(blob, &listed, sizeof listed);
    mt_strbuf_add_bytes(blob, variants, count * sizeof *variants);
}

/* What was gathered of one subject. */
static void add_subject(mt_strbuf *blob, int64_t subject, uint8_t *outcomes, size_t count, mt_strbuf *figures)
{
    mt_strbuf_add_bytes(blob, &subject, sizeof subject);
    mt_strbuf_add_bytes(blob, outcomes, mt_cells_padded(count));
    mt_strbuf_add_bytes(blob, mt_strbuf_text(figures), figures->length);
    memset(outcomes, MT_CELL_NONE, mt_cells_padded(count));
    mt_strbuf_clear(figures);
}

static mt_status gather_blob(mt_store *store, int64_t id, const int64_t *variants, size_t count, mt_strbuf *blob, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *rows = NULL;
    mt_strbuf figures = {0};
    mt_cell cell;
    uint8_t *outcomes = mt_alloc(mt_cells_padded(count), 1);
    int64_t subject = -1;
    bool has_row = false;
    memset(outcomes, MT_CELL_NONE, mt_cells_padded(count));
    begin_blob(blob, variants, count);
    MT_TRY(mt_sql_prepare(store, "SELECT " MT_CELL_COLUMNS " FROM portfolio_cell WHERE portfolio_id = ? ORDER BY subject_id, variant_id", &rows, err));
    mt_sql_args args = mt_sql_args_of(rows);
    mt_sql_int(&args, id);
    for (;;) {
        size_t at = 0;
        MT_TRY(mt_sql_row(store, &args, &has_row, "read a portfolio's times", err));
        if (!has_row) break;
        if (!mt_cell_read(rows, &cell)) continue;
        if (cell.subject != subject && subject >= 0) add_subject(blob, subject, outcomes, count, &figures);
        subject = cell.subject;
        while (at < count && variants[at] != cell.variant) at++;
        if (at == count) continue;
        outcomes[at] = cell.outcome;
        if (mt_cell_has_figures(cell.outcome)) mt_strbuf_add_bytes(&figures, &cell.figures, sizeof cell.figures);
    }
    if (subject >= 0) add_subject(blob, subject, outcomes, count, &figures);
done:
    sqlite3_finalize(rows);
    mt_strbuf_free(&figures);
    mt_free(outcomes);
    return st;
}

static int by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static mt_status insert_blob(mt_store *store, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *update = NULL;
    mt_strbuf blob = {0};
    int64_t *variants = mt_alloc(portfolio->variant_count + 1, sizeof *variants);
    for (size_t i = 0; i < portfolio->variant_count; i++) variants[i] = portfolio->variants[i].variant;
    qsort(variants, portfolio->variant_count, sizeof *variants, by_id);
    MT_TRY(gather_blob(store, id, variants, portfolio->variant_count, &blob, err));
    MT_TRY(mt_sql_prepare(store, "UPDATE main.portfolio SET cells = ? WHERE id = ?", &update, err));
    mt_sql_args args = mt_sql_args_of(update);
    mt_sql_blob(&args, blob.text, blob.length);
    mt_sql_int(&args, id);
    MT_TRY(mt_sql_run(store, &args, "store a portfolio's times", err));
done:
    sqlite3_finalize(update);
    mt_strbuf_free(&blob);
    mt_free(variants);
    return st;
}

mt_status mt_store_portfolio(mt_store *store, const mt_portfolio_group *group, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st;
    int64_t id = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = remove_group(store, group, err);
    if (st == MT_OK && portfolio) st = insert_row(store, group, &portfolio->row, &id, err);
    if (st == MT_OK && portfolio) st = insert_shapes(store, group, id, portfolio, err);
    if (st == MT_OK && portfolio) st = insert_variants(store, id, portfolio, err);
    if (st == MT_OK && portfolio) st = insert_cells(store, id, portfolio, err);
    if (st == MT_OK && portfolio) st = insert_blob(store, id, portfolio, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
