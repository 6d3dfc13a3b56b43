//! Transmissions, row by row of section 2.4, and the channels of 2.9.

use super::instants;
use crate::component::tests::vectors::bytes;
use crate::component::{Compat, ComponentRelease, DataType, FrameConfig, GroupPayload, Idf, group};
use crate::node::air::Country;
use crate::node::engine::{Action, Engine};
use crate::node::task::{SendRequest, TransmitOutcome};
use crate::node::tests::medium::{TestMedium, mac, ms, outgoing, settings};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;
use std::vec::Vec;

const ALL: FrameConfig = FrameConfig { channel: 15, broadcast: true, ..FrameConfig::UNICAST };

fn done(attempts: u8) -> TransmitOutcome {
    TransmitOutcome::Done { attempts }
}

fn channels(medium: &TestMedium) -> Vec<u8> {
    medium.log.iter().map(|aired| aired.channel).collect()
}

#[test]
fn vectors_1_2_and_3_on_the_air() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 5), b"hello");
    medium.run_until(ms(50));
    let wire = "2a 05 34 12 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 68 65 6c 6c 6f";
    assert_eq!(medium.log.len(), 10);
    assert!(medium.log.iter().all(|aired| aired.data == bytes(wire)));
    medium.log.clear();
    medium.stations.iter_mut().for_each(|station| station.shared.air.channel = 6);
    let config = FrameConfig { ack: true, copies: 5, ..FrameConfig::UNICAST };
    medium.send(0, &SendRequest { magic: 0xBEEF, ..outgoing(mac(1), config, 3) }, &[1, 2, 3]);
    medium.run_until(ms(100));
    let wire = "2a 03 ef be 06 60 01 00 24 0a c4 00 00 02 24 0a c4 00 00 01 01 02 03";
    assert_eq!((&medium.log[0].data, medium.log[0].to), (&bytes(wire), mac(1)));
    let wire = "20 00 ef be 06 68 00 00 24 0a c4 00 00 01 24 0a c4 00 00 02";
    assert_eq!((&medium.log[1].data, medium.log[1].to), (&bytes(wire), Mac::BROADCAST));
    assert_eq!(medium.log.len(), 2);
    let received: Vec<&[u8]> = medium.stations[1].inbox.iter().map(|(_, d)| &d[..]).collect();
    assert_eq!(received, [&b"hello"[..], &[1, 2, 3]], "each once");
}

#[test]
fn a_broadcast_does_not_wait_below_the_watermark() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 1), b"x");
    medium.run_until(ms(0));
    assert_eq!(instants(&medium, 0), [0; 10]);
    assert_eq!(medium.stations[0].outcomes, [(ms(0), done(10))], "before the first has left");
}

#[test]
fn a_broadcast_waits_for_one_answer_each_at_the_watermark() {
    let mut medium = TestMedium::new(2, &settings(1000));
    let config = FrameConfig { copies: 20, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(50));
    let mut want = Vec::from([0; 16]);
    want.extend(1..=4);
    assert_eq!(instants(&medium, 0), want, "half of 32 buffers, then one a millisecond");
    assert_eq!(medium.stations[0].outcomes, [(ms(5), done(20))]);
}

#[test]
fn unicast_ends_with_the_first_that_the_mac_acknowledges() {
    let mut medium = TestMedium::new(2, &settings(1000));
    let config = FrameConfig { copies: 5, ..FrameConfig::UNICAST };
    medium.hears = std::boxed::Box::new(|aired, _| (aired.at >= ms(2)).then_some(-40));
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(50));
    assert_eq!(instants(&medium, 0), [0, 1, 2], "the next attempt follows at once");
    assert_eq!(medium.stations[0].outcomes, [(ms(3), done(3))]);
    let line = "[espnow_send, 715]: [espnow_send, 715] <ESP_FAIL> esp_now_send, channel: 1\r\n";
    let want = std::format!("W (1) espnow: {line}W (2) espnow: {line}");
    assert_eq!(medium.stations[0].printed(), want);
}

#[test]
fn unicast_fails_after_its_last_attempt() {
    let mut medium = TestMedium::new(2, &settings(1000));
    let config = FrameConfig { copies: 4, ..FrameConfig::UNICAST };
    medium.hears = std::boxed::Box::new(|_, _| None);
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(50));
    assert_eq!(instants(&medium, 0), [0, 1, 2, 3]);
    assert_eq!(medium.stations[0].outcomes, [(ms(4), TransmitOutcome::Failed)]);
    let counters = medium.stations[0].engine.counters();
    assert_eq!((counters.transmitted, counters.driver_refused), (4, 0));
}

#[test]
fn a_stale_answer_stands_for_that_to_a_unicast_frame() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = std::boxed::Box::new(|_, _| None);
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 1), b"x");
    medium.run_until(ms(0));
    medium.send(0, &outgoing(mac(1), FrameConfig::UNICAST, 1), b"y");
    medium.run_until(ms(1));
    // The answer to the first copy of the broadcast; the unicast frame is still in the driver.
    assert_eq!(medium.stations[0].outcomes[1], (ms(1), done(1)));
}

#[test]
fn answers_from_before_a_send_are_forgotten() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.hears = std::boxed::Box::new(|_, _| None);
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 1), b"x");
    medium.run_until(ms(50));
    medium.send(0, &outgoing(mac(1), FrameConfig::UNICAST, 1), b"y");
    medium.run_until(ms(60));
    assert_eq!(medium.stations[0].outcomes[1], (ms(51), TransmitOutcome::Failed));
}

#[test]
fn what_goes_to_everybody_is_a_broadcast_and_no_copies_are_one() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::UNICAST, 1), b"x");
    medium.run_until(ms(50));
    let config = medium.log[0].header().config;
    assert_eq!((config.broadcast, config.copies, config.channel), (true, 1, 1));
    assert_eq!((medium.log.len(), medium.log[0].to), (1, Mac::BROADCAST));
    assert_eq!(medium.stations[1].inbox.len(), 1);
}

#[test]
fn a_driver_that_never_answers_holds_nobody_for_ever() {
    for (hz, config, millis, outcome) in [
        (1000, FrameConfig { copies: 2, ..FrameConfig::UNICAST }, 6000, TransmitOutcome::Failed),
        (100, FrameConfig { copies: 2, ..FrameConfig::UNICAST }, 6000, TransmitOutcome::Failed),
        (1000, FrameConfig { copies: 17, ..FrameConfig::default() }, 6000, TransmitOutcome::Failed),
        (1000, FrameConfig { ack: true, ..FrameConfig::UNICAST }, 6000, TransmitOutcome::TimedOut),
    ] {
        let mut medium = TestMedium::new(1, &settings(hz));
        medium.stations[0].mute = true;
        medium.send(0, &outgoing(mac(1), config, 1), b"x");
        medium.run_until(ms(100_000));
        assert_eq!(medium.stations[0].outcomes, [(ms(millis), outcome)], "{config:?}");
    }
}

#[test]
fn a_caller_that_waits_less_gives_up_sooner() {
    let mut medium = TestMedium::new(1, &settings(1000));
    medium.stations[0].mute = true;
    let config = FrameConfig { copies: 3, ..FrameConfig::UNICAST };
    let wait = Duration::from_millis(40);
    medium.send(0, &SendRequest { wait, ..outgoing(mac(1), config, 1) }, b"x");
    medium.run_until(ms(100_000));
    assert_eq!(instants(&medium, 0), [0, 40, 40], "the later attempts do not wait at all");
    assert_eq!(medium.stations[0].outcomes, [(ms(40), TransmitOutcome::Failed)]);
}

#[test]
fn what_the_driver_refuses_is_not_tried_again_later() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.stations[0].room = 4;
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig::default(), 1), b"x");
    medium.run_until(ms(50));
    assert_eq!(instants(&medium, 0), [0; 4]);
    assert_eq!(
        medium.stations[0].outcomes,
        [(ms(0), TransmitOutcome::Failed)],
        "as the last copy ended"
    );
    let counters = medium.stations[0].engine.counters();
    assert_eq!((counters.transmitted, counters.driver_refused), (4, 6));
    let printed = medium.stations[0].printed();
    assert_eq!(printed.matches("<ESP_ERR_ESPNOW_NO_MEM> esp_now_send, channel: 1\r\n").count(), 6);
}

#[test]
fn all_channels_copy_by_copy() {
    let mut medium = TestMedium::new(1, &settings(1000));
    medium.stations[0].shared.air.country = Country { count: 3, ..Country::CN };
    medium.stations[0].shared.air.channel = 2;
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig { copies: 2, ..ALL }, 1), b"x");
    medium.run_until(ms(50));
    assert_eq!(channels(&medium), [1, 2, 3, 1, 2, 3]);
    assert!(medium.log.iter().all(|aired| aired.header().config.channel == 15));
    assert_eq!(medium.stations[0].shared.air.channel, 3, "left on the last one");
    assert_eq!(medium.stations[0].outcomes, [(ms(0), done(6))]);
}

#[test]
fn all_channels_attempt_by_attempt_where_an_acknowledgement_is_wanted() {
    let mut medium = TestMedium::new(1, &settings(1000));
    medium.stations[0].shared.air.country = Country { count: 3, ..Country::CN };
    medium.stations[0].shared.settings.restore_channel = true;
    let config = FrameConfig { copies: 2, ack: true, ..ALL };
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(4000));
    assert_eq!(channels(&medium), [1, 1, 2, 2, 3, 3]);
    // Each takes 1 ms to leave, then 2 ms and 4 ms of back-off.
    assert_eq!(instants(&medium, 0), [0, 3, 8, 11, 16, 19]);
    assert_eq!(medium.stations[0].shared.air.channel, 1, "returned");
    assert_eq!(medium.stations[0].outcomes, [(ms(3024), TransmitOutcome::TimedOut)]);
}

#[test]
fn a_locked_radio_stays_on_its_channel() {
    let mut medium = TestMedium::new(1, &settings(1000));
    medium.stations[0].shared.air.locked = true;
    medium.send(0, &outgoing(Mac::BROADCAST, FrameConfig { copies: 2, ..ALL }, 1), b"x");
    medium.run_until(ms(10));
    assert_eq!(channels(&medium), [1, 1]);
    let config = FrameConfig { channel: 6, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(20));
    let config = FrameConfig { ack: true, ..config };
    medium.send(0, &outgoing(mac(1), config, 1), b"x");
    medium.run_until(ms(9000));
    assert_eq!(medium.log.len(), 2, "nothing more was sent");
    let outcomes = &medium.stations[0].outcomes;
    assert_eq!(
        outcomes[1..],
        [(ms(10), TransmitOutcome::Refused), (ms(3020), TransmitOutcome::TimedOut)]
    );
    let line = "espnow: Can't set channel 6, current is 1\r\n";
    let want = std::format!("E (10) {line}E (20) {line}");
    assert_eq!(medium.stations[0].printed(), want);
}

#[test]
fn one_channel_is_tuned_to_and_kept() {
    for restore in [false, true] {
        let mut medium = TestMedium::new(1, &settings(1000));
        medium.stations[0].shared.settings.restore_channel = restore;
        let config = FrameConfig { channel: 6, copies: 1, ..FrameConfig::default() };
        medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
        medium.run_until(ms(10));
        assert_eq!(channels(&medium), [6]);
        assert_eq!(medium.stations[0].shared.air.channel, if restore { 1 } else { 6 });
    }
}

#[test]
fn a_channel_that_the_country_has_not_is_no_error() {
    let mut medium = TestMedium::new(1, &settings(1000));
    let config = FrameConfig { channel: 12, ..FrameConfig::default() };
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(10));
    assert_eq!(medium.stations[0].outcomes, [(ms(0), done(0))], "ESP_OK");
    assert!(medium.log.is_empty());
    medium.stations[0].shared.air.locked = true;
    medium.send(0, &outgoing(Mac::BROADCAST, config, 1), b"x");
    medium.run_until(ms(20));
    assert_eq!(
        medium.stations[0].outcomes[1],
        (ms(10), TransmitOutcome::Refused),
        "but it may not move"
    );
    let want = "W (0) espnow: [espnow_send, 671]Can't set channel 12, not allowed in country 01.\r\n\
                E (10) espnow: Can't set channel 12, current is 1\r\n";
    assert_eq!(medium.stations[0].printed(), want);
}

#[test]
fn payloads_have_the_release_s_limit() {
    let head = Compat { release: ComponentRelease::Head, idf: Idf::V5_4_2, ..Compat::default() };
    for (compat, max) in [(Compat::default(), 218), (head, 1438)] {
        let mut medium = TestMedium::new(2, &settings(1000));
        medium.stations.iter_mut().for_each(|s| s.shared.settings.compat = compat);
        let (engine, cx) = medium.stations[0].parts(ms(0));
        assert_eq!(engine.payload_mut(&cx).len(), max);
        let payload: Vec<u8> = (0..max).map(|i| i as u8).collect();
        medium.send(0, &outgoing(mac(1), FrameConfig::UNICAST, max), &payload);
        medium.run_until(ms(10));
        assert_eq!(medium.stations[1].inbox[0].1, payload);
        let (engine, mut cx) = medium.stations[0].parts(ms(10));
        assert!(engine.start(&mut cx, &outgoing(mac(1), FrameConfig::UNICAST, max + 1)));
        assert_eq!(engine.outcome(), Some(TransmitOutcome::Refused));
    }
}

#[test]
fn a_magic_of_zero_is_drawn() {
    let mut medium = TestMedium::new(1, &settings(1000));
    for _ in 0..2 {
        let out = SendRequest { magic: 0, ..outgoing(Mac::BROADCAST, FrameConfig::default(), 1) };
        medium.send(0, &out, b"x");
        let end = medium.now + Duration::from_millis(20);
        medium.run_until(end);
    }
    let magics: Vec<u16> = medium.log.iter().map(|aired| aired.header().magic).collect();
    assert!(magics[..10].iter().all(|magic| *magic == magics[0] && *magic != 0));
    assert_ne!(magics[0], magics[10]);
}

#[test]
fn a_group_frame_returns_to_its_channel_and_needs_copies() {
    let mut medium = TestMedium::new(2, &settings(1000));
    medium.stations[1].shared.air.channel = 6;
    let mut payload = [0; 14];
    let len = GroupPayload::emit(true, group::OTA, [mac(1)], &mut payload).expect("room");
    for (copies, frames) in [(3, 3), (0, 0)] {
        let config = FrameConfig { channel: 6, copies, ..FrameConfig::default() };
        let out = SendRequest { data_type: DataType::Group, ..outgoing(mac(1), config, len) };
        medium.log.clear();
        medium.send(0, &out, &payload);
        let end = medium.now + Duration::from_millis(20);
        medium.run_until(end);
        assert_eq!(channels(&medium), std::vec![6; frames]);
        assert!(medium.log.iter().all(|aired| aired.header().dest.is_broadcast()));
        assert_eq!(medium.stations[0].shared.air.channel, 1);
        assert_eq!(medium.stations[0].outcomes.pop().map(|o| o.1), Some(done(frames as u8)));
    }
    assert!(medium.stations[1].shared.air.in_group(group::OTA));
}

#[test]
fn a_small_engine_sends_short_payloads_of_a_release_with_long_ones() {
    let mut medium = TestMedium::new(1, &settings(1000));
    let station = &mut medium.stations[0];
    let compat = Compat { release: ComponentRelease::Head, idf: Idf::V5_4_2, ..Compat::default() };
    station.shared.settings.compat = compat;
    let (_, mut cx) = station.parts(ms(0));
    let mut engine = Engine::<8192, 250>::new();
    let place = engine.payload_mut(&cx);
    assert_eq!(place.len(), 230, "as much as it has, not none");
    place[..5].copy_from_slice(b"hello");
    assert!(engine.start(&mut cx, &outgoing(Mac::BROADCAST, FrameConfig::default(), 5)));
    let action = engine.poll(&mut cx, &mut [0; 250]);
    assert_eq!(action, Some(Action::Transmit { len: 25, to: Mac::BROADCAST }));
}
