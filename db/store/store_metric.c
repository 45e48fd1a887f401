#include <math.h>

#include "db/store/store_internal.h"
#include "tuner/base/clock.h"

mt_status mt_store_metric(mt_store *store, int64_t measurement, int64_t at_unix_ms, const char *source, const char *name, double value, mt_error *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.metric (measurement_id, name, value, source, created_unix_ms) VALUES (?, ?, ?, ?, ?)";
    mt_status st;
    if (!isfinite(value)) return MT_OK; /* nothing was measured */
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "store a metric", MT_IN(MT_INT(measurement), MT_TEXT(name), MT_REAL(value), MT_TEXT(source), MT_INT(at_unix_ms ? at_unix_ms : mt_clock_unix_ms())), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_query_metric(mt_store *store, int64_t measurement, const char *name, double *value, mt_error *err)
{
    return mt_sql_one(store, "SELECT value FROM metric WHERE measurement_id = ? AND name = ?", "read a metric", MT_IN(MT_INT(measurement), MT_TEXT(name)), MT_OUT(MT_TO_REAL(value)), err);
}
