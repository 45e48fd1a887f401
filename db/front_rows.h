/* The front of time and error of a subject, as SQL: the variants that are faster than every other one of at most their error. What answers a bound on the error stands there, so these rows are shipped and packed
 * beside the winner's (tunelookup_find_within). */
#pragma once

#include "db/counted_rows.h"

/* subject_id, variant_id and measurement's id of the fronts of those subjects that the condition on table measurement admits. A variant's newest row counts; without table current_result, which files of schema 8 lack. */
#define MT_FRONT_OF(condition)                                                                                                                                                       \
    "SELECT subject_id, variant_id, id FROM (SELECT subject_id, variant_id, id, norm_error, min(norm_error) OVER (PARTITION BY subject_id ORDER BY median_ns, norm_error, variant_id " \
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least FROM (SELECT subject_id, variant_id, outcome, median_ns, norm_error, max(id) AS id FROM measurement "                  \
    "WHERE " condition " AND " MT_IS_RUN("measurement") " GROUP BY subject_id, variant_id) WHERE outcome = 'ok' AND median_ns > 0 AND norm_error >= 0) "                             \
    "WHERE least IS NULL OR norm_error < least"
