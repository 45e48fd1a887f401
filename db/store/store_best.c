/* What is already known of a subject, and its winner. */
#include <math.h>

#include "db/store/answer.h"
#include "db/store/current.h"
#include "db/store/row_scan.h"
#include "db/store/store_internal.h"
#include "tuner/base/clock.h"

/* The newest row of each variant: bare columns beside max() come from the row that holds the maximum (documented since SQLite 3.7.11).
 * A row that ended badly is not known any more once a strike of its variant was lifted after it: the person wants it tried again. */
static const char known_sql[] =
    "SELECT v.text, m.outcome, m.median_ns, max(m.id), substr(m.text, 1, 200), m.norm_error "
    "FROM measurement m JOIN toolchain t ON t.id = m.toolchain_id JOIN variant v ON v.id = m.variant_id JOIN session n ON n.id = m.session_id "
    "WHERE m.subject_id = ?1 AND (?2 = 'any' OR ifnull(n.headers = ?8, 1)) AND CASE ?2 WHEN 'any' THEN 1 WHEN 'exact' THEN t.id = ?3 "
    "ELSE EXISTS (SELECT 1 FROM toolchain o WHERE o.id = ?3 AND o.arch = t.arch AND o.nvrtc_version / 1000 = t.nvrtc_version / 1000 "
    "AND o.driver_version / 1000 = t.driver_version / 1000) END "
    "AND NOT (m.outcome IN ('quarantined', 'timeout', 'crashed', 'gpu_fault') AND EXISTS (SELECT 1 FROM strike k WHERE k.device_id = ?4 "
    "AND k.shape_id = ?5 AND k.origin = ?6 AND k.variant_id = m.variant_id AND k.lifted_unix_ms >= m.created_unix_ms)) "
    "AND " MT_IS_RUN("m") " " /* who asks has a point that is valid now: another text of the search space excluded it, or an older recording lacked it */
    "AND NOT " MT_NEEDS_RETIMING("m", "?7") " "
    "GROUP BY m.variant_id ORDER BY max(m.id)";

static const char *reuse_name(mt_reuse reuse)
{
    return reuse == MT_REUSE_ANY ? "any" : reuse == MT_REUSE_EXACT ? "exact" : "major";
}

/* The file may be a stranger's (--known), or damaged: what no tuner writes must not lead a search. */
static mt_status pass_known(mt_store *store, sqlite3_stmt *statement, mt_store_known_callback callback, void *context, mt_error *err)
{
    mt_outcome_kind kind;
    const char *name = mt_sql_column(statement, 1);
    long long row = sqlite3_column_int64(statement, 3);
    if (!mt_outcome_from_name(name, &kind)) return MT_FAIL(err, MT_ERR_DB, "%s: measurement %lld has the unknown outcome \"%s\"", store->path, row, name);
    if (mt_outcome_is_failure(kind)) return callback(context, mt_sql_column(statement, 0), kind, INFINITY, NAN, mt_sql_column_or_null(statement, 4), err);
    double median_ns = sqlite3_column_type(statement, 2) == SQLITE_FLOAT ? sqlite3_column_double(statement, 2) : NAN;
    if (!(median_ns > 0 && median_ns < INFINITY))
        return MT_FAIL(err, MT_ERR_DB, "%s: measurement %lld is %s with the median_ns \"%s\"; expected a number above 0", store->path, row, name, mt_sql_column(statement, 2));
    return callback(context, mt_sql_column(statement, 0), kind, median_ns, mt_sql_column_real(statement, 5), NULL, err);
}

mt_status mt_store_known(mt_store *store, const mt_subject *subject, mt_reuse reuse, mt_store_known_callback callback, void *context, mt_error *err)
{
    int64_t id = 0;
    if (reuse == MT_REUSE_NONE) return MT_OK;
    mt_status st = mt_subject_find(store, subject, &id, err);
    if (st != MT_OK || !id) return st;
    mt_sql_args rows = mt_sql_query(store, known_sql, MT_IN(MT_INT(id), MT_TEXT(reuse_name(reuse)), MT_INT(subject->toolchain), MT_INT(subject->device), MT_INT(subject->shape),
                                    MT_TEXT(mt_origin_name(subject->origin)), MT_REAL(MT_EVENT_LATENCY_NS), MT_TEXT(subject->headers)), &st, err);
    while (mt_sql_each(store, &rows, "read what is known", &st, err)) st = pass_known(store, rows.statement, callback, context, err);
    return st;
}

/* The names that ids stand for are read here and asked for there. */
static const char names_sql[] =
    "SELECT d.key, k.name, k.key, s.key, w.key, t.arch, t.nvrtc_version, t.driver_version FROM device d, kernel k, shape s, workload w, toolchain t "
    "WHERE d.id = ? AND k.id = ? AND s.id = ? AND w.id = ? AND t.id = ?";
static const char elsewhere_sql[] =
    "SELECT d.id, k.id, s.id, w.id, t.id FROM device d JOIN kernel k JOIN shape s ON s.kernel_id = k.id JOIN workload w ON w.kernel_id = k.id JOIN toolchain t "
    "WHERE d.key = ?1 AND k.name = ?2 AND k.key = ?3 AND s.key = ?4 AND w.key = ?5 AND CASE ?9 WHEN 'any' THEN 1 "
    "WHEN 'exact' THEN t.arch = ?6 AND t.nvrtc_version = ?7 AND t.driver_version = ?8 "
    "ELSE t.arch = ?6 AND t.nvrtc_version / 1000 = ?7 / 1000 AND t.driver_version / 1000 = ?8 / 1000 END LIMIT 1";

mt_status mt_store_subject_elsewhere(mt_store *store, const mt_subject *subject, mt_store *other, mt_reuse reuse, mt_subject *elsewhere, bool *found, mt_error *err)
{
    sqlite3_stmt *names = NULL, *ids = NULL;
    mt_status st;
    *found = false;
    MT_TRY(mt_sql_prepare(store, names_sql, &names, err));
    mt_sql_args args = mt_sql_args_of(names);
    const int64_t own[] = {subject->device, subject->kernel, subject->shape, subject->workload, subject->toolchain};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) mt_sql_int(&args, own[i]);
    MT_TRY(mt_sql_row(store, &args, found, "read a subject's names", err));
    if (!*found) goto done;
    MT_TRY(mt_sql_prepare(other, elsewhere_sql, &ids, err));
    mt_sql_args there = mt_sql_args_of(ids);
    for (int i = 0; i < 6; i++) mt_sql_text(&there, mt_sql_column(names, i));
    for (int i = 6; i < 8; i++) mt_sql_int(&there, sqlite3_column_int64(names, i));
    mt_sql_text(&there, reuse_name(reuse));
    MT_TRY(mt_sql_row(other, &there, found, "find a subject", err));
    if (!*found) goto done;
    *elsewhere = (mt_subject){.device = sqlite3_column_int64(ids, 0), .kernel = sqlite3_column_int64(ids, 1), .shape = sqlite3_column_int64(ids, 2),
                              .workload = sqlite3_column_int64(ids, 3), .toolchain = sqlite3_column_int64(ids, 4), .l2 = subject->l2, .origin = subject->origin, .headers = subject->headers};
done:
    sqlite3_finalize(names);
    sqlite3_finalize(ids);
    return st;
}

/* --- best --------------------------------------------------------------------------------------------------------------------------- */

/* Newest row per variant first, then the OK ones among them: a variant whose newest run failed does not count; a row that says why it did not run is none. Clusters are looked at
 * only among equal medians. */
static const char winner_sql[] =
    MT_WITH_GOOD("?1") ", first AS (SELECT * FROM good WHERE median_ns = (SELECT min(median_ns) FROM good)) "
    "SELECT f.id, (SELECT count(*) FROM good g WHERE ifnull(g.low_ns, g.median_ns) <= max(ifnull(f.high_ns, f.median_ns), f.median_ns)) "
    "FROM first f JOIN variant v ON v.id = f.variant_id "
    "ORDER BY ifnull(f.dynamic_smem_bytes, 0), ifnull(" MT_CLUSTER_OF("f") ", 1), v.text LIMIT 1";

mt_status mt_store_best_batch(mt_store *store, const mt_subject *subject, uint32_t *batch, mt_error *err)
{
    static const char sql[] = "SELECT m.batch_count FROM best b JOIN measurement m ON m.id = b.measurement_id WHERE b.subject_id = ? AND m.batch_count BETWEEN 1 AND 1000000";
    mt_status st;
    int64_t id, count = 0;
    *batch = 0;
    MT_TRY(mt_subject_find(store, subject, &id, err));
    if (id) st = mt_sql_one(store, sql, "read how the best was timed", MT_IN(MT_INT(id)), MT_OUT(MT_TO_INT(&count)), err);
    *batch = (uint32_t)count;
done:
    return st;
}

static mt_status find_winner(mt_store *store, int64_t subject, int64_t *winner, int64_t *tied, mt_error *err)
{
    return mt_sql_one(store, winner_sql, "find the best", MT_IN(MT_INT(subject)), MT_OUT(MT_TO_INT(winner), MT_TO_INT(tied)), err);
}

static mt_status find_pick(mt_store *store, int64_t subject, int64_t final, int64_t *winner, int64_t *tied, mt_error *err)
{
    static const char sql[] = MT_WITH_GOOD("?1") "SELECT max(CASE WHEN f.picked THEN f.measurement_id END), sum(f.tied) FROM " MT_STANDING "WHERE f.final_id = ?2";
    return mt_sql_one(store, sql, "find the pick", MT_IN(MT_INT(subject), MT_INT(final)), MT_OUT(MT_TO_INT(winner), MT_TO_INT(tied)), err);
}

static mt_status write_best(mt_store *store, int64_t subject, int64_t winner, int64_t tied, int64_t final, mt_error *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.best (subject_id, measurement_id, tied_count, updated_unix_ms, final_id) VALUES (?, ?, ?, ?, ?)";
    mt_status st = mt_sql_do(store, sql, "write the best", MT_IN(MT_INT(subject), MT_INT(winner), MT_INT(tied), MT_INT(mt_clock_unix_ms()), MT_ID(final)), err);
    if (st == MT_OK) st = mt_row_mended(store, "best", subject, err);
    if (st == MT_OK && store->has_left_out) st = mt_sql_do(store, "DELETE FROM main.answer WHERE subject_id = ?", "write the best", MT_IN(MT_INT(subject)), err); /* under whatever key */
    if (st == MT_OK) st = mt_sql_do(store, MT_ANSWER_INSERT "WHERE b.subject_id = ?", "write the best", MT_IN(MT_INT(subject)), err);
    return st == MT_OK ? mt_row_mended(store, "answer", subject, err) : st;
}

static mt_status remove_best(mt_store *store, int64_t subject, mt_error *err)
{
    static const char sql[] = "DELETE FROM main.answer WHERE (kernel_id, device_id, subject_id) = (SELECT kernel_id, device_id, id FROM subject WHERE id = ?)";
    mt_status st = mt_sql_do(store, "DELETE FROM main.best WHERE subject_id = ?", "remove the best", MT_IN(MT_INT(subject)), err);
    return st == MT_OK ? mt_sql_do(store, sql, "remove the best", MT_IN(MT_INT(subject)), err) : st;
}

mt_status mt_store_refresh_best(mt_store *store, const mt_subject *subject, mt_error *err)
{
    mt_status st;
    int64_t id = 0, winner = 0, tied = 0, final = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_find(store, subject, &id, err);
    if (st == MT_OK && id) st = mt_store_final_current(store, subject, NULL, &final, err);
    if (st == MT_OK && id) st = final ? find_pick(store, id, final, &winner, &tied, err) : find_winner(store, id, &winner, &tied, err);
    if (st == MT_OK && id) st = winner ? write_best(store, id, winner, tied, final, err) : remove_best(store, id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
