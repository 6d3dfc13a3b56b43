//! Cells of devices that speak IP over Wi-Fi.

use crate::capture::Wlan;
use espbench_model::workload::Wifi;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::Failed;
use espbench_sim::lab::trace::{Limits, Tracer};
use espbench_sim::lab::wifi::suite;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Whether the lab can do it.
pub(super) fn check(work: &Wifi, library: &Library, lab: Option<&str>) -> Result<(), Failed> {
    suite::scene(work, library, lab).map(|_| ())
}

/// Carries it out. The first seed draws the place, the second all other chance.
pub(super) fn carry_out(
    work: &Wifi,
    library: &Library,
    lab: Option<&str>,
    (place, seed): (u64, u64),
    capture: Option<&Path>,
    record: &mut dyn Record,
) -> Result<(), Failed> {
    let mut scene = suite::scene(work, library, lab)?;
    scene.environment.place = Some(place);
    let failed = |path: &Path, error: &io::Error| {
        Failed::Unable(scene.name.clone(), format!("cannot write {}: {error}", path.display()))
    };
    let air = match capture {
        None => None,
        Some(path) => {
            let what = format!("{:?}", work.test);
            let file = File::create(path)
                .and_then(|it| Wlan::new(BufWriter::new(it), &scene, seed, &what));
            Some(file.map_err(|error| failed(path, &error))?)
        }
    };
    let names = scene.names();
    let stations = names.len();
    let mut watch = (Tracer::named(names, stations, Limits::default()), air);
    let done = suite::run_watched(work, &scene, seed, Some(&mut watch), record);
    let (tracer, air) = watch;
    tracer.ended().record(record);
    if let (Some(air), Some(path)) = (air, capture) {
        air.finish().map_err(|error| failed(path, &error))?;
    }
    done
}
