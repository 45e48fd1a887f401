#include "db/store/current.h"

#include "db/store/store_internal.h"

#define RENEW(where) "INSERT OR REPLACE INTO main.current_result " MT_CURRENT_OF(where)

mt_status mt_current_renew(mt_store *store, int64_t subject, int64_t variant, mt_error *err)
{
    return mt_sql_do(store, RENEW("WHERE subject_id = ? AND variant_id = ? "), "store a current result", MT_IN(MT_INT(subject), MT_INT(variant)), err);
}

mt_status mt_current_renew_after(mt_store *store, int64_t last, mt_error *err)
{
    return mt_sql_do(store, RENEW("WHERE (subject_id, variant_id) IN (SELECT subject_id, variant_id FROM measurement WHERE id > ?) "), "store current results", MT_IN(MT_INT(last)), err);
}

/* What is in one and not in the other. */
#define IS "SELECT subject_id, variant_id, measurement_id, newest_id FROM current_result"
#define OUGHT_TO_BE "SELECT * FROM (" MT_CURRENT_OF("") ")"
static const char differs_sql[] = "SELECT 1, subject_id, variant_id FROM (SELECT * FROM (" IS " EXCEPT " OUGHT_TO_BE ") UNION ALL SELECT * FROM (" OUGHT_TO_BE " EXCEPT " IS ")) LIMIT 1";

mt_status mt_current_check(mt_store *store, mt_error *err)
{
    int64_t subject = 0, variant = 0;
    bool differs = false; /* of numbers that are texts, too */
    mt_status st = mt_sql_one(store, differs_sql, "check current results", MT_NO_IN, MT_OUT(MT_TO_BOOL(&differs), MT_TO_INT(&subject), MT_TO_INT(&variant)), err);
    if (st != MT_OK || !differs) return st;
    return MT_FAIL(err, MT_ERR_DB, "%s: table current_result does not say which measurement of variant %lld of subject %lld is the newest", store->path, (long long)variant, (long long)subject);
}
