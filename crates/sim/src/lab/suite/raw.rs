//! `esp_now_send` without the component between two boards: how long one frame takes after the other.
//!
//! The room is a lab of ESP-NOW's nodes, whose first sends to the second. Both have started and are at rest.

use super::consoles::note_firmware;
use super::{SuiteError, Unable, Witness};
use crate::lab::file::{Library, Overrides};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::record::Record;
use crate::lab::run::{Lab, RawSends};
use crate::lab::scene::Scene;
use crate::lab::wifi::watch::Watcher;
use alloc::format;
use alloc::string::ToString as _;
use core::time::Duration;
use esp_now::component::{Compat, ComponentRelease, Idf};
use esp_now::frame::EspNowVersion;
use espbench_dot11::radio::airtime::airtime;
use espbench_model::fact;
use espbench_model::overrides::OpenPlaces;
use espbench_model::sample::{Link, Sample};
use espbench_model::workload::RawEspNow;

/// Lab of these tests, if none is named.
pub(super) const LAB: &str = "raw-esp-now";
/// Time for which boards are left alone after their start: 5 s later each prints its last line.
const SETTLE: Duration = Duration::from_secs(6);
/// Time for a frame beside its air time: attempts, what others send, and the processor.
const FRAME_MOST: Duration = Duration::from_millis(100);
/// Time after which the test asks again whether to stop.
const SLICE: Duration = Duration::from_secs(1);

/// Makes the room of a cell.
pub(super) fn scene(
    work: &RawEspNow,
    library: &Library,
    lab: Option<&str>,
    seed: u64,
) -> Result<Scene, SuiteError> {
    let overrides = Overrides {
        distance_m: Some((work.distance_m.into(), work.distance_m.into())),
        ..Overrides::from(&work.lab)
    };
    let open = lab.map_or_else(OpenPlaces::default, |_| work.lab.open);
    let scene = library.scene(lab.unwrap_or(LAB), &overrides.leaving(open), seed)?;
    Ok(Scene { open, ..scene })
}

/// Returns the longest body that a release of ESP-IDF sends (`ESP_NOW_MAX_DATA_LEN`, and since v5.4
/// `ESP_NOW_MAX_DATA_LEN_V2`).
fn longest(idf: Idf) -> usize {
    let compat = Compat { release: ComponentRelease::Head, idf, ..Compat::default() };
    match compat.esp_now() {
        EspNowVersion::V1 => EspNowVersion::V1.data_max(),
        EspNowVersion::V2 => compat.frame_max(),
    }
}

/// Checks that the room has what the test needs.
pub(super) fn check(work: &RawEspNow, scene: &Scene) -> Result<(), SuiteError> {
    let unable = |why| Err(SuiteError::Unable(Unable::Lab(scene.name.clone()), why));
    let [from, to, ..] = &scene.nodes[..] else {
        return unable("two boards are needed: add a group of devices".into());
    };
    for (board, does) in [(from, "sends"), (to, "receives")] {
        let idf = board.settings.compat.idf;
        let most = longest(idf);
        if work.size as usize > most {
            return unable(format!(
                "ESP-IDF {} {does} at most {most} bytes by esp_now_send, not {}: ESP-NOW v2.0, with up to \
                 1470, needs `idf = \"5.4\"` or later in [group.firmware] on both boards",
                idf.name(),
                work.size
            ));
        }
    }
    Ok(())
}

/// Carries out one cell in a room that is as [`scene`] makes them.
pub(super) fn run_in<W: Witness>(
    work: &RawEspNow,
    scene: &Scene,
    seed: u64,
    witness: &mut W,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    check(work, scene)?;
    let mut lab = Lab::new(scene, seed, &mut *witness);
    record.fact(fact::LAB, scene.name.clone());
    record.fact("seed", seed.to_string());
    note_firmware(scene, record);
    let [from, to] = [NodeId(0), NodeId(1)];
    if work.lab.profile.is_some() {
        record.fact(fact::CHIP, scene.nodes[0].profile.chip_name.clone());
    }
    let boot = scene.nodes.iter().map(|it| it.profile.boot).max().unwrap_or_default();
    lab.run_for(boot + SETTLE)?;
    lab.begin_raw_sends(RawSends {
        from,
        to,
        is_broadcast: work.is_broadcast,
        bytes: work.size,
        count: work.count,
        awaits_callback: work.awaits_callback,
    });
    let octets = esp_now::frame::mpdu_len(work.size as usize) as u32;
    let air = Duration::from_nanos(airtime(scene.nodes[0].mode, octets));
    let until =
        lab.now() + (air * u32::from(scene.nodes[0].profile.attempts) + FRAME_MOST) * work.count;
    while !lab.has_sent_raw() && lab.now() < until {
        if record.cancelled() {
            return Err(SuiteError::Cancelled);
        }
        lab.run_till(SLICE, |lab| lab.has_sent_raw())?;
    }
    let (probes, refused) = lab.take_raw_sends();
    for mut probe in probes {
        probe.link = Link(to.0);
        record.sample(Sample::Probe(probe));
    }
    record.count("calls-refused", refused);
    lab.count_all(record);
    let end = lab.now();
    drop(lab);
    Watcher::end(witness, end);
    Ok(())
}
