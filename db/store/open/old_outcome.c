#include "db/store/open/old_outcome.h"

#include <stdio.h>

#include "db/store/sql.h"
#include "tuner/base/alloc.h"

mt_status mt_old_outcome_read(mt_store *store, mt_outcome *outcome, mt_error *err)
{
    static const char sql[] = "SELECT " MT_OLD_OUTCOME("'pruned'", "?1") ", " MT_OLD_TEXT("'pruned'", "?1") ", " MT_OLD_DIGEST("'pruned'", "?1");
    char *kind, *text, *digest;
    mt_status st = mt_sql_one(store, sql, "read an outcome of an older tool", MT_IN(MT_TEXT(outcome->text)), MT_OUT(MT_TO_TEXT(&kind), MT_TO_TEXT(&text), MT_TO_TEXT(&digest)), err);
    if (st != MT_OK) return st;
    mt_outcome_from_name(kind, &outcome->kind);
    snprintf(outcome->spec_digest, sizeof outcome->spec_digest, "%s", digest ? digest : "");
    mt_free(outcome->text);
    outcome->text = text;
    mt_free(kind);
    mt_free(digest);
    return MT_OK;
}
