/* What a row of table measurement is worth, as SQL conditions. `row` and the like are names of that table in the statement. */
#pragma once

/* Three outcomes say why a variant did not run. How it did is in an older row, if there is one. Comparisons, because SQLite makes a table in memory for a NOT IN of more than two, each time that a statement runs: a lookup's runs hundreds of times. */
#define MT_IS_RUN(row) "(" row ".outcome <> 'excluded' AND " row ".outcome <> 'not_recorded' AND " row ".outcome <> 'compiler_killed')"

/* What says that a variant is not to be handed out: it computed or wrote what it should not, other bits each time, or brought down a process or the GPU, or never came back. Index measurement_unsafe has
 * this very text (schema.sql), or it would not be used. */
#define MT_UNSAFE_OUTCOMES "('crashed', 'gpu_fault', 'nondeterministic', 'out_of_bounds', 'quarantined', 'timeout', 'wrong_result', 'wrote_input')"
#define MT_IS_UNSAFE(row) row ".outcome IN " MT_UNSAFE_OUTCOMES
/* Whether `n`, a newer row of the same subject and variant than the unsafe `m`, takes back what that says. What computed wrong results is wrong for good: only other code can be right, and has to be. A fault, a crash or
 * a hang may have been the machine's, so that any newer run says how the variant does. */
#define MT_IS_WRONG(row) "(" row ".outcome = 'wrong_result' OR " row ".outcome = 'out_of_bounds' OR " row ".outcome = 'wrote_input' OR " row ".outcome = 'nondeterministic')"
#define MT_TAKES_BACK(n, m) \
    "(" MT_IS_RUN(n) " AND (NOT " MT_IS_WRONG(m) " OR ((" n ".outcome = 'ok' OR " n ".outcome = 'censored' OR " n ".outcome = 'yardstick') AND " n ".cubin_hash <> " m ".cubin_hash)))"
/* Rows `w`, older than `m`, by which the code of its variant is wrong all the same. */
#define MT_WRONG_BEFORE(m) \
    "FROM measurement w WHERE w.subject_id = " m ".subject_id AND w.variant_id = " m ".variant_id AND w.id < " m ".id AND " MT_IS_WRONG("w") " AND NOT ifnull(" MT_TAKES_BACK(m, "w") ", 0)"
/* Of rows of table strike `s`, grouped by GPU, shape, variant and origin: whether they put it into quarantine. */
#define MT_QUARANTINES "(count(*) >= 2 OR sum(s.cause IN ('fault', 'timeout')) >= 1) "

/* Row `o`, timed by events beside its subject's best `m`, which was timed in graphs, holds launch latency that the best does not: how much slower it is, is not known. Of a recording that is all there is. */
#define MT_IS_LATENT(o, m) "(" o ".outcome IN ('ok', 'censored') AND ifnull(" o ".batch_count, 1) <= 1 AND " m ".batch_count > 1)"
/* The same of a row alone, unless it is slow by either method: then nobody need time it again. `latency`: a parameter, MT_EVENT_LATENCY_NS. */
#define MT_NEEDS_RETIMING(o, latency) \
    "EXISTS (SELECT 1 FROM best lb JOIN measurement lm ON lm.id = lb.measurement_id JOIN subject ls ON ls.id = lb.subject_id WHERE lb.subject_id = " o ".subject_id AND ls.origin <> 'recorded' " \
    "AND " MT_IS_LATENT(o, "lm") " AND " o ".median_ns - " latency " < 2 * lm.median_ns)"
