//! Cells of devices that speak IP over Wi-Fi.

use espbench_proto::workload::Wifi;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::Failed;
use espbench_sim::lab::trace::{Limits, Tracer};
use espbench_sim::lab::wifi::suite;
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
    let names = scene.names();
    let stations = names.len();
    let mut tracer = Tracer::named(names, stations, Limits::default());
    let done = suite::run_watched(work, &scene, seed, Some(&mut tracer), record);
    tracer.ended().record(record);
    done
}
