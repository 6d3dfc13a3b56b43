//! Plans: a matrix of workloads, repetitions, a seed, thresholds. A plan knows no target.
//!
//! | module | contents |
//! |---|---|
//! | `expected` | how long a cell is likely to take: for progress only |
//! | `goal` | which figures a plan wants first |
//! | `document` | the keys of plans as tables, for `docs/plans.md` |
//! | `key` | keys of a plan, with the values that they take |
//! | `lab` | keys of a lab: what a plan sets of a room and its devices |
//! | `limits` | the limits of `[[threshold]]` blocks |
//! | `matrix` | the matrix of a `[[measure]]` block |
//! | `places` | places of a lab's devices: what a plan says of them, and what it leaves to the lab's file |
//! | `print` | workloads back to a plan's text, so that a command's flags are stored as a plan too |
//! | `read` | TOML to [`Plan`], with line and column in every error |
//! | `value` | values that a plan, the command line and labels write alike |
//!
//! A plan is TOML. Every key of a `[[measure]]` block takes a value or a list of values; lists
//! multiply into a matrix, the block's first key varying slowest.
//!
//! ```toml
//! name = "quick-echo"
//! seed = 7
//! repetitions = 2
//!
//! [[measure]]
//! kind = "udp-echo"
//! size = [10, 100, 900]
//! count = 200
//!
//! [[threshold]]
//! metric = "rtt_p99"
//! payload_bytes = 100
//! max = "20 ms"
//! ```
//!
//! Unknown keys, wrong units and impossible values are errors with line and column. The text is
//! kept verbatim: a run stores it, and everything about the plan is read from it again.

mod document;
mod expected;
mod goal;
mod key;
mod lab;
mod limits;
mod matrix;
mod places;
mod print;
mod read;
mod value;

pub use document::document;
pub use expected::{expected, probes, span};
pub(crate) use goal::GOALS;
pub use goal::Goal;
pub(crate) use key::{PlanKey, PlanValue, words};
pub(crate) use lab::is_name;
pub use lab::lab_keys;
pub(crate) use matrix::{DAY, MILLISECOND, UDP_MAX, word_of};
pub use matrix::{MOST_CELLS, MOST_STEPS, defaults};
pub(crate) use places::{NodePlaces, PlacedTest};
pub use places::{PlacesAsked, placed};
pub use print::print;
pub(crate) use print::{key_lines, quoted, test_line};
pub(crate) use read::Scalar;
pub use read::{PlanError, guess};
pub use value::{ECHO_PORT, latency_by};
pub(crate) use value::{cast, metres, print_cast, print_latency};

use crate::predict::battery::Battery;
use crate::threshold::Threshold;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use espbench_model::workload::Workload;
use matrix::CellCounter;

/// The seed where a plan and the command line give none. Fixed, so that runs repeat.
pub const DEFAULT_SEED: u64 = 1;

/// The line that separates plans in one text.
const SEPARATOR: &str = "#%% plan ";

/// One plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name, as reports and the command line know it.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// Goal, which chooses the figures that a report shows first.
    pub goal: Option<Goal>,
    /// Battery of the devices, for how long it lasts; `None`: the usual one.
    pub battery: Option<Battery>,
    /// Seed of everything random.
    pub seed: u64,
    /// Number of times that the matrix is measured.
    pub repetitions: u32,
    /// The matrix, in order; one repetition.
    pub workloads: Vec<Workload>,
    /// Limits on the results.
    pub thresholds: Vec<Threshold>,
    /// The text that it was read from.
    pub text: String,
}

/// One cell of the work to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedCell {
    /// Position in the matrix, counted through all plans of a set.
    pub ordinal: u32,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Work of the step.
    pub workload: Workload,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// Line, column and a sentence that says what to do.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        read::plan(text, &mut CellCounter::new())
    }
}

/// Several plans carried out as one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanSet {
    /// The plans, in order.
    pub plans: Vec<Plan>,
}

impl PlanSet {
    /// Returns the text of all plans, from which [`PlanSet::parse`] reads them again. One plan is its
    /// own text, verbatim.
    #[must_use]
    pub fn text(&self) -> String {
        match self.plans.as_slice() {
            [only] => only.text.clone(),
            plans => plans
                .iter()
                .map(|plan| format!("{SEPARATOR}{}\n{}\n", plan.name, plan.text.trim_end()))
                .collect(),
        }
    }

    /// Reads one plan, or several that [`PlanSet::text`] joined.
    ///
    /// # Errors
    /// As [`Plan::parse`]; lines count from the start of the whole text.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if !text.starts_with(SEPARATOR) {
            return Ok(Self { plans: [Plan::parse(text)?].into() });
        }
        let (mut plans, mut counter) = (Vec::new(), CellCounter::new());
        let mut line = 0;
        for part in text.split(SEPARATOR).skip(1) {
            let body = part.split_once('\n').map_or("", |(_, body)| body);
            plans.push(read::plan(body, &mut counter).map_err(|e| e.moved(line + 1))?);
            line += part.matches('\n').count();
        }
        for (threshold, number) in plans.iter_mut().flat_map(|it| &mut it.thresholds).zip(1..) {
            threshold.number = number;
        }
        Ok(Self { plans })
    }

    /// Returns the plans with their tests over IP in the variant of that name, as far as they are in none:
    /// what was measured on a real device is simulated so.
    ///
    /// # Errors
    /// The form that the name of a variant has.
    pub fn in_variant(mut self, variant: &str) -> Result<Self, String> {
        let mut wrong = Ok(());
        self.change(|work| {
            if work.variant().is_none() && wrong.is_ok() {
                wrong = lab::in_variant(work, variant);
            }
        });
        wrong.map(|()| self)
    }

    /// Changes workloads; the text of a plan in which one has become another says so, and has no limits on
    /// results any more.
    pub fn change(&mut self, mut each: impl FnMut(&mut Workload)) {
        for plan in &mut self.plans {
            let before = plan.workloads.clone();
            plan.workloads.iter_mut().for_each(&mut each);
            if plan.workloads != before {
                plan.thresholds.clear();
                plan.text = print::plan(plan);
            }
        }
    }

    /// Gives each plan that battery; its text says so.
    ///
    /// # Errors
    /// A plan names another one itself, in words.
    pub fn with_battery(mut self, battery: &Battery) -> Result<Self, String> {
        for plan in &mut self.plans {
            match &plan.battery {
                None => {
                    plan.text = format!("battery = {}\n{}", quoted(&battery.name), plan.text);
                    plan.battery = Some(battery.clone());
                }
                Some(own) if own == battery => {}
                Some(own) => return Err(format!("the plan {} names {}", plan.name, own.name)),
            }
        }
        Ok(self)
    }

    /// Carries out each plan at least that many times; the first times are the same.
    pub fn repeat(&mut self, least: u32) {
        for plan in self.plans.iter_mut().filter(|it| it.repetitions < least) {
            plan.repetitions = least;
            plan.thresholds.clear();
            plan.text = print::plan(plan);
        }
    }

    /// Names of the plans, joined for people.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.plans.iter().map(|p| p.name.as_str()).collect();
        names.join(" + ")
    }

    /// Returns the seed of the run: that of the first plan.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.plans.first().map_or(DEFAULT_SEED, |p| p.seed)
    }

    /// Returns the thresholds of all plans, each with the positions of the cells of its own plan.
    #[must_use]
    pub fn thresholds(&self) -> Vec<(Range<u32>, &Threshold)> {
        let mut all = Vec::new();
        let mut first = 0;
        for plan in &self.plans {
            let next = first + u32::try_from(plan.workloads.len()).unwrap_or(u32::MAX);
            all.extend(plan.thresholds.iter().map(|threshold| (first..next, threshold)));
            first = next;
        }
        all
    }

    /// Returns the work to do, in order. Repetitions go through a plan's whole matrix, so that a
    /// drift of the place touches all cells alike.
    #[must_use]
    pub fn steps(&self) -> Vec<PlannedCell> {
        let mut steps = Vec::new();
        let mut first = 0;
        for plan in &self.plans {
            for repetition in 0..plan.repetitions {
                for (ordinal, &workload) in (first..).zip(&plan.workloads) {
                    steps.push(PlannedCell { ordinal, repetition, workload });
                }
            }
            first += u32::try_from(plan.workloads.len()).unwrap_or(u32::MAX);
        }
        steps
    }
}
