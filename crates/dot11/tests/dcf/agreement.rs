//! Block-ack agreements, RTS, CTS and protection, rule by rule.

use crate::aggregate::{HT, Log, Step, alike, packet, room, run, settings};
use core::time::Duration;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{
    AmpduConfig, FrameKind, GROUP, MacConfig, MacUser, MissedReception, MpduFate, MpduInfo, Ppdu,
    Reception, TxFrame, WirelessMedium,
};
use espbench_dot11::radio::{FrameCapture, Hr, Ofdm, WifiMode};
use espbench_model::time::Instant;

/// Returns the lines of what went over the air, without times.
fn air(text: &str) -> Vec<String> {
    let sent = text.lines().filter(|line| line.contains(" > "));
    sent.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect()
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// Frames to all, to oneself, or ahead of all others are never under an agreement, and have the
/// station's own numbers.
#[test]
fn some_frames_are_not_aggregated_whoever_asks() {
    let mut room = alike(&settings());
    let mut log = Log::default();
    for _ in 0..2 {
        log.at(&mut room, 1000, Step::Send(0, packet(1)));
        log.at(&mut room, 1000, Step::Send(0, packet(GROUP)));
        log.at(&mut room, 1000, Step::Send(0, packet(1).at_once()));
    }
    let text = run(&mut room, log);
    assert_eq!(count(&text, "2 MPDUs"), 1, "{text}");
    assert_eq!(count(&text, "0 > all Data 1538 octets, 234 us and 0 us"), 2, "{text}");
    assert_eq!(count(&text, "BlockAck"), 1, "{text}");
    assert_eq!(count(&text, "Ack 14 octets"), 2, "{text}");
    // Four frames alone have numbers 1 to 4, the two MPDUs 0 and 1.
    for number in ["number 0", "number 1,", "number 2", "number 3", "number 4"] {
        let times = 1 + usize::from(number == "number 1,");
        assert_eq!(count(&text, number), times, "{number}: {text}");
    }
    let mut room = alike(&settings());
    let mut log = Log::default();
    (0..2).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(0))));
    let text = run(&mut room, log);
    assert_eq!((count(&text, "0 > 0 Data"), count(&text, "given up after 7")), (14, 2), "{text}");
    assert_eq!(count(&text, "MPDUs"), 0);
}

/// Without a window on either side there is no agreement in that direction.
#[test]
fn an_agreement_needs_a_window_on_both_sides() {
    let none = MacConfig { ampdu: None, ..settings() };
    let of = |send, receive| MacConfig {
        ampdu: Some(AmpduConfig { send, receive, ..AmpduConfig::MOST }),
        ..settings()
    };
    // Numbers of an agreement begin with 0, those of a station with 1.
    for (sender, receiver, together, first) in [
        (of(8, 0), of(0, 8), true, 0),
        (of(0, 8), of(0, 8), false, 1),
        (of(8, 8), of(8, 0), false, 1),
        (of(8, 8), none.clone(), false, 1),
        (none, of(8, 8), false, 1),
        (of(8, 8), of(1, 1), false, 0),
        (of(1, 1), of(8, 8), false, 0),
    ] {
        let mut room = room([sender.clone(), receiver.clone(), settings()]);
        let mut log = Log::default();
        (0..3).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
        let text = run(&mut room, log);
        let ampdus = count(&text, "3 MPDUs");
        assert_eq!(
            (ampdus, count(&text, "delivered after 1")),
            (usize::from(together), 3),
            "{text}"
        );
        assert_eq!(room.counters(0).ampdus, u64::from(together));
        let acks = if together { 1 } else { 3 };
        assert_eq!(count(&text, "1 > 0 "), acks, "{sender:?} {receiver:?}: {text}");
        assert!(text.contains(&format!("packet 0, number {first}, up")), "{text}");
    }
}

/// As many MPDUs go together as both windows, the longest A-MPDU of the receiver, and the longest
/// PPDU of the sender let.
#[test]
fn an_ampdu_is_as_long_as_both_sides_let() {
    let of = |send, receive, octets, longest_us: u64| MacConfig {
        ampdu: Some(AmpduConfig { send, receive, octets, longest_ns: longest_us * 1000 }),
        ..settings()
    };
    // Each MPDU has 1538 octets, with its delimiter and padding 1544: five are 7718, six 9262. At
    // 65 Mbit/s seven take 1.4 ms and eight 1.6.
    for (sender, receiver, together) in [
        (of(64, 64, 65_535, 5484), of(64, 64, 65_535, 5484), 9),
        (of(6, 64, 65_535, 5484), of(64, 64, 65_535, 5484), 6),
        (of(64, 64, 65_535, 5484), of(64, 4, 65_535, 5484), 4),
        (of(64, 64, 65_535, 5484), of(64, 64, 8191, 5484), 5),
        // Just as long, and an octet longer.
        (of(64, 64, 65_535, 5484), of(64, 64, 7718, 5484), 5),
        (of(64, 64, 65_535, 5484), of(64, 64, 7717, 5484), 4),
        (of(64, 64, 1000, 5484), of(64, 64, 65_535, 100), 9),
        (of(64, 64, 65_535, 1500), of(64, 64, 65_535, 5484), 7),
    ] {
        let mut room = room([sender, receiver, settings()]);
        let mut log = Log::default();
        (0..9).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
        let text = run(&mut room, log);
        let first = &air(&text)[0];
        assert!(first.ends_with(&format!(", {together} MPDUs")), "{together}: {first}");
        let octets = together * 1544 - 2;
        assert!(first.contains(&format!("Data {octets} octets")), "{first}");
        assert_eq!(count(&text, "delivered after 1"), 9, "{text}");
    }
}

/// In other modes than HT there are no A-MPDUs: each MPDU goes alone, and has an ACK.
#[test]
fn only_ht_aggregates() {
    for (mode, sent) in [(HT, 1), (WifiMode::Ofdm(Ofdm::M54), 3), (WifiMode::Hr(Hr::M11), 3)] {
        let mut room = alike(&settings());
        let mut log = Log::default();
        let packet = TxFrame::new(1, 500, mode, 0).aggregated();
        (0..3).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet)));
        let text = run(&mut room, log);
        assert_eq!(count(&text, "0 > 1 Data"), sent, "{text}");
        assert_eq!(count(&text, "1 > 0 Ack 14"), if sent == 1 { 0 } else { 3 }, "{text}");
        // Under the agreement all the same: numbered for their receiver, from 0 on.
        for number in 0..3 {
            assert_eq!(count(&text, &format!("number {number}, up at [1]")), 1, "{text}");
        }
    }
}

/// One of each MPDU is a frame like others: an MPDU alone under an agreement has no delimiter.
#[test]
fn an_mpdu_alone_is_a_frame() {
    let mut room = alike(&settings());
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    let text = run(&mut room, log);
    assert_eq!(
        air(&text),
        ["0 > 1 Data 1538 octets, 234 us and 44 us", "1 > 0 Ack 14 octets, 34 us and 0 us"]
    );
    assert_eq!((room.counters(0).ampdus, room.counters(1).acks), (0, 1));
}

/// The window begins with the oldest MPDU that was not acknowledged: one that is refused again and
/// again stops the sender, until it gives up.
#[test]
fn the_window_does_not_move_over_what_is_not_acknowledged() {
    let four = AmpduConfig { send: 4, receive: 4, ..AmpduConfig::MOST };
    let mut room = alike(&MacConfig { ampdu: Some(four), ..settings() });
    let mut log = Log::default();
    log.refuses = vec![0; 7];
    (0..6).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    let text = run(&mut room, log);
    let sent: Vec<String> = air(&text).into_iter().filter(|it| it.contains("Data")).collect();
    assert!(sent[0].ends_with("4 MPDUs"), "{text}");
    assert!(sent[1..7].iter().all(|it| it == "0 > 1 Data 1538 octets, 234 us and 44 us"), "{text}");
    assert!(sent[7].ends_with("2 MPDUs"), "{text}");
    assert_eq!(sent.len(), 8);
    // A request tells the receiver, which hands up what had waited.
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(at("given up after 7") < at("BlockAckRequest 24 octets, 38 us and 48 us, from 4"));
    assert!(at("BlockAckRequest") < at("packet 1, number 1, up at [1]"));
    assert!(at("packet 3, number 3, up at [1]") < at("packet 4, number 4, up at [1]"));
    assert_eq!((room.counters(0).given_up, room.counters(0).acknowledged), (1, 5));
    assert_eq!(room.counters(1).received, 5);
}

/// A sender of RTS that has no CTS tries as often as a frame may be sent, then gives up the first
/// MPDU; with the next the count begins anew.
#[test]
fn each_frame_has_its_own_count_of_rts() {
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 900, Step::Off(1));
    (0..2).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    let text = run(&mut room, log);
    assert_eq!((count(&text, "Rts"), count(&text, "given up after 0")), (14, 2), "{text}");
    assert_eq!((room.counters(0).clearances, room.counters(0).given_up), (14, 2));
    // The receiver is told of both, as far as it can be.
    assert!(text.contains("BlockAckRequest 24 octets, 38 us and 48 us, from 1"), "{text}");
    assert!(text.contains("BlockAckRequest 24 octets, 38 us and 48 us, from 2"), "{text}");
    // A CTS in between sets it back: six without, then one with an answer.
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 900, Step::Tune(1, 6));
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    log.at(&mut room, 2500, Step::Tune(1, 1));
    let text = run(&mut room, log);
    assert!((2..7).contains(&count(&text, "Rts")), "{text}");
    assert_eq!((count(&text, "Cts"), count(&text, "delivered after 1")), (1, 1), "{text}");
    assert_eq!((room.counters(1).clearances, room.counters(1).acks), (1, 1));
    // Who is switched off while it waits for the CTS tells nobody.
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 900, Step::Off(1));
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    log.at(&mut room, 1040, Step::Off(0));
    let text = run(&mut room, log);
    assert_eq!((count(&text, "Rts"), count(&text, "Request")), (1, 0), "{text}");
    assert_eq!(count(&text, "given up after 0"), 1, "{text}");
}

/// RTS goes before what is longer than the threshold, an A-MPDU counted as a whole, and never
/// before what goes to all.
#[test]
fn rts_goes_before_what_is_longer_than_the_threshold() {
    for (octets, mpdus, rts) in [(1538, 1, 0), (1539, 1, 1), (700, 2, 0), (800, 2, 1)] {
        let mut room = alike(&MacConfig { rts: true, rts_threshold: 1538, ..settings() });
        let mut log = Log::default();
        let packet = TxFrame { octets, ..packet(1) };
        (0..mpdus).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet)));
        log.at(
            &mut room,
            5000,
            Step::Send(0, TxFrame { octets: 3000, ..crate::aggregate::packet(GROUP) }),
        );
        let text = run(&mut room, log);
        assert_eq!((count(&text, "Rts"), count(&text, "Cts")), (rts, rts), "{octets}: {text}");
    }
    // An RTS is one more exchange; without the switch there is none.
    let mut room = alike(&MacConfig { rts: false, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    assert_eq!(count(&run(&mut room, log), "Rts"), 0);
}

/// A station whose NAV is set does not answer an RTS (10.3.2.9). Station 1 hears 2, which reserves
/// the medium; 0 does not hear 2.
#[test]
fn who_has_reserved_time_before_it_sends_no_cts() {
    let links = RadioLinks::new(3, -95.0, |from, to| match (from, to) {
        (0, 1) | (1, 0) | (1, 2) | (2, 1) => -50.0,
        _ => -120.0,
    });
    let settings = MacConfig { rts: true, rts_threshold: 1000, ..settings() };
    let mut room = WirelessMedium::new(
        1,
        links,
        &[ReceiverConfig::default()],
        [settings.clone(), settings.clone(), settings],
    );
    let mut log = Log::default();
    // To 0, which is out of reach: the RTS of 34 us reserves the time of CTS, data and ACK, which
    // do not come.
    log.at(&mut room, 1000, Step::Send(2, TxFrame { octets: 1500, ..packet(0) }));
    log.at(&mut room, 1040, Step::Send(0, packet(1)));
    let text = run(&mut room, log);
    let sent = air(&text);
    assert!(sent[0].starts_with("2 > 0 Rts") && sent[1].starts_with("0 > 1 Rts"), "{text}");
    assert!(!sent[2].contains("Cts"), "{text}");
    assert_eq!(count(&text, "packet 1, number 0, up at [1]"), 1, "later it does: {text}");
}

/// Protection goes before frames that stations of clause 16 do not read, to one, and before no
/// others.
#[test]
fn protection_goes_before_ofdm_to_one() {
    let protect = Some(WifiMode::Hr(Hr::M11));
    for (packet, protected) in [
        (packet(1), true),
        (TxFrame::new(1, 100, WifiMode::Ofdm(Ofdm::M6), 0), true),
        (TxFrame::new(1, 100, WifiMode::Hr(Hr::M11), 0), false),
        (TxFrame::new(GROUP, 100, WifiMode::Ofdm(Ofdm::M6), 0), false),
    ] {
        let mut room = alike(&MacConfig { protect, ..settings() });
        let mut log = Log::default();
        log.at(&mut room, 1000, Step::Send(0, packet));
        let text = run(&mut room, log);
        assert_eq!(count(&text, "0 > 0 Cts 14 octets, 203 us"), usize::from(protected), "{text}");
        assert_eq!(room.counters(0).clearances, u64::from(protected));
    }
    // An RTS before what they read has the mode of a response to that, 2 Mbit/s here.
    let slow = TxFrame::new(1, 100, WifiMode::Hr(Hr::M2), 0);
    let mut room = alike(&MacConfig { protect, rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, slow));
    assert!(air(&run(&mut room, log))[0].starts_with("0 > 1 Rts 20 octets, 272 us"));
    // An RTS takes its mode, too, and so does the CTS.
    let mut room = alike(&MacConfig { protect, rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    let sent = air(&run(&mut room, log));
    assert_eq!(
        sent,
        [
            // 20 and 14 octets at 11 Mbit/s after a preamble of 192 us. The RTS reserves CTS, data,
            // ACK and three SIFS, the CTS what is left of that.
            "0 > 1 Rts 20 octets, 207 us and 501 us",
            "1 > 0 Cts 14 octets, 203 us and 288 us",
            "0 > 1 Data 1538 octets, 234 us and 44 us",
            "1 > 0 Ack 14 octets, 34 us and 0 us",
        ]
    );
}

/// An MPDU whose predecessor never comes goes up after a tenth of a second. The predecessor that
/// comes still later is acknowledged, but not handed up.
#[test]
fn the_reorder_buffer_has_patience_for_a_tenth_of_a_second() {
    let mut room = alike(&settings());
    let mut log = Log::default();
    log.refuses = vec![0];
    (0..2).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    // The sender is gone before it can send the first again.
    log.at(&mut room, 1470, Step::Doze(0));
    log.at(&mut room, 200_000, Step::Rouse(0));
    let text = run(&mut room, log);
    let line = text.lines().find(|it| it.contains("packet 1, number 1, up at [1]"));
    // 36 us of preamble and header, and two MPDUs of 1538 octets at 65 Mbit/s.
    let us: f64 = line.and_then(|it| it.split_whitespace().next()?.parse().ok()).expect("it is up");
    assert!((101_400.0..101_450.0).contains(&us), "{us}: {text}");
    assert_eq!(count(&text, "packet 0, number 0, up at [], again, lost at []"), 1, "{text}");
    assert_eq!(count(&text, "delivered after"), 2, "{text}");
    let counters = room.counters(1);
    assert_eq!((counters.late, counters.received, counters.duplicates), (1, 1, 0));
}

/// Takes the MPDUs that end, and counts acknowledgements.
#[derive(Default)]
struct Mpdus {
    ended: Vec<(u64, u32, u16, u8, bool)>,
    fates: Vec<MpduFate>,
    answers: u32,
    /// Tags that find no buffer, once for each time they are here.
    refuses: Vec<u64>,
}

impl MacUser for Mpdus {
    fn accepts(&mut self, _: u32, frame: &Ppdu) -> bool {
        let at = self.refuses.iter().position(|&tag| tag == frame.tag);
        at.map(|at| self.refuses.remove(at)).is_none()
    }

    fn on_data(
        &mut self,
        _: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        _: &[MissedReception],
    ) {
        let Ppdu { tag, octets, sequence, attempt, .. } = *frame;
        self.ended.push((tag, octets, sequence, attempt, !heard.is_empty()));
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        self.answers += u32::from(frame.kind == FrameKind::BlockAck);
    }

    fn on_ampdu_end(&mut self, _: &Ppdu, mpdus: &[MpduInfo]) {
        self.fates.extend(mpdus.iter().map(|it| it.fate));
    }
}

/// Each MPDU is told with its own tag, octets, number and attempt.
#[test]
fn an_mpdu_is_told_as_a_frame_of_its_own() {
    let mut room = alike(&settings());
    let mut user = Mpdus::default();
    for (tag, octets) in [(7, 300), (8, 1500), (9, 41)] {
        room.send(0, TxFrame { octets, tag, ..packet(1) }).expect("a buffer");
    }
    room.run(&mut user, Instant::from_nanos(20_000_000));
    assert_eq!(user.ended, [(7, 300, 0, 1, true), (8, 1500, 1, 1, true), (9, 41, 2, 1, true)]);
    assert_eq!((user.answers, room.counters(1).acks), (1, 1));
    // One that is sent again goes with one that is new.
    let mut user = Mpdus { refuses: vec![1], ..Mpdus::default() };
    (1..3).for_each(|tag| room.send(0, TxFrame { tag, ..packet(1) }).expect("a buffer"));
    while user.fates.is_empty() {
        assert!(room.step(&mut user, Instant::from_nanos(30_000_000)));
    }
    room.send(0, TxFrame { tag: 3, ..packet(1) }).expect("a buffer");
    room.run(&mut user, Instant::from_nanos(30_000_000));
    let told: Vec<_> = user
        .ended
        .iter()
        .map(|&(tag, _, number, attempt, up)| (tag, number, attempt, up))
        .collect();
    // The second waits for the first, which comes with the third.
    assert_eq!(told, [(1, 3, 1, false), (1, 3, 2, true), (2, 4, 1, true), (3, 5, 1, true)]);
    // Sent again, because the receiver was away.
    let mut user = Mpdus::default();
    room.tune(1, 6, Duration::ZERO);
    (0..2)
        .for_each(|tag| room.send(0, TxFrame { octets: 50, tag, ..packet(1) }).expect("a buffer"));
    while user.ended.len() < 3 {
        assert!(room.step(&mut user, Instant::from_nanos(40_000_000)));
    }
    let attempts: Vec<_> =
        user.ended.iter().map(|&(tag, .., attempt, up)| (tag, attempt, up)).collect();
    assert_eq!(attempts, [(0, 1, false), (1, 1, false), (0, 2, false)]);
}

/// Lets station 0 send four MPDUs to 1 at 1000 us; 2, which does not hear it, sends to all at a time.
/// Returns the fates of the MPDUs of the first A-MPDU, and whether it was answered.
fn disturbed(us: u64, dbm: f64, octets: u32, capture: FrameCapture) -> (Vec<MpduFate>, bool) {
    let links = RadioLinks::new(3, -95.0, move |from, to| match (from, to) {
        (0, 1) | (1, 0) => -50.0,
        (2, 1) => dbm,
        _ => -120.0,
    });
    let receiver = ReceiverConfig { capture, ..ReceiverConfig::default() };
    let all = [settings(), settings(), settings()];
    let mut room = WirelessMedium::new(1, links, &[receiver], all);
    // Nobody has heard anything: both send when they want to.
    let mut user = Mpdus::default();
    room.run(&mut user, Instant::from_nanos(1_000_000));
    (0..4).for_each(|_| room.send(0, packet(1)).expect("a buffer"));
    room.run(&mut user, Instant::from_nanos(us * 1000));
    let noise = TxFrame::new(GROUP, octets, WifiMode::Ofdm(Ofdm::M54), 0);
    room.send(2, noise).expect("a buffer");
    while user.fates.is_empty() {
        assert!(room.step(&mut user, Instant::from_nanos(5_000_000)));
    }
    user.fates.truncate(4);
    room.run(&mut user, Instant::from_nanos(1_870_000));
    (user.fates, user.answers == 1)
}

/// An A-MPDU of 36 us of header and four MPDUs of some 190 us loses what is disturbed: the MPDU, or
/// all with the header. It is answered if one was read, and nothing else is received at its end.
#[test]
fn what_is_disturbed_of_an_ampdu_is_lost() {
    use MpduFate::{Lost, Taken};
    let plain = FrameCapture::default();
    // 30 us of noise 3 dB below: within the header, the second MPDU, the last.
    assert_eq!(disturbed(1005, -53.0, 14, plain), (vec![Lost; 4], false));
    assert_eq!(disturbed(1300, -53.0, 14, plain), (vec![Taken, Lost, Taken, Taken], true));
    assert_eq!(disturbed(1700, -53.0, 14, plain), (vec![Taken, Taken, Taken, Lost], true));
    // Ten decibels below it does not disturb.
    assert_eq!(disturbed(1300, -60.0, 14, plain), (vec![Taken; 4], true));
    // A longer one disturbs two; across the end of an MPDU, too.
    assert_eq!(disturbed(1300, -53.0, 1000, plain), (vec![Taken, Lost, Lost, Taken], true));
    // A receiver that turns to what is 10 dB stronger reads nothing more of the A-MPDU; it answers
    // if that is over before the end.
    let turns = FrameCapture::any_time(10.0);
    assert_eq!(disturbed(1300, -35.0, 14, turns), (vec![Taken, Lost, Lost, Lost], true));
    assert_eq!(disturbed(1700, -35.0, 1500, turns), (vec![Taken, Taken, Taken, Lost], false));
}

/// Sends of each station, none of which may begin before the last has ended.
#[derive(Default)]
struct Sends {
    until: [u64; 3],
    /// Frames to itself that were on the air when an A-MPDU ended.
    across: u32,
    ampdu_end: u64,
    answers: u32,
}

impl MacUser for Sends {
    fn on_tx_start(&mut self, frame: &Ppdu) {
        let until = &mut self.until[frame.from as usize];
        assert!(*until <= frame.begin, "{frame:?} begins before {until}");
        *until = frame.end;
        match frame.kind {
            FrameKind::Data if frame.mpdus > 1 => self.ampdu_end = frame.end,
            FrameKind::Cts => {
                self.across += u32::from(frame.begin < self.ampdu_end && self.ampdu_end < frame.end)
            }
            FrameKind::BlockAck => self.answers += 1,
            _ => {}
        }
    }
}

/// A receiver that was turned away from an A-MPDU, and that sends its CTS-to-self when it ends, does not answer it: the frame
/// behind the CTS would begin while the answer is on the air.
#[test]
fn a_receiver_that_sends_when_an_ampdu_ends_does_not_answer() {
    let mut across = 0;
    for us in 1560..1640 {
        let links = RadioLinks::new(3, -95.0, |from, to| match (from, to) {
            // Below the energy threshold: the medium is idle once nothing is read.
            (0, 1) | (1, 0) => -80.0,
            (2, 1) => -65.0,
            _ => -120.0,
        });
        let receiver =
            ReceiverConfig { capture: FrameCapture::any_time(10.0), ..ReceiverConfig::default() };
        let guarded = MacConfig { protect: Some(WifiMode::Hr(Hr::M11)), ..settings() };
        let mut room =
            WirelessMedium::new(1, links, &[receiver], [settings(), guarded, settings()]);
        let mut user = Sends::default();
        room.run(&mut user, Instant::from_nanos(1_000_000));
        (0..4).for_each(|_| room.send(0, packet(1)).expect("a buffer"));
        room.run(&mut user, Instant::from_nanos(1_300_000));
        let noise = TxFrame::new(GROUP, 14, WifiMode::Ofdm(Ofdm::M54), 0);
        room.send(2, noise).expect("a buffer");
        room.run(&mut user, Instant::from_nanos(us * 1000));
        room.send(1, packet(0)).expect("a buffer");
        room.run(&mut user, Instant::from_nanos(1_870_000));
        assert!(user.across == 0 || user.answers == 0, "{us}");
        across += user.across;
    }
    assert!(across > 0, "no CTS was on the air at the end");
}

/// Requests are tried like frames, with attempts counted, and the window is the first one again
/// after the answer.
#[test]
fn a_request_is_tried_until_it_is_answered() {
    let limit = MacConfig { short_retry_limit: 4, ..settings() };
    let (mut late, mut first) = (0, 0);
    for seed in 0..60 {
        let all = [limit.clone(), limit.clone(), limit.clone()];
        let links = RadioLinks::uniform(3, -40.0);
        let mut room = WirelessMedium::new(seed, links, &[ReceiverConfig::default()], all);
        let mut log = Requests::default();
        room.tune(1, 6, Duration::ZERO);
        room.send(0, packet(1)).expect("a buffer");
        room.send(0, TxFrame::new(GROUP, 100, HT, 0)).expect("a buffer");
        let mut back = false;
        while room.step(&mut log, Instant::from_nanos(200_000_000)) {
            // The receiver is back for the third request.
            if log.requests.len() == 2 && !back {
                room.tune(1, 1, Duration::ZERO);
                back = true;
            }
        }
        assert_eq!(log.requests, [1, 2, 3], "{seed}");
        let (answered, next) = (log.answered.expect("an answer"), log.next.expect("a frame"));
        // SIFS and two slots of 9 us, then at most 15 slots.
        let slots = (next - answered - 28_000) / 9_000;
        assert!(slots <= 15, "{seed}: {slots}");
        first += u32::from(slots < 8);
        late += u32::from(slots >= 8);
    }
    assert!(first > 15 && late > 15, "{first}, {late}");
}

#[derive(Default)]
struct Requests {
    /// The attempts of the requests.
    requests: Vec<u8>,
    /// The end of the answer, and the beginning of the next frame.
    answered: Option<u64>,
    next: Option<u64>,
}

impl MacUser for Requests {
    fn on_tx_start(&mut self, frame: &Ppdu) {
        match frame.kind {
            FrameKind::BlockAckRequest => self.requests.push(frame.attempt),
            FrameKind::BlockAck => self.answered = Some(frame.end),
            FrameKind::Data if self.answered.is_some() => self.next = Some(frame.begin),
            _ => {}
        }
    }
}
