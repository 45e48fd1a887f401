-- The schema of version 8, for the test of the migration.
PRAGMA application_id = 0x6d736474;
PRAGMA user_version = 8;
CREATE TABLE device (
    id          INTEGER PRIMARY KEY,
    key         TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    facts_json  TEXT NOT NULL
);
CREATE TABLE kernel (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    key         TEXT NOT NULL,
    spec_json   TEXT NOT NULL,
    UNIQUE (name, key)
);
CREATE TABLE shape (
    id          INTEGER PRIMARY KEY,
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    key         TEXT NOT NULL,
    name        TEXT NOT NULL,
    UNIQUE (kernel_id, key),
    UNIQUE (kernel_id, id)
);
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
    nvrtc_version   INTEGER NOT NULL,
    driver_version  INTEGER NOT NULL,
    arch            TEXT NOT NULL,
    UNIQUE (nvrtc_version, driver_version, arch)
);
CREATE TABLE variant (
    id          INTEGER PRIMARY KEY,
    kernel_id   INTEGER NOT NULL REFERENCES kernel (id),
    text        TEXT NOT NULL,
    UNIQUE (kernel_id, text)
);
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
CREATE TABLE session (
    id              INTEGER PRIMARY KEY,
    command         TEXT NOT NULL,
    host            TEXT NOT NULL,
    boot_id         TEXT NOT NULL,
    process_id      INTEGER NOT NULL,
    tool_version    TEXT NOT NULL,
    strategy        TEXT NOT NULL,
    space_path      TEXT NOT NULL,
    seed            INTEGER NOT NULL,
    origin          TEXT NOT NULL,
    source_hash     TEXT,
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms   INTEGER,
    state           TEXT NOT NULL DEFAULT 'running',
    worker_restarts INTEGER NOT NULL DEFAULT 0,
    evaluated       INTEGER NOT NULL DEFAULT 0,
    known           INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    times_json      TEXT,
    warnings        TEXT,
    drift           REAL,
    job             TEXT,
    headers         TEXT,
    plan            TEXT,
    truncated       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX session_by_source ON session (source_hash) WHERE source_hash IS NOT NULL;
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
CREATE TABLE strike (
    id              INTEGER PRIMARY KEY,
    device_id       INTEGER NOT NULL REFERENCES device (id),
    shape_id        INTEGER NOT NULL REFERENCES shape (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    origin          TEXT NOT NULL,
    cause           TEXT NOT NULL,
    created_unix_ms INTEGER NOT NULL,
    lifted          INTEGER NOT NULL DEFAULT 0,
    lifted_unix_ms  INTEGER
);
CREATE INDEX strike_by_variant ON strike (device_id, shape_id, variant_id);
CREATE TABLE measurement (
    id                 INTEGER PRIMARY KEY,
    subject_id         INTEGER NOT NULL REFERENCES subject (id),
    variant_id         INTEGER NOT NULL REFERENCES variant (id),
    toolchain_id       INTEGER NOT NULL REFERENCES toolchain (id),
    session_id         INTEGER NOT NULL REFERENCES session (id),
    created_unix_ms    INTEGER NOT NULL,
    evaluation         INTEGER NOT NULL,
    outcome            TEXT NOT NULL,
    text               TEXT,
    median_ns          REAL,
    low_ns             REAL,
    high_ns            REAL,
    min_ns             REAL,
    mean_ns            REAL,
    stddev_ns          REAL,
    sm_mhz             REAL,
    prepare_ns         REAL,
    sample_count       INTEGER,
    dropped_count      INTEGER,
    batch_count        INTEGER,
    accuracy_output    TEXT,
    norm_error         REAL,
    worst_error        REAL,
    worst_relative     REAL,
    worst_index        INTEGER,
    worst_value        REAL,
    worst_reference    REAL,
    nan_mismatches     INTEGER,
    registers          INTEGER,
    spill_bytes        INTEGER,
    static_smem_bytes  INTEGER,
    dynamic_smem_bytes INTEGER,
    carveout_percent   INTEGER,
    blocks_per_sm      INTEGER,
    active_clusters    INTEGER,
    cubin_hash         TEXT,
    cubin_cached       INTEGER,
    compile_ns         INTEGER,
    wait_ns            INTEGER,
    validate_ns        INTEGER,
    time_ns            INTEGER,
    launch_json        TEXT,
    model_flops        REAL,
    model_dram_bytes   REAL,
    model_floor_ns     REAL,
    samples            BLOB,
    spec_digest        TEXT
);
CREATE INDEX measurement_known ON measurement (subject_id, variant_id);
CREATE INDEX measurement_wrong ON measurement (subject_id, variant_id) WHERE outcome IN ('out_of_bounds', 'wrong_result', 'wrote_input');
CREATE INDEX measurement_by_session ON measurement (session_id, variant_id);
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
CREATE TABLE final_round (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    created_unix_ms INTEGER NOT NULL,
    method          TEXT NOT NULL,
    rounds          INTEGER NOT NULL,
    confidence      REAL NOT NULL,
    objective       TEXT NOT NULL DEFAULT 'time'
);
CREATE INDEX final_round_by_subject ON final_round (subject_id);
CREATE TABLE finalist (
    final_id        INTEGER NOT NULL REFERENCES final_round (id),
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    median_ns       REAL NOT NULL,
    low_ns          REAL NOT NULL,
    high_ns         REAL NOT NULL,
    ratio           REAL NOT NULL,
    ratio_low       REAL NOT NULL,
    ratio_high      REAL NOT NULL,
    tied            INTEGER NOT NULL,
    picked          INTEGER NOT NULL,
    round_ns        BLOB,
    energy_uj       REAL,
    energy_error_uj REAL,
    power_w         REAL,
    energy_loop_ms  REAL,
    energy_period_ms REAL,
    energy_runs     INTEGER,
    energy_source   TEXT,
    PRIMARY KEY (final_id, measurement_id)
);
CREATE INDEX finalist_by_measurement ON finalist (measurement_id);
CREATE TABLE library_comparison (
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    plugin          TEXT NOT NULL,
    first_ns        REAL,
    first_ratio     REAL,
    first_algorithm TEXT,
    best_ns         REAL NOT NULL,
    best_ratio      REAL NOT NULL,
    best_ratio_low  REAL,
    best_ratio_high REAL,
    best_algorithm  TEXT,
    is_limited      INTEGER NOT NULL,
    created_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (measurement_id, plugin)
);
CREATE TABLE pruned (
    session_id      INTEGER NOT NULL REFERENCES session (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    constraint_name TEXT NOT NULL,
    why             TEXT,
    point_count     INTEGER NOT NULL,
    PRIMARY KEY (session_id, subject_id, constraint_name)
);
CREATE TABLE best (
    subject_id      INTEGER PRIMARY KEY REFERENCES subject (id),
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    tied_count      INTEGER NOT NULL,
    updated_unix_ms INTEGER NOT NULL,
    final_id        INTEGER REFERENCES final_round (id)
);
CREATE INDEX best_by_measurement ON best (measurement_id);
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
    carveouts       TEXT,
    PRIMARY KEY (kernel_id, device_id, subject_id)
) WITHOUT ROWID;
CREATE TABLE landmark (
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    role            TEXT NOT NULL CHECK (role IN ('default', 'baseline')),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    PRIMARY KEY (subject_id, role)
) WITHOUT ROWID;
CREATE TABLE portfolio (
    id              INTEGER PRIMARY KEY,
    kernel_id       INTEGER NOT NULL REFERENCES kernel (id),
    device_id       INTEGER NOT NULL REFERENCES device (id),
    regime          TEXT NOT NULL,
    origin          TEXT NOT NULL,
    is_asked        INTEGER NOT NULL,
    max_count       INTEGER NOT NULL,
    within          REAL NOT NULL,
    worst           REAL NOT NULL,
    unserved_count  INTEGER NOT NULL,
    is_exact        INTEGER NOT NULL,
    held_out_count  INTEGER NOT NULL,
    held_out_mean   REAL,
    held_out_worst  REAL,
    rule_json       TEXT NOT NULL,
    updated_unix_ms INTEGER NOT NULL,
    cells           BLOB,
    UNIQUE (kernel_id, device_id, regime, origin)
);
CREATE TABLE portfolio_shape (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    workload_id     INTEGER NOT NULL,
    shape_key       TEXT NOT NULL,
    shape_name      TEXT NOT NULL,
    best_ns         REAL NOT NULL,
    default_ns      REAL,
    default_outcome TEXT,
    PRIMARY KEY (portfolio_id, subject_id)
) WITHOUT ROWID;
CREATE TABLE portfolio_variant (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    position        INTEGER NOT NULL,
    PRIMARY KEY (portfolio_id, variant_id)
) WITHOUT ROWID;
CREATE TABLE portfolio_cell (
    portfolio_id    INTEGER NOT NULL REFERENCES portfolio (id),
    subject_id      INTEGER NOT NULL REFERENCES subject (id),
    variant_id      INTEGER NOT NULL REFERENCES variant (id),
    outcome         TEXT NOT NULL,
    slowdown        REAL,
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
CREATE TABLE cubin (
    hash        TEXT PRIMARY KEY,
    encoding    TEXT NOT NULL CHECK (encoding IN ('raw', 'zstd')),
    size_bytes  INTEGER NOT NULL,
    bytes       BLOB NOT NULL
);
CREATE TABLE metric (
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id),
    name            TEXT NOT NULL,
    value           REAL NOT NULL,
    source          TEXT NOT NULL,
    created_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (measurement_id, name)
);
