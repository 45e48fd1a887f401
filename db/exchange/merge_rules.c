/* What a row of each table is known by, when files are merged. */
#include "db/exchange/merge.h"

/* Of two texts for the same thing the one that is there stays, unless the other says more; of two that say the same the shorter one (said.h). */
#define SAYS_MORE(rank, column, more) \
    ":" column " <> " column " AND (substr(" rank "(:" column more "), 1, 2) < substr(" rank "(" column more "), 1, 2) " \
    "OR (" rank "(:" column more ") = " rank "(" column more ") AND (length(:" column "), :" column ") < (length(" column "), " column ")))"
/* A name that a person gave replaces one that the tool made up (tuner/space/spec/adhoc.h), and none; never one that a person gave, and none that another shape has. */
#define FIRST_NAME(table) \
    "(name = '' OR name GLOB '" table "-[0-9a-f]*') AND :name <> '' AND :name NOT GLOB '" table "-[0-9a-f]*' AND NOT EXISTS (SELECT 1 FROM main." table " o WHERE o.kernel_id = :kernel_id AND o.name = :name)"

/* One run of the tool; or, of an imported file, the import: the same file imported on two machines is the same rows. */
#define SAME_SESSION \
    "(source_hash = :source_hash AND origin = :origin) OR (:source_hash IS NULL AND source_hash IS NULL AND started_unix_ms = :started_unix_ms AND process_id = :process_id AND host = :host " \
    "AND boot_id = :boot_id AND command = :command AND seed = :seed AND space_path = :space_path)"
/* A run that went on after an earlier merge; the first of two imports. */
#define LATER_SESSION \
    "CASE WHEN source_hash IS NULL THEN (ifnull(:ended_unix_ms, 0), :evaluated, :failed) > (ifnull(ended_unix_ms, 0), evaluated, failed) " \
    "ELSE (:started_unix_ms, :host, :boot_id, :process_id) < (started_unix_ms, host, boot_id, process_id) END"

const mt_merge_rule mt_merge_rules[] = {
    {.table = "device", .has_id = true, .match = "key = :key", .wins = SAYS_MORE("facts_rank", "facts_json", ", key"), .replaces = "facts_json"},
    {.table = "kernel", .has_id = true, .match = "name = :name AND key = :key", .wins = SAYS_MORE("spec_rank", "spec_json", ""), .replaces = "spec_json"},
    {.table = "shape", .has_id = true, .foreign = {{"kernel_id", "kernel"}}, .match = "kernel_id = :kernel_id AND key = :key", .wins = FIRST_NAME("shape"), .replaces = "name", .is_named = true},
    {.table = "workload", .has_id = true, .foreign = {{"kernel_id", "kernel"}}, .match = "kernel_id = :kernel_id AND key = :key", .wins = FIRST_NAME("workload"), .replaces = "name", .is_named = true},
    {.table = "toolchain", .has_id = true, .match = "nvrtc_version = :nvrtc_version AND driver_version = :driver_version AND arch = :arch"},
    {.table = "variant", .has_id = true, .foreign = {{"kernel_id", "kernel"}}, .match = "kernel_id = :kernel_id AND text = :text"},
    {.table = "subject", .has_id = true, .foreign = {{"device_id", "device"}, {"kernel_id", "kernel"}, {"shape_id", "shape"}, {"workload_id", "workload"}},
     .match = "device_id = :device_id AND shape_id = :shape_id AND workload_id = :workload_id AND regime = :regime AND origin = :origin"},
    {.table = "session", .has_id = true, .match = SAME_SESSION, .wins = LATER_SESSION, .replaces = "*"},
    {.table = "intent", .kind = MT_MERGE_LOCAL},
    {.table = "strike", .has_id = true, .foreign = {{"device_id", "device"}, {"shape_id", "shape"}, {"variant_id", "variant"}},
     .match = "device_id = :device_id AND shape_id = :shape_id AND variant_id = :variant_id AND origin = :origin AND cause = :cause AND created_unix_ms = :created_unix_ms",
     .wins = "(:lifted, ifnull(:lifted_unix_ms, 0)) > (lifted, ifnull(lifted_unix_ms, 0))", .replaces = "lifted, lifted_unix_ms"},
    /* A variant's rows of one session are few. A plus keeps SQLite from the index of its rows in all sessions, as many as there are parts. */
    {.table = "measurement", .has_id = true, .foreign = {{"subject_id", "subject"}, {"variant_id", "variant"}, {"toolchain_id", "toolchain"}, {"session_id", "session"}},
     .match = "session_id = :session_id AND variant_id = :variant_id AND +subject_id = :subject_id AND toolchain_id = :toolchain_id AND "
              "created_unix_ms = :created_unix_ms AND evaluation = :evaluation AND outcome = :outcome AND median_ns IS :median_ns AND text IS :text AND spec_digest IS :spec_digest"},
    {.table = "metric", .foreign = {{"measurement_id", "measurement"}}, .match = "measurement_id = :measurement_id AND name = :name",
     .wins = "(:created_unix_ms, :value, :source) > (created_unix_ms, value, source)", .replaces = "value, source, created_unix_ms"},
    {.table = "anchor", .has_id = true, .foreign = {{"session_id", "session"}, {"subject_id", "subject"}, {"variant_id", "variant"}},
     .match = "session_id = :session_id AND subject_id = :subject_id AND variant_id = :variant_id AND created_unix_ms = :created_unix_ms AND median_ns = :median_ns"},
    {.table = "final_round", .has_id = true, .foreign = {{"session_id", "session"}, {"subject_id", "subject"}},
     .match = "session_id = :session_id AND subject_id = :subject_id AND created_unix_ms = :created_unix_ms AND method = :method AND rounds = :rounds AND objective = :objective"},
    {.table = "finalist", .foreign = {{"final_id", "final_round"}, {"measurement_id", "measurement"}}, .match = "final_id = :final_id AND measurement_id = :measurement_id"},
    {.table = "library_comparison", .foreign = {{"measurement_id", "measurement"}}, .match = "measurement_id = :measurement_id AND plugin = :plugin",
     .wins = "(:created_unix_ms, :best_ratio, :best_ns) > (created_unix_ms, best_ratio, best_ns)",
     .replaces = "first_ns, first_ratio, first_algorithm, best_ns, best_ratio, best_ratio_low, best_ratio_high, best_algorithm, is_limited, created_unix_ms"},
    {.table = "pruned", .foreign = {{"session_id", "session"}, {"subject_id", "subject"}},
     .match = "session_id = :session_id AND subject_id = :subject_id AND constraint_name = :constraint_name"},
    {.table = "error_limit", .foreign = {{"subject_id", "subject"}}, .match = "subject_id = :subject_id", .wins = ":max_error < max_error", .replaces = "max_error"},
    {.table = "landmark", .kind = MT_MERGE_CHOSEN, .foreign = {{"subject_id", "subject"}, {"variant_id", "variant"}},
     .match = "subject_id = :subject_id AND role = :role AND variant_id = :variant_id"},
    {.table = "current_result", .kind = MT_MERGE_DERIVED},
    {.table = "best", .kind = MT_MERGE_DERIVED},
    {.table = "answer", .kind = MT_MERGE_DERIVED},
    {.table = "portfolio", .kind = MT_MERGE_DERIVED},
    {.table = "portfolio_shape", .kind = MT_MERGE_DERIVED},
    {.table = "portfolio_variant", .kind = MT_MERGE_DERIVED},
    {.table = "portfolio_cell", .kind = MT_MERGE_DERIVED},
    {.table = "cubin", .kind = MT_MERGE_CUBINS, .match = "hash = :hash",
     /* what comes is what its hash says: code there that is not the same is damaged */
     .wins = ":encoding = 'raw' AND (encoding <> 'raw' OR bytes <> :bytes OR size_bytes <> :size_bytes)", .replaces = "encoding, size_bytes, bytes"},
};
const size_t mt_merge_rule_count = sizeof mt_merge_rules / sizeof *mt_merge_rules;
