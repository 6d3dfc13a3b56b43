//! An image of 1,029,248 bytes to 1, 10 and 100 devices. One of them is reset midway, and one has
//! the image already (where there are as many).

use crate::rig::{LOSSES, Talk, frames, last, now, plays, seconds, talk};
use espbench_proto::node::esp_now::board::Slot;
use espbench_proto::node::esp_now::task::Event;
use espbench_proto::time::Duration;
use espbench_sim::talk::{Image, NodeId};
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

fn table(devices: u16) -> String {
    let mut table = String::new();
    let image = Image::synthetic(LEN, "2.0.0", 1);
    for loss in LOSSES {
        let mut fleet = talk(usize::from(devices) + 1, loss);
        fleet.board_mut(NodeId(0)).install(Slot::Spare, image.clone());
        // The first is reset midway where there are others, the second has the image.
        if devices > 1 {
            fleet.board_mut(NodeId(2)).install(Slot::Running, image.clone());
        }
        let upgraded = upgrade(&mut fleet, &image, devices);
        let summary = last(&fleet, 0, "successed_num");
        let time = last(&fleet, 0, "Spend time");
        let _ = writeln!(
            table,
            "{devices:3} devices {loss:2} %  {upgraded:3} run it; {summary}; {time}; end {} s; {} frames",
            seconds(now(&fleet)),
            frames(&fleet),
        );
    }
    table
}

/// How many devices run the image in the end.
fn upgrade(fleet: &mut Talk, image: &Image, devices: u16) -> usize {
    plays(
        fleet,
        "wait 200ms
        node0> ota -f 1000
        wait until node0 prints \"info, num\" max 60s
        node0> ota -s ff:ff:ff:ff:ff:ff",
    );
    if devices > 1 {
        fleet.run_for(Duration::from_secs(10)).unwrap();
        fleet.reset(NodeId(1));
    }
    plays(fleet, "wait until node0 prints \"Devices upgrade completed\" max 60min\nwait 1s");
    for node in fleet.nodes().skip(1) {
        let finished = fleet.events(node).iter().any(|(_, e)| *e == Event::UpgradeFinished);
        let ready = fleet.board(node).next_boot() == Slot::Spare;
        assert_eq!(finished, ready, "{node} starts the image if and only if it is complete");
        assert!(!ready || fleet.board(node).holds(Slot::Spare, image), "{node} has every byte");
        fleet.reset(node);
    }
    fleet.run_for(Duration::from_secs(1)).unwrap();
    fleet.nodes().skip(1).filter(|node| fleet.board(*node).holds(Slot::Running, image)).count()
}
