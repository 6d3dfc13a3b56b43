//! Events while a run goes: one value for each line of `--format jsonl`. `docs/jsonl.md` describes
//! them, and `docs/jsonl.schema.json` is their schema.

use super::{FateCounts, Times};
use crate::cell::{Cell, Origin};
use crate::plan::PlannedCell;
use crate::report::{CellFailure, Check, Report, StoppedCell};
use crate::run::RunFacts;
use crate::settings::Settings;
use crate::units::megabits;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;
use serde::Serialize;

/// Version of the lines.
pub const SCHEMA: &str = "espbench-jsonl/3";

/// Position of a cell in its run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct At {
    /// Name of the run.
    pub run: String,
    /// Number of the cell among those that are to be done, from 1.
    pub cell: usize,
    /// Number of cells that are to be done.
    pub of: usize,
    /// Kind of the workload.
    pub kind: &'static str,
    /// Settings of the cell.
    pub settings: Settings,
    /// Repetition, from 1.
    pub repetition: u32,
    /// Since the first cell began, in seconds.
    pub elapsed_s: f64,
}

impl At {
    /// Creates the place of a step of the plan, at its beginning.
    #[must_use]
    pub fn new(run: &str, (cell, of): (usize, usize), step: &PlannedCell) -> Self {
        Self {
            run: run.into(),
            cell,
            of,
            kind: step.workload.kind(),
            settings: Settings::of(&step.workload),
            repetition: step.repetition + 1,
            elapsed_s: 0.0,
        }
    }

    /// Returns the place of a cell that goes on, at a later time.
    #[must_use]
    pub fn later(&self, elapsed: Duration) -> Self {
        Self { elapsed_s: elapsed.as_secs_f64(), ..self.clone() }
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum LiveEvent {
    /// A run begins, or goes on.
    Run {
        /// [`SCHEMA`].
        schema: &'static str,
        /// Name of the run.
        run: String,
        /// The target as typed.
        target: String,
        /// Measured or simulated.
        origin: Origin,
        /// Name of the plan.
        plan: String,
        /// Start of the run in UTC, RFC 3339.
        started: String,
        /// Seed of the run.
        seed: u64,
        /// Cells that are to be done.
        cells: usize,
    },
    /// A cell begins.
    CellBegin {
        /// Cell that the line is of.
        #[serde(flatten)]
        at: At,
    },
    /// An interval of a stream is over.
    Interval {
        /// Cell that the line is of.
        #[serde(flatten)]
        at: At,
        /// Figures of the interval.
        #[serde(flatten)]
        interval: IntervalFigures,
    },
    /// Fates of the cell's probes so far: once a second, and at the cell's end.
    Probes {
        /// Cell that the line is of.
        #[serde(flatten)]
        at: At,
        /// Whole and in time.
        delivered: u64,
        /// Did not come.
        lost: u64,
        /// Came after the time-out.
        late: u64,
        /// Came back changed.
        corrupt: u64,
        /// Further copies.
        duplicate: u64,
        /// Times of those delivered, in milliseconds; null before the first.
        times_ms: Option<Times>,
    },
    /// A cell ended.
    CellEnd {
        /// Cell that the line is of.
        #[serde(flatten)]
        at: At,
        /// Cause of a failure; null where the cell did not fail.
        error: Option<String>,
    },
    /// Lines were dropped, because the reader was too slow.
    Dropped {
        /// Name of the run.
        run: String,
        /// Number of lines dropped since the last line of this type.
        lines: u64,
    },
    /// The result: the last line.
    Report {
        /// Name of the run.
        run: String,
        /// Whether the run was cut short.
        incomplete: bool,
        /// Cells that were not measured for that reason.
        missing: usize,
        /// Cells that the user stopped.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stopped: Vec<StoppedCell>,
        /// Cells that failed.
        failures: Vec<CellFailure>,
        /// Thresholds.
        checks: Vec<Check>,
        /// The result cells, as in the report.
        cells: Vec<Cell>,
    },
}

/// An interval, with the units of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalFigures {
    /// Observer that counted.
    pub observer: &'static str,
    /// Number of the stream.
    pub stream: u16,
    /// Number of the interval on that stream, from 0.
    pub interval: u64,
    /// Whether it is the sum over the whole stream.
    pub total: bool,
    /// Start, on the observer's clock, in seconds.
    pub start_s: f64,
    /// End, on the observer's clock, in seconds.
    pub end_s: f64,
    /// Payload bytes.
    pub bytes: u64,
    /// Payload over the time; null for no time.
    pub mbit_per_s: Option<f64>,
    /// Datagrams or messages.
    pub datagrams: Option<u64>,
    /// Datagrams missing by number.
    pub lost: Option<u64>,
    /// Datagrams after one of a higher number.
    pub out_of_order: Option<u64>,
    /// Datagrams that came more than once.
    pub duplicates: Option<u64>,
    /// Interarrival jitter, RFC 3550.
    pub jitter_ms: Option<f64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// Smoothed TCP round-trip time.
    pub tcp_rtt_ms: Option<f64>,
}

impl IntervalFigures {
    /// Figures of an interval.
    #[must_use]
    pub fn of(i: &Interval) -> Self {
        let seconds = |at: Instant| at.as_nanos() as f64 / 1e9;
        let ms = |nanos: u64| nanos as f64 / 1e6;
        Self {
            observer: i.observer.name(),
            stream: i.link.0,
            interval: i.seq,
            total: i.total,
            start_s: seconds(i.start),
            end_s: seconds(i.end),
            bytes: i.bytes,
            mbit_per_s: megabits(i.bytes, i.end.since(i.start)),
            datagrams: i.datagrams,
            lost: i.lost,
            out_of_order: i.out_of_order,
            duplicates: i.duplicates,
            jitter_ms: i.jitter_ns.map(ms),
            retransmits: i.retransmits,
            tcp_rtt_ms: i.tcp_rtt_ns.map(ms),
        }
    }
}

impl LiveEvent {
    /// Creates the event of a run that begins, with so many cells to do.
    #[must_use]
    pub fn run(facts: &RunFacts, cells: usize) -> Self {
        Self::Run {
            schema: SCHEMA,
            run: facts.name.clone(),
            target: facts.target.clone(),
            origin: facts.origin,
            plan: facts.plan_name.clone(),
            started: facts.started.clone(),
            seed: facts.seed,
            cells,
        }
    }

    /// Fates of a cell's probes so far.
    #[must_use]
    pub fn probes(at: At, tally: &FateCounts, times_ms: Option<Times>) -> Self {
        let FateCounts { delivered, lost, late, corrupt, duplicate, .. } = *tally;
        Self::Probes { at, delivered, lost, late, corrupt, duplicate, times_ms }
    }

    /// Creates the event of a run's result.
    #[must_use]
    pub fn report(report: &Report) -> Self {
        let ours = report.cells.iter().filter(|cell| cell.origin != Origin::Published);
        Self::Report {
            run: report.run.name.clone(),
            incomplete: report.incomplete,
            missing: report.missing,
            stopped: report.stopped.clone(),
            failures: report.failures.clone(),
            checks: report.checks.clone(),
            cells: ours.cloned().collect(),
        }
    }
}
