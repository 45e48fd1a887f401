/* What a row of table measurement is worth, as SQL conditions. `row` and the like are names of that table in the statement. */
#ifndef MT_DB_STANDING_H
#define MT_DB_STANDING_H

/* A row 'pruned' says why the variant did not run (a constraint, a recording that lacks it, a compiler that was killed): how it ran is told by an older row, if by any. */
#define MT_IS_RUN(row) "(" row ".outcome <> 'pruned')"

/* Row `o`, timed by events beside its subject's best `m`, which was timed in graphs, holds launch latency that the best does not: how much slower it is, is not known. Of a recording that is all there is. */
#define MT_IS_LATENT(o, m) "(" o ".outcome IN ('ok', 'censored') AND ifnull(" o ".batch_count, 1) <= 1 AND " m ".batch_count > 1)"
/* The same of a row alone, unless it is slow by either method: then nobody need time it again. `latency`: a parameter, MT_EVENT_LATENCY_NS. */
#define MT_NEEDS_RETIMING(o, latency) \
    "EXISTS (SELECT 1 FROM best lb JOIN measurement lm ON lm.id = lb.measurement_id JOIN subject ls ON ls.id = lb.subject_id WHERE lb.subject_id = " o ".subject_id AND ls.origin <> 'recorded' " \
    "AND " MT_IS_LATENT(o, "lm") " AND " o ".median_ns - " latency " < 2 * lm.median_ns)"

#endif
