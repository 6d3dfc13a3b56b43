//! Recorded cells to a report, beside the published figures.

use crate::{published, truth};
use alloc::boxed::Box;
use alloc::vec::Vec;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::report::{Builder, Overhead, Report};
use espbench_measure::run::{Recorded, RunFacts};
use espbench_measure::truth::{SeedGroup, of_report};
use once_cell::race::OnceBox;

/// Makes the report of a run of any target, one recorded cell at a time: only one cell's samples
/// need to be in memory.
#[derive(Debug)]
pub struct ReportBuilder(Builder);

impl ReportBuilder {
    /// Creates a builder for the run of these facts.
    #[must_use]
    pub fn new(facts: &RunFacts) -> Self {
        Self(Builder::new(facts))
    }

    /// Adds a recorded cell; cells may come in any order. Its samples are not needed afterwards.
    pub fn add(&mut self, recorded: Recorded) {
        self.0.add(recorded);
    }

    /// Returns the report, beside the published figures that come with the product. `planned` is the
    /// number of cells that the plan has.
    #[must_use]
    pub fn finish(self, overhead: Option<Overhead>, planned: usize) -> Report {
        let mut report = self.0.finish(overhead, planned, published_cells());
        if report.run.origin == Origin::Simulated {
            report.lab_truth = of_report(lab_truth().to_vec(), &report);
        }
        report
    }
}

/// Returns the published figures, which are read once: many reports are of small rooms.
fn published_cells() -> &'static [Cell] {
    static READ: OnceBox<Vec<Cell>> = OnceBox::new();
    READ.get_or_init(|| Box::new(published::built_in()))
}

/// Returns the errors of the lab over its seeds, which are read once.
fn lab_truth() -> &'static [SeedGroup] {
    static READ: OnceBox<Vec<SeedGroup>> = OnceBox::new();
    READ.get_or_init(|| Box::new(truth::built_in()))
}
