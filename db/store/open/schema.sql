-- The tuning database, schema version 11. docs/database.md explains it; migrate.c runs this file on an empty database.
--
-- Features up to SQLite 3.26 only, because production hosts are old: no STRICT, no RETURNING, no generated columns. No triggers and no
-- views either: the tool and the lookup switch both off, so that a stranger's file can't run code of its own.
-- Units are in the names. NULL = not measured, not asked for, not known. Enumerations are lower-case text, so that people can read the file.

PRAGMA application_id = 0x6d736474;  -- "msdt"
PRAGMA user_version = 11;

-- A GPU model (not a board: equal boards share rows).
CREATE TABLE device (
    id          INTEGER PRIMARY KEY,
    key         TEXT NOT NULL UNIQUE,   -- "h100-sxm|cc90|sm132|80g"
    name        TEXT NOT NULL,          -- as the driver says it
    facts_json  TEXT NOT NULL           -- every device fact, {"cc":90,...}
);

-- One state of a kernel's sources. An edited kernel is another row, so that old timings are never reused.
CREATE TABLE kernel (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    key         TEXT NOT NULL,          -- hash of source, includes and options, 32 hex digits
    spec_json   TEXT NOT NULL,          -- programs that the lookup evaluates
    UNIQUE (name, key)
);

-- What production knows when it asks: dims, lists, dtypes.
CREATE TABLE shape (
    id          INTEGER PRIMARY KEY,
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    key         TEXT NOT NULL,          -- "D=32;H=92,46;dtype=f16"
    name        TEXT NOT NULL,          -- as the .ini calls it now
    UNIQUE (kernel_id, key),
    UNIQUE (kernel_id, id)              -- target of subject's foreign key
);

-- How the inputs are distributed; never part of the lookup's key.
CREATE TABLE workload (
    id          INTEGER PRIMARY KEY,
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    key         TEXT NOT NULL,
    name        TEXT NOT NULL,
    UNIQUE (kernel_id, key),
    UNIQUE (kernel_id, id)
);

CREATE TABLE toolchain (
    id              INTEGER PRIMARY KEY,
    nvrtc_version   INTEGER NOT NULL,   -- 1000*major + 10*minor; 0 = unknown
    driver_version  INTEGER NOT NULL,   -- the CUDA version the driver offers, same form
    arch            TEXT NOT NULL,      -- "sm_90a"
    UNIQUE (nvrtc_version, driver_version, arch)
);

-- One point of a kernel's space as canonical text, "ALGO=direct;BLOCK=128".
CREATE TABLE variant (
    id          INTEGER PRIMARY KEY,
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    text        TEXT NOT NULL,
    UNIQUE (kernel_id, text)
);

-- What is ranked together: rows of different subjects are never compared.
CREATE TABLE subject (
    id          INTEGER PRIMARY KEY,
    device_id   INTEGER NOT NULL REFERENCES device (id),
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    shape_id    INTEGER NOT NULL,
    workload_id INTEGER NOT NULL,
    regime      TEXT NOT NULL CHECK (regime IN ('cold', 'warm')),
    origin      TEXT NOT NULL CHECK (origin IN ('measured', 'recorded', 'imported')),
    UNIQUE (device_id, shape_id, workload_id, regime, origin),
    FOREIGN KEY (kernel_id, shape_id) REFERENCES shape (kernel_id, id),
    FOREIGN KEY (kernel_id, workload_id) REFERENCES workload (kernel_id, id)
);
CREATE INDEX subject_by_kernel ON subject (kernel_id, shape_id, workload_id);

-- One run of the tool (or one import).
CREATE TABLE session (
    id              INTEGER PRIMARY KEY,
    command         TEXT NOT NULL,
    host            TEXT NOT NULL,
    boot_id         TEXT NOT NULL,
    process_id      INTEGER NOT NULL,   -- the coordinator's
    tool_version    TEXT NOT NULL,
    strategy        TEXT NOT NULL,
    space_path      TEXT NOT NULL,
    seed            INTEGER NOT NULL,
    origin          TEXT NOT NULL,
    source_hash     TEXT,               -- of an imported file: the same file is not imported twice
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms   INTEGER,            -- NULL = still running, or killed
    state           TEXT NOT NULL DEFAULT 'running',  -- running, done, interrupted, failed
    worker_restarts INTEGER NOT NULL DEFAULT 0,
    evaluated       INTEGER NOT NULL DEFAULT 0,
    known           INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    times_json      TEXT,               -- where the time went
    warnings        TEXT,               -- one a line
    drift           REAL,               -- largest deviation of a drift reference from its first time, as a part of that; NULL = not timed twice
    job             TEXT,               -- of a batch system: "slurm 4711_3" is task 3 of array job 4711; NULL = none
    headers         TEXT,               -- digest of the toolkit's headers that the kernel's source includes; '' = it includes none, NULL = not known
    plan            TEXT,               -- of a cluster folder (msda-tune slurm), whose task it is: "0123456789ab"; NULL = none
    truncated       INTEGER NOT NULL DEFAULT 0  -- 1 = a subject ended before its budget was spent; `warnings` names it
);
CREATE INDEX session_by_source ON session (source_hash) WHERE source_hash IS NOT NULL;

-- Write-ahead: variants that were about to run. A row here outlives its process only if that was killed or the host went down.
CREATE TABLE intent (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    boot_id         TEXT NOT NULL,
    worker_pid      INTEGER NOT NULL,
    created_unix_ms INTEGER NOT NULL
);
CREATE INDEX intent_by_session ON intent (session_id, variant_id);

-- A variant brought something down. Held against it on this device, kernel and shape, whatever the workload.
CREATE TABLE strike (
    id              INTEGER PRIMARY KEY,
    device_id       INTEGER NOT NULL REFERENCES device (id),
    shape_id        INTEGER NOT NULL REFERENCES shape (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    origin          TEXT NOT NULL,
    cause           TEXT NOT NULL,      -- crashed, host_down, fault_once: two quarantine; fault, timeout: one does
    created_unix_ms INTEGER NOT NULL,
    lifted          INTEGER NOT NULL DEFAULT 0,  -- 1 = forgiven; kept for the record
    lifted_unix_ms  INTEGER
);
CREATE INDEX strike_by_variant ON strike (device_id, shape_id, variant_id);

-- Every evaluation, failures too. Append-only: a newer row of the same variant supersedes, it does not replace.
CREATE TABLE measurement (
    id                 INTEGER PRIMARY KEY,
    subject_id         INTEGER NOT NULL REFERENCES subject (id),
    variant_id         INTEGER NOT NULL REFERENCES variant (id),
    toolchain_id       INTEGER NOT NULL REFERENCES toolchain (id),
    session_id         INTEGER NOT NULL REFERENCES session (id),
    created_unix_ms    INTEGER NOT NULL,
    evaluation         INTEGER NOT NULL, -- 1, 2, ... within session and subject
    outcome            TEXT NOT NULL,    -- ok, compile_error, wrong_result, ... (tuner/base/outcome.h)
    text               TEXT,             -- reason, rule, log, name of the error

    -- timing: ok and censored only
    median_ns          REAL,
    low_ns             REAL,             -- 95 % interval of the median
    high_ns            REAL,
    min_ns             REAL,
    mean_ns            REAL,
    stddev_ns          REAL,
    sm_mhz             REAL,             -- median over the samples; 0 = unknown
    prepare_ns         REAL,             -- [prepare] launches, once
    sample_count       INTEGER,
    dropped_count      INTEGER,          -- thrown away as throttled
    batch_count        INTEGER,          -- launches per sample

    -- accuracy: the worst output over outputs and seeds; NULL value beside a named output = NaN
    accuracy_output    TEXT,
    norm_error         REAL,
    worst_error        REAL,
    worst_relative     REAL,
    worst_index        INTEGER,          -- flat element index
    worst_value        REAL,
    worst_reference    REAL,
    nan_mismatches     INTEGER,

    -- resources of the compiled kernel
    registers          INTEGER,
    spill_bytes        INTEGER,
    static_smem_bytes  INTEGER,
    dynamic_smem_bytes INTEGER,
    carveout_percent   INTEGER,
    blocks_per_sm      INTEGER,
    active_clusters    INTEGER,

    cubin_hash         TEXT,             -- content; the bytes may or may not be in table cubin
    cubin_cached       INTEGER,          -- 1 = not compiled in this session
    compile_ns         INTEGER,
    wait_ns            INTEGER,
    validate_ns        INTEGER,
    time_ns            INTEGER,

    launch_json        TEXT,             -- as launched: {"launches":[{entry, grid, block, cluster, smem, carveout}]}
    model_flops        REAL,
    model_dram_bytes   REAL,
    model_floor_ns     REAL,
    samples            BLOB,             -- float32 little-endian nanoseconds in measuring order, one zstd frame
    spec_digest        TEXT,             -- of excluded: which expressions excluded it, the first 8 digits of the hash of kernel.spec_json then; NULL = not known
    proposed_by        TEXT,             -- who asked for it: default, baseline, lookup, yardstick, given, other cache state; else what in the strategy (docs/search.md); NULL = not known
    bits               TEXT,             -- fingerprint of its outputs' bits on the inputs of seed 0, 16 hex digits; NULL = not known, or they vary
    row_bits           TEXT              -- where an output is a batch ([arg] batch): 16 digits of shape and workload without it, then those of the first 1, 2, 4, ... rows; NULL = not known, or none is
);
CREATE INDEX measurement_known ON measurement (subject_id, variant_id);
CREATE INDEX measurement_unsafe ON measurement (subject_id, variant_id) WHERE outcome IN ('crashed', 'gpu_fault', 'nondeterministic', 'out_of_bounds', 'quarantined', 'timeout', 'wrong_result', 'wrote_input'); -- the lookup reads all of them
CREATE INDEX measurement_by_session ON measurement (session_id, variant_id);

-- Which row of measurement holds the result of a variant; written in the transaction that writes there (store/current.h).
CREATE TABLE current_result (
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    measurement_id  INTEGER,             -- its newest row that says how it did; NULL = none does
    newest_id       INTEGER NOT NULL,    -- its newest row of all: another one only where that says why the variant did not run (excluded, not_recorded, compiler_killed)
    PRIMARY KEY (subject_id, variant_id)
) WITHOUT ROWID;

-- The drift reference of a subject, one variant timed again at intervals: what moves here is the machine, not the kernel. Also the subject's first time of it.
CREATE TABLE anchor (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    created_unix_ms INTEGER NOT NULL,
    median_ns       REAL NOT NULL,
    low_ns          REAL,
    high_ns         REAL,
    sm_mhz          REAL,
    sample_count    INTEGER
);
CREATE INDEX anchor_by_session ON anchor (session_id, subject_id);

-- A comparison of the near-ties of a subject. Append-only; the newest counts, as long as it covers the near-ties of today.
CREATE TABLE final_round (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    created_unix_ms INTEGER NOT NULL,
    method          TEXT NOT NULL,       -- interleaved: timed again in turns; intervals: from the stored intervals (a recording)
    rounds          INTEGER NOT NULL,    -- 0 for intervals
    confidence      REAL NOT NULL,       -- that the tied set holds the fastest
    objective       TEXT NOT NULL DEFAULT 'time' -- what the pick is for: time, energy, edp (energy × time)
);
CREATE INDEX final_round_by_subject ON final_round (subject_id);

CREATE TABLE finalist (
    final_id        INTEGER NOT NULL REFERENCES final_round (id),
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id), -- the variant's newest row then
    median_ns       REAL NOT NULL,       -- in this final
    low_ns          REAL NOT NULL,
    high_ns         REAL NOT NULL,
    ratio           REAL NOT NULL,       -- to the leader, median over the rounds
    ratio_low       REAL NOT NULL,
    ratio_high      REAL NOT NULL,
    tied            INTEGER NOT NULL,    -- 1 = not told apart from the leader
    picked          INTEGER NOT NULL,    -- 1 = the winner: of the tied the one with least memory, smallest cluster, first text
    round_ns        BLOB,                -- float32 little-endian medians of the rounds, one zstd frame
    energy_uj       REAL,                -- of one run, the whole board, idle power included; NULL = not measured
    energy_error_uj REAL,                -- ±, of resolution and of the rounds
    power_w         REAL,                -- mean over the loops
    energy_loop_ms  REAL,                -- length of one loop
    energy_period_ms REAL,               -- between updates of what the driver tells
    energy_runs     INTEGER,             -- in one loop
    energy_source   TEXT,                -- counter, power
    PRIMARY KEY (final_id, measurement_id)
);
CREATE INDEX finalist_by_measurement ON finalist (measurement_id);

-- How a finalist did against a library (the search space's baseline plugin), in the rounds of a final in which both were timed. Ratios are the library's time / the variant's. The newest counts.
CREATE TABLE library_comparison (
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    plugin          TEXT NOT NULL,       -- "cublaslt"
    first_ns        REAL,                -- of the library's first choice, which a caller gets who does not choose; NULL = it failed
    first_ratio     REAL,
    first_algorithm TEXT,                -- as the plugin describes it; NULL = not known
    best_ns         REAL NOT NULL,       -- of the fastest of its algorithms
    best_ratio      REAL NOT NULL,
    best_ratio_low  REAL,                -- interval of the ratio
    best_ratio_high REAL,
    best_algorithm  TEXT,
    is_limited      INTEGER NOT NULL,    -- 1 = power or heat held the clock down meanwhile: only the ratios say anything
    created_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (measurement_id, plugin)
);

-- How many points of a session's space each constraint excludes.
CREATE TABLE pruned (
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    constraint_name TEXT NOT NULL,
    why             TEXT,
    point_count     INTEGER NOT NULL,
    PRIMARY KEY (session_id, subject_id, constraint_name)
);

-- The largest error that a subject's winner may have (tune --max-error): of the session before that tuned it; no row = any.
CREATE TABLE error_limit (
    subject_id      INTEGER PRIMARY KEY REFERENCES subject (id),
    max_error       REAL NOT NULL        -- norm-wise, as measurement.norm_error
);

-- The winner of each subject, materialised by the tuner.
CREATE TABLE best (
    subject_id      INTEGER PRIMARY KEY REFERENCES subject (id),
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    tied_count      INTEGER NOT NULL,    -- variants whose interval reaches into the winner's, itself included
    updated_unix_ms INTEGER NOT NULL,
    final_id        INTEGER REFERENCES final_round (id) -- whose pick it is; NULL = there was no near-tie
);
CREATE INDEX best_by_measurement ON best (measurement_id);

-- What the lookup reads: beside each row of best what it needs of five tables, written with it. Stored in the order of the key, so that the winners of a kernel on a GPU
-- lie one behind the other and loading ten thousand is one scan.
CREATE TABLE answer (
    kernel_id       INTEGER NOT NULL REFERENCES kernel (id),
    device_id       INTEGER NOT NULL REFERENCES device (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    origin          TEXT NOT NULL,
    regime          TEXT NOT NULL,
    workload_id     INTEGER NOT NULL,
    shape_key       TEXT NOT NULL,
    shape_name      TEXT NOT NULL,
    measurement_id  INTEGER NOT NULL,
    variant_id      INTEGER NOT NULL,
    toolchain_id    INTEGER NOT NULL,
    median_ns       REAL,
    low_ns          REAL,
    high_ns         REAL,
    norm_error      REAL,
    created_unix_ms INTEGER NOT NULL,
    updated_unix_ms INTEGER NOT NULL,
    cubin_hash      TEXT,
    carveouts       TEXT,                -- per cent, launch by launch: "28,28"; -1 = not set
    PRIMARY KEY (kernel_id, device_id, subject_id)
) WITHOUT ROWID;

-- Variants of a subject that others are compared with: the space's default point, and the default point of the algorithm that [tune] baseline names. Of the newest session.
CREATE TABLE landmark (
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    role            TEXT NOT NULL CHECK (role IN ('default', 'baseline')),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    PRIMARY KEY (subject_id, role)
) WITHOUT ROWID;

-- What shapes that nobody tuned are answered with: the few variants that do well on every tuned shape, and how one of them is chosen. Renewed with table best.
CREATE TABLE portfolio (
    id              INTEGER PRIMARY KEY,
    kernel_id       INTEGER NOT NULL REFERENCES kernel (id),
    device_id       INTEGER NOT NULL REFERENCES device (id),
    regime          TEXT NOT NULL,
    origin          TEXT NOT NULL,
    is_asked        INTEGER NOT NULL,    -- 1 = by `msda-tune portfolio`, whose limits hold until it is asked again; 0 = by a session
    max_count       INTEGER NOT NULL,    -- members, at most
    within          REAL NOT NULL,       -- 1.1: a member serves a shape on which it is at most 10 % slower than the best
    worst           REAL NOT NULL,       -- slowdown of the best member on the worst served shape
    unserved_count  INTEGER NOT NULL,    -- shapes that no member serves
    is_exact        INTEGER NOT NULL,    -- 1 = no smaller portfolio serves them all
    held_out_count  INTEGER NOT NULL,    -- shapes that were left out to judge the rule
    held_out_mean   REAL,                -- geometric mean of the slowdowns that the rule had on them
    held_out_worst  REAL,
    rule_json       TEXT NOT NULL,       -- weights, costs, curves: docs/lookup.md
    updated_unix_ms INTEGER NOT NULL,
    cells           BLOB,                -- all of its rows in portfolio_cell, as the lookup reads them at once (db/cells.h); NULL = of an older tuner
    UNIQUE (kernel_id, device_id, regime, origin)
);

-- The tuned shapes that a portfolio knows, for each workload.
CREATE TABLE portfolio_shape (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    workload_id     INTEGER NOT NULL,
    shape_key       TEXT NOT NULL,
    shape_name      TEXT NOT NULL,
    best_ns         REAL NOT NULL,
    default_ns      REAL,                -- of the space's default point there; NULL = not measured, or it failed; stopped as too slow: at least so long
    default_outcome TEXT,                -- how that ended; NULL = not measured
    PRIMARY KEY (portfolio_id, subject_id)
) WITHOUT ROWID;

CREATE TABLE portfolio_variant (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    position        INTEGER NOT NULL,    -- 1, 2, … of the members; 0 = a candidate that was not needed
    PRIMARY KEY (portfolio_id, variant_id)
) WITHOUT ROWID;

-- How each candidate did on each tuned shape: its newest measurement there, as the lookup wants it. No row = not measured.
CREATE TABLE portfolio_cell (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    outcome         TEXT NOT NULL,
    slowdown        REAL,                -- against best_ns; NULL unless ok or censored
    measurement_id  INTEGER NOT NULL,
    toolchain_id    INTEGER NOT NULL,
    median_ns       REAL,
    low_ns          REAL,
    high_ns         REAL,
    norm_error      REAL,
    created_unix_ms INTEGER NOT NULL,
    carveouts       TEXT,
    PRIMARY KEY (portfolio_id, subject_id, variant_id)
) WITHOUT ROWID;

-- Compiled code by content hash. Winners raw, so that the lookup needs no zstd; the cache compressed.
CREATE TABLE cubin (
    hash        TEXT PRIMARY KEY,        -- 32 hex digits, of the uncompressed bytes
    encoding    TEXT NOT NULL CHECK (encoding IN ('raw', 'zstd')),
    size_bytes  INTEGER NOT NULL,        -- uncompressed
    bytes       BLOB NOT NULL
);

-- Further numbers of one measurement, by name: what a profiler said of the variant (source ncu), counters that the kernel itself keeps (cycles).
CREATE TABLE metric (
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    name            TEXT NOT NULL,       -- "dram_percent", "cycles_mean", ...; the unit is in the name
    value           REAL NOT NULL,
    source          TEXT NOT NULL,       -- "cycles", "ncu"
    created_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (measurement_id, name)
);
