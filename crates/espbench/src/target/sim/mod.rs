//! The virtual lab as a target: ESP-NOW devices in a room, and devices over Wi-Fi, in virtual time.
//!
//! Cells that were announced ([`Target::prepare`]) are simulated ahead of being asked for, on all
//! cores; see `ahead`. Each has a seed of its own, so what comes of it depends neither on the
//! others nor on the number of threads.

mod ahead;
#[cfg(test)]
mod tests;
mod watched;

use super::{Sink, Target, TargetError};
use ahead::{Ahead, Order};
use espbench_measure::cell::Origin;
use espbench_measure::run::Site;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{self, Failed, Seeds};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Seed of a cell that nobody announced.
const DEFAULT_SEED: u64 = espbench_measure::plan::DEFAULT_SEED;

/// Carries out cells in a lab.
#[derive(Debug)]
pub struct SimTarget {
    rooms: Arc<Rooms>,
    threads: NonZeroUsize,
    ahead: Option<Ahead>,
}

/// Parameters of a simulation, which all threads share.
#[derive(Debug)]
struct Rooms {
    library: Library,
    /// The lab for all cells; that of the report for each, if none is named.
    lab: Option<String>,
    /// Where captures of the air go.
    capture: Option<PathBuf>,
}

impl Rooms {
    fn name(&self) -> String {
        self.lab.as_ref().map_or_else(|| "sim".into(), |lab| format!("sim:{lab}"))
    }

    fn error(&self, failed: Failed) -> TargetError {
        match failed {
            Failed::Cancelled => TargetError::Cancelled,
            other => TargetError::Simulated { target: self.name(), why: other.to_string() },
        }
    }
}

impl SimTarget {
    /// Creates the target of the lab of that name or file; without a name each cell has that of the
    /// report. So many threads simulate.
    ///
    /// # Errors
    /// The mistake in the lab, and what to do.
    pub fn new(lab: Option<&str>, threads: NonZeroUsize) -> Result<Self, String> {
        let library = match lab {
            Some(lab) => crate::labs::library(FileKind::Lab, lab).map_err(|e| format!("{e:#}"))?,
            None => Library::built_in(),
        };
        Ok(Self::with(library, lab, threads))
    }

    /// Creates the target of a lab of that library, with so many threads.
    fn with(library: Library, lab: Option<&str>, threads: NonZeroUsize) -> Self {
        let lab = lab.map(ToOwned::to_owned);
        let rooms = Arc::new(Rooms { library, lab, capture: None });
        Self { rooms, threads, ahead: None }
    }

    /// Adds a capture of each cell's air: in that file, or in files with the cells' numbers where
    /// there are several.
    #[must_use]
    pub fn capturing(mut self, file: Option<PathBuf>) -> Self {
        if let Some(rooms) = Arc::get_mut(&mut self.rooms) {
            rooms.capture = file;
        }
        self
    }

    fn unsupported(&self, workload: &Workload, hint: String) -> TargetError {
        TargetError::Unsupported { target: self.rooms.name(), kind: workload.kind(), hint }
    }
}

impl Target for SimTarget {
    fn site(&self) -> Site {
        // Any test will do: what a lab's devices are does not depend on it.
        let lab = self.rooms.lab.as_deref().unwrap_or("two-boards");
        let scene = self.rooms.library.scene(lab, &Default::default(), DEFAULT_SEED);
        let chip = scene.as_ref().ok().and_then(|it| it.nodes.first());
        Site {
            chip: chip.map_or_else(|| "unstated".into(), |it| it.profile.chip_name.clone()),
            environment: scene.as_ref().ok().map(|it| it.environment.name.clone()),
            ..Site::default()
        }
    }

    fn origin(&self) -> Origin {
        Origin::Simulated
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let Rooms { library, lab, .. } = &*self.rooms;
        let able = suite::check(workload, library, lab.as_deref());
        able.map_err(|failed| self.unsupported(workload, failed.to_string()))
    }

    fn prepare(&mut self, seed: u64, cells: &[(Workload, u64)]) {
        let cells = cells.iter().filter(|it| suite::is_for_lab(&it.0));
        let cells: Vec<(Workload, u64)> = cells.copied().collect();
        let (rooms, count) = (Arc::clone(&self.rooms), cells.len());
        let carry_out = move |order: Order, record: &mut dyn Record| {
            let file = rooms.capture_of(order.number, count);
            let seeds = Seeds { place: seed, cell: order.seed };
            rooms
                .carry_out(&order.work, seeds, file.as_deref(), record)
                .map_err(|failed| rooms.error(failed))
        };
        self.ahead = Some(Ahead::start(cells, self.threads, Box::new(carry_out)));
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let next = self.ahead.as_ref().and_then(Ahead::next);
        if next.is_none_or(|it| it != *workload) {
            // Nobody announced it, or not in this order.
            self.prepare(DEFAULT_SEED, &[(*workload, DEFAULT_SEED)]);
        }
        match &mut self.ahead {
            Some(ahead) => ahead.give(sink),
            None => Ok(()),
        }
    }
}
