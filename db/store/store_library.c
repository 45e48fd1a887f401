/* How finalists did against a library: table library_comparison. */
#include <stdio.h>

#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/clock.h"

mt_status mt_store_library(mt_store *store, int64_t measurement, int64_t at_unix_ms, const mt_row_library *library, const char *first_algorithm, const char *best_algorithm, mt_error *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.library_comparison (measurement_id, plugin, first_ns, first_ratio, first_algorithm, best_ns, best_ratio, best_ratio_low, best_ratio_high, "
                              "best_algorithm, is_limited, created_unix_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "store a comparison with a library", MT_IN(MT_INT(measurement), MT_TEXT(library->plugin), MT_REAL(library->first_ns), MT_REAL(library->first_ratio),
                   MT_TEXT(first_algorithm), MT_REAL(library->best_ns), MT_REAL(library->best_ratio), MT_REAL(library->best_low), MT_REAL(library->best_high), MT_TEXT(best_algorithm),
                   MT_INT(library->is_limited), MT_INT(at_unix_ms ? at_unix_ms : mt_clock_unix_ms())), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_final_has_library(mt_store *store, int64_t final, const char *plugin, bool *has, mt_error *err)
{
    return mt_sql_one(store, "SELECT 1 FROM finalist f JOIN library_comparison l USING (measurement_id) WHERE f.final_id = ? AND f.picked AND l.plugin = ?", "find a comparison with a library",
                      MT_IN(MT_INT(final), MT_TEXT(plugin)), MT_OUT(MT_TO_BOOL(has)), err);
}

void mt_query_read_library(sqlite3_stmt *statement, int first, mt_row_library *library)
{
    snprintf(library->plugin, sizeof library->plugin, "%s", mt_sql_column(statement, first));
    double *const numbers[] = {&library->first_ns, &library->first_ratio, &library->best_ns, &library->best_ratio, &library->best_low, &library->best_high};
    for (int i = 0; i < 6; i++) *numbers[i] = mt_sql_column_real(statement, first + 1 + i);
    library->is_limited = sqlite3_column_int(statement, first + 7) != 0;
}
