//! The virtual lab as a target: threads, captures and cancellation around `espbench_engine`.
//!
//! Cells that were announced ([`Target::prepare`]) are simulated ahead of being asked for, on all
//! cores; see `ahead`. Each has a seed of its own, so what comes of it depends neither on the
//! others nor on the number of threads.

mod ahead;
mod captured;
#[cfg(test)]
mod tests;

use super::{Sink, Target, TargetError};
use ahead::{Ahead, Order};
use captured::Captures;
use espbench_engine::{SeededCell, Simulator};
use espbench_measure::cell::Origin;
use espbench_measure::plan::{DEFAULT_SEED, PlannedCell};
use espbench_measure::run::{LabFit, Site};
use espbench_model::workload::Workload;
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{LabNotice, is_for_lab};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Carries out cells in a lab.
#[derive(Debug)]
pub struct SimTarget {
    simulator: Arc<Simulator>,
    captures: Option<PathBuf>,
    threads: NonZeroUsize,
    ahead: Option<Ahead>,
}

impl SimTarget {
    /// Creates the target of the lab of that name or file; without a name each cell is in that of its
    /// test. So many threads simulate.
    ///
    /// # Errors
    /// The fault in it, and what to do.
    pub fn new(lab: Option<&str>, threads: NonZeroUsize) -> anyhow::Result<Self> {
        let library = match lab {
            Some(lab) => crate::labs::library(FileKind::Lab, lab)?,
            None => Library::built_in(),
        };
        Ok(Self::of(Simulator::new(library, lab), threads))
    }

    /// Creates the target of a simulator, with so many threads.
    #[must_use]
    pub fn of(simulator: Simulator, threads: NonZeroUsize) -> Self {
        Self { simulator: Arc::new(simulator), captures: None, threads, ahead: None }
    }

    /// Adds a capture of each cell's air: in that file, or in files with the cells' numbers where
    /// there are several.
    #[must_use]
    pub fn capturing(self, captures: Option<PathBuf>) -> Self {
        Self { captures, ..self }
    }
}

impl Target for SimTarget {
    fn site(&self) -> Site {
        self.simulator.site()
    }

    fn origin(&self) -> Origin {
        Origin::Simulated
    }

    fn fits(&self) -> Vec<LabFit> {
        self.simulator.fits()
    }

    fn is_own_lab(&self) -> bool {
        self.simulator.is_own_lab()
    }

    fn library(&self) -> Option<String> {
        Some(self.simulator.library_digest())
    }

    fn notices(&self, cells: &[Workload]) -> Vec<String> {
        self.simulator.notices(cells).iter().map(LabNotice::to_string).collect()
    }

    fn placed(&self, cell: &SeededCell) -> Workload {
        self.simulator.placed(cell)
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        Ok(self.simulator.check(workload)?)
    }

    fn prepare(&mut self, cells: &[SeededCell]) {
        let simulated = cells.iter().filter(|it| is_for_lab(&it.step.workload));
        let cells: Vec<SeededCell> = simulated.copied().collect();
        let simulator = Arc::clone(&self.simulator);
        let captures = Captures { file: self.captures.clone(), cells: cells.len() };
        let carry_out = move |order: Order, record: &mut dyn Record| {
            captures.carry_out(&simulator, order, record)
        };
        self.ahead = Some(Ahead::start(cells, self.threads, Box::new(carry_out)));
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let next = self.ahead.as_ref().and_then(Ahead::next);
        if next.is_none_or(|it| it != *workload) {
            // Nobody announced it, or not in this order.
            let step = PlannedCell { ordinal: 0, repetition: 0, workload: *workload };
            self.prepare(&[SeededCell::new(0, step, DEFAULT_SEED)]);
        }
        match &mut self.ahead {
            Some(ahead) => ahead.give(sink),
            None => Ok(()),
        }
    }
}
