//! Tests with many devices, and how a job for all of them is recorded.

use super::SuiteError;
use super::desk::{Desk, EVERYBODY, INITIATOR, probes};
use super::single::{PING_END, flags, pings_most};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Lab, Tap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::task::EspNowEvent;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// Devices, each with the time at which it was served.
pub(super) type Served = Vec<(NodeId, Option<Instant>)>;

/// `provisioning -i 30000`.
const HOLD: Duration = Duration::from_secs(30);
/// Time from the last credentials until even the slowest device has joined or given up.
const JOIN_MOST: Duration = Duration::from_mins(1);
/// Lines of a device that looks for credentials.
const SEEKS: &[&str] = &["Start provisioning", "Already start provisioning"];
/// Number of times that a command to everybody is repeated until all carry it out.
const TRIES: u32 = 5;

/// Records a job that the report times from one instant to another: the total, and a probe for each
/// device.
pub(super) fn record_job<W: Tap>(
    desk: &mut Desk<'_, W>,
    (start, end): (Instant, Instant),
    bytes: u32,
    served: &Served,
) {
    for (node, done) in served {
        desk.sample(Sample::Probe(Probe {
            link: Link(node.0),
            bytes,
            due: start,
            received: *done,
            fate: if done.is_some() { Fate::Delivered } else { Fate::Lost(Cause::Unknown) },
            ..Probe::default()
        }));
    }
    let count = served.iter().filter(|(_, done)| done.is_some()).count() as u64;
    desk.sample(Sample::Interval(Interval {
        total: true,
        observer: Observer::Sender,
        start,
        end,
        bytes: u64::from(bytes) * count,
        datagrams: Some(count),
        lost: Some(served.len() as u64 - count),
        ..Interval::default()
    }));
}

/// Measures round trips that all devices ask for at once.
pub(super) fn ping<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    const BEGUN: &[&str] = &["send to"];
    let devices = desk.devices();
    desk.command(INITIATOR, "espnow_iperf -s")?;
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"log -m espnow -l ERR\""))?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    // The document leaves the length at its default.
    let most = desk.scene.nodes[0].settings.compat.data_max();
    let len = if work.size as usize == most { String::new() } else { format!(" -l {}", work.size) };
    let ping = format!(
        "espnow_iperf -c {}{} -C {} -p{len}",
        INITIATOR.mac(),
        flags(work.cast),
        work.count
    );
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"{ping}\""))?;
    let time = Duration::from_secs(10);
    let idle = desk.wait(&devices, BEGUN, time)?;
    if idle.len() == devices.len() {
        return Err(desk.not_printed(idle, BEGUN, time));
    }
    desk.count("devices-not-started", idle.len());
    let begun: Vec<NodeId> = devices.iter().copied().filter(|it| !idle.contains(it)).collect();
    let unfinished = desk.wait(&begun, PING_END, pings_most(work.count))?;
    desk.count("devices-not-finished", unfinished.len());
    // What the initiator shows of the devices' reports.
    desk.pause(Duration::from_secs(2))?;
    let shown = desk.lab.lines(INITIATOR).iter().filter(|it| it.text.contains(PING_END[0]));
    let shown = shown.count();
    desk.count("reports-shown", shown);
    Ok(())
}

/// Gives all devices Wi-Fi credentials until each light is green. A device that finds no router
/// looks for one again, so that none turns red for good.
pub(super) fn provisioning<W: Tap>(desk: &mut Desk<'_, W>, _: &EspNow) -> Result<(), SuiteError> {
    let devices = desk.devices();
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"log -m espnow -l WARN\""))?;
    seek(desk, &devices)?;
    desk.linger(Duration::from_secs(1))?;
    let Some(router) = desk.scene.routers.first() else {
        return Err(SuiteError::Unable(desk.scene.name.clone(), "there is no router".into()));
    };
    let hold = HOLD.as_millis();
    let text = format!("provisioning -i {hold} {} {}", router.ssid, router.password);
    desk.command(INITIATOR, &text)?;
    let start = desk.now();
    let green = |lab: &Lab<'static, W>, node: NodeId| lab.joined(node).map(|(at, _)| at);
    desk.until(HOLD + JOIN_MOST, |lab| devices.iter().all(|node| green(lab, *node).is_some()))?;
    let served: Served = devices.iter().map(|node| (*node, green(desk.lab, *node))).collect();
    // The clock is stopped when the last light has changed.
    let all = served.iter().all(|(_, at)| at.is_some());
    let last = served.iter().filter_map(|(_, at)| *at).max();
    let end = last.filter(|_| all).unwrap_or_else(|| desk.now());
    let given = |node: &NodeId| {
        desk.lab.events(*node).iter().any(|(_, event)| matches!(event, EspNowEvent::Provisioned(_)))
    };
    let without = devices.iter().filter(|node| !given(node)).count();
    desk.count("without-credentials", without);
    record_job(desk, (start, end), 0, &served);
    Ok(())
}

/// Waits until all lights are white: the devices look for credentials.
fn seek<W: Tap>(desk: &mut Desk<'_, W>, devices: &[NodeId]) -> Result<(), SuiteError> {
    let mut missing = devices.to_vec();
    for _ in 0..TRIES {
        desk.linger(Duration::from_secs(1))?;
        desk.command(INITIATOR, &format!("command {EVERYBODY} \"provisioning -r\""))?;
        missing = desk.wait(&missing, SEEKS, Duration::from_secs(3))?;
        if missing.is_empty() {
            return Ok(());
        }
    }
    if missing.len() == devices.len() {
        return Err(desk.not_printed(missing, SEEKS, Duration::from_secs(3) * TRIES));
    }
    desk.count("devices-not-started", missing.len());
    Ok(())
}
