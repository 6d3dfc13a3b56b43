//! Messages of applications among nodes of ESP-NOW: relay lines, many to many, and slots by beacons.
//!
//! Every node is a whole one with Espressif's component; the application above it is firmware of ours.
//!
//! | module | contents |
//! |---|---|
//! | `applications` | what each node's application does, and when |
//! | `flow` | what becomes of each message |
//! | `slots` | a node's clock between beacons, and when its slot and its listening begin |

mod applications;
mod flow;
mod slots;
#[cfg(test)]
mod tests;

use super::consoles::note_firmware;
use super::programs::charged;
use super::{SuiteError, Unable, Witness};
use crate::lab::file::{Library, Overrides, no_bluetooth};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::record::Record;
use crate::lab::run::{Lab, Tap};
use crate::lab::scene::{Coexistence, Point, Scene};
use crate::lab::wifi::watch::Watcher;
use crate::power::{CpuState, ModemState, Modulation, PowerState, StateTimes};
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use applications::Applications;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::messages::{EspNowMessages, MessagePattern};
use espbench_model::overrides::OpenPlaces;
use flow::MessageFlow;

/// Time for which boards are left alone after their start: 5 s later each prints its last line.
const SETTLE: Duration = Duration::from_secs(6);
/// Most probes of one cell, which are kept in memory.
const PROBES_MOST: u64 = 5_000_000;

/// Returns the lab of these tests, if none is named.
pub(super) const fn default_lab(work: &EspNowMessages) -> &'static str {
    match work.pattern {
        MessagePattern::RelayLine => "relay-line",
        _ => "many-to-many",
    }
}

/// Makes the room of a cell. A relay line has its nodes at equal distances from one to the next, unless the plan
/// leaves that to the lab that somebody has named.
pub(super) fn scene(
    work: &EspNowMessages,
    library: &Library,
    lab: Option<&str>,
    seed: u64,
) -> Result<Scene, SuiteError> {
    let overrides = Overrides { devices: Some(work.devices), ..Overrides::from(&work.lab) };
    let open = lab.map_or_else(OpenPlaces::default, |_| work.lab.open);
    let lab = lab.unwrap_or(default_lab(work));
    let mut scene = library.scene(lab, &overrides.leaving(open), seed)?;
    scene.open = open;
    if let Some(state) = work.bluetooth {
        let slices = |(period, bluetooth)| Coexistence { period, wifi: period - bluetooth };
        for node in &mut scene.nodes {
            node.coexistence = state.period().map(slices);
        }
    }
    if work.pattern == MessagePattern::RelayLine && !open.distance {
        let first = scene.nodes.first().map_or_else(Point::default, |it| it.at);
        for (hop, node) in scene.nodes.iter_mut().enumerate() {
            node.at = Point { x: first.x + hop as f64 * f64::from(work.spacing_m), ..first };
        }
    }
    Ok(scene)
}

/// Returns the work with as many devices as its room has, where the plan leaves that to it.
fn placed(work: &EspNowMessages, scene: &Scene) -> EspNowMessages {
    let (devices, _) = scene.open_places();
    EspNowMessages { devices: devices.unwrap_or(work.devices), ..*work }
}

/// Checks that the room has what the test needs.
pub(super) fn check(work: &EspNowMessages, scene: &Scene) -> Result<(), SuiteError> {
    let work = &placed(work, scene);
    let unable = |why| Err(SuiteError::Unable(Unable::Lab(scene.name.clone()), why));
    if scene.nodes.len() != usize::from(work.devices) + 1 {
        return unable(format!(
            "{} nodes are needed and it has {}: let `varied` name the group whose `count` may change",
            work.devices + 1,
            scene.nodes.len()
        ));
    }
    let longest = scene.nodes.iter().map(|it| it.settings.compat.data_max() as u32).min();
    if let Some(most) = longest.filter(|it| work.size > *it) {
        return unable(format!(
            "its firmware sends at most {most} bytes, not {}: ESP-NOW v2.0 needs `idf = \"5.4\"` or \
             later, and `release = \"head\"`, in [group.firmware] of all groups",
            work.size
        ));
    }
    if work.probes() > PROBES_MOST {
        return unable(format!(
            "{} messages at their receivers are more than {PROBES_MOST}: lower `count` or `devices`",
            work.probes()
        ));
    }
    if let Some(slots) = work.schedule() {
        let all = slots.slot * (u32::from(work.devices) + 1);
        if all > slots.beacon_interval {
            return unable(format!(
                "{} slots take {} ms, and beacons come every {} ms: shorten `slot`, or lengthen \
                 `beacon_interval`",
                work.devices + 1,
                all.as_millis(),
                slots.beacon_interval.as_millis()
            ));
        }
    }
    let chips = scene.nodes.iter().filter(|it| it.coexistence.is_some()).map(|it| it.profile.chip);
    if let Some(chip) = { chips }.find(|it| !it.has_bluetooth()) {
        return unable(format!("`bluetooth`: {}", no_bluetooth(chip)));
    }
    let deaf = scene.nodes.iter().find(|it| !it.services.data);
    if let Some(node) = deaf {
        return unable(format!(
            "group `{}` takes no data: add \"data\" to `services` in its [group.firmware]",
            node.group
        ));
    }
    Ok(())
}

/// Carries out one cell in a room that is as [`scene`] makes them.
pub(super) fn run_in<W: Witness>(
    work: &EspNowMessages,
    scene: &Scene,
    seed: u64,
    witness: &mut W,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    let work = &placed(work, scene);
    check(work, scene)?;
    record.fact(fact::LAB, scene.name.clone());
    record.fact("seed", seed.to_string());
    note_firmware(scene, record);
    if work.lab.profile.is_some() {
        record.fact(fact::CHIP, scene.nodes[0].profile.chip_name.clone());
    }
    let mut lab = Lab::metered(scene, seed, (MessageFlow::new(work), &mut *witness));
    lab.keep_nothing();
    let boot = scene.nodes.iter().map(|it| it.profile.boot).max().unwrap_or_default();
    lab.run_for(boot + SETTLE)?;
    lab.watch.0.begin();
    let before = times(&lab, scene, work);
    Applications::new(work, scene, seed, lab.now()).run(&mut lab, record)?;
    let after = times(&lab, scene, work);
    if let Some(node) = scene.nodes.first() {
        charged(record, &node.draw(), &after.since(&before));
    }
    lab.count_all(record);
    let end = lab.now();
    core::mem::replace(&mut lab.watch.0, MessageFlow::new(work)).close(work, record);
    drop(lab);
    Watcher::end(witness, end);
    Ok(())
}

/// Returns the time in each state of all nodes together: without the first one where that only listens and
/// is on the mains.
fn times<W: Tap>(lab: &Lab<'_, W>, scene: &Scene, work: &EspNowMessages) -> StateTimes {
    let mut all = StateTimes::NONE;
    let first = u16::from(work.pattern == MessagePattern::ManyToOne);
    let nodes: Vec<NodeId> = lab.nodes().skip(first.into()).collect();
    for node in nodes {
        let Some(spent) = lab.spent(node) else { continue };
        let awake = |modem| PowerState::Awake(modem, CpuState::Idle);
        let send = ModemState::Send(Modulation::of(scene.nodes[node.index()].mode));
        for (state, time) in [
            (awake(send), spent.send),
            (awake(ModemState::Receive), spent.receive),
            (awake(ModemState::Listen), spent.listen),
            (awake(ModemState::Off), spent.doze + spent.off),
        ] {
            all.add(state, time.as_nanos() as u64);
        }
    }
    all
}
