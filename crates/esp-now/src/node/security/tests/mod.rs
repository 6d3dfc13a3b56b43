//! Conversations between an initiator and responders.
//!
//! | module | contents |
//! |---|---|
//! | `refusals` | what either side refuses |
//! | `testing` | a board with flash, and a small medium |

mod refusals;
pub(crate) mod testing;

use super::{Pop, SecurityInitiator, SecurityResponder};
use crate::component::{DataType, FrameConfig};
use crate::node::task::{EspNowEvent, Task, TaskStep, TransmitOutcome};
use crate::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::string::String;
use std::vec::Vec;
use testing::{SecurityTestbed, address};

fn counting<const N: usize>(from: u8) -> [u8; N] {
    core::array::from_fn(|i| from + i as u8)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| std::format!("{b:02x}")).collect()
}

#[test]
fn vector_18_from_end_to_end() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    world.node.board.dice = [&[1, 1][..], &counting::<32>(0), &[2, 2]].concat();
    world.responders[0].board.dice =
        [&counting::<32>(0x40)[..], &core::array::from_fn::<u8, 16, _>(|i| 0xF0 + i as u8)]
            .concat();
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    let expected = [
        "022910015a25a201220a208f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f",
        "023d10015a390801aa0134122079a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a\
         1a10f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "022b10015a270802b2012212204b542ab4065c2dcc81145fdb6c9f3591f477b806e3f3bced5f26e625d6bbfa42",
        "022b10015a270803ba0122\
         1a2019e828dbf9ac321bb3e564cc299e058b1f6b8b7dc385f516e1e987b3e41ef0c6",
        "0320950f92b266e6040ae406bb7d685f69c937ca6dfc169c9c5d53e7adbad433c493",
        "0420f23c12542bc403037abee358d27d42e2200f0743fa68928ccd9d98cf8db13841",
    ];
    let heard: Vec<String> = world.heard.iter().map(|(_, data)| hex(data)).collect();
    assert_eq!(heard, expected);
    assert_eq!(world.keyed(), 1);
    // The random magics, and the frames' configurations of section 3.5.
    let group: Vec<(u16, FrameConfig)> = world
        .sent
        .iter()
        .filter(|o| o.data_type == DataType::Group)
        .map(|o| (o.magic, o.config))
        .collect();
    assert_eq!(group, [(0x0101, FrameConfig::default()), (0x0202, FrameConfig::default())]);
    let config =
        FrameConfig { copies: 1, filter_adjacent: true, rssi: -65, ..FrameConfig::UNICAST };
    let cmd0 = world.sent[1];
    assert_eq!(cmd0.config, FrameConfig { broadcast: true, group: true, ..config });
    assert_eq!(cmd0.dest, Mac(*b"SEC\0\0\0"));
    assert_eq!(world.sent[3].config, config);
}

#[test]
fn one_device_is_found_and_gets_the_key() {
    let mut world = SecurityTestbed::new(1, 0, 1);
    world.node.shared.settings.tick = Tick::from_hz(1000);
    world.find();
    let found = world.output();
    let expected = "\
I (0) espnow_cmd: Find devices waiting to get key
I (2505) espnow_cmd: info, num: 1, list: 24:0a:c4:01:00:00|
I (2505) espnow_cmd: |         mac       | Channel | Rssi | Security version |
I (2505) espnow_cmd: | 24:0a:c4:01:00:00 |   1   |  -40  | 0 |
";
    assert_eq!(found, expected);
    assert!(world.start(&[address(0)], Pop::DEFAULT));
    let expected = "\
I (2505) espnow_cmd: Security initiator start: list
I (2505) espnow_sec_init: count: 0, Secure_initiator_send, requested_num: 1, unfinished_num: 1, successed_num: 0
I (2510) espnow_cmd: App key is sent to the device to complete, Spend time: 5ms
I (2510) espnow_cmd: Devices security completed, successed_num: 1, unfinished_num: 0
";
    assert_eq!(world.output(), expected);
    assert_eq!(
        world.node.shared.take_event(),
        Some(EspNowEvent::KeysSent { done: 1, unfinished: 0 })
    );
    let responder = &mut world.responders[0];
    assert_eq!(responder.output(), "I (2510) espnow_sec_resp: Get APP key\n");
    assert_eq!(
        responder.shared.take_event(),
        Some(EspNowEvent::Secured(world.node.shared.air.mac))
    );
    // A device with our key is not listed again, until it restarts: then it has forgotten.
    world.find();
    assert!(world.initiator.devices().is_empty());
    world.responders[0].restart();
    assert!(world.responders[0].shared.keys.decrypt.is_some(), "stored");
    world.find();
    assert_eq!(world.initiator.devices().len(), 1);
}

#[test]
fn scanning_lasts_as_long_as_ticks_and_milliseconds_make_it() {
    for (hz, ms) in [(1000, 2505), (100, 7000)] {
        let mut world = SecurityTestbed::new(2, 0, 1);
        world.node.shared.settings.tick = Tick::from_hz(hz);
        world.find();
        assert_eq!(world.now.as_nanos() / 1_000_000, ms, "{hz} Hz");
        let requests = world.sent.iter().filter(|o| o.config.broadcast).count();
        assert_eq!(requests, 5);
        assert!(world.sent.iter().all(|o| o.magic == world.sent[0].magic), "one magic");
        assert_eq!(world.initiator.devices().len(), 2);
    }
    let mut world = SecurityTestbed::new(2, 0, 1);
    let SecurityTestbed { now, node, initiator, .. } = &mut world;
    assert!(initiator.find(&mut node.cx(*now), 0));
    world.run();
    assert_eq!(world.sent.len(), 0, "the one time that stops it");
}

#[test]
fn ten_and_a_hundred_get_the_key_at_once() {
    for count in [10, 100] {
        let mut world = SecurityTestbed::new(count, 0, 7);
        world.find();
        assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
        assert_eq!((world.initiator.result(), world.keyed()), ((count as u16, 0), count));
        let joins = world.sent.iter().filter(|o| o.data_type == DataType::Group).count();
        assert_eq!(joins, 2 * count.div_ceil(32), "32 addresses each");
        assert_eq!(world.initiator.counts, super::initiator::SecurityCounters::default());
    }
}

#[test]
fn magics_of_group_frames_grow_by_one_more_each_time() {
    let mut world = SecurityTestbed::new(100, 0, 3);
    world.find();
    world.sent.clear();
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    let magics: Vec<u16> =
        world.sent[..4].iter().map(|o| o.magic.wrapping_sub(world.sent[0].magic)).collect();
    assert_eq!(magics, [0, 1, 3, 6]);
    let lens: Vec<usize> = world.sent[..4].iter().map(|o| o.len).collect();
    assert_eq!(lens, [200, 200, 200, 32]);
}

#[test]
fn more_than_a_round_holds_take_further_rounds() {
    let mut world = SecurityTestbed::new(230, 0, 5);
    world.find();
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    assert_eq!((world.initiator.result(), world.keyed()), ((230, 0), 230));
    let rounds: String = world.output();
    assert_eq!(rounds.matches("Secure_initiator_send").count(), 3);
    assert!(rounds.contains(
        "count: 2, Secure_initiator_send, requested_num: 30, unfinished_num: 30, successed_num: 200"
    ));
}

#[test]
fn a_list_of_hundreds_is_printed_on_one_line() {
    let mut world = SecurityTestbed::new(100, 0, 5);
    let SecurityTestbed { now, node, initiator, .. } = &mut world;
    assert!(initiator.find(&mut node.cx(*now), 3000));
    let mut text = String::new();
    while !world.initiator.is_idle() {
        match world.initiator.run(&mut world.node.cx(world.now)) {
            TaskStep::Until(until) if until > world.now => world.now = until,
            _ => {}
        }
        if world.initiator.devices().is_empty() {
            for i in 0..100 {
                world.tell(address(i), DataType::SecurityStatus, &[1, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
        world.initiator.sent(&mut world.node.cx(world.now), TransmitOutcome::Done { attempts: 1 });
        let part = world.output();
        assert!(part.len() <= 1024, "{}", part.len());
        text.push_str(&part);
    }
    let list = text.lines().nth(1).unwrap();
    assert_eq!(list.matches('|').count(), 100);
    assert!(list.contains("info, num: 100, list: 24:0a:c4:01:00:00|24:0a:c4:01:00:01|"));
    assert_eq!(text.lines().count(), 3 + 100);
}

/// Checks that no device is counted twice, and that each device counted as done has the key.
fn check(world: &SecurityTestbed, count: usize) -> usize {
    let (done, unfinished) = world.initiator.result();
    assert_eq!(usize::from(done + unfinished), count);
    assert!(world.keyed() >= usize::from(done), "{} of {done}", world.keyed());
    usize::from(done)
}

#[test]
fn loss_costs_rounds_and_repetition_finishes() {
    for (loss, count, least) in
        [(50, 1, 1), (50, 10, 10), (50, 100, 95), (300, 10, 7), (300, 100, 80)]
    {
        let mut world = SecurityTestbed::new(count, loss, 11);
        world.find();
        let found = world.initiator.devices().len();
        assert!(found * 100 >= count * 95, "loss {loss}: found {found} of {count}");
        let all: Vec<Mac> = (0..count).map(address).collect();
        assert!(world.start(&all, Pop::DEFAULT));
        let done = check(&world, count);
        assert!(done >= least, "loss {loss}: {done} of {count}");
        // These remain: devices that were not reached, which another command reaches; and devices
        // whose last answer was lost, which have the key and keep silent.
        for _ in 0..4 {
            assert!(world.start(&all, Pop::DEFAULT));
            check(&world, count);
        }
        assert_eq!(world.keyed(), count, "loss {loss}");
    }
}

#[test]
fn without_retries_of_the_mac_the_counts_still_add_up() {
    let mut world = SecurityTestbed::new(60, 300, 5);
    world.tries = 1;
    world.find();
    let found = world.initiator.devices().len();
    assert!(found > 20, "{found}");
    assert!(world.start(&[Mac::BROADCAST], Pop::DEFAULT));
    let done = check(&world, found);
    assert!(done > 0 && done < found, "{done} of {found}");
    let rounds = world.output().matches("Secure_initiator_send").count();
    assert_eq!(rounds, 2);
    assert!(world.now < Instant::ZERO + Duration::from_secs(60), "rounds end");
}

#[test]
fn what_the_parts_take_in_ram() {
    let node = size_of::<SecurityInitiator>();
    std::println!("Initiator {node}, {} with 32 devices", size_of::<SecurityInitiator<32, 16>>());
    std::println!(
        "Responder {}, Keys {}",
        size_of::<SecurityResponder>(),
        size_of::<super::NodeKeys>()
    );
    std::println!("SecTest {}", size_of::<super::CryptoBench>());
    assert!(node <= 7168, "{node}");
    assert!(
        size_of::<SecurityInitiator<32, 16>>() <= 1600,
        "{}",
        size_of::<SecurityInitiator<32, 16>>()
    );
    assert!(size_of::<SecurityResponder>() <= 320, "{}", size_of::<SecurityResponder>());
    assert!(size_of::<super::CryptoBench>() <= 1024, "{}", size_of::<super::CryptoBench>());
    assert!(size_of::<super::NodeKeys>() <= 2048, "{}", size_of::<super::NodeKeys>());
}
