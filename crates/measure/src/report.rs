//! All of it as one value. JSON is its serialization; text, CSV, Markdown and HTML are drawings.

use crate::cell::Cell;
use crate::compare::Comparison;
use crate::figure::Figure;
use crate::run::{Recorded, RunFacts};
use crate::warning::Warning;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the JSON form; `docs/report.schema.json` describes it.
pub const SCHEMA: &str = "espbench-report/1";

/// A table in the shape of the document that it follows: rows and columns of text, made from
/// cells once, so that every drawing shows the same digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name, usable as an anchor.
    pub id: String,
    /// Title.
    pub title: String,
    /// Column heads, with units.
    pub columns: Vec<String>,
    /// Rows; each as long as `columns`. `None` is unknown.
    pub rows: Vec<Vec<Option<String>>>,
    /// What to know when reading it.
    pub notes: Vec<String>,
}

/// What became of the probes of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Which cell, in words.
    pub place: String,
    /// Probes sent or due.
    pub probes: u64,
    /// Lost, by cause.
    pub causes: BTreeMap<String, u64>,
    /// Counters of the target: drops, stalls, overflows.
    pub counters: BTreeMap<String, u64>,
}

/// A cell of the plan that could not be measured, or not to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Which cell, in words.
    pub place: String,
    /// Why, and what to do.
    pub error: String,
}

/// What the tool itself costs on this host, measured before the run on loopback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Smallest step of the clock that was seen, in nanoseconds.
    pub clock_step_ns: u64,
    /// Cost of reading the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// Median round trip over loopback against the tool's own responder, in microseconds.
    pub rtt_p50_us: Option<f64>,
    /// 99th percentile of the same, in microseconds.
    pub rtt_p99_us: Option<f64>,
    /// Median time from the kernel's receive timestamp to the application, in microseconds.
    pub wake_p50_us: Option<f64>,
    /// Round trips behind these figures.
    pub n: u64,
}

/// The outcome of a threshold of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The threshold as the plan states it.
    pub threshold: String,
    /// Which cell.
    pub place: String,
    /// The value that was held against it.
    pub value: Option<f64>,
    /// Unit.
    pub unit: String,
    /// Whether it held.
    pub passed: bool,
}

/// The report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The facts of the run.
    pub run: RunFacts,
    /// True where the run was cut short: `espbench run --resume` completes it.
    pub incomplete: bool,
    /// The result cells, and the published cells beside them.
    pub cells: Vec<Cell>,
    /// Ours against the published.
    pub comparisons: Vec<Comparison>,
    /// Tables in the shape of the documents.
    pub tables: Vec<Table>,
    /// Figures as data.
    pub figures: Vec<Figure>,
    /// Losses by cause.
    pub losses: Vec<Losses>,
    /// Advice.
    pub warnings: Vec<Warning>,
    /// Thresholds of the plan.
    pub checks: Vec<Check>,
    /// Cells that failed.
    pub failures: Vec<Failure>,
    /// The tool's own cost on this host.
    pub overhead: Option<Overhead>,
}

/// Makes the report of a run: a pure function of what the store holds and of the published cells.
#[must_use]
pub fn report(
    facts: &RunFacts,
    overhead: Option<Overhead>,
    recorded: &[Recorded],
    planned: usize,
    published: &[Cell],
) -> Report {
    let context = crate::summary::Context {
        site: &facts.site,
        origin: crate::cell::Origin::Measured,
        seed: facts.seed,
    };
    let mut cells: Vec<Cell> =
        recorded.iter().flat_map(|r| crate::summary::summarize(r, &context)).collect();
    for cell in &mut cells {
        cell.source = Some(facts.name.clone());
    }
    Report {
        schema: SCHEMA.into(),
        run: facts.clone(),
        incomplete: recorded.len() < planned,
        comparisons: crate::compare::compare(&cells, published),
        cells,
        tables: Vec::new(),
        figures: Vec::new(),
        losses: Vec::new(),
        warnings: Vec::new(),
        checks: Vec::new(),
        failures: Vec::new(),
        overhead,
    }
}
