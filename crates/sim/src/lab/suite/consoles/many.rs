//! Tests with many devices, and how a job for all of them is recorded.

use super::SuiteError;
use super::desk::{Desk, INITIATOR, probes};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Lab, Tap};
use crate::lab::suite::Unable;
use crate::lab::suite::mark::{LineMark, PING_BEGUN, PING_REPORT, SEEKS};
use crate::lab::suite::procedure::{
    HOLD, ServedDevice, TRIES, job_samples, listen, ping_of_all, pings_most, provision, to_all,
};
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::task::EspNowEvent;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast};

/// Devices, each with the time at which it was served.
pub(super) type Served = Vec<(NodeId, Option<Instant>)>;

/// Time from the last credentials until even the slowest device has joined or given up.
const JOIN_MOST: Duration = Duration::from_mins(1);
/// Records a job that the report times from one instant to another: the total, and a probe for each
/// device.
pub(super) fn record_job<W: Tap>(
    desk: &mut Desk<'_, W>,
    (start, end): (Instant, Instant),
    bytes: u32,
    served: &Served,
) {
    let number = |(node, at): &(NodeId, Option<Instant>)| ServedDevice {
        number: node.0,
        at: *at,
        cause: Cause::Unknown,
    };
    let served: Vec<ServedDevice> = served.iter().map(number).collect();
    job_samples((start, end), bytes, &served, &mut |sample| desk.notes.sample(sample));
}

/// Measures round trips that all devices ask for at once.
pub(super) fn ping<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let devices = desk.devices();
    desk.command(INITIATOR, &listen(EspNowCast::Unicast))?;
    desk.command(INITIATOR, &to_all("log -m espnow -l ERR"))?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    let usual = desk.scene.nodes[0].settings.compat.data_max() as u32;
    desk.command(INITIATOR, &ping_of_all(work, INITIATOR.mac(), usual))?;
    let time = Duration::from_secs(10);
    let idle = desk.wait(&devices, PING_BEGUN, time)?;
    if idle.len() == devices.len() {
        return Err(desk.not_printed(idle, PING_BEGUN, time));
    }
    desk.notes.count("devices-not-started", idle.len());
    let begun: Vec<NodeId> = devices.iter().copied().filter(|it| !idle.contains(it)).collect();
    let unfinished = desk.wait(&begun, PING_REPORT, pings_most(work.count))?;
    desk.notes.count("devices-not-finished", unfinished.len());
    // What the initiator shows of the devices' reports.
    desk.pause(Duration::from_secs(2))?;
    let shown = desk
        .lab
        .lines(INITIATOR)
        .iter()
        .filter(|it| LineMark::of_remote(&it.text) == Some(LineMark::PingEnd));
    let shown = shown.count();
    desk.notes.count("reports-shown", shown);
    Ok(())
}

/// Gives all devices Wi-Fi credentials until each light is green. A device that finds no router
/// looks for one again, so that none turns red for good.
pub(super) fn provisioning<W: Tap>(desk: &mut Desk<'_, W>, _: &EspNow) -> Result<(), SuiteError> {
    let devices = desk.devices();
    desk.command(INITIATOR, &to_all("log -m espnow -l WARN"))?;
    seek(desk, &devices)?;
    desk.linger(Duration::from_secs(1))?;
    let Some(router) = desk.scene.routers.first() else {
        return Err(SuiteError::Unable(
            Unable::Lab(desk.scene.name.clone()),
            "there is no router".into(),
        ));
    };
    desk.command(INITIATOR, &provision(&router.ssid, &router.password))?;
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
    desk.notes.count("without-credentials", without);
    record_job(desk, (start, end), 0, &served);
    Ok(())
}

/// Waits until all lights are white: the devices look for credentials.
fn seek<W: Tap>(desk: &mut Desk<'_, W>, devices: &[NodeId]) -> Result<(), SuiteError> {
    let mut missing = devices.to_vec();
    for _ in 0..TRIES {
        desk.linger(Duration::from_secs(1))?;
        desk.command(INITIATOR, &to_all("provisioning -r"))?;
        missing = desk.wait(&missing, SEEKS, Duration::from_secs(3))?;
        if missing.is_empty() {
            return Ok(());
        }
    }
    if missing.len() == devices.len() {
        return Err(desk.not_printed(missing, SEEKS, Duration::from_secs(3) * TRIES));
    }
    desk.notes.count("devices-not-started", missing.len());
    Ok(())
}
