//! Reports: a whole run as one value. JSON is its serialization; text, CSV, Markdown and HTML are
//! drawings of it.
//!
//! | module | contents |
//! |---|---|
//! | `agreement` | agreement of leading figures with published ones, or why they cannot be compared |
//! | `build` | makes the report of a run, one recorded cell at a time |
//! | `digest` | what a report keeps of a recorded cell once its samples are gone |
//! | `fitted` | figures that the lab was fitted to, which are marked |
//! | `glance` | the leading figures, in few rows |
//! | `headlines` | sentences that a reader must know before the first number |
//! | `losses` | counts what became of the probes of one cell |
//! | `pool` | repetitions of a cell as one, where a document's figures come from one test each |
//! | `stopped` | cells that the user stopped, and how far they had come |
//! | `set_of_lab` | what cells set of their labs |
//! | `sections` | the order in which a report is read, the same in every drawing |
//! | `stations` | figures of each station of a test that several carry out at once |
//! | `test_facts` | facts of the test that a result cell is of |

mod agreement;
mod build;
pub(crate) mod digest;
mod fitted;
mod glance;
mod headlines;
mod losses;
pub(crate) mod pool;
mod sections;
mod set_of_lab;
pub(crate) mod stations;
mod stopped;
mod test_facts;

pub use agreement::Agreement;
pub(crate) use agreement::agreement;
pub(crate) use build::known;
pub use build::{Builder, report};
pub(crate) use glance::retain_sound;
pub use glance::{BARS, GlanceGroup, GlanceMetric, GlanceRow, GlanceValue};
pub use headlines::ThresholdTally;
pub use sections::{CAPTURE, DIAGNOSIS, Section};
pub use stopped::{StoppedCell, StoppedWith};
pub(crate) use test_facts::{add_published, add_run};

use crate::air::{ChannelOccupancy, Timeline};
use crate::beside::LabComparison;
use crate::cell::{Cell, Origin};
use crate::compare::{Comparison, pool_all};
use crate::figure::Figure;
use crate::label;
use crate::predict::Prediction;
use crate::run::{Recorded, RunFacts};
use crate::table::Table;
use crate::truth::{SeedGroup, Truth};
use crate::tune::TuneCard;
use crate::warning::Warning;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the JSON form; `docs/report.schema.json` describes it.
pub const SCHEMA: &str = "espbench-report/4";

/// Mark in the head of a page by which it is known as ours.
pub const PAGE_MARK: &str = "<meta name=\"generator\" content=\"espbench\">";

/// First line of an answer in Markdown, which is not shown.
pub const TEXT_MARK: &str = "<!-- generator: espbench -->";

/// Fates of the probes of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Name of the cell, in words.
    pub place: String,
    /// Probes sent or due.
    pub probes: u64,
    /// Lost, by cause; `corrupt` came back changed.
    pub causes: BTreeMap<String, u64>,
    /// Not lost, and not delivered as sent either: `late`, `duplicate`, `out-of-order`;
    /// `stopped` were still awaited when the run was stopped.
    pub others: BTreeMap<String, u64>,
    /// Counters of the target: drops, stalls, overflows.
    pub counters: BTreeMap<String, u64>,
}

/// Losses of a recorded cell, by its position in the plan and its repetition.
pub(crate) type OfCell = ((u32, u32), Losses);

/// A cell of the plan that could not be measured, or not to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFailure {
    /// Name of the cell, in words.
    pub place: String,
    /// Cause, and advice on what to do.
    pub error: String,
    /// Repetition that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<RepetitionAt>,
}

/// Place of a repetition in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RepetitionAt {
    /// Position of the cell in the plan, from 0.
    pub cell: u32,
    /// Repetition of the cell, from 0.
    pub repetition: u32,
}

impl RepetitionAt {
    const fn of(recorded: &Recorded) -> Self {
        Self { cell: recorded.ordinal, repetition: recorded.repetition }
    }
}

/// A sentence on what the figures of a cell leave open, though it did not fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// Name of the cell, in words.
    pub place: String,
    /// The sentence.
    pub text: String,
    /// Repetition that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<RepetitionAt>,
}

impl Caveat {
    fn of(recorded: &Recorded, text: String) -> Self {
        Self { place: label::of(recorded), text, at: Some(RepetitionAt::of(recorded)) }
    }
}

/// Costs of the tool itself on this host, measured before the run on loopback.
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
    /// Number of the threshold among those of the plans, from 1: it is held against each cell and repetition that it
    /// limits. 0 in the report of an older espbench.
    #[serde(default, skip_serializing_if = "is_unnumbered")]
    pub number: u32,
    /// The threshold as the plan states it.
    pub threshold: String,
    /// Cell that it was of.
    pub place: String,
    /// The value that was held against it.
    pub value: Option<f64>,
    /// Unit.
    pub unit: String,
    /// True where the limit held.
    pub passed: bool,
    /// Distance of the value from the limit that it broke, in its unit; 0 where it is not known, or none is broken.
    #[serde(skip)]
    pub beyond: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_unnumbered(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &usize) -> bool {
    *count == 0
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
    /// Cells of the plan, with their repetitions, that were not measured to their end for that reason.
    #[serde(default, skip_serializing_if = "is_none")]
    pub missing: usize,
    /// Cells that the user stopped: their figures are of what was recorded until then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<StoppedCell>,
    /// Values that the plan sets of the lab that was named to other values than the lab's file, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<String>,
    /// The leading figures, by plan and kind of test: the first look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub glance: Vec<GlanceGroup>,
    /// The answer of a prediction on one card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// The answer about settings on one card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuneCard>,
    /// The result cells; on request, the published cells that they were held against.
    pub cells: Vec<Cell>,
    /// Ours against the published.
    pub comparisons: Vec<Comparison>,
    /// Tables in the shape of the documents.
    pub tables: Vec<Table>,
    /// Figures as data.
    pub figures: Vec<Figure>,
    /// Losses by cause.
    pub losses: Vec<Losses>,
    /// Uses of the channels' time, in the virtual lab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub occupancy: Vec<ChannelOccupancy>,
    /// Frames in stretches of time, in the virtual lab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// Advice.
    pub warnings: Vec<Warning>,
    /// Thresholds of the plan.
    pub checks: Vec<Check>,
    /// Cells that failed.
    pub failures: Vec<CellFailure>,
    /// Remarks on what the figures of cells leave open: loss that cannot be told, a search that reached its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// The tool's own cost on this host.
    pub overhead: Option<Overhead>,
    /// Errors of the lab over several seeds, of the documents that simulated tests here are like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lab_truth: Vec<SeedGroup>,
    /// Errors of simulated figures against the published ones, where there are both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<Truth>,
    /// Accuracy of the simulated tests over Wi-Fi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth_wifi: Option<Truth>,
    /// Comparison with a simulation of the same plan in a lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<LabComparison>,
    /// Name of the file that holds the raw samples; the host fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<String>,
}

impl Report {
    /// Returns the report with each published cell that one of ours was held against, once, after ours.
    #[must_use]
    pub fn with_published(mut self) -> Self {
        let ours = self.cells.len();
        for comparison in &self.comparisons {
            let other = &comparison.other;
            if other.origin == Origin::Published && !self.cells[ours..].contains(other) {
                self.cells.push(other.clone());
            }
        }
        self
    }

    /// Returns each figure of the run's own once: of repetitions their mean, with the interval of their
    /// scatter.
    #[must_use]
    pub fn figures_of_tests(&self) -> Vec<Cell> {
        let own = self.cells.iter().filter(|it| it.origin != Origin::Published);
        pool_all(&own.cloned().collect::<Vec<_>>())
    }

    /// Returns a report in which nothing stands but the facts.
    #[must_use]
    pub fn empty(run: RunFacts) -> Self {
        Self {
            schema: SCHEMA.into(),
            run,
            incomplete: false,
            missing: 0,
            stopped: Vec::new(),
            overridden: Vec::new(),
            glance: Vec::new(),
            prediction: None,
            tuning: None,
            cells: Vec::new(),
            comparisons: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            losses: Vec::new(),
            occupancy: Vec::new(),
            timelines: Vec::new(),
            warnings: Vec::new(),
            checks: Vec::new(),
            failures: Vec::new(),
            caveats: Vec::new(),
            overhead: None,
            lab_truth: Vec::new(),
            truth: None,
            truth_wifi: None,
            beside: None,
            stored: None,
        }
    }
}
