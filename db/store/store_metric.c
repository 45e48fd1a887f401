#include <math.h>

#include "db/store/store_internal.h"
#include "tuner/base/clock.h"

mt_status mt_store_metric(mt_store *store, int64_t measurement, int64_t at_unix_ms, const char *source, const char *name, double value, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    if (!isfinite(value)) return MT_OK; /* nothing was measured */
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "INSERT OR REPLACE INTO main.metric (measurement_id, name, value, source, created_unix_ms) VALUES (?, ?, ?, ?, ?)", &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_int(&args, measurement);
        mt_sql_text(&args, name);
        mt_sql_real(&args, value);
        mt_sql_text(&args, source);
        mt_sql_int(&args, at_unix_ms ? at_unix_ms : mt_clock_unix_ms());
        st = mt_sql_run(store, &args, "store a metric", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_query_metric(mt_store *store, int64_t measurement, const char *name, double *value, mt_error *err)
{
    return mt_sql_one(store, "SELECT value FROM metric WHERE measurement_id = ? AND name = ?", "read a metric", MT_IN(MT_INT(measurement), MT_TEXT(name)), MT_OUT(MT_TO_REAL(value)), err);
}
