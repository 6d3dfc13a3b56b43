//! The handshake: the key for all devices, or for the two of a test.

use super::SuiteError;
use super::desk::{DEVICE, Desk, INITIATOR};
use super::many::{Served, record_job};
use crate::lab::nodes::Conversation as _;
use crate::lab::run::{Lab, Tap};
use crate::lab::suite::mark::{KEY_GOT, KEY_HANDED_OUT};
use crate::lab::suite::procedure::{KEY_BYTES, handshake_most, to_all};
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::task::EspNowEvent;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// Tries of two devices, each of which loses some frames.
const TRIES: u32 = 5;
/// Time from the command to erase the key until the devices run again.
const RESTART: Duration = Duration::from_secs(3);

/// Hands the key out as the application does at the initiator's start: it finds devices and gives
/// them the key. Returns when it began.
fn hand_out<W: Tap>(desk: &mut Desk<'_, W>) -> Result<Instant, SuiteError> {
    let start = desk.now();
    desk.lab.apply(INITIATOR, |node, now, board| node.hand_out_keys(now, board))?;
    Ok(start)
}

/// Returns when the device got the key, since `start`.
fn secured<W: Tap>(
    lab: &Lab<W>,
    node: crate::lab::nodes::NodeId,
    start: Instant,
) -> Option<Instant> {
    let got = |(at, event): &(Instant, EspNowEvent)| {
        (matches!(event, EspNowEvent::Secured(_)) && *at >= start).then_some(*at)
    };
    lab.events(node).iter().find_map(got)
}

/// Makes both devices agree on the key: the device is started first, then the initiator.
pub(super) fn agree<W: Tap>(desk: &mut Desk<'_, W>) -> Result<(), SuiteError> {
    let mut missing = Vec::new();
    for _ in 0..TRIES {
        restart(desk)?;
        let start = hand_out(desk)?;
        desk.line(INITIATOR, KEY_HANDED_OUT, handshake_most(1))?;
        if secured(desk.lab, DEVICE, start).is_some() {
            // `Get APP key` stands on its console, perhaps a moment later.
            missing = desk.wait(&[DEVICE], KEY_GOT, Duration::from_secs(1))?;
            if missing.is_empty() {
                return desk.settle();
            }
        }
    }
    missing.push(DEVICE);
    Err(desk.not_printed(missing, KEY_GOT, handshake_most(1) * TRIES))
}

/// Restarts the initiator, and waits until it runs.
fn restart<W: Tap>(desk: &mut Desk<'_, W>) -> Result<(), SuiteError> {
    desk.command(INITIATOR, "restart")?;
    let boot = desk.scene.nodes.first().map_or(Duration::ZERO, |it| it.profile.boot);
    desk.pause(boot + Duration::from_secs(1))?;
    desk.linger(Duration::from_secs(1))
}

/// Hands the key to all devices.
pub(super) fn handshake<W: Tap>(desk: &mut Desk<'_, W>, _: &EspNow) -> Result<(), SuiteError> {
    let devices = desk.devices();
    desk.command(INITIATOR, &to_all("security -e"))?;
    desk.pause(RESTART)?;
    restart(desk)?;
    let start = hand_out(desk)?;
    let end = desk.line(INITIATOR, KEY_HANDED_OUT, handshake_most(devices.len()))?;
    desk.notes.fact("printed", end.text);
    desk.pause(Duration::from_secs(1))?;
    let served: Served =
        devices.iter().map(|node| (*node, secured(desk.lab, *node, start))).collect();
    record_job(desk, (start, end.at), KEY_BYTES, &served);
    Ok(())
}
