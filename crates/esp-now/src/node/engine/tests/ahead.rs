//! `espnow_send` of July 2022: all copies are handed to the driver ahead of any answer, and the
//! main task handles acknowledgements.

use super::instants;
use crate::component::{Compat, ComponentRelease, DataType, FrameConfig};
use crate::node::air::Country;
use crate::node::engine::{Engine, FRAME_MAX, Next};
use crate::node::task::{NodeSettings, SendRequest, TransmitOutcome};
use crate::node::tests::medium::{Hears, TestMedium, mac, ms, outgoing, settings};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;
use std::boxed::Box;
use std::vec::Vec;

fn with(release: ComponentRelease, hz: u32) -> NodeSettings {
    NodeSettings { compat: Compat { release, ..Compat::default() }, ..settings(hz) }
}

fn july(hz: u32) -> NodeSettings {
    with(ComponentRelease::Mid2022, hz)
}

fn acked(copies: u8) -> FrameConfig {
    FrameConfig { ack: true, copies, ..FrameConfig::UNICAST }
}

fn done(attempts: u8) -> TransmitOutcome {
    TransmitOutcome::Done { attempts }
}

/// Loses acknowledgements, and nothing else.
fn deaf_to_acks() -> Hears {
    Box::new(|aired, _| (aired.header().data_type != DataType::Ack).then_some(-40))
}

fn refused(medium: &TestMedium) -> u32 {
    medium.stations[0].engine.counters().driver_refused
}

#[test]
fn copies_of_a_broadcast_do_not_wait_at_the_watermark() {
    let config = FrameConfig { copies: 20, ..FrameConfig::default() };
    for (release, last) in [(ComponentRelease::Mid2022, 0), (ComponentRelease::V1_0, 4)] {
        let mut medium = TestMedium::new(2, &with(release, 1000));
        medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
        medium.run_until(ms(50));
        assert_eq!(instants(&medium, 0).len(), 20);
        assert_eq!(instants(&medium, 0).last(), Some(&last), "{release:?}");
    }
}

#[test]
fn copies_to_be_acknowledged_are_all_sent_before_the_wait() {
    let mut medium = TestMedium::new(2, &july(1000));
    medium.hears = deaf_to_acks();
    medium.send(0, &outgoing(mac(1), acked(9), 1), b"x");
    medium.run_until(ms(10_000));
    assert_eq!(instants(&medium, 0), [0; 9], "no back-off");
    // The driver has answered for one copy after 1 ms; the caller then waits 3 s for the other end.
    assert_eq!(medium.stations[0].outcomes, [(ms(3001), TransmitOutcome::TimedOut)]);
    assert_eq!(medium.stations[1].inbox.len(), 1, "the copies are duplicates");
}

#[test]
fn the_wait_ends_with_the_acknowledgement() {
    for (config, copies) in [(acked(9), 9), (FrameConfig { broadcast: true, ..acked(4) }, 4)] {
        let mut medium = TestMedium::new(2, &july(1000));
        medium.send(0, &outgoing(mac(1), config, 1), b"x");
        medium.run_until(ms(100));
        assert_eq!(instants(&medium, 0), std::vec![0; usize::from(copies)]);
        assert_eq!(medium.stations[0].outcomes, [(ms(2), done(copies))], "{config:?}");
    }
}

#[test]
fn a_caller_that_waits_less_is_told_sooner() {
    let mut medium = TestMedium::new(2, &july(1000));
    medium.hears = deaf_to_acks();
    let wait = Duration::from_millis(500);
    medium.send(0, &SendRequest { wait, ..outgoing(mac(1), acked(2), 1) }, b"x");
    medium.run_until(ms(10_000));
    assert_eq!(medium.stations[0].outcomes, [(ms(500), TransmitOutcome::TimedOut)]);
}

#[test]
fn no_more_copies_once_the_acknowledgement_is_there() {
    let mut medium = TestMedium::new(2, &july(1000));
    medium.stations[0].room = 1;
    medium.send(0, &outgoing(mac(1), acked(9), 1), b"x");
    medium.run_until(ms(100));
    // The acknowledgement of the first copy came at 2 ms, while the second waited for the driver.
    assert_eq!(instants(&medium, 0), [0, 10]);
    assert_eq!(refused(&medium), 1);
    assert_eq!(medium.stations[0].outcomes, [(ms(10), done(3))]);
}

#[test]
fn a_full_driver_is_asked_again_every_10_ms() {
    let mut medium = TestMedium::new(2, &july(1000));
    medium.stations[0].room = 4;
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 1), b"x");
    medium.run_until(ms(50));
    assert_eq!(instants(&medium, 0), [0, 0, 0, 0, 10, 10, 10, 10, 20, 20]);
    assert_eq!(refused(&medium), 2);
    assert_eq!(medium.stations[0].outcomes, [(ms(20), done(12))]);
    assert_eq!(medium.stations[0].printed(), "");
}

#[test]
fn a_driver_that_stays_full_is_asked_ten_times_for_each_copy() {
    let mut medium = TestMedium::new(1, &july(1000));
    medium.stations[0].room = 0;
    let config = FrameConfig { copies: 2, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    for (until, asked) in [(0, 1), (9, 1), (10, 2), (99, 10), (100, 11), (1000, 20)] {
        medium.run_until(ms(until));
        assert_eq!(refused(&medium), asked, "{until} ms");
    }
    assert_eq!(
        medium.stations[0].outcomes,
        [(ms(200), TransmitOutcome::Failed)],
        "after the last pause"
    );
    let printed = medium.stations[0].printed();
    assert_eq!(printed.matches("<ESP_ERR_ESPNOW_NO_MEM>").count(), 2, "once a copy: {printed}");
}

#[test]
fn below_100_hz_a_full_driver_is_asked_again_after_a_tick() {
    let mut medium = TestMedium::new(1, &july(50));
    medium.stations[0].room = 0;
    let config = FrameConfig { copies: 2, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(1000));
    assert_eq!(refused(&medium), 20);
    assert_eq!(
        medium.stations[0].outcomes,
        [(ms(400), TransmitOutcome::Failed)],
        "20 ticks of 20 ms"
    );
}

#[test]
fn copies_to_be_acknowledged_count_as_attempts_at_a_full_driver() {
    let mut medium = TestMedium::new(1, &july(1000));
    medium.stations[0].room = 0;
    medium.send(0, &outgoing(mac(1), acked(3), 1), b"x");
    // Copies 0, 1 and 2 are asked for at 0, 10 and 20; the last of them nine times more.
    for (until, asked) in [(20, 3), (109, 11), (110, 12), (10_000, 12)] {
        medium.run_until(ms(until));
        assert_eq!(refused(&medium), asked, "{until} ms");
    }
    assert_eq!(medium.stations[0].outcomes, [(ms(3120), TransmitOutcome::TimedOut)]);
    let printed = medium.stations[0].printed();
    assert_eq!(printed.matches("<ESP_ERR_ESPNOW_NO_MEM>").count(), 1, "{printed}");
}

#[test]
fn unicast_waits_for_the_driver_s_answer() {
    let config = FrameConfig { copies: 4, ..FrameConfig::UNICAST };
    for (heard_from, sent, outcome) in [
        (0, &[0][..], (ms(1), done(1))),
        (2, &[0, 1, 2], (ms(3), done(3))),
        (9, &[0, 1, 2, 3], (ms(4), TransmitOutcome::Failed)),
    ] {
        let mut medium = TestMedium::new(2, &july(1000));
        medium.hears = Box::new(move |aired, _| (aired.at >= ms(heard_from)).then_some(-40));
        medium.send(0, &outgoing(mac(1), config, 1), b"x");
        medium.run_until(ms(50));
        assert_eq!(instants(&medium, 0), sent);
        assert_eq!(medium.stations[0].outcomes, [outcome]);
        assert_eq!(medium.stations[0].printed(), "", "nobody is told of a failed attempt");
    }
}

#[test]
fn only_unicast_is_held_by_a_driver_that_never_answers() {
    for (config, millis, outcome) in [
        (FrameConfig { copies: 2, ..FrameConfig::UNICAST }, 6000, TransmitOutcome::Failed),
        (FrameConfig { copies: 17, ..FrameConfig::default() }, 0, done(17)),
        (acked(3), 6000, TransmitOutcome::TimedOut),
    ] {
        let mut medium = TestMedium::new(1, &july(1000));
        medium.stations[0].mute = true;
        medium.send(0, &outgoing(mac(1), config, 1), b"x");
        medium.run_until(ms(100_000));
        assert_eq!(medium.stations[0].outcomes, [(ms(millis), outcome)], "{config:?}");
    }
}

#[test]
fn all_copies_on_a_channel_before_the_next_one() {
    let mut medium = TestMedium::new(1, &july(1000));
    medium.stations[0].shared.air.country = Country { count: 3, ..Country::CN };
    let config = FrameConfig { channel: 15, broadcast: true, ..acked(2) };
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(4000));
    let channels: Vec<u8> = medium.log.iter().map(|aired| aired.channel).collect();
    assert_eq!(channels, [1, 1, 2, 2, 3, 3]);
    assert_eq!(instants(&medium, 0), [0; 6]);
    assert_eq!(medium.stations[0].outcomes, [(ms(3000), TransmitOutcome::TimedOut)]);
}

#[test]
fn an_acknowledgement_has_the_frame_s_configuration_and_copies() {
    let broadcast = FrameConfig { broadcast: true, ..acked(3) };
    for (config, to) in [(acked(5), mac(0)), (broadcast, Mac::BROADCAST)] {
        let mut medium = TestMedium::new(2, &july(1000));
        medium.send(0, &outgoing(mac(1), config, 1), b"x");
        medium.run_until(ms(100));
        let acks = medium.sent(1, DataType::Ack);
        assert_eq!(acks.len(), usize::from(config.copies), "copies of one, none for a duplicate");
        let expected = medium.log[0].header().config;
        for ack in acks {
            assert_eq!((ack.at, ack.to), (ms(1), to));
            assert_eq!(ack.header().config, expected);
            assert_eq!((ack.header().magic, ack.header().dest), (0x1234, mac(0)));
        }
        let counters = medium.stations[1].engine.counters();
        let duplicates = u32::from(config.copies) - 1;
        assert_eq!((counters.acks_due, counters.duplicate), (1, duplicates));
    }
}

#[test]
fn nobody_acknowledges_what_goes_to_everybody() {
    let mut medium = TestMedium::new(2, &july(1000));
    let config = FrameConfig { ack: true, copies: 4, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(100));
    assert_eq!(medium.stations[0].outcomes, [(ms(0), done(4))], "nor does the sender wait");
    assert!(medium.sent(1, DataType::Ack).is_empty());
    assert_eq!(medium.stations[1].inbox.len(), 1);
}

/// Returns the steps of station 1's main task in order: payloads, and `#` for a transmission.
fn turns(medium: &mut TestMedium) -> Vec<u8> {
    let mut turns = Vec::new();
    let mut buf = [0; FRAME_MAX];
    let (engine, mut cx) = medium.stations[1].parts(ms(50));
    let step = |engine: &mut Engine, cx: &mut _, buf: &mut [u8]| engine.next(cx, buf);
    while let Some(next) = step(engine, &mut cx, &mut buf) {
        match next {
            Next::Deliver(delivery) => turns.push(delivery.with(&buf).data[0]),
            Next::Relay => {
                turns.push(b'#');
                assert!(engine.relay(&mut cx));
                while engine.poll(&mut cx, &mut buf).is_some() {
                    engine.sent(&mut cx, true);
                }
            }
        }
    }
    turns
}

#[test]
fn acknowledgements_are_queued_by_the_main_task_behind_what_waits() {
    for (release, due, expected) in
        [(ComponentRelease::Mid2022, 0, "ab##"), (ComponentRelease::V1_0, 2, "#a#b")]
    {
        let mut medium = TestMedium::new(2, &with(release, 1000));
        medium.stations[1].stuck = true;
        for (magic, payload) in [(1, b"a"), (2, b"b")] {
            let out = outgoing(mac(1), FrameConfig { broadcast: true, ..acked(1) }, 1);
            let wait = Duration::from_millis(20);
            medium.send(0, &SendRequest { magic, wait, ..out }, payload);
            let end = medium.now + Duration::from_millis(25);
            medium.run_until(end);
        }
        assert_eq!(medium.stations[1].engine.counters().acks_due, due, "{release:?}");
        assert_eq!(turns(&mut medium), expected.as_bytes(), "{release:?}");
        assert_eq!(medium.stations[1].engine.counters().acks_sent, 2);
    }
}
