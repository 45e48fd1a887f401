/* Drift references, and finals: who is close to the best, how they compared, whether that still holds. */
#include <math.h>

#include "db/store/current.h"
#include "db/store/measurement.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"

/* --- near-ties ---------------------------------------------------------------------------------------------------------------------- */

/* Equal medians are ordered by text, so that the limit cuts the same ones every time. `within`: how much slower than the fastest, as SQL. A row timed by
 * events holds launch latency that a graph hides: beside a fastest that was timed in graphs it may be nearer than it looks. */
#define WITH_NEAR(within) \
    MT_WITH_GOOD("?1") ", top AS (SELECT median_ns, ifnull(batch_count, 1) > 1 AS is_graph FROM good ORDER BY median_ns LIMIT 1), " \
    "near AS (SELECT g.*, v.text AS variant FROM good g JOIN top t JOIN variant v ON v.id = g.variant_id " \
    "WHERE g.median_ns - CASE WHEN t.is_graph AND ifnull(g.batch_count, 1) <= 1 THEN ?4 ELSE 0 END <= (1 + " within ") * t.median_ns " \
    "ORDER BY g.median_ns, v.text LIMIT ?3) "

static const double anyhow = 1e9; /* as much slower as it likes: the limit decides */

/* ?1 to ?4 of a statement WITH_NEAR. */
#define NEAR(subject, within) MT_INT(subject), MT_REAL(within), MT_INT(MT_FINALISTS_MAX), MT_REAL(MT_EVENT_LATENCY_NS)

#define NEAR_COLUMNS "SELECT n.id, n.variant, n.median_ns, ifnull(n.low_ns, n.median_ns), ifnull(n.high_ns, n.median_ns), ifnull(n.dynamic_smem_bytes, 0), ifnull(" MT_CLUSTER_OF("n") ", 1), ifnull(n.batch_count, 1) "

static mt_status tell_near(mt_store *store, mt_sql_args rows, mt_store_near_tie_callback callback, void *context, mt_error *err)
{
    mt_status st = MT_OK;
    while (mt_sql_each(store, &rows, "find near-ties", &st, err)) {
        sqlite3_stmt *statement = rows.statement;
        mt_near_tie near = {.measurement = sqlite3_column_int64(statement, 0), .variant = mt_sql_column(statement, 1),
                            .median_ns = sqlite3_column_double(statement, 2), .low_ns = sqlite3_column_double(statement, 3),
                            .high_ns = sqlite3_column_double(statement, 4), .smem_bytes = sqlite3_column_int64(statement, 5),
                            .cluster = sqlite3_column_int64(statement, 6), .batch = (uint32_t)sqlite3_column_int(statement, 7)};
        st = callback(context, &near, err);
    }
    return st;
}

mt_status mt_store_near_ties(mt_store *store, const mt_subject *subject, mt_objective objective, mt_store_near_tie_callback callback, void *context, mt_error *err)
{
    int64_t id = 0;
    mt_status st = mt_subject_find(store, subject, &id, err);
    if (st != MT_OK || !id) return st;
    mt_sql_args rows = mt_sql_query(store, WITH_NEAR("?2") NEAR_COLUMNS "FROM near n ORDER BY n.median_ns, n.variant", MT_IN(NEAR(id, objective == MT_OBJECTIVE_TIME ? MT_NEAR_TIE : anyhow)), &st, err);
    return st == MT_OK ? tell_near(store, rows, callback, context, err) : st;
}

mt_status mt_store_plain_rival(mt_store *store, const mt_subject *subject, mt_store_near_tie_callback callback, void *context, mt_error *err)
{
    int64_t id = 0;
    mt_status st = mt_subject_find(store, subject, &id, err);
    if (st != MT_OK || !id) return st;
    mt_sql_args rows = mt_sql_query(store, MT_WITH_GOOD("?1") ", plain AS (SELECT g.*, v.text AS variant FROM good g JOIN variant v ON v.id = g.variant_id WHERE NOT ifnull(" MT_IS_PROGRAMMATIC("g") ", 0) ORDER BY g.median_ns, v.text LIMIT 1) "
                                           NEAR_COLUMNS "FROM plain n WHERE EXISTS (SELECT 1 FROM good t WHERE t.median_ns < n.median_ns)", MT_IN(MT_INT(id)), &st, err);
    return st == MT_OK ? tell_near(store, rows, callback, context, err) : st;
}

/* --- finals ------------------------------------------------------------------------------------------------------------------------- */

/* A near-tie that the final did not see, or has measured again since, makes it a thing of the past; so does a pick that no longer stands. */
static const char current_sql[] =
    WITH_NEAR("CASE (SELECT objective FROM final_round WHERE subject_id = ?1 ORDER BY id DESC LIMIT 1) WHEN 'time' THEN ?2 ELSE ?5 END")
    "SELECT r.id FROM final_round r WHERE r.id = (SELECT max(id) FROM final_round WHERE subject_id = ?1) AND r.objective = ifnull(?6, r.objective) "
    "AND NOT EXISTS (SELECT 1 FROM near n WHERE n.id NOT IN (SELECT measurement_id FROM finalist WHERE final_id = r.id)) "
    "AND (SELECT count(*) FROM " MT_STANDING "WHERE f.final_id = r.id AND f.picked) = 1";

mt_status mt_store_final_current(mt_store *store, const mt_subject *subject, const mt_objective *objective, int64_t *final, mt_error *err)
{
    int64_t id = 0;
    *final = 0;
    mt_status st = mt_subject_find(store, subject, &id, err);
    return st == MT_OK && id ? mt_store_final_of(store, id, objective, final, err) : st;
}

mt_status mt_store_final_of(mt_store *store, int64_t subject, const mt_objective *objective, int64_t *final, mt_error *err)
{
    *final = 0;
    return mt_sql_one(store, current_sql, "find the final", MT_IN(NEAR(subject, MT_NEAR_TIE), MT_REAL(anyhow), MT_TEXT(objective ? mt_objective_name(*objective) : NULL)), MT_OUT(MT_TO_INT(final)), err);
}

static mt_status insert_final(mt_store *store, int64_t session, const mt_subject *subject, const mt_final_row *final, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.final_round (session_id, subject_id, created_unix_ms, method, rounds, confidence, objective) VALUES (?, ?, ?, ?, ?, ?, ?)";
    mt_status st;
    int64_t id;
    MT_TRY(mt_subject_id(store, subject, &id, err));
    st = mt_sql_do(store, sql, "store a final", MT_IN(MT_INT(session), MT_INT(id), MT_INT(final->at_unix_ms ? final->at_unix_ms : mt_clock_unix_ms()), MT_TEXT(final->method),
                   MT_INT((int64_t)final->rounds), MT_REAL(final->confidence), MT_TEXT(mt_objective_name(final->objective))), err);
done:
    return st;
}

static void bind_energy(mt_sql_args *args, const mt_energy *energy)
{
    bool is_known = energy->source != MT_ENERGY_NONE;
    const double numbers[] = {energy->run_uj, energy->error_uj, energy->power_w, energy->loop_ms, energy->period_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_sql_real(args, is_known ? numbers[i] : NAN);
    if (is_known) mt_sql_int(args, (int64_t)energy->runs);
    else mt_sql_null(args);
    mt_sql_text(args, is_known ? mt_energy_source_name(energy->source) : NULL);
}

static mt_status insert_finalist(mt_store *store, int64_t final, size_t rounds, const mt_finalist_row *row, mt_error *err)
{
    mt_status st = MT_OK;
    void *blob = NULL;
    size_t size = 0;
    sqlite3_stmt *statement;
    if (row->round_ns) MT_TRY(mt_samples_pack(store, row->round_ns, rounds, &blob, &size, err));
    MT_TRY(mt_sql_cached_get(store, "INSERT INTO main.finalist (final_id, measurement_id, tied, picked, median_ns, low_ns, high_ns, ratio, ratio_low, ratio_high, round_ns, "
                             "energy_uj, energy_error_uj, power_w, energy_loop_ms, energy_period_ms, energy_runs, energy_source) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &statement, err));
    mt_row_values noted;
    mt_sql_args args = mt_sql_args_row(statement, &noted);
    mt_sql_int(&args, final);
    mt_sql_int(&args, row->measurement);
    mt_sql_int(&args, row->is_tied);
    mt_sql_int(&args, row->is_picked);
    const double numbers[] = {row->median_ns, row->low_ns, row->high_ns, row->ratio, row->ratio_low, row->ratio_high};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_sql_real(&args, numbers[i]);
    mt_sql_blob(&args, blob, size);
    bind_energy(&args, &row->energy);
    st = mt_sql_run(store, &args, "store a finalist", err);
done:
    mt_free(blob);
    return st;
}

mt_status mt_store_final(mt_store *store, int64_t session, const mt_subject *subject, const mt_final_row *final, const mt_finalist_row *rows, size_t count, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = insert_final(store, session, subject, final, err);
    int64_t id = sqlite3_last_insert_rowid(store->db);
    for (size_t i = 0; i < count && st == MT_OK; i++) st = insert_finalist(store, id, final->rounds, &rows[i], err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* --- drift references ------------------------------------------------------------------------------------------------------------------------ */

static mt_status insert_drift(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, const mt_timing *timing, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.anchor (session_id, subject_id, variant_id, created_unix_ms, median_ns, low_ns, high_ns, sm_mhz, sample_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    mt_status st;
    int64_t subject_id, variant_id;
    MT_TRY(mt_subject_id(store, subject, &subject_id, err));
    MT_TRY(mt_variant_id(store, subject->kernel, variant, &variant_id, err));
    st = mt_sql_do(store, sql, "store a time of the drift reference", MT_IN(MT_INT(session), MT_INT(subject_id), MT_INT(variant_id), MT_INT(mt_clock_unix_ms()), MT_REAL(timing->median_ns),
                   MT_REAL(timing->low_ns), MT_REAL(timing->high_ns), MT_REAL(timing->sm_mhz), MT_INT(timing->samples)), err);
done:
    return st;
}

mt_status mt_store_drift(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, const mt_outcome *outcome, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = insert_drift(store, session, subject, variant, &outcome->timing, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
