//! A-MPDUs, block acknowledgements, RTS and CTS, stations that doze: what goes over the air, as text.

use core::fmt::Write as _;
use core::time::Duration;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{
    AmpduConfig, FrameKind, GROUP, MacConfig, MacUser, MissedReception, MpduFate, MpduInfo, Ppdu,
    Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Hr, Mcs, Ofdm, Timing, WifiMode};
use espbench_model::time::Instant;

const HT: WifiMode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);

/// Step of a script, at a time.
enum Step {
    Send(u32, TxFrame),
    Doze(u32),
    Rouse(u32),
    Tune(u32, u8),
    Off(u32),
}

/// Writes down what happens.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    text: String,
    /// Tags that are refused, once for each time they are here.
    refuses: Vec<u64>,
    air: bool,
}

impl Log {
    fn at(&mut self, room: &mut WirelessMedium, us: u64, step: Step) {
        room.wake_at(Instant::from_nanos(us * 1000), self.steps.len() as u64);
        self.steps.push(step);
    }

    fn line(&mut self, ns: u64, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{:12.3}  {text}", ns as f64 / 1e3);
    }
}

impl MacUser for Log {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        match self.steps[token as usize] {
            Step::Send(station, packet) => {
                let packet = TxFrame { tag: token, ..packet };
                room.send(station, packet).expect("there is a buffer");
            }
            Step::Doze(station) => room.doze(station),
            Step::Rouse(station) => room.wake_up(station),
            Step::Tune(station, channel) => room.tune(station, channel, Duration::ZERO),
            Step::Off(station) => drop(room.switch_off(station)),
        }
    }

    fn accepts(&mut self, _: u32, frame: &Ppdu) -> bool {
        let at = self.refuses.iter().position(|&tag| tag == frame.tag);
        at.map(|at| self.refuses.remove(at)).is_none()
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let Ppdu { tag, sequence, repeated, .. } = *frame;
        let again = if repeated { ", again" } else { "" };
        let by: Vec<u32> = heard.iter().map(|it| it.station).collect();
        let not: Vec<_> = missed.iter().map(|it| (it.station, it.cause)).collect();
        let now = room.now().as_nanos();
        self.line(
            now,
            format_args!("  packet {tag}, number {sequence}, up at {by:?}{again}, lost at {not:?}"),
        );
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, station: u32, done: TxStatus) {
        let TxStatus { tag, delivered, attempts } = done;
        let how = if delivered { "delivered" } else { "given up" };
        let now = room.now().as_nanos();
        self.line(
            now,
            format_args!("  {station} is done with packet {tag}: {how} after {attempts}"),
        );
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        if !self.air {
            return;
        }
        let Ppdu { kind, from, to, mpdus, octets, sequence, .. } = *frame;
        let to = if to == GROUP { "all".into() } else { to.to_string() };
        let more = match kind {
            FrameKind::BlockAck => format!(", from {sequence}: {:b}", frame.bitmap()),
            FrameKind::BlockAckRequest => format!(", from {sequence}"),
            FrameKind::Data if mpdus > 1 => format!(", {mpdus} MPDUs"),
            _ => String::new(),
        };
        let (length, after) = (frame.end - frame.begin, frame.duration_ns);
        self.line(
            frame.begin,
            format_args!(
                "{from} > {to} {kind:?} {octets} octets, {} us and {} us{more}",
                length as f64 / 1e3,
                after as f64 / 1e3
            ),
        );
    }

    fn on_ampdu_end(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        let fates: Vec<(u16, MpduFate)> = mpdus.iter().map(|it| (it.sequence, it.fate)).collect();
        self.line(frame.end, format_args!("  ended: {fates:?}"));
    }
}

fn settings() -> MacConfig {
    MacConfig {
        timing: Timing::ERP_SHORT_SLOT,
        ampdu: Some(AmpduConfig { send: 8, receive: 8, ..AmpduConfig::MOST }),
        ..MacConfig::default()
    }
}

fn packet(to: u32) -> TxFrame {
    TxFrame::new(to, 1538, HT, 0).aggregated()
}

fn room(settings: [MacConfig; 3]) -> WirelessMedium {
    WirelessMedium::new(1, RadioLinks::uniform(3, -40.0), &[ReceiverConfig::default()], settings)
}

fn alike(settings: &MacConfig) -> WirelessMedium {
    room([settings.clone(), settings.clone(), settings.clone()])
}

fn run(room: &mut WirelessMedium, mut log: Log) -> String {
    log.air = true;
    room.run(&mut log, Instant::from_nanos(1_000_000_000));
    assert_eq!((0..3).map(|it| room.queued(it)).sum::<usize>(), 0);
    log.text
}

/// The first packet goes alone, the other three wait for it and go together; each goes up when it has
/// ended. The recipient refuses one, and hands up what comes after it when that has come.
#[test]
fn an_ampdu_with_an_mpdu_that_finds_no_buffer() {
    let mut room = alike(&settings());
    let mut log = Log { refuses: vec![2], ..Log::default() };
    (0..4).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    insta::assert_snapshot!(run(&mut room, log));
    assert_eq!(room.counters(1).unbuffered, 1);
}

/// A queue for two receivers: two A-MPDUs, and what is ahead goes first.
#[test]
fn an_ampdu_has_one_receiver() {
    let mut room = alike(&settings());
    let mut log = Log::default();
    for to in [1, 1, 2, 1, 2, 1, 2] {
        log.at(&mut room, 1000, Step::Send(0, packet(to)));
    }
    let beacon = TxFrame::new(GROUP, 200, WifiMode::ESP_NOW, 0).at_once();
    log.at(&mut room, 1010, Step::Send(0, beacon));
    insta::assert_snapshot!(run(&mut room, log));
}

/// Who has not read one MPDU in seven attempts is told to go on without it.
#[test]
fn what_is_given_up_is_told() {
    let mut room = alike(&settings());
    let mut log = Log { refuses: vec![1; 7], ..Log::default() };
    (0..3).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    let text = run(&mut room, log);
    let from = text.find("1 > 0 BlockAck ").expect("a block acknowledgement");
    insta::assert_snapshot!(&text[from..]);
}

/// No block acknowledgement comes, because the recipient is on another channel when it should: all
/// is sent again, and got once.
#[test]
fn a_missing_block_acknowledgement() {
    let mut room = alike(&settings());
    let mut log = Log::default();
    (0..3).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    // In the SIFS after the A-MPDU.
    log.at(&mut room, 1618, Step::Tune(1, 6));
    log.at(&mut room, 1900, Step::Tune(1, 1));
    insta::assert_snapshot!(run(&mut room, log));
    assert_eq!(room.counters(1).duplicates, 3);
}

/// RTS, CTS, an A-MPDU and its answer; another station keeps quiet as long as the CTS says.
#[test]
fn a_long_frame_is_announced() {
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 2000, ..settings() });
    let mut log = Log::default();
    (0..3).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    log.at(&mut room, 1400, Step::Send(2, TxFrame::new(1, 100, HT, 0)));
    insta::assert_snapshot!(run(&mut room, log));
}

#[test]
fn without_a_cts_nothing_is_sent() {
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 900, Step::Off(1));
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    let text = run(&mut room, log);
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("Rts"), count("Data"), count("given up after 0")), (7, 0, 1), "{text}");
}

/// A CTS to itself in a mode that stations of clause 16 read.
#[test]
fn a_frame_is_protected() {
    let protect = Some(WifiMode::Hr(Hr::M11));
    let mut room = alike(&MacConfig { protect, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    log.at(&mut room, 2000, Step::Send(0, TxFrame::new(1, 100, WifiMode::Hr(Hr::M11), 0)));
    insta::assert_snapshot!(run(&mut room, log));
}

/// Frames for a station that dozes are lost, and its own frames wait; it stays awake for the answer
/// that it owes.
#[test]
fn a_station_dozes() {
    let mut room = alike(&settings()).with_meters();
    let mut log = Log::default();
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    // In the SIFS before its ACK.
    log.at(&mut room, 1240, Step::Doze(1));
    log.at(&mut room, 2000, Step::Send(0, packet(1)));
    log.at(&mut room, 3000, Step::Send(1, packet(0)));
    log.at(&mut room, 5000, Step::Rouse(1));
    log.at(&mut room, 5000, Step::Send(2, TxFrame::new(GROUP, 200, WifiMode::ESP_NOW, 0)));
    insta::assert_snapshot!(run(&mut room, log));
    let spent = room.spent(1).expect("there are meters");
    let all = spent.send + spent.receive + spent.listen + spent.doze;
    assert_eq!((all, spent.off), (Duration::from_secs(1), Duration::ZERO));
    insta::assert_snapshot!(format!("{spent:#?}"));
}

/// Returns the lines of what went over the air, without times.
fn air(text: &str) -> Vec<String> {
    let sent = text.lines().filter(|line| line.contains(" > "));
    sent.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect()
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// What goes to all, to oneself, or ahead of all else is never under an agreement, and has the
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
    for (sender, receiver, together) in [
        (of(8, 0), of(0, 8), true),
        (of(0, 8), of(0, 8), false),
        (of(8, 8), of(8, 0), false),
        (of(8, 8), none.clone(), false),
        (none, of(8, 8), false),
        (of(8, 8), of(1, 1), false),
        (of(1, 1), of(8, 8), false),
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
    let mut log = Log { refuses: vec![0; 7], ..Log::default() };
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
    // A CTS in between sets it back: six without, then one with an answer.
    let mut room = alike(&MacConfig { rts: true, rts_threshold: 0, ..settings() });
    let mut log = Log::default();
    log.at(&mut room, 900, Step::Tune(1, 6));
    log.at(&mut room, 1000, Step::Send(0, packet(1)));
    log.at(&mut room, 2500, Step::Tune(1, 1));
    let text = run(&mut room, log);
    assert!((2..7).contains(&count(&text, "Rts")), "{text}");
    assert_eq!((count(&text, "Cts"), count(&text, "delivered after 1")), (1, 1), "{text}");
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
        log.at(&mut room, 5000, Step::Send(0, TxFrame { octets: 3000, ..self::packet(GROUP) }));
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

/// An MPDU whose predecessor never comes goes up after a tenth of a second.
#[test]
fn the_reorder_buffer_has_patience_for_a_tenth_of_a_second() {
    let mut room = alike(&settings());
    let mut log = Log { refuses: vec![0], ..Log::default() };
    (0..2).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
    // The sender is gone before it can send the first again.
    log.at(&mut room, 1470, Step::Tune(0, 6));
    let text = run(&mut room, log);
    let line = text.lines().find(|it| it.contains("packet 1, number 1, up at [1]"));
    // 44 us of preamble and header, and two MPDUs of 1538 octets at 65 Mbit/s.
    let us: f64 = line.and_then(|it| it.split_whitespace().next()?.parse().ok()).expect("it is up");
    assert!((101_400.0..101_450.0).contains(&us), "{us}: {text}");
}
