//! A cell carried out under watch: what its report shows of the air, and a capture of it.

use super::{Rooms, wifi};
use crate::capture::{AirCapture, CaptureOrigin};
use espbench_model::workload::{EspNow, Workload};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{self, Failed};
use espbench_sim::lab::trace::{Limits, Tracer};
use espbench_sim::talk::Conversation as _;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Devices are numbered from the initiator on: a capture is made at its place.
const INITIATOR: u32 = 0;

impl Rooms {
    /// The file for a capture of the cell of that number, of so many.
    pub(super) fn capture_of(&self, number: usize, cells: usize) -> Option<PathBuf> {
        let file = self.capture.as_ref()?;
        Some(if cells > 1 { numbered(file, number + 1) } else { file.clone() })
    }

    /// Carries out a cell. The first seed draws the place, which is the same for all cells of a run,
    /// the second all other chance.
    pub(super) fn carry_out(
        &self,
        work: &Workload,
        seeds: (u64, u64),
        capture: Option<&Path>,
        record: &mut dyn Record,
    ) -> Result<(), Failed> {
        match work {
            Workload::EspNow(work) => self.esp_now(work, seeds, capture, record),
            Workload::Wifi(work) => {
                let lab = self.lab.as_deref();
                wifi::carry_out(work, &self.library, lab, seeds, capture, record)
            }
            // Refused before.
            _ => Ok(()),
        }
    }

    fn esp_now(
        &self,
        work: &EspNow,
        (place, seed): (u64, u64),
        capture: Option<&Path>,
        record: &mut dyn Record,
    ) -> Result<(), Failed> {
        let mut scene = suite::scene(work, &self.library, self.lab.as_deref(), place)?;
        scene.environment.place = Some(place);
        let failed = |path: &Path, error: &io::Error| {
            Failed::Unable(scene.name.clone(), format!("cannot write {}: {error}", path.display()))
        };
        let origin = CaptureOrigin {
            scene: &scene,
            seed,
            observer: INITIATOR,
            what: &format!("{:?}", work.test),
        };
        let air = match capture {
            None => None,
            Some(path) => {
                let file =
                    File::create(path).and_then(|it| AirCapture::new(BufWriter::new(it), &origin));
                Some(file.map_err(|error| failed(path, &error))?)
            }
        };
        let mut watch = (Tracer::new(&scene, Limits::default()), air);
        let done = suite::run_in(work, &scene, seed, &mut watch, record);
        let end = done.as_ref().map(|lab| lab.now()).unwrap_or_default();
        let done = done.map(|_| ());
        let (tracer, air) = watch;
        tracer.finish(end).record(record);
        if let (Some(air), Some(path)) = (air, capture) {
            air.finish().map_err(|error| failed(path, &error))?;
        }
        done
    }
}

/// `air.pcapng` to `air-003.pcapng`.
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
