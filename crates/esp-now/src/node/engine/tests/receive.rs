//! The receive path: filters, duplicates, groups, and the cost of a full queue.

use crate::component::header::VERSION;
use crate::component::{
    Compat, ComponentRelease, DataType, FrameConfig, GroupPayload, Header, Idf, group,
};
use crate::node::ReceivedFrame;
use crate::node::engine::EngineCounters;
use crate::node::security::Policy;
use crate::node::task::NodeSettings;
use crate::node::tests::medium::{TestStation, mac, ms, settings};
use espbench_ieee80211::mac::Mac;
use std::vec;
use std::vec::Vec;

fn header(config: FrameConfig) -> Header {
    Header {
        data_type: DataType::Data,
        version: VERSION,
        size: 0,
        magic: 1,
        config,
        dest: Mac::BROADCAST,
        src: mac(1),
    }
}

fn broadcast() -> Header {
    header(FrameConfig { channel: 1, ..FrameConfig::default() })
}

/// Lets station 0 hear a frame at -50 dBm on channel 1.
fn hear(station: &mut TestStation, header: Header, payload: &[u8]) {
    let mut data = Header { size: payload.len() as u8, ..header }.emit().to_vec();
    data.extend(payload);
    hear_bytes(station, &data);
}

fn hear_bytes(station: &mut TestStation, data: &[u8]) {
    let frame =
        ReceivedFrame { data, transmitter: mac(1), receiver: mac(0), rssi: -50, channel: 1 };
    let (engine, mut cx) = station.parts(ms(7));
    engine.receive(&mut cx, frame);
}

/// Returns the counters of a new station after one frame.
fn counted(header: Header, payload: &[u8]) -> EngineCounters {
    let mut station = TestStation::new(0, settings(100));
    hear(&mut station, header, payload);
    let counters = station.engine.counters();
    assert_eq!((counters.received, counters.fates()), (1, 1));
    counters
}

/// Returns the payloads that the services of a station get.
fn inbox(station: &mut TestStation) -> Vec<Vec<u8>> {
    let mut buf = [0; 1470];
    let (engine, mut cx) = station.parts(ms(8));
    let mut all = Vec::new();
    while let Some(super::super::Next::Deliver(delivery)) = engine.next(&mut cx, &mut buf) {
        all.push(delivery.with(&buf).data.to_vec());
    }
    all
}

#[test]
fn each_check_has_its_counter() {
    let config = broadcast().config;
    let with = |config| Header { config, ..broadcast() };
    assert_eq!(counted(broadcast(), b"x").queued, 1);
    assert_eq!(counted(Header { version: 1, ..broadcast() }, b"x").version, 1);
    assert_eq!(counted(Header { src: mac(0), ..broadcast() }, b"x").own, 1);
    assert_eq!(counted(Header { data_type: DataType::Prov, ..broadcast() }, b"x").not_enabled, 1);
    let far = FrameConfig { filter_adjacent: true, ..config };
    assert_eq!(counted(with(far), b"x").queued, 1);
    assert_eq!(counted(with(FrameConfig { channel: 2, ..far }), b"x").adjacent, 1);
    assert_eq!(counted(with(FrameConfig { channel: 15, ..far }), b"x").adjacent, 1, "always");
    let weak = FrameConfig { filter_weak: true, rssi: -50, ..config };
    assert_eq!(counted(with(weak), b"x").queued, 1);
    assert_eq!(counted(with(FrameConfig { rssi: -49, ..weak }), b"x").weak, 1);
    assert_eq!(counted(with(FrameConfig { security: true, ..config }), b"x").no_security, 1);
    assert_eq!(counted(Header { dest: mac(2), ..broadcast() }, b"x").relay_only, 1);
    let unicast = Header { dest: mac(2), ..header(FrameConfig::UNICAST) };
    assert_eq!(counted(unicast, b"x").queued, 1, "the destination of unicast is not looked at");
    assert_eq!(counted(broadcast(), &[0; 231]).too_long, 1);
}

#[test]
fn what_is_cut_off_or_padded_is_dropped_by_the_releases_alone() {
    let mut padded = Header { size: 1, ..broadcast() }.emit().to_vec();
    padded.extend(b"xy");
    let head = Compat { release: ComponentRelease::Head, idf: Idf::V5_4, ..Compat::default() };
    for (compat, dropped) in [(Compat::default(), 1), (head, 0)] {
        let mut station = TestStation::new(0, settings(100));
        station.shared.settings.compat = compat;
        hear_bytes(&mut station, &padded);
        hear_bytes(&mut station, &padded[..19]);
        let counters = station.engine.counters();
        assert_eq!((counters.size, counters.too_short), (dropped, 1));
        assert_eq!(inbox(&mut station).len(), 1 - dropped as usize);
    }
}

#[test]
fn the_policy_refuses_plain_frames_before_they_are_acknowledged() {
    let mut station = TestStation::new(0, settings(100));
    station.shared.settings.policy =
        Policy { encrypted_only: DataType::Data.mask(), ..Policy::COMPATIBLE };
    let asks = FrameConfig { ack: true, ..FrameConfig::UNICAST };
    hear(&mut station, Header { dest: mac(0), ..header(asks) }, b"x");
    let counters = station.engine.counters();
    assert_eq!((counters.policy, counters.acks_due, counters.queued), (1, 0, 0));
}

#[test]
fn a_payload_of_nothing_reaches_no_service() {
    let mut station = TestStation::new(0, settings(100));
    hear(&mut station, broadcast(), b"");
    assert!(inbox(&mut station).is_empty());
    assert_eq!(station.engine.counters().empty, 1);
}

#[test]
fn the_channel_of_the_header_counts_unless_it_tells_none() {
    for (told, given) in [(0, 1), (6, 6), (14, 14), (15, 1)] {
        let mut station = TestStation::new(0, settings(100));
        hear(&mut station, header(FrameConfig { channel: told, ..FrameConfig::default() }), b"x");
        let (engine, mut cx) = station.parts(ms(8));
        let Some(super::super::Next::Deliver(delivery)) = engine.next(&mut cx, &mut [0; 9]) else {
            panic!("it was queued")
        };
        assert_eq!((delivery.channel, delivery.rssi, delivery.at), (given, -50, ms(7)));
    }
}

#[test]
fn duplicates_are_told_by_type_and_magic_not_by_source() {
    let mut station = TestStation::new(0, settings(100));
    station.shared.air.listen(DataType::DebugLog, true);
    hear(&mut station, broadcast(), b"a");
    hear(&mut station, broadcast(), b"a");
    hear(&mut station, Header { src: mac(2), ..broadcast() }, b"another's, lost");
    hear(&mut station, Header { data_type: DataType::DebugLog, ..broadcast() }, b"b");
    assert_eq!(inbox(&mut station), [b"a", b"b"]);
    assert_eq!(station.engine.counters().duplicate, 2);
}

#[test]
fn thirty_two_frames_are_remembered() {
    let mut station = TestStation::new(0, settings(100));
    let mut hear_magic = |magic| {
        hear(&mut station, Header { magic, ..broadcast() }, b"x");
        inbox(&mut station).len()
    };
    for magic in 1..=32 {
        assert_eq!(hear_magic(magic), 1);
    }
    assert_eq!(hear_magic(1), 0, "the oldest of 32");
    assert_eq!(hear_magic(33), 1);
    assert_eq!((hear_magic(2), hear_magic(1)), (0, 1));
}

#[test]
fn plain_and_encrypted_frames_are_remembered_apart_since_2_5_2() {
    for (release, known) in [(ComponentRelease::V2_5_3, 0), (ComponentRelease::V2_4, 1)] {
        let mut station = TestStation::new(0, settings(100));
        station.shared.settings.compat.release = release;
        station.shared.settings.encrypt.enabled = true;
        hear(&mut station, broadcast(), b"x");
        let sealed = FrameConfig { security: true, ..broadcast().config };
        hear(&mut station, header(sealed), &[0; 20]);
        assert_eq!(station.engine.counters().duplicate, known);
        // One index for both: 31 plain frames leave the encrypted one alone, and so does the 32nd.
        for magic in 2..=33 {
            hear(&mut station, Header { magic, ..broadcast() }, b"x");
            let _ = inbox(&mut station);
        }
        hear(&mut station, header(sealed), &[0; 20]);
        let again = u32::from(release == ComponentRelease::V2_5_3);
        assert_eq!(station.engine.counters().duplicate, known + again, "{release:?}");
    }
}

#[test]
fn groups_are_joined_and_left_and_say_who_is_meant() {
    let mut station = TestStation::new(0, settings(100));
    let mut magic = 100;
    let mut group = |station: &mut TestStation, join, members: &[Mac]| {
        let mut payload = [0; 64];
        let len = GroupPayload::emit(join, group::OTA, members.iter().copied(), &mut payload)
            .expect("room");
        magic += 1;
        let header = Header { data_type: DataType::Group, magic, ..broadcast() };
        hear(station, header, &payload[..len]);
        station.shared.air.in_group(group::OTA)
    };
    assert!(!group(&mut station, true, &[mac(3)]), "another is meant");
    assert!(group(&mut station, true, &[mac(3), mac(0)]));
    assert!(group(&mut station, true, &[mac(0)]), "twice is once");
    assert_eq!(station.shared.air.groups.len(), 1);
    let to = |dest, magic| {
        let config = FrameConfig { group: true, ..broadcast().config };
        Header { dest, magic, ..header(config) }
    };
    hear(&mut station, to(group::OTA, 1), b"for us");
    hear(&mut station, to(group::SEC, 2), b"for others");
    assert_eq!(inbox(&mut station), [b"for us"]);
    assert!(!group(&mut station, false, &[Mac::BROADCAST]), "everybody leaves");
    hear(&mut station, to(group::OTA, 3), b"for others");
    assert!(inbox(&mut station).is_empty());
    let header = Header { data_type: DataType::Group, magic: 4, ..broadcast() };
    hear(&mut station, header, &[1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]);
    let counters = station.engine.counters();
    assert_eq!((counters.groups, counters.bad_group, counters.relay_only), (4, 1, 2));
}

#[test]
fn a_full_queue_drops_counts_and_forgets() {
    let mut station = TestStation::new(0, settings(100));
    for magic in 1..=40 {
        hear(&mut station, Header { magic, ..broadcast() }, &[magic as u8; 230]);
    }
    let counters = station.engine.counters();
    assert_eq!((counters.queued, counters.queue_full), (32, 8), "32 of the longest fit");
    let line = "W (7) espnow: [espnow_recv_cb, 392] Send event queue failed\r\n";
    assert_eq!(station.printed(), line);
    let all = inbox(&mut station);
    assert_eq!(all, (1..=32).map(|n| vec![n; 230]).collect::<Vec<_>>());
    hear(&mut station, Header { magic: 40, ..broadcast() }, b"again");
    assert_eq!(inbox(&mut station), [b"again"], "what was dropped is no duplicate");
}

#[test]
fn as_many_frames_wait_as_the_settings_say() {
    let mut station = TestStation::new(0, NodeSettings { queue: 5, ..settings(100) });
    for magic in 1..=40 {
        hear(&mut station, Header { magic, ..broadcast() }, b"x");
    }
    assert_eq!(station.engine.counters().queued, 5);
}

#[test]
fn a_service_that_went_away_is_not_handed_what_waited() {
    let mut station = TestStation::new(0, settings(100));
    hear(&mut station, broadcast(), b"x");
    station.shared.air.listen(DataType::Data, false);
    assert!(inbox(&mut station).is_empty());
    assert_eq!(station.engine.counters().unclaimed, 1);
}
