//! Messages that are refused, forged or replayed; stop and erase.

use super::counting;
use crate::component::DataType;
use crate::component::handshake::{SecurityInfo, SecurityMessage, SessionMessage};
use crate::node::board::CpuWork;
use crate::node::security::tests::testing::{SecurityStation, SecurityTestbed, address};
use crate::node::security::{Policy, Pop, SecurityInitiator, erase_and_restart};
use crate::node::task::{EspNowEvent, Task, TaskStep};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::vec::Vec;

const SOMEBODY: Mac = Mac([2, 0, 0, 0, 0, 9]);

fn strict(station: &mut SecurityStation) {
    station.shared.settings.policy = Policy::STRICT;
    station.responder.open_window(Instant::NEVER);
}

#[test]
fn a_wrong_pop_gets_nothing() {
    let mut world = SecurityTestbed::new(3, 0, 1);
    world.find();
    assert!(world.start(&[Mac::BROADCAST], b"guess"));
    assert_eq!((world.initiator.result(), world.keyed()), ((0, 3), 0));
    let responder = &mut world.responders[0];
    let printed = responder.output();
    assert!(printed.contains(" security1: Key mismatch. Close connection\n"), "{printed}");
    assert!(printed.contains(" espnow_sec_resp: espnow-session handler failed\n"), "{printed}");
    assert_eq!(
        responder.shared.take_event(),
        Some(EspNowEvent::SecurityFailed(world.node.shared.air.mac))
    );
    assert_eq!(responder.responder.info(), SecurityInfo::default(), "free again");
    assert!(!world.heard.iter().any(|(_, data)| data[0] == 3), "the key was never sent");
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    assert_eq!(world.keyed(), 3);
}

#[test]
fn without_a_key_there_is_nothing_to_hand_out() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    world.node.shared.keys.erase(&mut world.node.board);
    assert!(!world.start(&[address(0)], Pop::DEFAULT));
    let expected = "\
I (0) espnow_cmd: Security initiator start: list
E (0) espnow_cmd: Secure key is not set
";
    assert_eq!(world.output(), expected);
    // The examples draw one.
    let SecurityTestbed { now, node, initiator, .. } = &mut world;
    assert!(initiator.hand_out(&mut node.cx(*now), "app_main", &Pop::new(Pop::DEFAULT)));
    world.run();
    assert_eq!((world.initiator.result(), world.keyed()), ((1, 0), 1));
    let expected = "\
W (7000) app_main: espnow wait security num: 1
I (7000) espnow_sec_init: count: 0, Secure_initiator_send, requested_num: 1, unfinished_num: 1, successed_num: 0
I (7005) app_main: App key is sent to the device to complete, Spend time: 7000ms, Scan time: 7000ms
I (7005) app_main: Devices security completed, successed_num: 1, unfinished_num: 0
";
    assert_eq!(world.output(), expected);
    let key = world.node.shared.keys.encrypt.as_ref().map(|k| *k.bytes());
    world.node.restart();
    assert_eq!(world.node.shared.keys.encrypt.as_ref().map(|k| *k.bytes()), key, "stored");
}

#[test]
fn a_responder_is_bound_to_the_first_of_two_initiators() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    let station = &mut world.responders[0];
    let key = counting(9);
    let mut hello = [0; 80];
    let len = SessionMessage::Command0 { client_key: &key }.emit_message(&mut hello).unwrap();
    assert!(station.ask(Instant::ZERO, SOMEBODY, &hello[..len]).is_some());
    assert_eq!(station.responder.info().client, SOMEBODY);
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    assert_eq!(world.initiator.result(), (0, 1));
    assert!(world.responders[0].responder.ignored.bound > 0);
    // The reset message frees the responder, in the compatible policy.
    assert!(world.responders[0].ask(world.now, Mac([8; 6]), &[5]).is_none());
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    assert_eq!(world.initiator.result(), (1, 0));
    assert!(world.responders[0].ask(world.now, Mac([8; 6]), &[5]).is_none());
    assert_eq!(
        world.responders[0].responder.info(),
        SecurityInfo::default(),
        "and says that it has no key"
    );
}

#[test]
fn the_strict_policy_works_where_both_ends_are_right() {
    let mut world = SecurityTestbed::new(5, 0, 1);
    strict(&mut world.node);
    world.responders.iter_mut().for_each(strict);
    world.find();
    assert!(!world.start(&[Mac::BROADCAST], b""), "no proof of possession");
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    assert_eq!((world.initiator.result(), world.keyed()), ((5, 0), 5));
    world.responders[0].ask(world.now, SOMEBODY, &[5]);
    assert_eq!(world.responders[0].responder.info().version, 1, "no reset");
}

#[test]
fn the_strict_policy_needs_a_window() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    world.responders[0].shared.settings.policy = Policy::STRICT;
    world.find();
    assert!(world.initiator.devices().is_empty());
    world.responders[0].responder.open_window(world.now + Duration::from_secs(60));
    world.find();
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    assert_eq!(world.keyed(), 1);
    let late = world.now + Duration::from_secs(60);
    assert!(world.responders[0].ask(late, SOMEBODY, &[0]).is_none());
}

#[test]
fn wrong_proofs_close_the_window_of_a_strict_responder() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    strict(&mut world.responders[0]);
    for _ in 0..5 {
        assert!(world.start(&[address(0)], b"guess"));
    }
    assert!(world.responders[0].ask(world.now, SOMEBODY, &[0]).is_none(), "closed");
    world.responders[0].responder.open_window(Instant::NEVER);
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    assert_eq!(world.keyed(), 1);
}

/// Sends a key response to which no exchange has led.
#[test]
fn a_forged_key_response_counts_only_in_the_compatible_policy() {
    for (policy, done) in [(Policy::COMPATIBLE, 1), (Policy::STRICT, 0)] {
        let mut world = SecurityTestbed::new(0, 0, 1);
        world.node.shared.settings.policy = policy;
        let SecurityTestbed { now, node, initiator, .. } = &mut world;
        assert!(initiator.start(&mut node.cx(*now), b"", [address(7)], &Pop::new(b"x")));
        assert_eq!(initiator.run(&mut node.cx(*now)), TaskStep::Send);
        let mut forged = [0; 34];
        assert_eq!(SecurityMessage::KeyResponse(&[0; 32]).emit(&mut forged), Some(34));
        world.tell(address(7), DataType::Security, &forged);
        world.run();
        assert_eq!(world.initiator.result(), (done, 1 - done));
    }
}

/// Runs a handshake; after each of its steps, `attack` may send messages.
fn attacked(world: &mut SecurityTestbed, attack: impl Fn(&mut SecurityTestbed)) {
    let SecurityTestbed { now, node, initiator, .. } = world;
    assert!(initiator.start(&mut node.cx(*now), b"", [address(0)], &Pop::new(Pop::DEFAULT)));
    for _ in 0..100 {
        if world.initiator.is_idle() {
            return;
        }
        world.step();
        attack(world);
    }
    panic!("it does not end");
}

/// Returns every message of a conversation that is over.
fn recorded() -> Vec<(Mac, Vec<u8>)> {
    let mut world = SecurityTestbed::new(1, 0, 1);
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    world.heard
}

#[test]
fn recorded_answers_and_resets_change_nothing_for_a_strict_pair() {
    let record = recorded();
    let mut world = SecurityTestbed::new(1, 0, 2);
    strict(&mut world.node);
    strict(&mut world.responders[0]);
    attacked(&mut world, |world| {
        for (_, data) in record.iter().filter(|(sender, _)| *sender == address(0)) {
            world.tell(address(0), DataType::Security, data);
        }
        let from = world.node.shared.air.mac;
        assert!(world.responders[0].ask(world.now, from, &[5]).is_none());
        assert!(world.responders[0].ask(world.now, from, &[2, 1, 0]).is_none());
    });
    assert_eq!((world.initiator.result(), world.keyed()), ((1, 0), 1));
    assert!(world.initiator.counts.refused > 0);
}

#[test]
fn a_forged_key_is_taken_but_a_strict_initiator_notices() {
    let record = recorded();
    for (policy, done) in [(Policy::COMPATIBLE, 1), (Policy::STRICT, 0)] {
        let mut world = SecurityTestbed::new(1, 0, 2);
        world.node.shared.settings.policy = policy;
        attacked(&mut world, |world| {
            let (from, agreed) = (world.node.shared.air.mac, world.heard.len() == 4);
            let forged = record.iter().find(|(_, data)| data[0] == 3).unwrap();
            if agreed && let Some((_, echo)) = world.responders[0].ask(world.now, from, &forged.1) {
                world.tell(address(0), DataType::Security, &echo);
            }
        });
        assert_eq!((world.initiator.result(), world.keyed()), ((done, 1 - done), 0));
        assert_eq!(world.responders[0].responder.info().version, 1);
    }
}

#[test]
fn a_recorded_key_is_useless_to_a_device_that_has_restarted() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    let (from, record) = (world.node.shared.air.mac, core::mem::take(&mut world.heard));
    let station = &mut world.responders[0];
    station.restart();
    station.shared.keys.erase(&mut station.board);
    for (sender, data) in &record {
        if *sender == from {
            station.ask(world.now, from, data);
        }
    }
    assert!(station.shared.keys.decrypt.is_none());
    assert_eq!(station.responder.info().version, 0);
}

#[test]
fn truncated_messages_fail_and_free_the_responder() {
    let mut station = SecurityStation::new(address(0), 3);
    let mut hello = [0; 80];
    let len =
        SessionMessage::Command0 { client_key: &counting(9) }.emit_message(&mut hello).unwrap();
    for cut in 3..len {
        let mut short = hello[..cut].to_vec();
        short[1] = (cut - 2) as u8;
        assert!(station.ask(Instant::ZERO, SOMEBODY, &short).is_none(), "{cut}");
        assert_eq!(station.responder.info(), SecurityInfo::default());
    }
    assert!(station.ask(Instant::ZERO, SOMEBODY, &hello[..len]).is_some());
    // A key before its time, keys of other lengths, and messages for an initiator.
    for data in [&[3, 32][..], &[3, 1, 0], &[4, 0], &[1, 0, 0, 0, 0, 0, 0, 0], &[9], &[]] {
        assert!(station.ask(Instant::ZERO, SOMEBODY, data).is_none());
    }
}

#[test]
fn a_key_that_cannot_be_stored_is_not_confirmed() {
    for enabled in [false, true] {
        let mut world = SecurityTestbed::new(1, 0, 1);
        world.responders[0].shared.settings.encrypt.enabled = enabled;
        world.responders[0].board.broken = true;
        assert!(world.start(&[address(0)], Pop::DEFAULT));
        assert_eq!(world.initiator.result(), (0, 1));
        let station = &mut world.responders[0];
        assert_eq!(station.responder.info(), SecurityInfo { version: 1, client: Mac::ZERO });
        let from = world.node.shared.air.mac;
        assert_eq!(station.shared.take_event(), Some(EspNowEvent::SecurityFailed(from)));
    }
}

#[test]
fn a_key_of_small_order_is_refused_by_both() {
    let mut station = SecurityStation::new(address(0), 3);
    let mut hello = [0; 80];
    let len = SessionMessage::Command0 { client_key: &[0; 32] }.emit_message(&mut hello).unwrap();
    assert!(station.ask(Instant::ZERO, SOMEBODY, &hello[..len]).is_none());
    assert_eq!(station.responder.info(), SecurityInfo::default());
}

#[test]
fn the_commands_erase_leaves_the_key_for_receiving() {
    let mut world = SecurityTestbed::new(0, 0, 1);
    erase_and_restart(&mut world.node.cx(Instant::ZERO));
    assert_eq!(world.output(), "I (0) espnow_cmd: Erase key info and restart\n");
    assert_eq!(world.node.shared.take_event(), Some(EspNowEvent::Restart));
    world.node.restart();
    let keys = &world.node.shared.keys;
    assert!(keys.encrypt.is_none() && keys.decrypt.is_some());
}

#[test]
fn the_time_of_a_slow_processor_is_spent() {
    let mut world = SecurityTestbed::new(10, 0, 1);
    world.node.board.cost = |work| match work {
        CpuWork::SharedSecret | CpuWork::KeyPair => Duration::from_millis(100),
        _ => Duration::ZERO,
    };
    world.find();
    let began = world.now;
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    assert_eq!(world.keyed(), 10);
    let spent = world.now.since(began);
    assert!(spent >= Duration::from_millis(1100), "{spent:?}: one pair, ten secrets");
    assert!(spent < Duration::from_millis(1200), "{spent:?}");
}

#[test]
fn stopping_ends_it_with_what_was_reached() {
    let mut world = SecurityTestbed::new(3, 0, 1);
    let SecurityTestbed { now, node, initiator, .. } = &mut world;
    let list = (0..3).map(address);
    assert!(initiator.start(&mut node.cx(*now), b"", list, &Pop::new(Pop::DEFAULT)));
    while world.initiator.result().0 == 0 {
        world.step();
    }
    let SecurityTestbed { now, node, initiator, .. } = &mut world;
    assert!(initiator.is_exchanging() && !initiator.find(&mut node.cx(*now), 1), "busy");
    initiator.stop(&mut node.cx(*now));
    world.run();
    let event = core::iter::from_fn(|| world.node.shared.take_event()).last();
    assert_eq!(event, Some(EspNowEvent::KeysSent { done: 1, unfinished: 2 }));
    assert!(!world.node.shared.air.listens(DataType::Security));
}

#[test]
fn a_list_that_is_full_is_counted() {
    let mut station = SecurityStation::new(address(0), 1);
    assert!(station.shared.keys.store(&mut station.board, &[1; 32]));
    let mut small = SecurityInitiator::<4, 2>::new();
    let cx = &mut station.cx(Instant::ZERO);
    assert!(small.start(cx, b"", (0..6).map(address), &Pop::new(b"x")));
    assert_eq!((small.counts.no_room, small.result()), (2, (0, 4)));
}
