//! Acknowledgement by the application layer: sections 2.4 and 2.7, and the traps around it.

use super::instants;
use crate::component::header::VERSION;
use crate::component::{DataType, FrameConfig, Header};
use crate::node::ReceivedFrame;
use crate::node::task::{SendRequest, TransmitOutcome};
use crate::node::tests::medium::{Hears, TestMedium, mac, ms, outgoing, settings};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;
use std::boxed::Box;

fn acked(copies: u8) -> FrameConfig {
    FrameConfig { ack: true, copies, ..FrameConfig::UNICAST }
}

fn done(attempts: u8) -> TransmitOutcome {
    TransmitOutcome::Done { attempts }
}

/// Lets station 1 hear everything, and loses its acknowledgements before number `from`.
fn deaf_to_acks_before(from: u64) -> Hears {
    Box::new(move |aired, _| {
        let lost = aired.header().data_type == DataType::Ack && aired.at < ms(from);
        (!lost).then_some(-40)
    })
}

#[test]
fn the_back_off_doubles_to_100_ms_at_1000_hz() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = deaf_to_acks_before(u64::MAX / 2_000_000);
    medium.send(0, &outgoing(mac(1), acked(9), 1), b"x");
    medium.run_until(ms(10_000));
    // Each attempt is 1 ms on the air before its back-off begins.
    let want = [0, 3, 8, 17, 34, 67, 132, 233, 334];
    assert_eq!(instants(&medium, 0), want);
    assert_eq!(medium.stations[0].outcomes, [(ms(334 + 101 + 3000), TransmitOutcome::TimedOut)]);
    assert_eq!(medium.stations[1].inbox.len(), 1, "the copies are duplicates");
    assert_eq!(medium.sent(1, DataType::Ack).len(), 9, "and each is acknowledged again");
}

#[test]
fn the_back_off_collapses_at_100_hz() {
    let mut medium = TestMedium::new(2, &settings(100));
    medium.hears = deaf_to_acks_before(u64::MAX / 2_000_000);
    medium.send(0, &outgoing(mac(1), acked(5), 1), b"x");
    medium.run_until(ms(10_000));
    assert_eq!(instants(&medium, 0), [0, 1, 2, 3, 4], "no wait but for the driver");
    assert_eq!(
        medium.stations[0].outcomes,
        [(ms(3000), TransmitOutcome::TimedOut)],
        "on the 300th tick"
    );
}

#[test]
fn at_100_hz_the_last_wait_catches_the_acknowledgement() {
    let mut medium = TestMedium::new(2, &settings(100));
    medium.send(0, &outgoing(mac(1), acked(1), 1), b"x");
    medium.run_until(ms(100));
    // 1 ms for the frame, 1 ms for the acknowledgement, and no slice to wait for.
    assert_eq!(medium.stations[0].outcomes, [(ms(2), done(1))]);
}

#[test]
fn an_acknowledgement_is_seen_at_the_end_of_a_slice() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = deaf_to_acks_before(9);
    medium.send(0, &outgoing(mac(1), acked(9), 1), b"x");
    medium.run_until(ms(100));
    // Sent at 0, 3 and 8; the third is there at 9, its acknowledgement at 10, and the slices of
    // the third attempt end at 11, 13, 15 and 17.
    assert_eq!(instants(&medium, 0), [0, 3, 8]);
    assert_eq!(medium.stations[0].outcomes, [(ms(11), done(3))]);
}

#[test]
fn a_lost_frame_is_sent_again_at_once() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = Box::new(|aired, _| (aired.at >= ms(3)).then_some(-40));
    medium.send(0, &outgoing(mac(1), acked(9), 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(instants(&medium, 0), [0, 1, 2, 3], "the MAC failed, so there is no back-off");
    assert_eq!(medium.stations[0].outcomes, [(ms(6), done(4))]);
}

#[test]
fn a_broadcast_with_one_destination_is_acknowledged_by_it_alone() {
    let mut medium = TestMedium::new(3, &settings(1000));
    let config = FrameConfig { broadcast: true, ..acked(3) };
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(medium.stations[0].outcomes, [(ms(3), done(1))]);
    assert_eq!((medium.stations[1].inbox.len(), medium.stations[2].inbox.len()), (1, 0));
    assert_eq!(medium.stations[2].engine.counters().relay_only, 2, "the frame and its answer");
}

#[test]
fn a_broadcast_to_everybody_waits_for_the_driver_alone() {
    let mut medium = TestMedium::new(2, &settings(1000));
    let config = FrameConfig { ack: true, copies: 4, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(instants(&medium, 0), [0, 1, 2, 3]);
    assert_eq!(medium.stations[0].outcomes, [(ms(4), done(4))]);
    assert!(medium.sent(1, DataType::Ack).is_empty());
}

#[test]
fn a_caller_that_waits_less_is_told_sooner() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = deaf_to_acks_before(u64::MAX / 2_000_000);
    let wait = Duration::from_millis(500);
    medium.send(0, &SendRequest { wait, ..outgoing(mac(1), acked(2), 1) }, b"x");
    medium.run_until(ms(10_000));
    assert_eq!(medium.stations[0].outcomes, [(ms(500), TransmitOutcome::TimedOut)]);
}

#[test]
fn two_that_send_to_each_other_hold_back_their_acknowledgements() {
    let mut medium = TestMedium::new(2, &settings(1000));
    for n in [0, 1] {
        let out = SendRequest { magic: 7 + n as u16, ..outgoing(mac(1 - n), acked(3), 1) };
        medium.send(n, &out, b"x");
    }
    medium.run_until(ms(1000));
    // Each could answer at 1 ms, but holds its lock until the back-off of the third attempt ends.
    assert_eq!(instants(&medium, 0)[..4], [0, 3, 8, 17]);
    assert_eq!(medium.sent(0, DataType::Ack).len(), 3, "one for each copy");
    for station in &medium.stations {
        assert_eq!(station.outcomes, [(ms(18), done(3))], "in the wait after the lock");
    }
}

#[test]
fn acknowledgements_that_nobody_awaits_fill_their_queue() {
    let mut medium = TestMedium::new(1, &settings(1000));
    let header = |magic| Header {
        data_type: DataType::Ack,
        version: VERSION,
        size: 0,
        magic,
        config: FrameConfig::default(),
        dest: mac(0),
        src: mac(1),
    };
    let (engine, mut cx) = medium.stations[0].parts(ms(0));
    for magic in [1, 2, 3, 4, 5, 5] {
        let data = &header(magic).emit();
        let frame = ReceivedFrame {
            data,
            transmitter: mac(1),
            receiver: Mac::BROADCAST,
            rssi: -40,
            channel: 1,
        };
        engine.receive(&mut cx, frame);
    }
    let counters = engine.counters();
    assert_eq!((counters.acks, counters.ack_queue_full), (4, 2), "not known: not remembered");
    let line = "W (0) espnow: [espnow_recv_cb, 320] Send event queue failed\r\n";
    assert_eq!(medium.stations[0].printed(), line, "once in 3 s");
    // The next sender drains them; the first of them even fits, since only the magic counts.
    medium.send(0, &SendRequest { magic: 2, ..outgoing(mac(1), acked(1), 1) }, b"x");
    medium.stations[0].mute = true;
    let (engine, mut cx) = medium.stations[0].parts(ms(0));
    let _ = engine.poll(&mut cx, &mut [0; 250]);
    engine.sent(&mut cx, true);
    medium.run_until(ms(2));
    assert_eq!(medium.stations[0].outcomes, [(ms(2), done(1))]);
    assert_eq!(medium.stations[0].engine.counters().late_acks, 1);
}

#[test]
fn an_acknowledgement_waits_for_the_lock_for_three_seconds() {
    let mut medium = TestMedium::new(2, &settings(1000));
    // Station 1 holds its lock with a driver that does not answer.
    medium.stations[1].mute = true;
    let config = FrameConfig { copies: 2, ..FrameConfig::UNICAST };
    medium.send(1, &SendRequest { magic: 9, ..outgoing(mac(5), config, 1) }, b"y");
    medium.run_until(ms(1));
    medium.send(0, &outgoing(mac(1), acked(1), 1), b"x");
    medium.run_until(ms(10_000));
    let station = &mut medium.stations[1];
    let counters = station.engine.counters();
    assert_eq!((counters.acks_due, counters.acks_sent, counters.lock_timeout), (1, 0, 1));
    assert!(station.printed().contains("W (3002) espnow: Wait Sem fail\r\n"));
    assert_eq!(station.inbox.len(), 1, "what waited behind it goes on");
    assert_eq!(station.inbox[0].0.at, ms(2));
}
