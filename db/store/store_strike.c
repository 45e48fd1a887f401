#include "db/store/store_strike.h"

#include <stdio.h>

#include "db/counted_rows.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/clock.h"

mt_status mt_strike_insert(mt_store *store, int64_t device, int64_t shape, int64_t variant, const char *origin, const char *cause, mt_error *err)
{
    return mt_sql_do(store, "INSERT INTO main.strike (device_id, shape_id, variant_id, origin, cause, created_unix_ms) VALUES (?, ?, ?, ?, ?, ?)", "store a strike",
                     MT_IN(MT_INT(device), MT_INT(shape), MT_INT(variant), MT_TEXT(origin), MT_TEXT(cause), MT_INT(mt_clock_unix_ms())), err);
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

/* Strikes that count, by cause, and what quarantines. A cause that this version does not know counts as a crash: half a quarantine. */
#define CAUSE_COLUMNS "sum(s.cause = 'fault'), sum(s.cause = 'fault_once'), sum(s.cause = 'timeout'), sum(s.cause = 'host_down'), count(*) "
enum { CAUSE_COUNT = 5 };

static const char quarantined_sql[] =
    "SELECT v.text, " CAUSE_COLUMNS
    "FROM strike s JOIN variant v ON v.id = s.variant_id "
    "WHERE s.device_id = ? AND s.shape_id = ? AND s.origin = ? AND s.lifted = 0 GROUP BY s.variant_id "
    "HAVING " MT_QUARANTINES "ORDER BY v.text";

static void add_cause(char *text, size_t size, int *used, const char *what, int64_t count)
{
    if (!count || *used < 0 || (size_t)*used >= size) return;
    const char *comma = *used ? ", " : "";
    *used += count == 1 ? snprintf(text + *used, size - (size_t)*used, "%s%s", comma, what)
                        : snprintf(text + *used, size - (size_t)*used, "%s%s (%lld times)", comma, what, (long long)count);
}

/* "faulted, took the host down (2 times)", from CAUSE_COLUMNS, which begin at `column`. */
static void reason(sqlite3_stmt *statement, int column, char *text, size_t size)
{
    static const char *const words[] = {"faulted", "faulted, but not when it ran alone", "timed out", "took the host down", "crashed the worker"};
    int64_t left = sqlite3_column_int64(statement, column + CAUSE_COUNT - 1);
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < CAUSE_COUNT; i++) {
        int64_t count = i + 1 < CAUSE_COUNT ? sqlite3_column_int64(statement, column + i) : left;
        left -= count;
        add_cause(text, size, &used, words[i], count);
    }
}

mt_status mt_store_quarantined(mt_store *store, const mt_subject *subject, mt_store_text_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, quarantined_sql, MT_IN(MT_INT(subject->device), MT_INT(subject->shape), MT_TEXT(mt_origin_name(subject->origin))), &st, err);
    while (mt_sql_each(store, &rows, "read strikes", &st, err)) {
        char text[256];
        reason(rows.statement, 1, text, sizeof text);
        st = callback(context, mt_sql_column(rows.statement, 0), text, err);
    }
    return st;
}

mt_status mt_store_lift_strikes(mt_store *store, const mt_subject *subject, const char *variant, int64_t *lifted, mt_error *err)
{
    static const char sql[] = "UPDATE main.strike SET lifted = 1, lifted_unix_ms = ?1 WHERE device_id = ?2 AND shape_id = ?3 AND origin = ?4 "
                              "AND lifted = 0 AND (?5 IS NULL OR variant_id IN (SELECT id FROM variant WHERE kernel_id = ?6 AND text = ?5))";
    mt_status st;
    *lifted = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "lift strikes", MT_IN(MT_INT(mt_clock_unix_ms()), MT_INT(subject->device), MT_INT(subject->shape), MT_TEXT(mt_origin_name(subject->origin)), MT_TEXT(variant),
                   MT_INT(subject->kernel)), err);
    if (st == MT_OK) *lifted = sqlite3_changes(store->db);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* --- listing ------------------------------------------------------------------------------------------------------------------------ */

static const char strikes_sql[] =
    "SELECT d.key, d.name, k.name, k.key, h.name, v.text, s.origin, s.device_id, k.id, s.shape_id, max(s.created_unix_ms), " MT_QUARANTINES ", " CAUSE_COLUMNS
    "FROM strike s JOIN device d ON d.id = s.device_id JOIN shape h ON h.id = s.shape_id JOIN kernel k ON k.id = h.kernel_id "
    "JOIN variant v ON v.id = s.variant_id "
    "WHERE s.lifted = 0 AND (?1 IS NULL OR mt_device_matches(?1, d.key, d.name)) AND (?2 IS NULL OR k.name = ?2) AND " MT_KEY_BEGINS("?3") " "
    "AND (?4 IS NULL OR h.name = ?4) AND (?5 IS NULL OR h.key = ?5) AND (?8 IS NULL OR s.origin = ?8) AND ?9 IS ?9 "
    "GROUP BY s.device_id, s.shape_id, s.variant_id, s.origin ORDER BY d.key, k.name, k.id, h.key, v.text";

static mt_status read_strike(const mt_store *store, sqlite3_stmt *statement, mt_strike_info *info, mt_error *err)
{
    const char **texts[] = {&info->gpu_key, &info->gpu_name, &info->kernel, &info->kernel_key, &info->shape, &info->variant};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) *texts[i] = mt_sql_column(statement, i);
    if (!mt_origin_from_name(mt_sql_column(statement, 6), &info->subject.origin))
        return MT_FAIL(err, MT_ERR_DB, "%s: a strike has the unknown origin \"%s\"", store->path, mt_sql_column(statement, 6));
    info->subject.device = sqlite3_column_int64(statement, 7);
    info->subject.kernel = sqlite3_column_int64(statement, 8);
    info->subject.shape = sqlite3_column_int64(statement, 9);
    info->newest_unix_ms = sqlite3_column_int64(statement, 10);
    info->is_quarantined = sqlite3_column_int(statement, 11) != 0;
    info->strikes = sqlite3_column_int64(statement, 12 + CAUSE_COUNT - 1);
    return MT_OK;
}

mt_status mt_query_strikes(mt_store *store, const mt_filter *filter, mt_query_strike_callback callback, void *context, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, strikes_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(store, &rows, "read strikes", &st, err)) {
        char cause[256];
        mt_strike_info info = {.cause = cause};
        reason(rows.statement, 12, cause, sizeof cause);
        st = read_strike(store, rows.statement, &info, err);
        if (st == MT_OK) st = callback(context, &info, err);
    }
    return st;
}
