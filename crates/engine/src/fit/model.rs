//! The lab as the model that is fitted.

use super::constants::FitConstant;
use super::{FitError, FitQuestion, FitRunner};
use crate::run::Simulation;
use alloc::vec::Vec;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::fit::{FitModel, LogValue};
use espbench_sim::lab::file::Library;

/// Simulates the plans with other constants.
pub(super) struct LabModel<'a> {
    question: &'a FitQuestion<'a>,
    runner: &'a mut dyn FitRunner,
    /// Cells that are fitted to, one for all repetitions.
    pub(super) cells: Vec<&'a Cell>,
    /// Their values.
    pub(super) measured: Vec<LogValue>,
    /// Constants that are varied.
    pub(super) constants: Vec<FitConstant>,
    /// Times that the plans were simulated.
    pub(super) trials: usize,
}

/// Returns whether two cells are of the same test and metric, whatever the repetition.
fn is_same(a: &Cell, b: &Cell) -> bool {
    a.test.number == b.test.number && a.id.metric == b.id.metric && a.test.trial == b.test.trial
}

impl<'a> LabModel<'a> {
    /// Creates the model for these cells; those that the lab does not have are left out.
    pub(super) fn new(
        question: &'a FitQuestion<'a>,
        runner: &'a mut dyn FitRunner,
        wanted: Vec<&'a Cell>,
    ) -> Result<Self, FitError> {
        let (cells, measured, constants) = (Vec::new(), Vec::new(), Vec::new());
        let mut model = Self { question, runner, cells, measured, constants, trials: 0 };
        let simulated = model.simulate(question.library, question.set.seed())?;
        for (number, cell) in wanted.iter().enumerate() {
            if wanted[..number].iter().any(|it| is_same(it, cell)) {
                continue;
            }
            let all: Vec<&Cell> = wanted.iter().filter(|it| is_same(it, cell)).copied().collect();
            let Some(value) = pooled(&all) else { continue };
            let has_value = |it: &&Cell| it.value.is_some_and(|value| value > 0.0);
            let is_there = simulated
                .iter()
                .filter(has_value)
                .any(|it| is_same(it, cell) && it.unit == cell.unit);
            if is_there {
                model.cells.push(cell);
                model.measured.push(value);
            }
        }
        if model.cells.is_empty() { Err(FitError::NoCells) } else { Ok(model) }
    }

    /// Simulates the plans once, and returns the cells.
    fn simulate(&mut self, library: &Library, seed: u64) -> Result<Vec<Cell>, FitError> {
        let FitQuestion { set, lab, .. } = *self.question;
        let simulation = Simulation::new(set.clone(), library.clone(), lab, Some(seed));
        let simulation = simulation.map_err(FitError::Refused)?;
        let recorded = self.runner.carry_out(&simulation);
        if self.runner.cancelled() {
            return Err(FitError::Cancelled);
        }
        if let Some(error) = recorded.iter().find_map(|it| it.error.clone()) {
            return Err(FitError::Cell(error));
        }
        let report = simulation.report(&recorded);
        Ok(report.cells.into_iter().filter(|it| it.origin != Origin::Published).collect())
    }
}

/// Returns the value of a cell over its repetitions.
fn pooled(repetitions: &[&Cell]) -> Option<LogValue> {
    if let [one] = repetitions {
        return LogValue::of(one.value?, one.ci_low, one.ci_high);
    }
    let values: Option<Vec<f64>> = repetitions.iter().map(|it| it.value).collect();
    LogValue::mean(&values?)
}

impl FitModel for LabModel<'_> {
    type Error = FitError;

    fn values(&mut self, factors: &[f64]) -> Result<Option<Vec<LogValue>>, FitError> {
        let mut library = self.question.library.clone();
        for (constant, factor) in self.constants.iter().zip(factors) {
            let value = constant.value * factor;
            // Out of its range, or no whole number where one is asked for.
            let set =
                library.tune(constant.kind, &constant.file, &constant.key, value).or_else(|_| {
                    library.tune(constant.kind, &constant.file, &constant.key, libm::rint(value))
                });
            if set.is_err() {
                return Ok(None);
            }
        }
        self.trials += 1;
        let first = self.question.set.seed();
        let mut values: Vec<Vec<f64>> = self.cells.iter().map(|_| Vec::new()).collect();
        for seed in (first..).take(self.question.seeds.max(1) as usize) {
            let simulated = self.simulate(&library, seed)?;
            for (cell, values) in self.cells.iter().zip(&mut values) {
                let same = simulated.iter().filter(|it| is_same(it, cell));
                values.extend(same.map(|it| it.value.unwrap_or_default()));
            }
        }
        Ok(values.iter().map(|it| LogValue::mean(it)).collect())
    }
}
