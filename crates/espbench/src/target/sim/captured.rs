//! A cell carried out with a capture of its air.

use super::Order;
use crate::capture::LabCapture;
use crate::target::TargetError;
use espbench_engine::{SeededCell, Simulator};
use espbench_model::workload::Workload;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::suite::{SuiteError, Unable};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Where the captures of cells go.
#[derive(Debug)]
pub(super) struct Captures {
    /// The file, where captures are wanted.
    pub(super) file: Option<PathBuf>,
    /// Number of cells: of several, each has a file of its own.
    pub(super) cells: usize,
}

impl Captures {
    /// Carries out a cell.
    pub(super) fn carry_out(
        &self,
        simulator: &Simulator,
        order: Order,
        record: &mut dyn Record,
    ) -> Result<(), TargetError> {
        let Some(path) = self.path(order.number) else {
            return Ok(simulator.carry_out(&order.cell, record)?);
        };
        let scene = simulator.scene(&order.cell)?;
        let failed = |error: io::Error| {
            let why = format!("cannot write {}: {error}", path.display());
            let why = SuiteError::Unable(Unable::Lab(scene.name.clone()), why).to_string();
            TargetError::Simulated { target: simulator.target(), why }
        };
        let mut capture = begin(&path, &scene, &order.cell).map_err(failed)?;
        let done = simulator.carry_out_in(&order.cell, &scene, &mut capture, record);
        capture.finish().map_err(failed)?;
        Ok(done?)
    }

    /// Returns the file for a capture of the cell of that number.
    fn path(&self, number: usize) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        Some(if self.cells > 1 { numbered(file, number + 1) } else { file.clone() })
    }
}

/// Begins the file of a cell's capture.
fn begin(path: &Path, scene: &Scene, cell: &SeededCell) -> io::Result<LabCapture<BufWriter<File>>> {
    let file = BufWriter::new(File::create(path)?);
    LabCapture::new(file, scene, cell.seeds.cell, &name(&cell.step.workload))
}

/// Says in a capture's comment what was done.
fn name(work: &Workload) -> String {
    match work {
        Workload::EspNow(work) => format!("{:?}", work.test),
        other => other.ip().map(|test| format!("{test:?}")).unwrap_or_default(),
    }
}

/// Returns the name of a file with a number: `air-003.pcapng` of `air.pcapng`.
fn numbered(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match file.extension() {
        Some(ending) => format!("{stem}-{number:03}.{}", ending.to_string_lossy()),
        None => format!("{stem}-{number:03}"),
    };
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_each_cell() {
        let name = |file: &str| numbered(Path::new(file), 7).to_string_lossy().into_owned();
        assert_eq!(name("a/air.pcapng"), "a/air-007.pcapng");
        assert_eq!(name("air"), "air-007");
    }
}
