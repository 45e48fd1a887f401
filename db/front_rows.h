/* Times and errors of a subject's variants, as SQL, and the front of both. What answers a limit of errors stands there, so these rows are shipped and packed beside the winner's (tunelookup_find_within). */
#pragma once

#include "db/counted_rows.h"

/* A table of subject_id, variant_id, id (of measurement), median_ns, norm_error: each variant's newest result where it has both, unless its code was wrong before, of those subjects that the condition on table measurement admits.
 * Without table current_result, which files of schema 8 lack. */
#define MT_WITH_ERROR(condition)                                                                                                                                          \
    "(SELECT subject_id, variant_id, id, median_ns, norm_error FROM (SELECT subject_id, variant_id, outcome, median_ns, norm_error, cubin_hash, max(id) AS id "            \
    "FROM measurement WHERE " condition " AND " MT_IS_RUN("measurement") " GROUP BY subject_id, variant_id) n "                                                         \
    "WHERE outcome = 'ok' AND median_ns > 0 AND norm_error >= 0 AND NOT EXISTS (SELECT 1 " MT_WRONG_BEFORE("n") ")) "

/* Of these (subject_id, variant_id, id) the winners, and those with a smaller error than the winner that are faster than all others of at most their error. Variants that were wrong on some shape make no room for
 * others, since lookups with that shape's strings do not hand them out: they have a front of their own. */
#define MT_FRONT_OF(condition)                                                                                                                                            \
    "SELECT f.subject_id, f.variant_id, f.id FROM (SELECT subject_id, variant_id, id, norm_error, min(norm_error) OVER (PARTITION BY subject_id, "                              \
    "variant_id IN (SELECT variant_id FROM measurement WHERE outcome IN " MT_UNSAFE_OUTCOMES ") "                                                                        \
    "ORDER BY median_ns, norm_error, variant_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least FROM " MT_WITH_ERROR(condition) ") f "                      \
    "LEFT JOIN best fb ON fb.subject_id = f.subject_id LEFT JOIN measurement fw ON fw.id = fb.measurement_id "                                                           \
    "WHERE f.id = fb.measurement_id OR ((f.least IS NULL OR f.norm_error < f.least) AND f.norm_error < ifnull(fw.norm_error, 9e999))"
