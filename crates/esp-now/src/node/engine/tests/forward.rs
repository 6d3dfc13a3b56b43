//! Forwarding, section 2.8.

use super::instants;
use crate::component::{Compat, ComponentRelease, DataType, FrameConfig, HEADER_LEN, Header, Idf};
use crate::node::ReceivedFrame;
use crate::node::air::Country;
use crate::node::engine::{Action, Engine, Next};
use crate::node::task::SendRequest;
use crate::node::tests::medium::{TestMedium, mac, ms, outgoing, settings};
use crate::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use std::boxed::Box;
use std::vec::Vec;

fn config(ttl: u8) -> FrameConfig {
    FrameConfig { copies: 2, ttl, rssi: -60, ..FrameConfig::default() }
}

/// Places stations in a row: each hears its neighbours alone.
fn row(count: usize, rssi: i8) -> TestMedium {
    let mut medium = TestMedium::new(count, &settings(1000));
    medium.hears = Box::new(move |aired, n| (aired.from.abs_diff(n) == 1).then_some(rssi));
    medium
}

fn inboxes(medium: &TestMedium) -> Vec<usize> {
    medium.stations.iter().map(|station| station.inbox.len()).collect()
}

#[test]
fn a_broadcast_goes_as_far_as_its_ttl() {
    for (ttl, want) in [(0, [0, 1, 0, 0, 0]), (2, [0, 1, 1, 1, 0]), (3, [0, 1, 1, 1, 1])] {
        let mut medium = row(5, -50);
        medium.send(0, &outgoing(Mac::BROADCAST, config(ttl), 1), b"x");
        medium.run_until(ms(100));
        assert_eq!(inboxes(&medium), want, "ttl {ttl}");
        for n in 0..5 {
            let hops = medium.sent(n, DataType::Data);
            let relays = n <= usize::from(ttl) && n < 5;
            assert_eq!(hops.len(), if relays { 2 } else { 0 }, "once, in two copies");
            assert!(hops.iter().all(|aired| {
                let header = aired.header();
                header.config.ttl == ttl - n as u8 && header.src == mac(0) && header.magic == 0x1234
            }));
        }
        let from: Vec<Mac> = medium.stations[1].inbox.iter().map(|(d, _)| d.from).collect();
        assert_eq!(from, [mac(0)]);
    }
}

#[test]
fn three_hops_take_their_time_and_31_is_never_counted_down() {
    let mut medium = row(4, -50);
    medium.send(0, &outgoing(Mac::BROADCAST, config(31), 1), b"x");
    medium.run_until(ms(100));
    assert_eq!([0, 1, 2, 3].map(|n| instants(&medium, n)[0]), [0, 1, 2, 3]);
    assert!(medium.log.iter().all(|aired| aired.header().config.ttl == 31));
    assert_eq!(medium.log.len(), 8, "nobody relays twice");
    let counters = medium.stations[1].engine.counters();
    assert_eq!((counters.forwards_due, counters.forwarded, counters.duplicate), (1, 1, 3));
}

#[test]
fn weak_frames_are_taken_but_not_forwarded() {
    for (rssi, want) in [(-60, [0, 1, 1]), (-61, [0, 1, 0])] {
        let mut medium = row(3, rssi);
        medium.send(0, &outgoing(Mac::BROADCAST, config(5), 1), b"x");
        medium.run_until(ms(100));
        assert_eq!(inboxes(&medium), want);
    }
}

#[test]
fn the_destination_does_not_forward_and_nobody_forwards_who_may_not() {
    let mut medium = row(4, -50);
    medium.send(0, &outgoing(mac(2), FrameConfig { broadcast: true, ..config(9) }, 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(inboxes(&medium), [0, 0, 1, 0]);
    assert!(medium.sent(2, DataType::Data).is_empty());
    let mut medium = row(4, -50);
    medium.stations[1].shared.settings.forward = false;
    medium.send(0, &outgoing(Mac::BROADCAST, config(9), 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(inboxes(&medium), [0, 1, 0, 0]);
}

#[test]
fn types_that_nobody_listens_to_are_forwarded_too() {
    let mut medium = row(3, -50);
    medium.stations[1].shared.air.listen(DataType::Data, false);
    medium.send(0, &outgoing(Mac::BROADCAST, config(1), 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(inboxes(&medium), [0, 0, 1]);
}

#[test]
fn an_acknowledgement_comes_back_over_the_hops() {
    let mut medium = row(3, -50);
    let config = FrameConfig { ack: true, ..config(2) };
    medium.send(0, &outgoing(mac(2), config, 1), b"x");
    medium.run_until(ms(200));
    assert_eq!(inboxes(&medium), [0, 0, 1]);
    assert_eq!(medium.sent(1, DataType::Ack).len(), 1, "one copy");
    assert!(medium.stations[0].outcomes[0].1.is_done());
}

#[test]
fn forwarding_goes_over_all_channels_where_it_is_set_up_to() {
    for (all, locked, want) in
        [(true, false, &[1, 2, 3, 1, 2, 3][..]), (true, true, &[2, 2]), (false, false, &[2, 2])]
    {
        let mut medium = row(2, -50);
        for station in &mut medium.stations {
            station.shared.air.country = Country { count: 3, ..Country::CN };
            station.shared.air.channel = 2;
        }
        medium.stations[0].shared.air.locked = true;
        medium.stations[1].shared.air.locked = locked;
        medium.stations[1].shared.settings.forward_all_channels = all;
        let config = FrameConfig { channel: 15, ..config(1) };
        medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
        medium.run_until(ms(100));
        let channels: Vec<u8> =
            medium.log.iter().filter(|a| a.from == 1).map(|aired| aired.channel).collect();
        assert_eq!(channels, want);
        assert_eq!(medium.stations[1].shared.air.channel, 2, "returned");
    }
}

#[test]
fn forwarding_stops_early_by_a_limit_that_depends_on_the_tick() {
    // Two buffers: each copy waits until the one before it has left, which takes 200 ms.
    for (hz, copies) in [(1000, 16), (100, 2)] {
        assert_eq!(slow_copies(hz), copies, "{hz} Hz");
    }
}

/// Returns the copies that are forwarded with a driver that takes 200 ms for each.
fn slow_copies(hz: u32) -> usize {
    let mut medium = row(2, -50);
    let tick = Tick::from_hz(hz);
    let settings = &mut medium.stations[1].shared.settings;
    (settings.tick, settings.tx_buffers) = (tick, 2);
    medium.stations[1].mute = true;
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig { copies: 31, ..config(1) }, 1), b"x");
    medium.run_until(ms(50));
    for at in 1..20 {
        medium.run_until(ms(200 * at));
        let (engine, mut cx) = medium.stations[1].parts(ms(200 * at));
        engine.sent(&mut cx, true);
        medium.run_until(ms(200 * at));
    }
    instants(&medium, 1).len()
}

/// Checks the hook of section 6.3: an acknowledgement for another node is overheard, but only where
/// it is forwarded.
#[test]
fn with_automatic_channels_a_forwarded_acknowledgement_is_overheard_once() {
    for (auto_channel, rssi, heard) in [(true, -55, 1), (true, -56, 0), (false, -55, 0)] {
        let mut medium = row(3, rssi);
        medium.stations[1].shared.settings.compat.auto_channel = auto_channel;
        let config = FrameConfig { channel: 1, ttl: 10, rssi: -55, ..config(10) };
        let ack = SendRequest { data_type: DataType::Ack, ..outgoing(Mac::BROADCAST, config, 6) };
        medium.send(0, &ack, &[1, 2, 3, 4, 5, 6]);
        medium.run_until(ms(100));
        let inbox = &medium.stations[1].inbox;
        assert_eq!(inbox.len(), heard);
        for (delivery, data) in inbox {
            assert_eq!((delivery.data_type, delivery.from), (DataType::Ack, mac(0)));
            assert_eq!((delivery.channel, &data[..]), (1, &[1, 2, 3, 4, 5, 6][..]));
        }
        let forwarded = medium.sent(1, DataType::Ack).len();
        assert_eq!(forwarded, if rssi == -55 { 2 } else { 0 });
    }
}

#[test]
fn what_is_longer_than_an_engine_can_send_is_taken_and_not_cut() {
    let mut medium = row(1, -50);
    let station = &mut medium.stations[0];
    let compat = Compat { release: ComponentRelease::Head, idf: Idf::V5_4_2, ..Compat::default() };
    station.shared.settings.compat = compat;
    let (_, mut cx) = station.parts(ms(0));
    cx.shared.air.listen(DataType::Data, true);
    let mut engine = Engine::<8192, 250>::new();
    for (len, relays) in [(230, true), (231, false)] {
        let config = FrameConfig { channel: 1, ..config(3) };
        let (dest, src) = (Mac::BROADCAST, mac(7));
        let (data_type, magic) = (DataType::Data, len as u16);
        let header = Header { data_type, version: 2, size: len as u8, magic, config, dest, src };
        let mut data = header.emit().to_vec();
        data.resize(HEADER_LEN + len, 7);
        let (transmitter, receiver) = (src, dest);
        let frame = ReceivedFrame { data: &data, transmitter, receiver, rssi: -50, channel: 1 };
        engine.receive(&mut cx, frame);
        let mut buf = [0; 1490];
        let next = engine.next(&mut cx, &mut buf);
        assert!(matches!(next, Some(Next::Deliver(it)) if it.len == len), "{next:?}");
        assert_eq!(engine.next(&mut cx, &mut buf) == Some(Next::Relay), relays, "{len}");
        if engine.relay(&mut cx) {
            while let Some(action) = engine.poll(&mut cx, &mut buf) {
                assert_eq!(action, Action::Transmit { len: HEADER_LEN + len, to: Mac::BROADCAST });
                engine.sent(&mut cx, true);
            }
        }
    }
    assert_eq!((engine.counters().forwarded, engine.counters().forwards_lost), (1, 1));
}
