#include "db/store/portfolio_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/cells.h"
#include "db/store/current.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"

/* ?1 to ?4 of a statement on a group. */
#define GROUP(group) MT_INT((group)->kernel), MT_INT((group)->device), MT_TEXT(mt_l2_name((group)->l2)), MT_TEXT(mt_origin_name((group)->origin))

/* ---- groups ---- */

static const char groups_sql[] =
    "SELECT s.kernel_id, s.device_id, s.regime, s.origin, d.key, k.name, k.key, count(DISTINCT s.shape_id) " SUBJECT_TABLES "JOIN best b ON b.subject_id = s.id WHERE " SUBJECT_FILTER
    "AND k.spec_json <> '{}' AND s.origin <> 'imported' GROUP BY s.kernel_id, s.device_id, s.regime, s.origin ORDER BY k.name, k.id, d.key, s.regime, s.origin";

mt_status mt_query_groups(mt_store *store, const mt_filter *filter, mt_query_group_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, groups_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "list what is tuned", &st, err)) {
        mt_portfolio_group_info info = {.group = {.kernel = sqlite3_column_int64(rows.statement, 0), .device = sqlite3_column_int64(rows.statement, 1)}, .gpu_key = mt_sql_column(rows.statement, 4),
                                        .kernel = mt_sql_column(rows.statement, 5), .kernel_key = mt_sql_column(rows.statement, 6), .shapes = sqlite3_column_int64(rows.statement, 7)};
        info.group.l2 = strcmp(mt_sql_column(rows.statement, 2), "warm") == 0 ? MT_L2_WARM : MT_L2_COLD;
        if (!mt_origin_from_name(mt_sql_column(rows.statement, 3), &info.group.origin)) continue;
        st = callback(context, &info, err);
    }
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

/* The measurement that counts of current result c of subject s: its newest, unless other expressions than today's excluded the variant, or its compiler was killed. `digest`: of today's. */
#define OF_TODAY(digest) "CASE WHEN s.origin = 'recorded' OR (SELECT spec_digest FROM measurement WHERE id = c.newest_id) = " digest " THEN c.newest_id ELSE c.measurement_id END"
#define LEFT_JOIN_DEFAULT(digest) \
    "LEFT JOIN landmark l ON l.subject_id = s.id AND l.role = 'default' LEFT JOIN current_result c ON c.subject_id = l.subject_id AND c.variant_id = l.variant_id " \
    "LEFT JOIN measurement o ON o.id = " OF_TODAY(digest) " AND o.subject_id = c.subject_id AND o.variant_id = c.variant_id "

/* The default's time o beside the best's m; where it is latent, the least that it can be: an answer must not win by launch latency. */
#define DEFAULT_NS(latency) "CASE WHEN s.origin <> 'recorded' AND " MT_IS_LATENT("o", "m") " THEN max(m.median_ns, o.median_ns - " latency ") ELSE o.median_ns END"

/* A member of each of the kernel's shape values, between commas. */
#define SHAPE_VALUES(member) \
    "(SELECT group_concat(json_extract(j.value, '$." member "')) FROM kernel k, json_each(CASE WHEN json_valid(k.spec_json) THEN k.spec_json ELSE '{}' END, '$.shape') j WHERE k.id = ?1)"

static const char subjects_sql[] =
    "SELECT s.id, s.shape_id, s.workload_id, h.key, h.name, w.name, m.median_ns, o.outcome, CASE WHEN o.outcome IN ('ok', 'censored') THEN " DEFAULT_NS("?6") " END, "
    SHAPE_VALUES("kind") ", v.text, w.key, " SHAPE_VALUES("name") " FROM best b JOIN subject s ON s.id = b.subject_id JOIN measurement m ON m.id = b.measurement_id JOIN shape h ON h.id = s.shape_id "
    "JOIN workload w ON w.id = s.workload_id " LEFT_JOIN_DEFAULT("?5") "LEFT JOIN variant v ON v.id = l.variant_id "
    "WHERE s.kernel_id = ?1 AND s.device_id = ?2 AND s.regime = ?3 AND s.origin = ?4 AND m.median_ns > 0 ORDER BY s.id";

mt_status mt_query_portfolio_subjects(mt_store *store, const mt_portfolio_group *group, mt_query_portfolio_subject_callback callback, void *context, mt_error *err)
{
    char digest[MT_SPEC_DIGEST_SIZE];
    mt_status st = mt_query_spec_digest(store, group->kernel, digest, err);
    if (st != MT_OK) return st;
    mt_sql_args rows = mt_sql_query(store, subjects_sql, MT_IN(GROUP(group), MT_TEXT(digest), MT_REAL(MT_EVENT_LATENCY_NS)), &st, err);
    while (mt_sql_each(store, &rows, "list tuned shapes", &st, err)) {
        sqlite3_stmt *statement = rows.statement;
        mt_portfolio_subject subject = {.id = sqlite3_column_int64(statement, 0), .shape = sqlite3_column_int64(statement, 1), .workload = sqlite3_column_int64(statement, 2),
            .shape_key = mt_sql_column(statement, 3), .shape_name = mt_sql_column(statement, 4), .workload_name = mt_sql_column(statement, 5), .workload_key = mt_sql_column(statement, 11),
            .best_ns = sqlite3_column_double(statement, 6), .default_outcome = mt_sql_column_or_null(statement, 7), .default_ns = NAN, .kinds = mt_sql_column(statement, 9), .names = mt_sql_column(statement, 12),
            .default_variant = mt_sql_column_or_null(statement, 10)};
        if (subject.default_outcome) subject.default_ns = mt_sql_column_real(statement, 8);
        st = callback(context, &subject, err);
    }
    return st;
}

static const char times_sql[] =
    "SELECT m.variant_id, m.id, m.outcome, m.median_ns, m.norm_error FROM subject s JOIN current_result c ON c.subject_id = s.id " MT_JOIN_CURRENT(OF_TODAY("?2"))
    "WHERE s.id = ?1 AND NOT " MT_NEEDS_RETIMING("m", "?3") " AND (m.outcome <> 'ok' OR " MT_IS_WITHIN_LIMIT("m") ") ORDER BY m.variant_id";

mt_status mt_query_portfolio_times(mt_store *store, const mt_portfolio_group *group, int64_t subject, mt_query_portfolio_time_callback callback, void *context, mt_error *err)
{
    char digest[MT_SPEC_DIGEST_SIZE];
    mt_status st = mt_query_spec_digest(store, group->kernel, digest, err);
    if (st != MT_OK) return st;
    mt_sql_args rows = mt_sql_query(store, times_sql, MT_IN(MT_INT(subject), MT_TEXT(digest), MT_REAL(MT_EVENT_LATENCY_NS)), &st, err);
    while (mt_sql_each(store, &rows, "read a shape's times", &st, err)) {
        sqlite3_stmt *statement = rows.statement;
        mt_portfolio_time time = {.variant = sqlite3_column_int64(statement, 0), .measurement = sqlite3_column_int64(statement, 1), .median_ns = NAN, .norm_error = mt_sql_column_real(statement, 4)};
        if (!mt_outcome_from_name(mt_sql_column(statement, 2), &time.kind)) continue;
        if (mt_outcome_may_win(time.kind)) time.median_ns = mt_sql_column_real(statement, 3);
        st = callback(context, &time, err);
    }
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
                              MT_IN(GROUP(group)),
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
    for (size_t i = 0; i < sizeof sqls / sizeof *sqls && st == MT_OK; i++) st = mt_sql_do(store, sqls[i], "renew the portfolio", MT_IN(GROUP(group)), err);
    return st;
}

static mt_status insert_row(mt_store *store, const mt_portfolio_group *group, const mt_portfolio_row *row, int64_t *id, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.portfolio (kernel_id, device_id, regime, origin, is_asked, max_count, within, worst, unserved_count, is_exact, held_out_count, held_out_mean, "
                              "held_out_worst, rule_json, updated_unix_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    mt_status st = mt_sql_do(store, sql, "store a portfolio", MT_IN(GROUP(group), MT_INT(row->is_asked), MT_INT(row->max_count), MT_REAL(row->within), MT_REAL(row->worst), MT_INT(row->unserved_count),
                             MT_INT(row->is_exact), MT_INT(row->held_out_count), MT_REAL(row->held_out_mean), MT_REAL(row->held_out_worst), MT_TEXT(row->rule_json), MT_INT(mt_clock_unix_ms())), err);
    *id = sqlite3_last_insert_rowid(store->db);
    return st;
}

/* The default's row beside the winner's, as subjects_sql reads them. */
static const char shape_sql[] =
    "INSERT INTO main.portfolio_shape SELECT ?1, s.id, s.workload_id, h.key, h.name, m.median_ns, CASE WHEN o.outcome IN ('ok', 'censored') THEN " DEFAULT_NS("?4") " END, o.outcome "
    "FROM best b JOIN subject s ON s.id = b.subject_id JOIN measurement m ON m.id = b.measurement_id JOIN shape h ON h.id = s.shape_id "
    LEFT_JOIN_DEFAULT("?3") "WHERE s.id = ?2";

static mt_status insert_shapes(mt_store *store, const mt_portfolio_group *group, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st = MT_OK;
    char digest[MT_SPEC_DIGEST_SIZE];
    MT_TRY(mt_query_spec_digest(store, group->kernel, digest, err));
    for (size_t i = 0; i < portfolio->subject_count; i++)
        MT_TRY(mt_sql_do(store, shape_sql, "store a portfolio's shape", MT_IN(MT_INT(id), MT_INT(portfolio->subjects[i]), MT_TEXT(digest), MT_REAL(MT_EVENT_LATENCY_NS)), err));
done:
    return st;
}

static mt_status insert_variants(mt_store *store, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < portfolio->variant_count && st == MT_OK; i++)
        st = mt_sql_do(store, "INSERT INTO main.portfolio_variant (portfolio_id, variant_id, position) VALUES (?, ?, ?)", "store a portfolio's variant",
                       MT_IN(MT_INT(id), MT_INT(portfolio->variants[i].variant), MT_INT(portfolio->variants[i].position)), err);
    return st;
}

static mt_status insert_cells(mt_store *store, int64_t id, const mt_portfolio *portfolio, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.portfolio_cell SELECT ?, m.subject_id, m.variant_id, m.outcome, ?, m.id, m.toolchain_id, m.median_ns, m.low_ns, m.high_ns, m.norm_error, "
                              "m.created_unix_ms, " MT_CARVEOUTS " FROM measurement m WHERE m.id = ?";
    mt_status st = MT_OK;
    for (size_t i = 0; i < portfolio->cell_count && st == MT_OK; i++)
        st = mt_sql_do(store, sql, "store a portfolio's time", MT_IN(MT_INT(id), MT_REAL(portfolio->cells[i].slowdown), MT_INT(portfolio->cells[i].measurement)), err);
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
    mt_strbuf figures = {0};
    mt_cell cell;
    uint8_t *outcomes = mt_alloc(mt_cells_padded(count), 1);
    int64_t subject = -1;
    memset(outcomes, MT_CELL_NONE, mt_cells_padded(count));
    begin_blob(blob, variants, count);
    mt_sql_args rows = mt_sql_query(store, "SELECT " MT_CELL_COLUMNS " FROM portfolio_cell WHERE portfolio_id = ? ORDER BY subject_id, variant_id", MT_IN(MT_INT(id)), &st, err);
    while (mt_sql_each(store, &rows, "read a portfolio's times", &st, err)) {
        size_t at = 0;
        if (!mt_cell_read(rows.statement, &cell)) continue;
        if (cell.subject != subject && subject >= 0) add_subject(blob, subject, outcomes, count, &figures);
        subject = cell.subject;
        while (at < count && variants[at] != cell.variant) at++;
        if (at == count) continue;
        outcomes[at] = cell.outcome;
        if (mt_cell_has_figures(cell.outcome)) mt_strbuf_add_bytes(&figures, &cell.figures, sizeof cell.figures);
    }
    if (subject >= 0) add_subject(blob, subject, outcomes, count, &figures);
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
    mt_strbuf blob = {0};
    int64_t *variants = mt_alloc(portfolio->variant_count + 1, sizeof *variants);
    for (size_t i = 0; i < portfolio->variant_count; i++) variants[i] = portfolio->variants[i].variant;
    qsort(variants, portfolio->variant_count, sizeof *variants, by_id);
    MT_TRY(gather_blob(store, id, variants, portfolio->variant_count, &blob, err));
    st = mt_sql_do(store, "UPDATE main.portfolio SET cells = ? WHERE id = ?", "store a portfolio's times", MT_IN(MT_BLOB(blob.text, blob.length), MT_INT(id)), err);
done:
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
