/* Table answer: what the lookup reads of each winner. Written beside table best. */
#pragma once

#include "db/cells.h"

/* Rows for all of table best; a caller adds "WHERE b.subject_id = ?". Where a final picked the winner, its figures are the answer's: they were taken
 * in turns with those of its libraries. */
#define MT_ANSWER_INSERT                                                                                                                               \
    "INSERT OR REPLACE INTO main.answer SELECT s.kernel_id, s.device_id, s.id, s.origin, s.regime, s.workload_id, h.key, h.name, m.id, m.variant_id, " \
    "m.toolchain_id, ifnull(f.median_ns, m.median_ns), CASE WHEN f.median_ns IS NULL THEN m.low_ns ELSE f.low_ns END, "                                \
    "CASE WHEN f.median_ns IS NULL THEN m.high_ns ELSE f.high_ns END, m.norm_error, m.created_unix_ms, b.updated_unix_ms, m.cubin_hash, "              \
    MT_CARVEOUTS " FROM best b JOIN subject s ON s.id = b.subject_id JOIN measurement m ON m.id = b.measurement_id JOIN shape h ON h.id = s.shape_id " \
    "LEFT JOIN finalist f ON f.final_id = b.final_id AND f.measurement_id = b.measurement_id "
