//! Stations that are switched off, doze or hop, alarms, and the time that all of it takes.

use crate::rig::{packet, room, room_of};
use crate::script::{ACK, DATA, Script, US};
use core::time::Duration;
use espbench_dot11::air::RadioLinks;
use espbench_dot11::mac::{
    AmpduConfig, GROUP, MacConfig, Spent, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Mcs, Timing, WifiMode};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

const HT: WifiMode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);

const DIFS: u64 = 50 * US;

const fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

const fn at(us: u64) -> Instant {
    Instant::from_nanos(us * US)
}

/// Makes stations that send A-MPDUs, and hear each other well.
fn aggregating(stations: u32) -> WirelessMedium {
    let settings = MacConfig {
        timing: Timing::ERP_SHORT_SLOT,
        ampdu: Some(AmpduConfig { send: 8, receive: 8, ..AmpduConfig::MOST }),
        ..MacConfig::default()
    };
    room_of(1, RadioLinks::uniform(stations, -40.0), &settings)
}

fn ht(to: u32) -> TxFrame {
    TxFrame::new(to, 1538, HT, 0).aggregated()
}

/// A station has nothing left of an A-MPDU that is over, and may be switched off.
#[test]
fn a_station_is_switched_off_after_an_ampdu() {
    let mut room = aggregating(2);
    let mut script = Script::default();
    (0..3).for_each(|_| script.send_packet(&mut room, 1000, 0, ht(1)));
    script.act(&mut room, 5000, |room| {
        assert_eq!(room.queued(0), 0);
        assert!(room.switch_off(0).is_empty(), "nothing is lost");
        room.switch_on(0);
    });
    script.send_packet(&mut room, 6000, 0, ht(1));
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 1); 4]);
    assert_eq!(script.done.iter().filter(|(_, done)| done.delivered).count(), 4);
}

#[test]
fn who_is_switched_off_hears_nothing_until_it_is_on_again() {
    let mut room = room(1, 3);
    let mut script = Script::default();
    script.act(&mut room, 500, |room| assert!(room.switch_off(1).is_empty()));
    script.send(&mut room, 1000, 0, GROUP);
    script.act(&mut room, 4000, |room| {
        // Off is not asleep.
        room.doze(1);
        room.wake_up(1);
    });
    script.send(&mut room, 5000, 0, GROUP);
    script.act(&mut room, 9000, |room| room.switch_on(1));
    script.send(&mut room, 10_000, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 2), (0, 2), (0, 1), (0, 2)]);
    assert_eq!(script.missed, [(0, 1, Cause::Collision); 2]);
    assert!(room.switch_off(9).is_empty(), "there is no such station");
    room.switch_on(9);
}

/// The frame on the air goes on to its end and is not repeated; what waits behind it is lost.
#[test]
fn a_sender_is_switched_off_while_it_sends() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    (0..3).for_each(|_| script.send(&mut room, 1000, 0, 1));
    script.act(&mut room, 2000, |room| {
        assert_eq!(room.queued(0), 3);
        assert_eq!(room.switch_off(0), [1, 2]);
        assert_eq!(room.queued(0), 1);
    });
    script.act(&mut room, 8000, |room| {
        assert_eq!((room.queued(0), room.counters(0).given_up), (0, 1));
        room.switch_on(0);
    });
    script.send(&mut room, 9000, 0, 1);
    script.run(&mut room);
    let over = |tag, delivered| (0, TxStatus { tag, delivered, attempts: 1 });
    assert_eq!(script.done, [over(0, false), over(5, true)]);
    assert_eq!(script.begins(0).len(), 2);
    assert_eq!(script.heard, [(0, 1), (0, 1)]);
    assert_eq!(room.counters(1).acks, 2, "it has answered both");
}

#[test]
fn who_waits_for_the_medium_and_is_switched_off_does_not_send() {
    let mut room = room(1, 3);
    let mut script = Script::default();
    script.send(&mut room, 1000, 2, GROUP);
    script.send(&mut room, 1500, 0, GROUP);
    script.act(&mut room, 2000, |room| assert_eq!(room.switch_off(0), [1]));
    script.act(&mut room, 10_000, |room| room.switch_on(0));
    script.send(&mut room, 20_000, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.begins(0), [20_000 * US]);
    assert!(script.heard.contains(&(0, 1)));
}

/// Who is off when its acknowledgement is due does not send it, and the sender tries seven times.
#[test]
fn an_acknowledgement_that_is_owed_is_not_sent_by_who_is_off() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.act(&mut room, 1000 + DATA / US + 5, |room| drop(room.switch_off(1)));
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 1)]);
    assert_eq!(script.done, [(0, TxStatus { tag: 0, delivered: false, attempts: 7 })]);
    assert_eq!((room.counters(1).received, room.counters(1).acks), (1, 0));
    assert!(script.control.is_empty());
}

/// MPDUs that wait for a missing one are lost with the station, and with no other.
#[test]
fn what_waits_in_the_reorder_buffer_is_lost_with_either_end() {
    for off in 0..3 {
        let mut room = aggregating(3);
        let mut script = Script::default();
        // Station 1 has no buffer for the first of three, so that two wait.
        script.full = vec![1];
        (0..3).for_each(|_| script.send_packet(&mut room, 1000, 0, ht(1)));
        let mut user = Full { script, until: 1250 };
        user.script.act(&mut room, 1700, move |room| {
            drop(room.switch_off(off));
            room.switch_on(off);
        });
        user.script.send_packet(&mut room, 4000, 0, ht(1));
        let up = |user: &Full| user.script.heard.iter().filter(|it| **it == (0, 1)).count();
        // Long before the reorder buffer loses its patience, and after it has.
        room.run(&mut user, at(20_000));
        let soon = up(&user);
        room.run(&mut user, at(200_000));
        let expected = match off {
            // The sender has forgotten all; only what it sends afterwards goes up.
            0 => (1, 1),
            // The receiver has: the first is repeated, the other two were acknowledged and are lost,
            // and the last waits for them in vain.
            1 => (1, 2),
            _ => (4, 4),
        };
        assert_eq!((soon, up(&user)), expected, "{off}");
    }
}

/// A script in which stations lack buffers up to a time.
struct Full {
    script: Script,
    until: u64,
}

impl espbench_dot11::mac::MacUser for Full {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        self.script.on_wake(room, token);
    }

    fn accepts(&mut self, station: u32, frame: &espbench_dot11::mac::Ppdu) -> bool {
        frame.end > self.until * US || self.script.accepts(station, frame)
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &espbench_dot11::mac::Ppdu,
        heard: &[espbench_dot11::mac::Reception],
        missed: &[espbench_dot11::mac::MissedReception],
    ) {
        self.script.on_data(room, frame, heard, missed);
    }
}

#[test]
fn who_dozes_hears_nothing_and_keeps_its_frames() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.act(&mut room, 500, |room| room.doze(0));
    script.send(&mut room, 600, 0, GROUP);
    script.act(&mut room, 2000, |room| {
        assert_eq!(room.queued(0), 1);
        room.wake_up(0);
    });
    script.act(&mut room, 10_000, |room| room.doze(0));
    script.send(&mut room, 11_000, 1, GROUP);
    script.act(&mut room, 20_000, |room| room.wake_up(0));
    script.send(&mut room, 21_000, 1, GROUP);
    script.run(&mut room);
    assert_eq!(script.begins(0), [2000 * US + DIFS], "the medium seems idle from then on");
    assert_eq!(script.heard, [(0, 1), (1, 0)]);
    assert_eq!(script.missed, [(1, 0, Cause::Collision)]);
    room.doze(9);
    room.wake_up(9);
}

/// A station that is told to doze while it sends waits for its acknowledgement first; one that is
/// woken before does not doze at all.
#[test]
fn an_exchange_is_finished_first() {
    for woken in [false, true] {
        let mut room = room(1, 2);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, 1);
        script.act(&mut room, 1500, |room| room.doze(0));
        if woken {
            script.act(&mut room, 1600, |room| room.wake_up(0));
        }
        script.send(&mut room, 10_000, 1, GROUP);
        script.run(&mut room);
        assert_eq!(script.done[0], (0, TxStatus { tag: 0, delivered: true, attempts: 1 }));
        assert_eq!(script.heard.contains(&(1, 0)), woken);
    }
}

/// The receiver of a frame dozes after the answer that it owes, whoever asks it to before.
#[test]
fn an_answer_that_is_owed_is_sent_first() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.act(&mut room, 1000 + DATA / US + 5, |room| room.doze(1));
    script.send(&mut room, 10_000, 0, GROUP);
    script.run(&mut room);
    assert_eq!(room.counters(1).acks, 1);
    assert_eq!(script.heard, [(0, 1)], "asleep by then");
}

/// A hop takes its time, asleep or awake; over while the station sleeps, it is over.
#[test]
fn who_wakes_up_in_a_hop_waits_for_its_end() {
    for (wakes, heard) in
        [(3000, vec![(1, 0)]), (6000, vec![(1, 0)]), (6500, vec![(1, 0)]), (8000, vec![])]
    {
        let mut room = room(1, 2);
        let mut script = Script::default();
        script.tune(&mut room, 100, 1, 6);
        script.hop(&mut room, 1000, 0, 6, 5000);
        // The last step comes late on its own, and once more at the time to wake up.
        script.act(&mut room, 900_000, |room| room.wake_up(0));
        script.act(&mut room, 2000, move |room| {
            room.doze(0);
            room.wake_at(at(wakes), 2);
        });
        script.send(&mut room, 3200, 1, GROUP);
        script.send(&mut room, 7000, 1, GROUP);
        script.run(&mut room);
        assert_eq!(script.heard, heard, "{wakes}");
    }
}

#[test]
fn to_hop_to_the_own_channel_is_nothing() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, GROUP);
    script.hop(&mut room, 2000, 1, 1, 500);
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 1)]);
    room.tune(9, 3, Duration::ZERO);
    assert_eq!((room.channel(1), room.channel(9)), (1, 0));
}

/// Station 0 has no acknowledgement and receives a frame of station 2 when its time-out is over: it
/// waits for the end of that. Off or on another channel, it waits no longer.
#[test]
fn who_waits_for_the_end_of_a_frame_gives_up_when_it_cannot_hear_it() {
    let links = || {
        RadioLinks::new(3, -95.0, |from, to| match (from, to) {
            (0, 1) | (2, 0) => -60.0,
            _ => -120.0,
        })
    };
    let given_up = |act: fn(&mut WirelessMedium)| {
        let settings = MacConfig { short_retry_limit: 1, ..MacConfig::default() };
        let mut room = room_of(1, links(), &settings);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, 1);
        script.send(&mut room, 3540, 2, GROUP);
        script.act(&mut room, 5000, act);
        let mut seen = [0; 2];
        for (until, seen) in [4999, 5001].into_iter().zip(&mut seen) {
            room.run(&mut script, at(until));
            *seen = room.counters(0).given_up;
        }
        script.run(&mut room);
        assert_eq!(room.counters(0).given_up, 1, "in the end it does");
        seen
    };
    assert_eq!(given_up(|_| ()), [0, 0]);
    assert_eq!(given_up(|room| room.tune(0, 6, Duration::ZERO)), [0, 1]);
    assert_eq!(given_up(|room| drop(room.switch_off(0))), [0, 1]);
    assert_eq!(given_up(|room| room.tune(1, 6, Duration::ZERO)), [0, 0]);
    assert_eq!(given_up(|room| drop(room.switch_off(1))), [0, 0]);
}

/// The time-out is over 222 us after the frame. A frame whose header is over by then, 192 us after
/// it began, is waited for; a later one is not.
#[test]
fn a_header_that_was_read_in_time_is_waited_for() {
    let timeout = 1000 + DATA / US + 222;
    for (begins, waits) in [(timeout - 193, true), (timeout - 192, true), (timeout - 191, false)] {
        let links = RadioLinks::new(3, -95.0, |from, to| match (from, to) {
            (0, 1) | (2, 0) => -60.0,
            _ => -120.0,
        });
        let settings = MacConfig { short_retry_limit: 1, ..MacConfig::default() };
        let mut room = room_of(1, links, &settings);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, 1);
        script.send(&mut room, begins, 2, GROUP);
        room.run(&mut script, at(timeout));
        assert_eq!(room.counters(0).given_up, u64::from(!waits), "{begins}");
        room.run(&mut script, at(begins + DATA / US - 1));
        assert_eq!(room.counters(0).given_up, u64::from(!waits), "{begins}");
        room.run(&mut script, at(begins + DATA / US));
        assert_eq!(room.counters(0).given_up, 1);
        assert_eq!(script.heard, [(0, 1), (2, 0)]);
    }
}

/// Every microsecond of a station is counted once.
#[test]
fn the_time_of_a_station_is_sent_received_listened_dozed_and_off() {
    let mut room = room(1, 3).with_meters();
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.act(&mut room, 10_000, |room| drop(room.switch_off(1)));
    script.send(&mut room, 11_000, 2, GROUP);
    script.act(&mut room, 15_000, |room| room.switch_on(1));
    script.act(&mut room, 20_000, |room| room.doze(0));
    script.send(&mut room, 21_000, 2, GROUP);
    script.act(&mut room, 26_000, |room| room.wake_up(0));
    // Two at once: neither receives the other, and who hears both finds no preamble.
    script.send(&mut room, 30_000, 0, GROUP);
    script.send(&mut room, 30_000, 2, GROUP);
    room.run(&mut script, at(2000));
    let spent = |send: u64, receive: u64, doze: u64, off: u64, all: u64| {
        let [send, receive, doze, off] = [send, receive, doze, off].map(micros);
        let listen = micros(all) - send - receive - doze - off;
        Some(Spent { send, receive, listen, doze, off })
    };
    assert_eq!(room.spent(0), spent(1000, 0, 0, 0, 2000));
    assert_eq!(room.spent(1), spent(0, 1000, 0, 0, 2000));
    script.run(&mut room);
    let (data, ack) = (DATA / US, ACK / US);
    assert_eq!(room.spent(0), spent(2 * data, ack + data, 6000, 0, 1_000_000));
    assert_eq!(room.spent(1), spent(ack, 2 * data, 0, 5000, 1_000_000));
    assert_eq!(room.spent(2), spent(3 * data, data + ack, 0, 0, 1_000_000));
    assert_eq!(room.spent(3), None, "there is no such station");
    let sent = |station| WifiMode::ALL.map(|mode| room.spent_sending(station, mode).unwrap());
    for (station, us) in [(0, 2 * data), (1, ack), (2, 3 * data)] {
        let by_mode = sent(station);
        assert_eq!(by_mode[WifiMode::ESP_NOW.index()], micros(us));
        assert_eq!(by_mode.iter().sum::<Duration>(), micros(us), "in no other mode");
    }
    assert_eq!(room.spent_sending(3, WifiMode::ESP_NOW), None);
    let without = crate::rig::room(1, 3);
    assert_eq!((without.spent(0), without.spent_sending(0, WifiMode::ESP_NOW)), (None, None));
}

/// An alarm of each station, the later setting counts; those of one instant in the order of stations,
/// after all else of that instant.
#[test]
fn alarms_ring_once_and_last() {
    let mut room = room(1, 5);
    let mut script = Script::default();
    script.act(&mut room, 1000, |room| {
        room.alarm(2, Some(at(1500)));
        room.alarm(1, Some(at(1500)));
        room.alarm(0, Some(at(500)));
        room.alarm(3, Some(at(1300)));
        room.alarm(4, Some(at(1300)));
    });
    script.act(&mut room, 1200, |room| {
        room.alarm(3, None);
        room.alarm(4, Some(at(1600)));
    });
    script.send(&mut room, 1500, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.rung, [(0, 1000, 0), (1, 1500, 1), (2, 1500, 1), (4, 1600, 1)]);
    assert_eq!(script.begins(0), [1500 * US]);
}

#[test]
fn time_goes_to_the_next_event_and_no_further_than_told() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    assert_eq!((room.next_event(), room.now()), (None, Instant::ZERO));
    assert!(!room.step(&mut script, at(10)), "nothing is to be done");
    assert_eq!(room.now(), at(10));
    room.alarm(0, Some(at(3000)));
    assert_eq!(room.next_event(), Some(at(3000)));
    script.act(&mut room, 2000, |room| assert_eq!(room.now(), at(2000)));
    assert_eq!(room.next_event(), Some(at(2000)));
    room.send(0, packet(GROUP)).expect("a buffer");
    assert_eq!(room.next_event(), Some(at(50)), "after DIFS");
    assert!(!room.step(&mut script, at(49)) && room.step(&mut script, at(50)));
    assert_eq!((room.now(), script.frames.len()), (at(50), 1));
    assert!(!room.step(&mut script, at(1999)));
    assert_eq!(room.now(), at(1999));
    assert!(!room.step(&mut script, at(5)), "time does not go back");
    assert_eq!(room.now(), at(1999));
    room.run(&mut script, at(3000));
    assert_eq!((room.now(), script.rung.len(), script.done.len()), (at(3000), 1, 1));
    // What was due is done next.
    room.wake_at(at(1), 0);
    room.wake_in(micros(7), 0);
    assert_eq!(room.next_event(), Some(at(3000)));
    assert!(format!("{room:?}").contains("now: 3000000, stations: 2"), "{room:?}");
}

/// The end of time is reached, whatever is left to do.
#[test]
fn a_run_to_the_end_of_time_ends() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    room.run(&mut script, Instant::from_nanos(u64::MAX));
    assert_eq!(script.done.len(), 1);
    assert_eq!(room.next_event(), None);
}

/// To doze is nothing for a station that is off: switched on again, it is awake.
#[test]
fn who_is_off_does_not_doze() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.act(&mut room, 500, |room| {
        drop(room.switch_off(0));
        room.doze(0);
    });
    script.act(&mut room, 1000, |room| room.switch_on(0));
    script.send(&mut room, 2000, 0, 1);
    script.run(&mut room);
    assert_eq!(script.begins(0), [2000 * US]);
    assert_eq!(script.done, [(0, TxStatus { tag: 2, delivered: true, attempts: 1 })]);
}
