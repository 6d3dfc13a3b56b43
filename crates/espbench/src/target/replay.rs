//! A stored run as a target: the same cells again, sample for sample, without any device.

use super::{Sink, Target, TargetError};
use espbench_measure::cell::Origin;
use espbench_measure::run::{Recorded, Site};
use espbench_model::workload::Workload;

/// Gives back what a run recorded; a workload that it does not hold is an error.
#[derive(Debug)]
pub struct ReplayTarget {
    /// Name of the run.
    pub name: String,
    /// The site of the run.
    pub site: Site,
    /// Whether it was measured: given back, it still is what it was.
    pub origin: Origin,
    /// Cells of the run, in order; each is given back once.
    pub cells: Vec<Recorded>,
}

impl Target for ReplayTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn origin(&self) -> Origin {
        self.origin
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        if self.cells.iter().any(|cell| cell.workload == *workload) {
            return Ok(());
        }
        Err(TargetError::Unsupported {
            target: format!("replay:{}", self.name),
            kind: workload.kind(),
            hint: "that run has no such cell; replay it with its own plan".into(),
        })
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let found = self.cells.iter().position(|cell| cell.workload == *workload);
        let Some(index) = found else { return Ok(()) };
        let cell = self.cells.remove(index);
        for sample in cell.samples {
            sink.sample(sample);
        }
        for (name, value) in cell.counters {
            sink.count(&name, value);
        }
        for (name, value) in cell.facts {
            sink.fact(&name, value);
        }
        match cell.error {
            Some(error) => Err(TargetError::Protocol {
                peer: format!("replay:{}", self.name),
                what: error,
                hint: "the replayed cell had failed".into(),
            }),
            None => Ok(()),
        }
    }
}
