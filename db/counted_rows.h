/* What a row of table measurement is worth, as SQL conditions. `row` and the like are names of that table in the statement. */
#ifndef MT_DB_COUNTED_ROWS_H
#define MT_DB_COUNTED_ROWS_H

/* Three outcomes say why a variant did not run. How it did is in an older row, if there is one. Comparisons, because SQLite makes a table in memory for a NOT IN of more than two, each time that a statement runs: a lookup's runs hundreds of times. */
#define MT_IS_RUN(row) "(" row ".outcome <> 'excluded' AND " row ".outcome <> 'not_recorded' AND " row ".outcome <> 'compiler_killed')"

/* What ran and computed or wrote what it should not. Index measurement_wrong has this very text (schema.sql), or it would not be used. */
#define MT_WRONG_OUTCOMES "('out_of_bounds', 'wrong_result', 'wrote_input')"
#define MT_IS_WRONG(row) row ".outcome IN " MT_WRONG_OUTCOMES

/* Row `o`, timed by events beside its subject's best `m`, which was timed in graphs, holds launch latency that the best does not: how much slower it is, is not known. Of a recording that is all there is. */
#define MT_IS_LATENT(o, m) "(" o ".outcome IN ('ok', 'censored') AND ifnull(" o ".batch_count, 1) <= 1 AND " m ".batch_count > 1)"
/* The same of a row alone, unless it is slow by either method: then nobody need time it again. `latency`: a parameter, MT_EVENT_LATENCY_NS. */
#define MT_NEEDS_RETIMING(o, latency) \
    "EXISTS (SELECT 1 FROM best lb JOIN measurement lm ON lm.id = lb.measurement_id JOIN subject ls ON ls.id = lb.subject_id WHERE lb.subject_id = " o ".subject_id AND ls.origin <> 'recorded' " \
    "AND " MT_IS_LATENT(o, "lm") " AND " o ".median_ns - " latency " < 2 * lm.median_ns)"

#endif
