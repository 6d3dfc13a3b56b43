//! An image for all devices.

use super::SuiteError;
use super::desk::{Desk, INITIATOR};
use super::many::{Served, record_job};
use crate::lab::nodes::{Conversation as _, FirmwareImage, NodeId};
use crate::lab::run::{Lab, Tap};
use crate::lab::suite::mark::{DOWNLOADED, FOUND, LineMark, MarkedLine, SENDING, SENT, UPGRADED};
use crate::lab::suite::procedure::{
    IMAGE_URL, SEARCH_MOST, SEARCHES, SEND_MOST, send_image, to_all,
};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::board::Slot;
use esp_now::node::task::EspNowEvent;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// Seed of the synthetic images; the same image on every board shares its bytes.
const IMAGE_SEED: u64 = 1;

/// Sends the image to all devices.
pub(super) fn ota<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let devices = desk.devices();
    let old = FirmwareImage::synthetic(work.size, "1.0.0", IMAGE_SEED);
    let new = FirmwareImage::synthetic(work.size, "2.0.0", IMAGE_SEED);
    for node in desk.lab.nodes() {
        desk.lab.board_mut(node).install(Slot::Running, old.clone());
    }
    desk.lab.board_mut(INITIATOR).offers.insert(IMAGE_URL.into(), new);
    desk.command(INITIATOR, &format!("ota -d {IMAGE_URL}"))?;
    desk.line(INITIATOR, DOWNLOADED, SEARCH_MOST)?;
    desk.command(INITIATOR, &to_all("log -m espnow -l WARN"))?;
    desk.linger(Duration::from_secs(1))?;
    find(desk, devices.len())?;
    let macs: Vec<Mac> = devices.iter().map(|node| node.mac()).collect();
    desk.command(INITIATOR, &send_image(&macs))?;
    let start = desk.line(INITIATOR, SENDING, SEARCH_MOST)?.at;
    let end = desk.line(INITIATOR, SENT, SEND_MOST)?;
    desk.notes.fact("printed", end.text);
    let summary = desk.line(INITIATOR, UPGRADED, SEARCH_MOST)?;
    desk.notes.fact("printed-summary", summary.text);
    // One line each time that it has asked who lacks what.
    let lines = desk.lab.lines(INITIATOR).iter();
    let rounds = lines.filter(|it| LineMark::of_text(&it.text) == LineMark::Round).count();
    desk.notes.count("rounds", rounds);
    let served: Served = devices.iter().map(|node| (*node, finished(desk.lab, *node))).collect();
    record_job(desk, (start, end.at), work.size, &served);
    Ok(())
}

/// Types `ota -f` until all devices are in the list, as a person would do it.
fn find<W: Tap>(desk: &mut Desk<'_, W>, devices: usize) -> Result<(), SuiteError> {
    let mut most = 0;
    for search in 0..SEARCHES {
        desk.command(INITIATOR, "ota -f 3000")?;
        // Where nobody answered nothing is printed.
        match desk.line(INITIATOR, FOUND, SEARCH_MOST) {
            Ok(MarkedLine { mark: LineMark::Found(found), .. }) => most = most.max(found as usize),
            Ok(_) | Err(SuiteError::NotPrinted { .. }) => {}
            Err(error) => return Err(error),
        }
        if most >= devices {
            break;
        }
        desk.notes.count("searches-again", usize::from(search + 1 < SEARCHES));
    }
    desk.notes.count("not-found", devices - most.min(devices));
    if most == 0 {
        return Err(desk.not_printed([INITIATOR].into(), FOUND, SEARCH_MOST * SEARCHES));
    }
    Ok(())
}

/// Returns when the device had the image.
fn finished<W: Tap>(lab: &Lab<W>, node: NodeId) -> Option<Instant> {
    let done = |(at, event): &(Instant, EspNowEvent)| {
        (*event == EspNowEvent::UpgradeFinished).then_some(*at)
    };
    lab.events(node).iter().find_map(done)
}
