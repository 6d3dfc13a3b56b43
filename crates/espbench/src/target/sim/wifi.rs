//! A cell of a device over Wi-Fi: where the Wi-Fi lab is asked.

use espbench_proto::workload::Wifi;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::Failed;

/// Whether the lab can carry it out, before anything is simulated.
pub(super) fn check(work: &Wifi, _: &Library, lab: Option<&str>) -> Result<(), Failed> {
    Err(none(work, lab))
}

/// Carries it out. The first seed draws the place, the second all other chance.
pub(super) fn carry_out(
    work: &Wifi,
    _: &Library,
    lab: Option<&str>,
    _: (u64, u64),
    _: &mut dyn Record,
) -> Result<(), Failed> {
    Err(none(work, lab))
}

fn none(work: &Wifi, lab: Option<&str>) -> Failed {
    let why = format!(
        "it has no variant `{}` of a device; use --on udp:, tcp:, iperf: or mqtt: for a real one",
        work.variant.as_str()
    );
    Failed::Unable(lab.unwrap_or("the virtual lab").into(), why)
}
