//! Runs repeat, time goes on, devices are reset.

use crate::toys::{Console, Talker, one_talks};
use esp_now::node::board::{Board, NvsKey, Slot};
use esp_now::node::{Input, NodeOutput};
use espbench_dot11::random::Chance;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::ideal::{Fleet, FleetSetup, IdealMediumConfig};
use espbench_sim::lab::nodes::{Conversation as _, DeviceModel, FirmwareImage, NodeId};
use espbench_sim::talk::Transcript;
use espbench_sim::talk::transcript::TalkFilter;

fn faulty(seed: u64) -> FleetSetup {
    let medium = IdealMediumConfig {
        delay: Duration::from_millis(1),
        jitter: Duration::from_millis(3),
        duplicate: Chance::percent(5),
        reorder: Chance::percent(5),
        ..IdealMediumConfig::lossy(Chance::percent(10))
    };
    FleetSetup { seed, medium, stagger: Duration::from_millis(10), ..FleetSetup::default() }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| one_talks(faulty(seed), 6, Mac::BROADCAST, 50).watch.to_string();
    let first = run(1);
    assert!(first.lines().count() > 250);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
}

#[test]
fn one_more_node_does_not_change_what_the_others_draw() {
    let heard = |nodes| {
        let setup = FleetSetup { stagger: Duration::ZERO, ..faulty(1) };
        let fleet = one_talks(setup, nodes, Mac::BROADCAST, 50);
        fleet.device(NodeId(1)).map(|talker| talker.heard.clone())
    };
    assert_eq!(heard(2), heard(5));
}

/// Asks for the same again and again.
struct Restless(NodeOutput);

impl DeviceModel for Restless {
    fn handle(&mut self, _: Instant, _: &mut dyn Board, _: Input<'_>) {}

    fn poll(&mut self, now: Instant, _: &mut dyn Board, _: &mut [u8]) -> NodeOutput {
        match self.0 {
            NodeOutput::WaitUntil(_) => NodeOutput::WaitUntil(now),
            wanted => wanted,
        }
    }
}

#[test]
fn a_device_that_never_waits_is_named() {
    for wanted in [
        NodeOutput::Tune(1),
        NodeOutput::WaitUntil(Instant::ZERO),
        NodeOutput::Transmit { len: 1, to: Mac::ZERO },
    ] {
        let mut fleet = Fleet::new(FleetSetup::default(), (), move |birth, _| {
            Restless(if birth.node == NodeId(2) { wanted } else { NodeOutput::Idle })
        });
        fleet.add_many(3);
        let livelock = fleet.run_for(Duration::from_secs(1)).unwrap_err();
        assert_eq!((livelock.node, livelock.at), (NodeId(2), Instant::ZERO));
        let text = livelock.to_string();
        assert!(
            text.starts_with("node2 does not come to rest: 100000 polls at 0.000000 s"),
            "{text}"
        );
    }
}

#[test]
fn a_reset_cuts_what_is_on_the_air_and_starts_the_clock_again() {
    let mut fleet =
        Fleet::new(FleetSetup::default(), Transcript::new(TalkFilter::ALL), |birth, _| {
            let count = if birth.node == NodeId(0) && birth.resets == 0 { 2 } else { 0 };
            Talker { burst: true, ..Talker::sending(Mac::BROADCAST, count) }
        });
    fleet.add_many(2);
    fleet.run_for(Duration::from_micros(1500)).unwrap();
    fleet.reset(NodeId(0));
    fleet.reset(NodeId(0));
    assert!(fleet.device(NodeId(0)).is_none());
    fleet.run_for(Duration::from_secs(1)).unwrap();
    let heard = |node| fleet.device(NodeId(node)).map(Talker::firsts);
    assert_eq!((heard(0), heard(1)), (Some(vec![]), Some(vec![0])));
    let text = fleet.watch.to_string();
    assert!(text.contains("node0 * on after reset 1"), "{text}");
    assert_eq!(text.matches("reset").count(), 2, "what is off is not reset\n{text}");
}

/// Counts its starts in flash, and runs the other image after the first.
struct Counting;

impl DeviceModel for Counting {
    fn handle(&mut self, _: Instant, _: &mut dyn Board, _: Input<'_>) {}
    fn poll(&mut self, _: Instant, _: &mut dyn Board, _: &mut [u8]) -> NodeOutput {
        NodeOutput::Idle
    }
}

#[test]
fn what_is_on_the_board_outlives_a_reset() {
    let mut fleet = Fleet::new(FleetSetup::default(), (), |_, board| {
        let mut count = [0];
        board.load(NvsKey::Upgrade, &mut count);
        board.save(NvsKey::Upgrade, &[count[0] + 1]);
        board.boot(Slot::Spare);
        Counting
    });
    let node = fleet.add();
    let (old, new) = (FirmwareImage::synthetic(500, "1", 1), FirmwareImage::synthetic(500, "2", 1));
    fleet.board_mut(node).install(Slot::Running, old.clone());
    fleet.board_mut(node).install(Slot::Spare, new.clone());
    for starts in 1..4 {
        fleet.run_for(Duration::from_secs(1)).unwrap();
        let mut count = [0];
        fleet.board_mut(node).load(NvsKey::Upgrade, &mut count);
        assert_eq!(count, [starts]);
        let running = if starts % 2 == 1 { &old } else { &new };
        assert!(fleet.board(node).holds(Slot::Running, running));
        fleet.reset(node);
    }
}

#[test]
fn time_passes_when_nothing_happens() {
    let mut fleet = Fleet::new(FleetSetup::default(), (), |_, _| Console::default());
    fleet.run_for(Duration::from_hours(1)).unwrap();
    assert_eq!(fleet.now(), Instant::ZERO + Duration::from_hours(1));
}
