-- The record. Samples are raw and never changed; everything else is computed from them again.
-- Times are nanoseconds on the clock that started with the cell; NULL is unknown, never 0.

CREATE TABLE run (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,      -- plan-number
    plan        TEXT NOT NULL,
    number      INTEGER NOT NULL,          -- among the runs of the plan, from 1
    facts       TEXT NOT NULL,             -- JSON, espbench_measure::run::RunFacts
    overhead    TEXT                       -- JSON, espbench_measure::report::Overhead
) STRICT;
CREATE UNIQUE INDEX run_of_plan ON run (plan, number);

CREATE TABLE cell (
    id          INTEGER PRIMARY KEY,
    run_id      INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,          -- in the order of work, from 0
    ordinal     INTEGER NOT NULL,          -- in the plan's matrix, from 0
    repetition  INTEGER NOT NULL,
    label       TEXT NOT NULL,             -- for people who read this file
    status      TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
    error       TEXT,
    counters    TEXT NOT NULL DEFAULT '{}',
    facts       TEXT NOT NULL DEFAULT '{}',
    UNIQUE (run_id, position)
) STRICT;

CREATE TABLE probe (
    cell_id     INTEGER NOT NULL REFERENCES cell(id) ON DELETE CASCADE,
    link        INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    due_ns      INTEGER NOT NULL,
    queued_ns   INTEGER,
    sent_ns     INTEGER,
    acked_ns    INTEGER,
    received_ns INTEGER,
    stamped_ns  INTEGER,
    fate        TEXT NOT NULL,
    cause       TEXT
) STRICT;
CREATE INDEX probe_cell ON probe (cell_id);

CREATE TABLE interval (
    cell_id      INTEGER NOT NULL REFERENCES cell(id) ON DELETE CASCADE,
    link         INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    observer     TEXT NOT NULL,
    start_ns     INTEGER NOT NULL,
    end_ns       INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    datagrams    INTEGER,
    lost         INTEGER,
    out_of_order INTEGER,
    duplicates   INTEGER,
    jitter_ns    INTEGER,
    retransmits  INTEGER,
    tcp_rtt_ns   INTEGER,
    tcp_rtt_var_us   INTEGER,
    tcp_cwnd         INTEGER,
    errors           INTEGER,
    read_sizes       BLOB,                 -- eight counts of 32 bits, little-endian
    transit_count    INTEGER,              -- one-way times; all five or none
    transit_min_ns   INTEGER,
    transit_max_ns   INTEGER,
    transit_mean_ns  REAL,
    transit_m2       REAL                  -- sum of squared deviations from the mean, square ns
) STRICT;
CREATE INDEX interval_cell ON interval (cell_id);
