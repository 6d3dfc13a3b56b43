//! An image for all devices.

use super::SuiteError;
use super::desk::{Desk, EVERYBODY, INITIATOR};
use super::many::{Served, record_job};
use crate::lab::nodes::{Conversation as _, FirmwareImage, NodeId};
use crate::lab::run::{Lab, Tap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::board::Slot;
use esp_now::node::task::EspNowEvent;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// URL of the document's firmware.
const URL: &str = "http://192.168.0.6:8070/Resp.bin";
/// A command line has room for so many addresses; beyond, everybody is addressed.
const LISTED_MAX: usize = 28;
/// Searches until all devices are in the list.
const SEARCHES: u32 = 5;
/// A search lasts 2.5 s, and 25 s with a tick of 100 Hz; its list is printed after it.
const SEARCH_MOST: Duration = Duration::from_secs(60);
/// An hour: a hundred devices at 10 m took the report 75 s.
const SEND_MOST: Duration = Duration::from_hours(1);
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
    desk.lab.board_mut(INITIATOR).offers.insert(URL.into(), new);
    desk.command(INITIATOR, &format!("ota -d {URL}"))?;
    desk.line(INITIATOR, &["download firmware is complete"], SEARCH_MOST)?;
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"log -m espnow -l WARN\""))?;
    desk.linger(Duration::from_secs(1))?;
    find(desk, devices.len())?;
    let to = if devices.len() > LISTED_MAX {
        String::from(EVERYBODY)
    } else {
        let list: Vec<String> = devices.iter().map(|node| format!("{}", node.mac())).collect();
        list.join(",")
    };
    desk.command(INITIATOR, &format!("ota -s {to}"))?;
    let start = desk.line(INITIATOR, &["Send firmware to selected device"], SEARCH_MOST)?.at;
    let end = desk.line(INITIATOR, &["Firmware is sent"], SEND_MOST)?;
    desk.fact("printed", end.text);
    let summary = desk.line(INITIATOR, &["Devices upgrade completed"], SEARCH_MOST)?;
    desk.fact("printed-summary", summary.text);
    // One line each time that it has asked who lacks what.
    let rounds = desk.lab.lines(INITIATOR).iter().filter(|it| it.text.contains("requested_num: "));
    let rounds = rounds.count();
    desk.count("rounds", rounds);
    let served: Served = devices.iter().map(|node| (*node, finished(desk.lab, *node))).collect();
    record_job(desk, (start, end.at), work.size, &served);
    Ok(())
}

/// Types `ota -f` until all devices are in the list, as a person would do it.
fn find<W: Tap>(desk: &mut Desk<'_, W>, devices: usize) -> Result<(), SuiteError> {
    const FOUND: &[&str] = &["info, num: "];
    let mut most = 0;
    for search in 0..SEARCHES {
        desk.command(INITIATOR, "ota -f 3000")?;
        // Where nobody answered nothing is printed.
        let missing = desk.wait(&[INITIATOR], FOUND, SEARCH_MOST)?;
        let line = desk.lab.lines(INITIATOR).iter().rev().find(|it| it.text.contains(FOUND[0]));
        let found = line.filter(|_| missing.is_empty()).and_then(|line| number(&line.text));
        most = most.max(found.unwrap_or(0));
        if most >= devices {
            break;
        }
        desk.count("searches-again", usize::from(search + 1 < SEARCHES));
    }
    desk.count("not-found", devices - most.min(devices));
    if most == 0 {
        return Err(desk.not_printed([INITIATOR].into(), FOUND, SEARCH_MOST * SEARCHES));
    }
    Ok(())
}

/// Parses the number behind `num: `.
fn number(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("num: ")?;
    rest.split(',').next()?.trim().parse().ok()
}

/// Returns when the device had the image.
fn finished<W: Tap>(lab: &Lab<W>, node: NodeId) -> Option<Instant> {
    let done = |(at, event): &(Instant, EspNowEvent)| {
        (*event == EspNowEvent::UpgradeFinished).then_some(*at)
    };
    lab.events(node).iter().find_map(done)
}
