//! An image of 1,029,248 bytes to 1, 10 and 100 devices. One of them is reset midway, and one has
//! the image already (where there are as many).
//!
//! The counts that the console gives are the component's: who has the image already, or has been
//! told by then that it is complete, may be in neither (trap 16 of the protocol reference). What
//! counts is that everybody runs it in the end.

use crate::rig::{LOSSES, Talk, frames, last, now, plays, seconds, talk};
use esp_now::node::board::Slot;
use esp_now::node::task::EspNowEvent;
use espbench_model::time::Duration;
use espbench_sim::lab::nodes::{Conversation as _, FirmwareImage, NodeId};
use std::fmt::Write as _;

/// The published size.
const LEN: u32 = 1_029_248;

#[test]
fn an_image_to_one() {
    insta::assert_snapshot!(table(1));
}

#[test]
fn an_image_to_ten() {
    insta::assert_snapshot!(table(10));
}

#[test]
fn an_image_to_a_hundred() {
    insta::assert_snapshot!(table(100));
}

#[test]
fn an_image_to_one_that_is_reset() {
    let mut table = String::new();
    for loss in LOSSES {
        table += &row(1, loss, Some(NodeId(1)));
    }
    insta::assert_snapshot!(table);
}

fn table(devices: u16) -> String {
    let reset = (devices > 1).then_some(NodeId(1));
    LOSSES.map(|loss| row(devices, loss, reset)).concat()
}

/// Runs an upgrade and, where a device was reset, another one for those that have not got the whole
/// image: the reset device's group was in RAM, and the component joins groups only at the start of
/// a job.
fn row(devices: u16, loss: u32, reset: Option<NodeId>) -> String {
    let image = FirmwareImage::synthetic(LEN, "2.0.0", 1);
    let mut fleet = talk(usize::from(devices) + 1, loss);
    fleet.board_mut(NodeId(0)).install(Slot::Spare, image.clone());
    if devices > 1 {
        fleet.board_mut(NodeId(2)).install(Slot::Running, image.clone());
    }
    let mut row = format!("{devices} devices, {loss} %\n");
    plays(&mut fleet, "wait 200ms\nnode0> ota -f 1000\nwait until node0 prints \"info, num\"");
    job(&mut fleet, reset, &mut row);
    if reset.is_some() {
        job(&mut fleet, None, &mut row);
    }
    // An upgrade without loss is two copies of each packet, and little else.
    let (sent, once) = (fleet.counters(NodeId(0)).sent, u64::from(2 * LEN.div_ceil(208)));
    assert!(loss > 0 || sent < 2 * once, "a resumed upgrade sends only the rest: {sent}");
    let run = count_upgraded(&mut fleet, &image);
    assert_eq!(run, usize::from(devices), "everybody has it in the end");
    row
}

/// Runs one job of the initiator, from the command to its last line.
fn job(fleet: &mut Talk, reset: Option<NodeId>, row: &mut String) {
    let before = (now(fleet), frames(fleet));
    plays(fleet, "node0> ota -s ff:ff:ff:ff:ff:ff");
    if let Some(node) = reset {
        fleet.run_for(Duration::from_secs(10)).unwrap();
        fleet.reset(node);
    }
    plays(fleet, "wait until node0 prints \"Devices upgrade completed\" max 60min");
    let _ = writeln!(
        row,
        "  {}; {}; {} s, {} frames",
        last(fleet, 0, "successed_num"),
        last(fleet, 0, "Spend time"),
        seconds(now(fleet) - before.0),
        frames(fleet) - before.1,
    );
}

/// Counts the devices that run the image after a reset.
fn count_upgraded(fleet: &mut Talk, image: &FirmwareImage) -> usize {
    fleet.run_for(Duration::from_secs(1)).unwrap();
    for node in fleet.nodes().skip(1) {
        let finished = fleet.events(node).iter().any(|(_, e)| *e == EspNowEvent::UpgradeFinished);
        let ready = fleet.board(node).next_boot() == Slot::Spare;
        assert_eq!(finished, ready, "{node} starts the image if and only if it is complete");
        assert!(!ready || fleet.board(node).holds(Slot::Spare, image), "{node} has every byte");
        fleet.reset(node);
    }
    fleet.run_for(Duration::from_secs(1)).unwrap();
    fleet.nodes().skip(1).filter(|node| fleet.board(*node).holds(Slot::Running, image)).count()
}
