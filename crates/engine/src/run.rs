//! All cells of a plan, one after the other, to a report: nothing is stored.

use crate::TOOL;
use crate::cells::{SeededCell, seeded_cells};
use crate::report::ReportBuilder;
use crate::simulator::{CellError, Simulator};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use espbench_measure::cell::Origin;
use espbench_measure::metric;
use espbench_measure::plan::{PlanSet, PlannedCell};
use espbench_measure::report::Report;
use espbench_measure::run::{Recorded, RunFacts, Site};
use espbench_model::sample::Sample;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;

/// Cells that may fail one after the other before a run is given up: its target is gone.
pub const FAILURES_IN_A_ROW: usize = 3;

/// Is told how a run gets on, and says when to stop.
pub trait RunListener {
    /// Takes note that a cell begins, one of so many.
    fn begin(&mut self, cell: &SeededCell, of: usize) {
        let _ = (cell, of);
    }

    /// Takes note that a cell has ended, with its samples.
    fn end(&mut self, recorded: &Recorded) {
        let _ = recorded;
    }

    /// Returns whether to stop; asked often while a cell is simulated.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody listens.
impl RunListener for () {}

/// The reason for which a run is refused before any of it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// A threshold is on a metric that is not known: the threshold, and what is wrong with it.
    Threshold(String, String),
    /// The lab cannot carry out one of the cells.
    Cell(CellError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threshold(threshold, wrong) => write!(f, "the threshold `{threshold}`: {wrong}"),
            Self::Cell(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Refused {}

/// Checks that the metrics of all thresholds exist.
///
/// # Errors
/// [`Refused::Threshold`].
pub fn check_thresholds(set: &PlanSet) -> Result<(), Refused> {
    set.thresholds().into_iter().try_for_each(|(_, threshold)| {
        let unknown = |wrong| Refused::Threshold(threshold.to_string(), wrong);
        metric::check(&threshold.metric).map_err(unknown)
    })
}

/// Returns the device and the place of a simulated run of these plans, as far as they are the lab's:
/// each cell says its own where it is of a variant, or where the plan sets profile or environment.
#[must_use]
pub fn site_of(set: &PlanSet, target: impl FnOnce() -> Site) -> Site {
    let steps = set.steps();
    if steps.iter().all(|it| it.workload.variant().is_some()) {
        return Site::default();
    }
    let mut site = target();
    if steps.iter().any(|it| it.workload.lab().profile.is_some()) {
        site.chip = String::new();
    }
    if steps.iter().any(|it| it.workload.lab().environment.is_some()) {
        site.environment = None;
    }
    site
}

/// Characters of a run's name, of several plans and of one, before its number.
const NAME: [usize; 2] = [32, 100];

/// Returns the name of a run of these plans: whole names of as many as there is room for, and how many more there are. It
/// needs no quotes in a shell.
#[must_use]
pub fn run_name(set: &PlanSet) -> String {
    let short = |it: &str| slug(&it.chars().take(NAME[1]).collect::<String>());
    let names: Vec<String> = set.plans.iter().map(|it| short(&it.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    let all = names.join("-");
    match names.as_slice() {
        [] => "run".into(),
        [only] => (*only).into(),
        _ if all.len() <= NAME[0] => all,
        [first, others @ ..] => {
            let some = |n: usize| {
                let more = others.len() - n;
                format!(
                    "{first}-{}and-{more}-more",
                    others[..n].iter().map(|it| format!("{it}-")).collect::<String>()
                )
            };
            let fits = (1..others.len()).rev().map(some).find(|it| it.len() <= NAME[0]);
            fits.unwrap_or_else(|| some(0))
        }
    }
}

/// Returns a name in letters, digits and dashes.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => slug.push(c.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').into()
}

/// A run in the virtual lab.
#[derive(Debug)]
pub struct Simulation {
    set: PlanSet,
    simulator: Simulator,
    facts: RunFacts,
}

impl Simulation {
    /// Creates the run of these plans, in the library's lab of that name, or each cell in the lab of its
    /// test. Without a seed the plan's holds.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn new(
        set: PlanSet,
        library: Library,
        lab: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Self, Refused> {
        check_thresholds(&set)?;
        let simulator = Simulator::new(library, lab);
        let mut works = set.plans.iter().flat_map(|plan| &plan.workloads);
        works.try_for_each(|work| simulator.check(work)).map_err(Refused::Cell)?;
        let facts = RunFacts {
            name: run_name(&set),
            tool: TOOL.into(),
            started: String::new(),
            target: simulator.target(),
            origin: Origin::Simulated,
            seed: seed.unwrap_or_else(|| set.seed()),
            plan_name: set.name(),
            plan_text: set.text(),
            site: site_of(&set, || simulator.site()),
            beside: None,
            fitted: simulator.fits(),
            library: Some(simulator.library_digest()),
            own_lab: simulator.is_own_lab(),
            host: BTreeMap::new(),
        };
        Ok(Self { set, simulator, facts })
    }

    /// Names the run, and says when it was started, in UTC: both stand in the report.
    #[must_use]
    pub fn named(mut self, name: &str, started: &str) -> Self {
        self.facts.name = name.to_owned();
        self.facts.started = started.to_owned();
        self
    }

    /// Returns the facts of the run.
    #[must_use]
    pub const fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// Returns its cells, in the order of work.
    #[must_use]
    pub fn cells(&self) -> Vec<SeededCell> {
        seeded_cells(&self.set, self.facts.seed)
    }

    /// Carries out one cell; what comes of it depends on no other. `None` where the listener stopped it.
    pub fn carry_out(&self, cell: &SeededCell, listener: &dyn RunListener) -> Option<Recorded> {
        let mut kept = Kept::new(listener);
        let done = self.simulator.carry_out(cell, &mut kept);
        let recorded = kept.recorded(&cell.step, done.err().map(|error| error.to_string()));
        (!listener.cancelled()).then_some(recorded)
    }

    /// Returns the report of these cells, in whatever order they come.
    #[must_use]
    pub fn report<'a>(&self, cells: impl IntoIterator<Item = &'a Recorded>) -> Report {
        let mut builder = ReportBuilder::new(&self.facts);
        cells.into_iter().for_each(|it| builder.add(it.clone()));
        builder.finish(None, self.set.steps().len())
    }

    /// Carries out all cells, and returns the report of those that were done.
    pub fn run(&self, listener: &mut dyn RunListener) -> Report {
        let cells = self.cells();
        let mut builder = ReportBuilder::new(&self.facts);
        let mut failures = 0;
        for cell in &cells {
            listener.begin(cell, cells.len());
            let Some(recorded) = self.carry_out(cell, listener) else { break };
            listener.end(&recorded);
            failures = if recorded.error.is_some() { failures + 1 } else { 0 };
            builder.add(recorded);
            if failures >= FAILURES_IN_A_ROW {
                break;
            }
        }
        builder.finish(None, cells.len())
    }
}

/// Carries out these plans in the library's lab of that name, or each cell in the lab of its test, and
/// returns their report: for the same input the same to the byte. Without a seed the plan's holds.
///
/// # Errors
/// [`Refused`], before anything is carried out. What fails later stands in the report.
pub fn run(
    set: PlanSet,
    library: Library,
    lab: Option<&str>,
    seed: Option<u64>,
    listener: &mut dyn RunListener,
) -> Result<Report, Refused> {
    Ok(Simulation::new(set, library, lab, seed)?.run(listener))
}

/// Samples, counters and facts of a cell, in memory.
struct Kept<'a> {
    /// Probes and intervals apart, as a store keeps them and gives them back.
    probes: Vec<Sample>,
    intervals: Vec<Sample>,
    counters: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    listener: &'a dyn RunListener,
}

impl<'a> Kept<'a> {
    fn new(listener: &'a dyn RunListener) -> Self {
        let (probes, intervals) = (Vec::new(), Vec::new());
        let (counters, facts) = (BTreeMap::new(), BTreeMap::new());
        Self { probes, intervals, counters, facts, listener }
    }

    fn recorded(self, step: &PlannedCell, error: Option<String>) -> Recorded {
        let Self { mut probes, intervals, counters, facts, .. } = self;
        let PlannedCell { ordinal, repetition, workload } = *step;
        probes.extend(intervals);
        Recorded { ordinal, repetition, workload, samples: probes, counters, facts, error }
    }
}

impl Record for Kept<'_> {
    fn sample(&mut self, sample: Sample) {
        match sample {
            Sample::Probe(_) => self.probes.push(sample),
            Sample::Interval(_) => self.intervals.push(sample),
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.to_owned()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.to_owned(), value);
    }

    fn cancelled(&self) -> bool {
        self.listener.cancelled()
    }
}
