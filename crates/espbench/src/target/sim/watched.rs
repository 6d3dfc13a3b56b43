//! A cell carried out under watch: what its report shows of the air, and a capture of it.

use super::Rooms;
use crate::capture::LabCapture;
use espbench_model::workload::Workload;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{self, Failed, Seeds};
use espbench_sim::lab::trace::{Limits, Tracer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

impl Rooms {
    /// Returns the file for a capture of the cell of that number, of so many.
    pub(super) fn capture_of(&self, number: usize, cells: usize) -> Option<PathBuf> {
        let file = self.capture.as_ref()?;
        Some(if cells > 1 { numbered(file, number + 1) } else { file.clone() })
    }

    /// Carries out a cell, and writes a capture of it to that file.
    pub(super) fn carry_out(
        &self,
        work: &Workload,
        seeds: Seeds,
        capture: Option<&Path>,
        record: &mut dyn Record,
    ) -> Result<(), Failed> {
        let scene = suite::scene(work, &self.library, self.lab.as_deref(), seeds.place)?;
        let failed = |path: &Path, error: &io::Error| {
            Failed::Unable(scene.name.clone(), format!("cannot write {}: {error}", path.display()))
        };
        let file = match capture {
            None => None,
            Some(path) => {
                let file = File::create(path).and_then(|it| {
                    LabCapture::new(BufWriter::new(it), &scene, seeds.cell, &name(work))
                });
                Some(file.map_err(|error| failed(path, &error))?)
            }
        };
        let mut witness = (Tracer::new(&scene, Limits::default()), file);
        let done = suite::run_in(work, &scene, seeds.cell, &mut witness, record);
        let (tracer, file) = witness;
        tracer.ended().record(record);
        if let (Some(file), Some(path)) = (file, capture) {
            file.finish().map_err(|error| failed(path, &error))?;
        }
        done
    }
}

/// Says in a capture's comment what was done.
fn name(work: &Workload) -> String {
    match work {
        Workload::EspNow(work) => format!("{:?}", work.test),
        other => other.ip().map(|test| format!("{test:?}")).unwrap_or_default(),
    }
}

/// Returns a file's name with a number: `air.pcapng` becomes `air-003.pcapng`.
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
