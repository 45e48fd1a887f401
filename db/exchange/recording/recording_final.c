/* The comparison of near-ties in a recording's line 1, so that who imports it gets the same winner.
 *
 *     "final":{"method":"interleaved","rounds":9,"confidence":0.95,"objective":"time","rows":[{"v":…,"ns":…,"lo":…,"hi":…,"r":1,"rl":…,"rh":…,"tied":1,"picked":1},…]}
 *
 * Its rounds and energies stay behind: they are for the report of the machine that measured. */
#include <string.h>

#include "db/exchange/recording/recording_internal.h"
#include "db/store/current.h"
#include "db/store/measurement.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/strbuf.h"

/* ---- writing ---- */

typedef struct writing {
    mt_strbuf *json;
    size_t rows;
} writing;

static mt_status add_finalist(void *context, const mt_finalist_row *row, mt_error *err)
{
    writing *w = context;
    static const char *const names[] = {"ns", "lo", "hi", "r", "rl", "rh"};
    const double numbers[] = {row->median_ns, row->low_ns, row->high_ns, row->ratio, row->ratio_low, row->ratio_high};
    (void)err;
    mt_strbuf_add(w->json, w->rows++ ? ",{\"v\":" : "{\"v\":");
    mt_strbuf_add_json(w->json, row->variant);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mt_strbuf_addf(w->json, ",\"%s\":", names[i]);
        mt_json_number(w->json, numbers[i], 15);
    }
    if (row->is_tied) mt_strbuf_add(w->json, ",\"tied\":1");
    if (row->is_picked) mt_strbuf_add(w->json, ",\"picked\":1");
    mt_strbuf_add_char(w->json, '}');
    return MT_OK;
}

/* The one that counts by its own rows, as for who imports them: table best may be damaged. */
mt_status mt_recording_add_final(mt_store *store, int64_t subject, mt_strbuf *json, mt_error *err)
{
    mt_status st;
    bool row;
    int64_t final;
    sqlite3_stmt *statement = NULL;
    writing w = {.json = json};
    MT_TRY(mt_store_final_of(store, subject, NULL, &final, err));
    MT_TRY(mt_sql_prepare(store, "SELECT id, method, rounds, confidence, objective FROM final_round WHERE id = ?", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, final);
    MT_TRY(mt_sql_row(store, &args, &row, "read a final", err));
    if (!row) goto done;
    mt_strbuf_add(json, ",\"final\":{\"method\":");
    mt_strbuf_add_json(json, mt_sql_column(statement, 1));
    mt_strbuf_addf(json, ",\"rounds\":%lld,\"confidence\":", (long long)sqlite3_column_int64(statement, 2));
    mt_json_number(json, sqlite3_column_double(statement, 3), 15);
    mt_strbuf_add(json, ",\"objective\":");
    mt_strbuf_add_json(json, mt_sql_column(statement, 4));
    mt_strbuf_add(json, ",\"rows\":[");
    MT_TRY(mt_query_finalists(store, final, add_finalist, &w, err));
    mt_strbuf_add(json, "]}");
done:
    sqlite3_finalize(statement);
    return st;
}

/* ---- reading ---- */

#define NUMBER(name) "CASE WHEN json_type(j.value, '$." name "') IN ('integer', 'real') THEN json_extract(j.value, '$." name "') END, "
static const char rows_sql[] =
    MT_WITH_GOOD("?2") "SELECT json_extract(j.value, '$.v'), " NUMBER("ns") NUMBER("lo") NUMBER("hi") NUMBER("r") NUMBER("rl") NUMBER("rh")
    "ifnull(json_extract(j.value, '$.tied'), 0) = 1, ifnull(json_extract(j.value, '$.picked'), 0) = 1, "
    "(SELECT g.id FROM good g JOIN variant v ON v.id = g.variant_id WHERE v.text = json_extract(j.value, '$.v')) "
    "FROM json_each(?1, '$.rows') j WHERE j.type = 'object'";

/* NULL: its variant has a row to stand on. Its numbers are for the rules of rows to judge. */
static const char *read_finalist(sqlite3_stmt *statement, mt_finalist_row *row)
{
    double *numbers[] = {&row->median_ns, &row->low_ns, &row->high_ns, &row->ratio, &row->ratio_low, &row->ratio_high};
    for (int i = 0; i < 6; i++) *numbers[i] = mt_sql_column_real(statement, 1 + i);
    row->is_tied = sqlite3_column_int(statement, 7);
    row->is_picked = sqlite3_column_int(statement, 8);
    row->measurement = sqlite3_column_int64(statement, 9);
    return row->measurement ? NULL : "\"final\" names a variant that has no row that passed";
}

/* Fills rows[] and *count; *problem says what is wrong with the text. */
static mt_status read_rows(mt_store *store, const char *json, int64_t subject, mt_finalist_row *rows, size_t *count, const char **problem, mt_error *err)
{
    mt_status st;
    size_t picked = 0;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, rows_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, json);
    mt_sql_int(&args, subject);
    while (mt_sql_next(store, &args, "read a final", &st, err)) {
        if (*count == MT_FINALISTS_MAX) *problem = "\"final\" has more rows than a final may have";
        if (!*problem) *problem = read_finalist(statement, &rows[*count]);
        if (*problem) goto done;
        for (size_t i = 0; i < *count; i++)
            if (rows[i].measurement == rows[*count].measurement) *problem = "\"final\" names a variant twice";
        picked += rows[(*count)++].is_picked;
    }
    if (picked != 1) *problem = "\"final\" must have one row that is picked";
done:
    sqlite3_finalize(statement);
    return st;
}

/* Of the final that was stored last: what its measurements contradict is refused as a row that breaks the rules is. */
static mt_status check_agreement(mt_store *store, mt_error *err)
{
    char why[400];
    mt_strbuf sql = {0};
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    mt_row_select("finalist", &sql);
    mt_strbuf_add(&sql, " WHERE finalist.final_id = (SELECT max(id) FROM main.final_round)");
    if (sql.failed) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", store->path));
    MT_TRY(mt_sql_prepare(store, mt_strbuf_text(&sql), &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    while (mt_sql_next(store, &args, "read a final", &st, err)) {
        if (mt_row_at_hand_agrees(statement, why, sizeof why)) continue;
        store->is_row_refused = true;
        st = MT_FAIL(err, MT_ERR_DB, "%s: \"final\": %s", store->path, strstr(why, ": ") + 2); /* the number of its row is the database's */
        break;
    }
done:
    sqlite3_finalize(statement);
    mt_strbuf_free(&sql);
    return st;
}

static mt_status store_final(mt_store *store, int64_t session, const mt_subject *subject, const mt_final_row *final, const mt_finalist_row *rows, size_t count, mt_error *err)
{
    mt_status st = mt_tx_begin(store, err);
    if (st != MT_OK) return st;
    st = mt_store_final(store, session, subject, final, rows, count, err);
    if (st == MT_OK) st = check_agreement(store, err);
    return mt_tx_end(store, st, err);
}

mt_status mt_recording_read_final(mt_store *store, int64_t session, const mt_subject *subject, int64_t at_unix_ms, const char *json, const char **problem, mt_error *err)
{
    mt_status st;
    bool row;
    int64_t id = 0;
    size_t count = 0;
    sqlite3_stmt *statement = NULL;
    mt_finalist_row rows[MT_FINALISTS_MAX] = {{0}};
    mt_final_row final = {0};
    *problem = NULL;
    MT_TRY(mt_sql_prepare(store, "SELECT json_extract(?1, '$.method'), json_extract(?1, '$.rounds'), json_extract(?1, '$.confidence'), json_extract(?1, '$.objective')", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, json);
    MT_TRY(mt_sql_row(store, &args, &row, "read a final", err));
    final = (mt_final_row){.at_unix_ms = at_unix_ms, .method = mt_sql_column(statement, 0), .rounds = (size_t)sqlite3_column_int64(statement, 1), .confidence = sqlite3_column_double(statement, 2)};
    bool is_known = !*final.method ? false : strcmp(final.method, "interleaved") == 0 || strcmp(final.method, "intervals") == 0;
    if (!is_known || sqlite3_column_int64(statement, 1) < 0 || !(final.confidence >= 0 && final.confidence <= 1) || !mt_objective_from_name(mt_sql_column(statement, 3), &final.objective)) {
        *problem = "\"final\" has no sound method, rounds, confidence or objective";
        goto done;
    }
    MT_TRY(mt_subject_find(store, subject, &id, err));
    MT_TRY(read_rows(store, json, id, rows, &count, problem, err));
    if (!*problem) MT_TRY(store_final(store, session, subject, &final, rows, count, err));
done:
    sqlite3_finalize(statement);
    return st;
}
