/* How a row's variant did against a baseline plugin, in a recording's row:
 *
 *     "library":{"by":"cublaslt","first_ns":…,"first_r":…,"ns":…,"r":…,"rl":…,"rh":…,"limited":1}
 *
 * Which of the plugin's algorithms it was stays behind. */
#include <math.h>
#include <stdio.h>

#include "db/exchange/recording/recording_internal.h"
#include "db/store/measurement.h"
#include "db/store/store_internal.h"

/* Members of the object. */
static const char *const keys[] = {"first_ns", "first_r", "ns", "r", "rl", "rh", "limited"};
enum { BEST_NS = 2, RATIO, LOW, HIGH, LIMITED, NUMBERS };

void mt_recording_add_library(const mt_measurement_row *row, mt_strbuf *json)
{
    const mt_row_library *library = &row->library;
    if (!library->plugin[0]) return;
    const double numbers[NUMBERS] = {library->first_ns, library->first_ratio, library->best_ns, library->best_ratio, library->best_low, library->best_high, library->is_limited ? 1 : NAN};
    mt_strbuf_add(json, ",\"library\":{\"by\":");
    mt_strbuf_add_json(json, library->plugin);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (isnan(numbers[i])) continue;
        mt_strbuf_addf(json, ",\"%s\":", keys[i]);
        mt_json_number(json, numbers[i], 15);
    }
    mt_strbuf_add_char(json, '}');
}

/* ---- reading ---- */

#define NUMBER(name) ", CASE WHEN json_type(?1, '$." name "') IN ('integer', 'real') THEN json_extract(?1, '$." name "') END"
static const char library_sql[] = "SELECT CASE WHEN json_type(?1, '$.by') = 'text' AND length(json_extract(?1, '$.by')) < 32 THEN json_extract(?1, '$.by') END" NUMBER("first_ns") NUMBER("first_r") NUMBER("ns") NUMBER("r") NUMBER("rl") NUMBER("rh") NUMBER("limited");

mt_status mt_recording_read_library(mt_store *store, int64_t measurement, int64_t at_unix_ms, const char *json, mt_error *err)
{
    mt_status st;
    bool row;
    double numbers[NUMBERS];
    mt_row_library library = {.plugin = ""};
    sqlite3_stmt *statement;
    MT_TRY(mt_sql_cached_get(store, library_sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, json);
    MT_TRY(mt_sql_row(store, &args, &row, "read a comparison", err));
    snprintf(library.plugin, sizeof library.plugin, "%s", mt_sql_column(statement, 0));
    for (int i = 0; i < NUMBERS; i++) numbers[i] = mt_sql_column_real(statement, 1 + i);
    sqlite3_reset(statement);
    library.first_ns = numbers[0], library.first_ratio = numbers[1], library.best_ns = numbers[BEST_NS], library.best_ratio = numbers[RATIO];
    library.best_low = numbers[LOW], library.best_high = numbers[HIGH], library.is_limited = numbers[LIMITED] > 0;
    st = mt_store_library(store, measurement, at_unix_ms, &library, NULL, NULL, err);
done:
    return st;
}
