/* How rows must agree with those that they name, as SQL: each may keep the rules of rows (db/row_rules.h) and still say what another contradicts. Asked of every row that is read: by the tuner when it opens a
 * database or merges one, by lookups of each answer.
 *
 * A table's joins stand behind "FROM TABLE"; its problem is an expression over them: NULL, or what is wrong. Tables have their own names in it. What is not there is found by others. */
#pragma once

#define MT_ROW_OF(table, id, what) "'row ' || " id " || ' of " table ": " what "' "

/* A final times what was measured, once more: a throttled GPU (a factor of four) and some microseconds of launch latency apart, which events see and graphs do not, both are the same. Its pick could not be told apart from the fastest. */
#define MT_TIMES_DIFFER(a, b) "(" a " > 4 * " b " + 1e4 OR " b " > 4 * " a " + 1e4) "
#define MT_FINALIST_FAULTS                                                                                                                                                                         \
    "WHEN measurement.outcome <> 'ok' THEN " MT_ROW_OF("measurement", "measurement.id", "its outcome is not ok")                                                                                   \
    "WHEN final_round.subject_id <> measurement.subject_id THEN " MT_ROW_OF("final_round", "final_round.id", "it is of another subject than its finalist")                                         \
    "WHEN " MT_TIMES_DIFFER("finalist.median_ns", "measurement.median_ns") "THEN " MT_ROW_OF("final_round", "final_round.id", "its finalist has a median_ns that its measurement contradicts")      \
    "WHEN finalist.picked AND final_round.objective = 'time' AND finalist.median_ns > 1.5 * (SELECT min(other.median_ns) FROM main.finalist AS other WHERE other.final_id = finalist.final_id) THEN "    \
    MT_ROW_OF("final_round", "final_round.id", "its pick is far slower than another finalist")
#define MT_FINALIST_JOINS " LEFT JOIN main.measurement ON measurement.id = finalist.measurement_id LEFT JOIN main.final_round ON final_round.id = finalist.final_id"
#define MT_FINALIST_PROBLEM "CASE " MT_FINALIST_FAULTS "END"

/* The winner of a final is its pick. */
#define MT_WINNER_JOINS " LEFT JOIN main.finalist ON finalist.final_id = best.final_id AND finalist.measurement_id = best.measurement_id LEFT JOIN main.final_round ON final_round.id = best.final_id"
#define MT_WINNER_FAULTS "WHEN best.final_id IS NOT NULL AND finalist.picked IS NOT 1 THEN " MT_ROW_OF("final_round", "best.final_id", "its pick is another measurement") MT_FINALIST_FAULTS
#define MT_BEST_JOINS " LEFT JOIN main.measurement ON measurement.id = best.measurement_id" MT_WINNER_JOINS
#define MT_BEST_PROBLEM "CASE WHEN measurement.subject_id <> best.subject_id THEN " MT_ROW_OF("measurement", "measurement.id", "it is of another subject") MT_WINNER_FAULTS "END"

/* An answer repeats what other tables say. */
#define MT_ANSWER_JOINS                                                                                                                                                 \
    " LEFT JOIN main.measurement ON measurement.id = answer.measurement_id LEFT JOIN main.subject ON subject.id = answer.subject_id LEFT JOIN main.shape ON shape.id = subject.shape_id" \
    " LEFT JOIN main.best ON best.subject_id = answer.subject_id" MT_WINNER_JOINS
#define MT_ANSWER_PROBLEM                                                                                                                                               \
    "CASE WHEN measurement.subject_id <> answer.subject_id THEN " MT_ROW_OF("measurement", "measurement.id", "it is of another subject")                                 \
    "WHEN measurement.variant_id <> answer.variant_id THEN " MT_ROW_OF("measurement", "measurement.id", "it is of another variant")                                      \
    "WHEN (subject.device_id, subject.kernel_id, subject.workload_id, subject.regime, subject.origin) <> (answer.device_id, answer.kernel_id, answer.workload_id, answer.regime, answer.origin) THEN "  \
    MT_ROW_OF("subject", "subject.id", "it is of another GPU, kernel, workload, cache state or origin")                                                                   \
    "WHEN (shape.kernel_id, shape.key) <> (answer.kernel_id, answer.shape_key) THEN " MT_ROW_OF("shape", "shape.id", "it is another shape")                               \
    "WHEN measurement.outcome <> 'ok' THEN " MT_ROW_OF("measurement", "measurement.id", "its outcome is not ok")                                                         \
    "WHEN best.measurement_id <> answer.measurement_id THEN " MT_ROW_OF("best", "best.subject_id", "another measurement is the winner") MT_WINNER_FAULTS                  \
    "WHEN answer.median_ns <> measurement.median_ns AND answer.median_ns IS NOT finalist.median_ns THEN " MT_ROW_OF("answer", "answer.subject_id", "its median_ns is neither its measurement''s nor its final''s") "END"
