//! Constants of profile and environment from one's own measurements.
//!
//! A measured run is simulated with other constants of the device's profile and of the place until lab
//! and measurement agree best ([`espbench_measure::fit`]). All trials have the same seeds, so that
//! chance is the same in each of them. Which constants were moved, by which cells, and how sure they
//! are stands in the answer: nothing is fitted silently.
//!
//! | module | contents |
//! |---|---|
//! | [`constants`] | the constants that may be fitted |
//! | `model` | the lab as the model that is fitted |

pub mod constants;
mod model;
#[cfg(test)]
mod tests;

use crate::run::{Refused, Simulation};
use alloc::string::String;
use alloc::vec::Vec;
use constants::FitConstant;
use core::fmt;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::fit::{self, FitFault};
use espbench_measure::metric::{self, Statistic};
use espbench_measure::plan::PlanSet;
use espbench_measure::run::Recorded;
use espbench_sim::lab::file::{FileError, Library};
use espbench_stats::Estimate;
use model::LabModel;

/// Constants that are chosen at most, where none is named.
pub const MOST_CHOSEN: usize = 3;
/// Seeds of each trial, where the question does not say.
pub const SEEDS: u32 = 3;

/// A question: which constants does this run ask for?
#[derive(Clone, Copy, Debug)]
pub struct FitQuestion<'a> {
    /// Plans of the run.
    pub set: &'a PlanSet,
    /// Files of the labs.
    pub library: &'a Library,
    /// Name of the lab; where there is none, that of each test.
    pub lab: Option<&'a str>,
    /// Cells of the run.
    pub measured: &'a [Cell],
    /// Metrics that are fitted; empty: minima, medians and means of times and rates.
    pub metrics: &'a [String],
    /// Names of the constants that are fitted; empty: those that the cells tell something about.
    pub constants: &'a [String],
    /// Seeds of each trial.
    pub seeds: u32,
}

/// Carries out the plans of a trial.
pub trait FitRunner {
    /// Carries out all cells of a simulation; those that were not begun any more are left out.
    fn carry_out(&mut self, simulation: &Simulation) -> Vec<Recorded> {
        simulation.cells().iter().filter_map(|cell| simulation.carry_out(cell, &())).collect()
    }

    /// Returns whether somebody wants to stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Carries out one cell after the other.
impl FitRunner for () {}

/// A constant that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedConstant {
    /// The constant, as it was.
    pub constant: FitConstant,
    /// Value of it that fits, with the 95 % interval.
    pub value: Estimate,
}

/// A measured cell beside the lab's.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedCell {
    /// The cell.
    pub measured: Cell,
    /// Value in the lab as it was.
    pub before: f64,
    /// Value in the lab with the fitted constants.
    pub after: f64,
}

/// Constants that fit a run.
#[derive(Clone, Debug)]
pub struct FitAnswer {
    /// Name of the lab that was fitted.
    pub lab: String,
    /// The constants; none where no constant explains anything.
    pub constants: Vec<FittedConstant>,
    /// Constants that were looked at.
    pub candidates: Vec<FitConstant>,
    /// The cells that were fitted to.
    pub cells: Vec<FittedCell>,
    /// Times that the plans were simulated.
    pub evaluations: usize,
}

/// The reason for which nothing was fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum FitError {
    /// The run has no cell of these metrics that the lab has, too.
    NoCells,
    /// The lab cannot carry out the plans.
    Refused(Refused),
    /// A cell could not be simulated.
    Cell(String),
    /// A file of the lab has a fault.
    File(FileError),
    /// The tests are in several labs.
    SeveralLabs(Vec<String>),
    /// There is no such constant: its name, and those that there are.
    NoConstant(String, Vec<String>),
    /// Several files have a constant of that name.
    SeveralConstants(String, Vec<String>),
    /// There must be more cells than constants: cells, constants.
    TooFew(usize, usize),
    /// The cells do not depend on this constant.
    Untold(String),
    /// The cells do not tell these constants apart.
    NotApart(Vec<String>),
    /// Somebody wanted to stop.
    Cancelled,
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCells => {
                f.write_str("the run has no cell of these metrics that the lab has, too")
            }
            Self::Refused(refused) => refused.fmt(f),
            Self::Cell(error) => f.write_str(error),
            Self::File(error) => error.fmt(f),
            Self::SeveralLabs(labs) => {
                write!(f, "the tests of the run are in several labs: {}", labs.join(", "))
            }
            Self::NoConstant(name, _) => {
                write!(f, "profile and environment of the lab have no constant `{name}`")
            }
            Self::SeveralConstants(name, all) => {
                write!(f, "`{name}` is a constant of several files: {}", all.join(", "))
            }
            Self::TooFew(cells, constants) => {
                write!(f, "{constants} constants cannot be told from {cells} cells")
            }
            Self::Untold(name) => write!(f, "the cells do not depend on `{name}`"),
            Self::NotApart(names) => {
                write!(f, "the cells do not tell these constants apart: {}", names.join(", "))
            }
            Self::Cancelled => f.write_str("stopped"),
        }
    }
}

impl core::error::Error for FitError {}

/// Answers a question.
///
/// # Errors
/// [`FitError`].
pub fn answer(
    question: &FitQuestion<'_>,
    runner: &mut dyn FitRunner,
) -> Result<FitAnswer, FitError> {
    let (lab, all) = constants::of_lab(question)?;
    let named = constants::named(&all, question.constants)?;
    let wanted: Vec<&Cell> =
        question.measured.iter().filter(|it| is_wanted(question, it)).collect();
    let mut model = LabModel::new(question, runner, wanted)?;
    let measured = model.measured.clone();
    let (candidates, mut chosen) = if question.constants.is_empty() {
        let candidates: Vec<FitConstant> = all.into_iter().filter(|it| it.open).collect();
        model.constants.clone_from(&candidates);
        let most = MOST_CHOSEN.min(measured.len().saturating_sub(1));
        let chosen = fit::select(&measured, candidates.len(), most, &mut model);
        let (chosen, _) = chosen.map_err(|fault| told(fault, &candidates))?;
        let chosen = chosen.into_iter().map(|it| candidates[it].clone()).collect();
        (candidates, chosen)
    } else {
        (named.clone(), named)
    };
    let found = loop {
        model.constants.clone_from(&chosen);
        match fit::fit(&measured, chosen.len(), &mut model) {
            // Nobody named it: what explains nothing once the others have their values is no part of the answer.
            Err(FitFault::Untold(number))
                if question.constants.is_empty() && number < chosen.len() =>
            {
                chosen.remove(number);
            }
            found => break found.map_err(|it| told(it, &chosen))?,
        }
    };
    let constants = chosen.into_iter().zip(&found.factors);
    let constants = constants
        .map(|(constant, factor)| FittedConstant { value: factor.scaled(constant.value), constant })
        .collect();
    let values = found.before.iter().zip(&found.after);
    let cells = model.cells.iter().zip(values).map(|(cell, (before, after))| FittedCell {
        measured: (*cell).clone(),
        before: libm::exp(before.ln),
        after: libm::exp(after.ln),
    });
    Ok(FitAnswer { lab, constants, candidates, cells: cells.collect(), evaluations: model.trials })
}

fn told(fault: FitFault<FitError>, constants: &[FitConstant]) -> FitError {
    let name = |it: &FitConstant| it.key.clone();
    match fault {
        FitFault::TooFew(cells, constants) => FitError::TooFew(cells, constants),
        FitFault::NoModel => FitError::NoCells,
        FitFault::Untold(number) => {
            FitError::Untold(constants.get(number).map(name).unwrap_or_default())
        }
        FitFault::NotApart => FitError::NotApart(constants.iter().map(name).collect()),
        FitFault::Model(error) => error,
    }
}

/// Returns whether a cell is fitted to.
fn is_wanted(question: &FitQuestion<'_>, cell: &Cell) -> bool {
    if cell.origin == Origin::Published || cell.test.number.is_none() {
        return false;
    }
    if !question.metrics.is_empty() {
        return question.metrics.contains(&cell.id.metric);
    }
    let (_, statistic) = metric::of(cell);
    matches!(statistic, Statistic::Min | Statistic::P50 | Statistic::Mean)
        && matches!(cell.unit.as_str(), "us" | "ms" | "s" | "Mbit/s" | "kbit/s" | "packets" | "1/s")
}

impl FitAnswer {
    /// Returns the mean of |ln(lab / measured)| over the cells, before and after: 0.1 is about 10 %.
    #[must_use]
    pub fn errors(&self) -> (f64, f64) {
        let mean = |of: fn(&FittedCell) -> f64| {
            let off = |it: &FittedCell| {
                it.measured.value.map_or(0.0, |ours| libm::fabs(libm::log(of(it) / ours)))
            };
            self.cells.iter().map(off).sum::<f64>() / (self.cells.len().max(1) as f64)
        };
        (mean(|it| it.before), mean(|it| it.after))
    }
}
