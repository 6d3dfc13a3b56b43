//! A cell of a device over Wi-Fi, in the lab that has its variant.

use espbench_proto::workload::Wifi;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::net_scene::NetScene;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::Failed;
use espbench_sim::lab::wifi::suite::{self, Failed as OverWifi};

/// Whether the lab can carry it out, before anything is simulated.
pub(super) fn check(work: &Wifi, library: &Library, lab: Option<&str>) -> Result<(), Failed> {
    scene(work, library, lab).map(|_| ())
}

/// Carries it out. The first seed draws the place, the second all other chance.
pub(super) fn carry_out(
    work: &Wifi,
    library: &Library,
    lab: Option<&str>,
    (place, seed): (u64, u64),
    record: &mut dyn Record,
) -> Result<(), Failed> {
    let mut scene = scene(work, library, lab)?;
    scene.environment.place = Some(place);
    suite::run_in(work, &scene, seed, record).map_err(|failed| match failed {
        OverWifi::Cancelled => Failed::Cancelled,
        OverWifi::File(wrong) => Failed::File(wrong),
        other => Failed::Unable(scene.lab, other.to_string()),
    })
}

/// The room of the variant, of the lab that is named, or else of the one that has it.
fn scene(work: &Wifi, library: &Library, lab: Option<&str>) -> Result<NetScene, Failed> {
    let variant = work.variant.as_str();
    let Some(lab) = lab.or_else(|| library.lab_of(variant)) else {
        let why = format!(
            "it has no variant `{variant}` of a device; `espbench lab list` names those that there \
             are, and --on udp:, tcp:, iperf: or mqtt: is for a real one"
        );
        return Err(Failed::Unable("the virtual lab".into(), why));
    };
    Ok(library.net_scene(lab, variant)?)
}
