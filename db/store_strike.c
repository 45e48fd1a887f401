#include "db/store_strike.h"

#include <stdio.h>

#include "db/store_internal.h"
#include "tuner/base/clock.h"

mt_status mt_strike_insert(mt_store *store, int64_t device, int64_t shape, int64_t variant, const char *origin, const char *cause, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_status st = mt_sql_cached_get(store, "INSERT INTO strike (device_id, shape_id, variant_id, origin, cause, created_unix_ms) "
                                     "VALUES (?, ?, ?, ?, ?, ?)", &statement, err);
    if (st != MT_OK) return st;
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, device);
    mt_sql_int(&args, shape);
    mt_sql_int(&args, variant);
    mt_sql_text(&args, origin);
    mt_sql_text(&args, cause);
    mt_sql_int(&args, mt_clock_unix_ms());
    return mt_sql_run(store, &args, "store a strike", err);
}

mt_status mt_store_strike(mt_store *store, const mt_subject *subject, const char *variant, const char *cause, mt_error *err)
{
    mt_status st;
    int64_t variant_id;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_variant_id(store, subject->kernel, variant, &variant_id, err);
    if (st == MT_OK) {
        st = mt_strike_insert(store, subject->device, subject->shape, variant_id, mt_origin_name(subject->origin), cause, err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* Strikes that count, by variant. A cause that this version does not know counts as a crash: half a quarantine. */
static const char quarantined_sql[] =
    "SELECT v.text, sum(s.cause = 'fault'), sum(s.cause = 'timeout'), sum(s.cause = 'host_down'), count(*) "
    "FROM strike s JOIN variant v ON v.id = s.variant_id "
    "WHERE s.device_id = ? AND s.shape_id = ? AND s.origin = ? AND s.lifted = 0 GROUP BY s.variant_id "
    "HAVING count(*) >= 2 OR sum(s.cause IN ('fault', 'timeout')) >= 1 ORDER BY v.text";

static void add_cause(char *text, size_t size, int *used, const char *what, int64_t count)
{
    if (!count || *used < 0 || (size_t)*used >= size) return;
    const char *comma = *used ? ", " : "";
    *used += count == 1 ? snprintf(text + *used, size - (size_t)*used, "%s%s", comma, what)
                        : snprintf(text + *used, size - (size_t)*used, "%s%s (%lld times)", comma, what, (long long)count);
}

/* "GPU fault, took the host down (2 times)" */
static void reason(sqlite3_stmt *statement, char *text, size_t size)
{
    int64_t fault = sqlite3_column_int64(statement, 1), timeout = sqlite3_column_int64(statement, 2);
    int64_t host = sqlite3_column_int64(statement, 3), all = sqlite3_column_int64(statement, 4);
    int used = 0;
    text[0] = '\0';
    add_cause(text, size, &used, "faulted", fault);
    add_cause(text, size, &used, "timed out", timeout);
    add_cause(text, size, &used, "took the host down", host);
    add_cause(text, size, &used, "crashed the worker", all - fault - timeout - host);
}

mt_status mt_store_quarantined(mt_store *store, const mt_subject *subject, mt_store_text_callback callback, void *context, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, quarantined_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_int(&args, subject->device);
    mt_sql_int(&args, subject->shape);
    mt_sql_text(&args, mt_origin_name(subject->origin));
    for (;;) {
        bool row;
        char text[256];
        MT_TRY(mt_sql_row(store, &args, &row, "read strikes", err));
        if (!row) break;
        reason(statement, text, sizeof text);
        MT_TRY(callback(context, mt_sql_column(statement, 0), text, err));
    }
done:
    sqlite3_finalize(statement);
    return st;
}

mt_status mt_store_lift_strikes(mt_store *store, const mt_subject *subject, const char *variant, int64_t *lifted, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    *lifted = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "UPDATE strike SET lifted = 1, lifted_unix_ms = ?1 WHERE device_id = ?2 AND shape_id = ?3 AND origin = ?4 "
                           "AND lifted = 0 AND (?5 IS NULL OR variant_id IN (SELECT id FROM variant WHERE kernel_id = ?6 AND text = ?5))",
                           &statement, err);
    if (st == MT_OK) {
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_int(&args, mt_clock_unix_ms());
        mt_sql_int(&args, subject->device);
        mt_sql_int(&args, subject->shape);
        mt_sql_text(&args, mt_origin_name(subject->origin));
        mt_sql_text(&args, variant);
        mt_sql_int(&args, subject->kernel);
        st = mt_sql_run(store, &args, "lift strikes", err);
        if (st == MT_OK) *lifted = sqlite3_changes(store->db);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}
