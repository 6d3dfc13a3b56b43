//! Several targets as one: each workload goes to the first that can do it.

use super::{Sink, Target, TargetError};
use crate::live_mark::LiveMark;
use espbench_engine::SeededCell;
use espbench_measure::cell::Origin;
use espbench_measure::run::{LabFit, Site};
use espbench_model::workload::Workload;

/// The targets, in the order in which they were named; never empty.
pub struct Several(pub Vec<Box<dyn Target>>);

impl Target for Several {
    fn site(&self) -> Site {
        self.0.first().map(|target| target.site()).unwrap_or_default()
    }

    fn origin(&self) -> Origin {
        self.0.first().map(|target| target.origin()).unwrap_or_default()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        self.0.first().and_then(|target| target.live_lab())
    }

    fn fits(&self) -> Vec<LabFit> {
        self.0.iter().flat_map(|target| target.fits()).collect()
    }

    fn is_own_lab(&self) -> bool {
        self.0.iter().any(|target| target.is_own_lab())
    }

    fn library(&self) -> Option<String> {
        // Each cell is that of one of them: labs of one run differ in what the first has of them, too.
        let all: Vec<String> = self.0.iter().filter_map(|target| target.library()).collect();
        (!all.is_empty()).then(|| all.join("+"))
    }

    fn prepare(&mut self, cells: &[SeededCell]) {
        let able = |targets: &[Box<dyn Target>], workload| {
            targets.iter().position(|target| target.check(workload).is_ok())
        };
        let whose: Vec<_> = cells.iter().map(|cell| able(&self.0, &cell.step.workload)).collect();
        for (number, target) in self.0.iter_mut().enumerate() {
            let its = cells.iter().zip(&whose).filter(|(_, whose)| **whose == Some(number));
            target.prepare(&its.map(|(cell, _)| *cell).collect::<Vec<_>>());
        }
    }

    fn notices(&self, cells: &[Workload]) -> Vec<String> {
        self.0.iter().flat_map(|target| target.notices(cells)).collect()
    }

    fn placed(&self, cell: &SeededCell) -> Workload {
        let able = self.0.iter().find(|target| target.check(&cell.step.workload).is_ok());
        able.map_or(cell.step.workload, |target| target.placed(cell))
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let mut refusal = Ok(());
        for target in &self.0 {
            match target.check(workload) {
                Ok(()) => return Ok(()),
                Err(e) => refusal = Err(e),
            }
        }
        refusal
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        match self.0.iter_mut().find(|target| target.check(workload).is_ok()) {
            Some(target) => target.run(workload, sink),
            None => Ok(()),
        }
    }
}
