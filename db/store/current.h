/* Table current_result: which row of measurement holds the result of each variant of a subject. It follows from table measurement alone. Who writes there calls one of these in the same transaction. */
#pragma once

#include "db/counted_rows.h"
#include "db/store/store.h"

/* The rows of current_result, of the measurements that `where` admits ("" or "WHERE … ": a condition on subject and variant only). */
#define MT_CURRENT_OF(where) \
    "SELECT subject_id, variant_id, max(CASE WHEN " MT_IS_RUN("measurement") " THEN id END) AS measurement_id, max(id) AS newest_id FROM measurement " where "GROUP BY subject_id, variant_id"

/* Table measurement as m beside current_result c. The file may be a stranger's: a row that holds the number of another variant's measurement names none. */
#define MT_JOIN_CURRENT(id) "JOIN measurement m ON m.id = " id " AND m.subject_id = c.subject_id AND m.variant_id = c.variant_id "

/* For MT_JOIN_CURRENT: the row that says of a variant alone what all of its rows say. */
#define MT_TELLING \
    "ifnull((SELECT (SELECT max(w.id) " MT_WRONG_BEFORE("n") ") FROM measurement n WHERE n.id = c.measurement_id AND n.outcome = 'ok'), ifnull(c.measurement_id, c.newest_id))"
/* Whether row `m` has an error that its subject's winner may have. */
#define MT_IS_WITHIN_LIMIT(m) "ifnull(" m ".norm_error, 9e999) <= ifnull((SELECT l.max_error FROM error_limit l WHERE l.subject_id = " m ".subject_id), 9e999)"
/* A subject's variants whose current results are OK and within the limit of errors, and whose code was never wrong there. */
#define MT_WITH_GOOD(subject) \
    "WITH good AS (SELECT m.* FROM current_result c " MT_JOIN_CURRENT("c.measurement_id") "WHERE c.subject_id = " subject " AND m.outcome = 'ok' AND m.median_ns > 0 AND " MT_IS_WITHIN_LIMIT("m") " AND NOT EXISTS (SELECT 1 " MT_WRONG_BEFORE("m") "))"
/* Finalists of that subject that stand: what is told and written of a final is told of these. A variant that was measured again is another one. */
#define MT_STANDING "finalist f JOIN good g ON g.id = f.measurement_id "

/* A launch of row `m` is programmatic. Few are: the others are told by a look at the text, without reading it as JSON. */
#define MT_IS_PROGRAMMATIC(m) \
    "(instr(" m ".launch_json, '\"programmatic\"') > 0 AND json_valid(" m ".launch_json) AND EXISTS (SELECT 1 FROM json_each(" m ".launch_json, '$.launches') p " \
    "WHERE p.type = 'object' AND json_type(p.value, '$.programmatic') = 'true'))"

/* A variant's results were written, or their ids dealt out anew. */
mt_status mt_current_renew(mt_store *store, int64_t subject, int64_t variant, mt_error *err);
/* Rows of measurement were added that have ids above `last`. */
mt_status mt_current_renew_after(mt_store *store, int64_t last, mt_error *err);
/* DB error where the table is not what table measurement says. */
mt_status mt_current_check(mt_store *store, mt_error *err);
