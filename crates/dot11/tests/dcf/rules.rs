//! The rules of clause 10.3, one by one, in rooms where all that are there hear each other well.

use crate::rig::{room, room_of};
use crate::script::{ACK, DATA, Script, US};
use espbench_dot11::air::RadioLinks;
use espbench_dot11::mac::{FrameKind, GROUP, MacConfig, MediumConfig, TxStatus};
use espbench_dot11::radio::{Hr, WifiMode};
use espbench_model::sample::Cause;

const DIFS: u64 = 50 * US;
const SIFS: u64 = 10 * US;
const SLOT: u64 = 20 * US;
const TIMEOUT: u64 = 222 * US;

#[test]
fn whoever_finds_the_medium_idle_sends_at_once() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 5000, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.begins(0), [5000 * US]);
    assert_eq!(script.heard, [(0, 1)]);
    assert_eq!(script.done, [(0, TxStatus { tag: 0, delivered: true, attempts: 1 })]);
}

#[test]
fn before_difs_is_over_it_waits_for_that() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.send(&mut room, 30, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.begins(0), [DIFS]);
}

#[test]
fn a_frame_for_one_is_acknowledged_after_sifs() {
    let mut room = room(1, 3);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 2);
    script.run(&mut room);
    let [data, ack] = &script.frames[..] else { panic!("{:?}", script.frames) };
    assert_eq!((data.end - data.begin, data.duration_ns), (DATA, SIFS + ACK));
    assert_eq!((ack.kind, ack.from, ack.to), (FrameKind::Ack, 2, 0));
    assert_eq!((ack.begin, ack.end - ack.begin), (data.end + SIFS, ACK));
    assert_eq!(script.heard, [(0, 2)]);
    assert_eq!(script.done, [(0, TxStatus { tag: 0, delivered: true, attempts: 1 })]);
    assert_eq!((room.counters(0).acknowledged, room.counters(2).acks), (1, 1));
}

/// Retries, windows and the sequence number; modes that get slower.
#[test]
fn without_an_answer_it_is_sent_seven_times() {
    let fallback = vec![WifiMode::Hr(Hr::M2), WifiMode::ESP_NOW];
    let settings = MacConfig { fallback, ..MacConfig::default() };
    // Station 1 hears nothing.
    let links = RadioLinks::new(2, -100.0, |_, _| -120.0);
    let mut largest = [0; 7];
    for seed in 0..200 {
        let mut room = room_of(seed, links.clone(), &settings);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, 1);
        script.send(&mut room, 1000, 0, GROUP);
        script.run(&mut room);
        let [once @ .., other] = &script.frames[..] else { panic!("nothing sent") };
        assert_eq!(once.len(), 7);
        for (at, pair) in once.windows(2).enumerate() {
            let slots = pair[1].begin - pair[0].end - TIMEOUT;
            assert_eq!(slots % SLOT, 0);
            largest[at + 1] = largest[at + 1].max(slots / SLOT);
            assert_eq!(usize::from(pair[1].attempt), at + 2);
            assert_eq!(pair[1].sequence, pair[0].sequence);
        }
        assert_eq!((once[1].mode, once[6].mode), (WifiMode::Hr(Hr::M2), WifiMode::ESP_NOW));
        assert_eq!((other.sequence, other.attempt), (once[0].sequence + 1, 1));
        let after = (other.begin - once[6].end - TIMEOUT) / SLOT;
        assert!(after <= 31, "the window is the first one again");
        assert_eq!(script.done[0], (0, TxStatus { tag: 0, delivered: false, attempts: 7 }));
        assert_eq!((room.counters(0).given_up, room.counters(0).retries), (1, 6));
    }
    for (at, window) in [(1, 63), (2, 127), (3, 255), (4, 511), (5, 1023), (6, 1023)] {
        assert!(largest[at] <= window && largest[at] > window * 9 / 10, "{at}: {largest:?}");
    }
}

#[test]
fn long_frames_have_a_limit_of_their_own() {
    let settings = MacConfig { rts_threshold: 292, ..MacConfig::default() };
    let mut room = room_of(1, RadioLinks::new(2, -100.0, |_, _| -120.0), &settings);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.run(&mut room);
    assert_eq!(script.begins(0).len(), 4);
}

/// The receiver hears the sender, but its ACKs do not get back.
#[test]
fn what_comes_again_is_acknowledged_and_handed_up_once() {
    let links = RadioLinks::new(2, -95.0, |from, _| if from == 0 { -50.0 } else { -120.0 });
    let mut room = room_of(1, links, &MacConfig::default());
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.send(&mut room, 1000, 0, 1);
    script.run(&mut room);
    let counters = room.counters(1);
    assert_eq!((counters.received, counters.duplicates, counters.acks), (2, 12, 14));
    assert_eq!(script.repeated, 12);
    assert_eq!(script.heard, [(0, 1), (0, 1)]);
    assert!(script.done.iter().all(|(_, done)| !done.delivered));
}

/// Each draws a back-off, because it found the medium busy, and counts it down in parts. A
/// counter that was frozen above zero never ends with the first slot.
#[test]
fn who_finds_the_medium_busy_waits_and_freezes() {
    for seed in 0..100 {
        let mut room = room(seed, 3);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, GROUP);
        script.send(&mut room, 1100, 1, GROUP);
        script.send(&mut room, 1100, 2, GROUP);
        script.run(&mut room);
        let (one, two) = (script.begins(1)[0], script.begins(2)[0]);
        let (first, second) = (one.min(two), one.max(two));
        let idle = 1000 * US + DATA + DIFS;
        assert_eq!((first - idle) % SLOT, 0);
        assert!((first - idle) / SLOT <= 31);
        if first != second {
            let left = second - (first + DATA + DIFS);
            assert_eq!(left % SLOT, 0);
            assert!(left > 0 && (first - idle + left) / SLOT <= 31);
        }
    }
}

/// After a transmission comes a back-off, even with nothing to send (10.3.4.3).
#[test]
fn a_frame_that_comes_during_the_back_off_waits_for_it() {
    let mut late = 0;
    for seed in 0..100 {
        let mut room = room(seed, 2);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, GROUP);
        let over = 1000 + DATA / US + 50;
        script.send(&mut room, over + 105, 0, GROUP);
        script.run(&mut room);
        let second = script.begins(0)[1] - over * US;
        if second == 105 * US {
            continue;
        }
        late += 1;
        assert_eq!(second % SLOT, 0);
        assert!(second > 105 * US && second <= 31 * SLOT);
    }
    // 0 to 5 slots of 32 are over by then.
    assert!((70..95).contains(&late), "{late}");
}

/// Two wait for DIFS, one of them from 4 us later on, because it does not hear the last frame on
/// the other's side.
#[test]
fn whoever_has_turned_to_sending_sends() {
    // 0 hears 2 and 3, 1 hears 3 only; 3 ends 4 us after 2.
    let links = RadioLinks::new(4, -95.0, |from, to| match (from, to) {
        (2, 0) | (3, 1) | (0, 1) | (1, 0) => -60.0,
        _ => -120.0,
    });
    for (turnaround_us, together) in [(5, true), (3, false)] {
        let medium = MediumConfig { turnaround_ns: turnaround_us * US, ..MediumConfig::default() };
        let mut seen = 0;
        for seed in 0..300 {
            let mut room = room_of(seed, links.clone(), &MacConfig::default());
            room = room.with_config(medium.clone());
            let mut script = Script::default();
            script.send(&mut room, 1000, 2, GROUP);
            script.send(&mut room, 1004, 3, GROUP);
            script.send(&mut room, 1500, 0, GROUP);
            script.send(&mut room, 1500, 1, GROUP);
            script.run(&mut room);
            let (zero, one) = (script.begins(0)[0], script.begins(1)[0]);
            seen += u32::from(zero + 4 * US == one);
        }
        assert_eq!(seen > 0, together, "{seen}");
    }
}

#[test]
fn what_finds_no_buffer_is_refused() {
    let settings = MacConfig { buffers: 3, ..MacConfig::default() };
    let mut room = room_of(1, RadioLinks::uniform(2, -40.0), &settings);
    let mut script = Script::default();
    for _ in 0..5 {
        script.send(&mut room, 1000, 0, GROUP);
    }
    script.run(&mut room);
    assert_eq!((script.refused, script.begins(0).len()), (2, 3));
    assert_eq!((room.counters(0).queued, room.counters(0).refused), (3, 2));
    assert!(room.send(9, crate::rig::packet(GROUP)).is_err(), "there is no such station");
}

/// Each receiver of a frame is asked once whether it has a buffer, and misses the frame without.
#[test]
fn every_receiver_of_a_frame_needs_a_buffer() {
    for full in 0..16_u32 {
        let mut room = room(1, 5);
        let mut script = Script::default();
        script.full = (1..5).filter(|station| full >> (station - 1) & 1 == 1).collect();
        script.send(&mut room, 1000, 0, GROUP);
        script.run(&mut room);
        assert_eq!(script.asked, [1, 2, 3, 4], "{full:04b}");
        let missed: Vec<u32> = script.missed.iter().map(|it| it.1).collect();
        assert_eq!(missed, script.full);
        assert!(script.missed.iter().all(|it| it.2 == Cause::ReceiveQueue));
        let heard: Vec<u32> = script.heard.iter().map(|it| it.1).collect();
        let has: Vec<u32> = (1..5).filter(|station| !script.full.contains(station)).collect();
        assert_eq!(heard, has);
        for station in 1..5 {
            let counters = room.counters(station);
            let refused = u64::from(script.full.contains(&station));
            assert_eq!((counters.received, counters.unbuffered), (1 - refused, refused));
        }
    }
}

#[test]
fn a_frame_that_finds_no_buffer_is_not_acknowledged() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    script.full = vec![1];
    script.send(&mut room, 1000, 0, 1);
    script.run(&mut room);
    assert_eq!(script.begins(0).len(), 7);
    assert_eq!(script.asked, [1; 7]);
    assert_eq!((room.counters(1).unbuffered, room.counters(1).acks), (7, 0));
    assert_eq!(script.done, [(0, TxStatus { tag: 0, delivered: false, attempts: 7 })]);
}

/// The acknowledgement is told with its addressee; others are not told of it.
#[test]
fn control_frames_are_told() {
    let mut room = room(1, 4);
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.send(&mut room, 10_000, 0, GROUP);
    script.run(&mut room);
    assert_eq!(script.control, [(FrameKind::Ack, 1, 0)]);
    assert_eq!(script.heard, [(0, 1), (0, 1), (0, 2), (0, 3)]);
}

/// A sender whose acknowledgement collides has an answer that it could not read, and tries again.
#[test]
fn an_acknowledgement_that_collides_is_none() {
    // 2 hears nobody and is heard by 0 only.
    let links = RadioLinks::new(3, -95.0, |from, to| match (from, to) {
        (0, 1) | (1, 0) | (2, 0) => -60.0,
        _ => -120.0,
    });
    let mut room = room_of(1, links, &MacConfig::default());
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, 1);
    script.send(&mut room, 1000 + DATA / US + 10, 2, GROUP);
    script.run(&mut room);
    assert_eq!(script.control, [(FrameKind::Ack, 0, 1), (FrameKind::Ack, 1, 0)]);
    assert_eq!(script.done.last(), Some(&(0, TxStatus { tag: 0, delivered: true, attempts: 2 })));
    assert_eq!(script.heard, [(0, 1)]);
    assert_eq!(script.repeated, 1);
    let counters = room.counters(0);
    assert_eq!((counters.sent, counters.retries, counters.acknowledged), (2, 1, 1));
}

/// Queues are as long as told, with the frame that is being sent.
#[test]
fn a_queue_is_counted_until_its_frames_are_done() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    (0..3).for_each(|_| script.send(&mut room, 1000, 0, 1));
    for (us, queued) in [(999, 0), (1001, 3), (1000 + DATA / US + 9, 3)] {
        script.act(&mut room, us, move |room| assert_eq!(room.queued(0), queued, "{us}"));
    }
    script.run(&mut room);
    assert_eq!((room.queued(0), room.queued(7), room.stations()), (0, 0, 2));
    assert_eq!(room.counters(7), espbench_dot11::mac::MacCounters::default());
    assert_eq!((room.counters(0).queued, room.counters(0).acknowledged), (3, 3));
}

/// The number of a frame comes again after 4096: without the Retry bit it is a new frame.
#[test]
fn a_new_frame_with_the_number_of_the_last_is_no_duplicate() {
    let mut room = room(1, 2);
    let mut script = Script::default();
    for n in 0..=4096 {
        // All but the first and the last are to everybody, and are not remembered.
        let to = if n % 4096 == 0 { 1 } else { GROUP };
        script.send(&mut room, 1000 + 4000 * n, 0, to);
    }
    room.run(&mut script, espbench_model::time::Instant::from_nanos(17_000_000 * US));
    let [first, .., last] = &script.begins(0)[..] else { panic!("nothing sent") };
    assert_eq!((first, last), (&(1000 * US), &((1000 + 4000 * 4096) * US)));
    let numbers: Vec<u16> =
        script.frames.iter().filter(|it| it.to == 1).map(|it| it.sequence).collect();
    assert_eq!(numbers, [1, 1]);
    assert_eq!((script.heard.len(), room.counters(1).duplicates), (4097, 0));
}
