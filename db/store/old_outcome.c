#include "db/store/old_outcome.h"

#include <stdio.h>

#include "db/store/sql.h"
#include "tuner/base/alloc.h"

mt_status mt_old_outcome_read(mt_store *store, mt_outcome *outcome, mt_error *err)
{
    static const char sql[] = "SELECT " MT_OLD_OUTCOME("'pruned'", "?1") ", " MT_OLD_TEXT("'pruned'", "?1") ", " MT_OLD_DIGEST("'pruned'", "?1");
    mt_status st;
    bool row;
    sqlite3_stmt *statement;
    MT_TRY(mt_sql_cached_get(store, sql, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, outcome->text);
    MT_TRY(mt_sql_row(store, &args, &row, "read an outcome of an older tool", err));
    mt_outcome_from_name(mt_sql_column(statement, 0), &outcome->kind);
    snprintf(outcome->spec_digest, sizeof outcome->spec_digest, "%s", mt_sql_column(statement, 2));
    bool is_said = sqlite3_column_type(statement, 1) == SQLITE_NULL;
    sqlite3_reset(statement);
    if (!is_said) goto done;
    mt_free(outcome->text);
    outcome->text = NULL;
done:
    return st;
}
