//! A-MPDUs, block acknowledgements, RTS and CTS, stations that doze: what goes over the air, as text.

use core::fmt::Write as _;
use core::time::Duration;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{
    AmpduConfig, FrameKind, GROUP, MacConfig, MacUser, MissedReception, MpduFate, MpduInfo, Ppdu,
    Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Hr, Mcs, Timing, WifiMode};
use espbench_model::time::Instant;

pub(crate) const HT: WifiMode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);

/// Step of a script, at a time.
pub(crate) enum Step {
    Send(u32, TxFrame),
    Doze(u32),
    Rouse(u32),
    Tune(u32, u8),
    Off(u32),
}

/// Writes down what happens.
#[derive(Default)]
pub(crate) struct Log {
    steps: Vec<Step>,
    text: String,
    /// Tags that are refused, once for each time they are here.
    pub(crate) refuses: Vec<u64>,
    air: bool,
}

impl Log {
    pub(crate) fn at(&mut self, room: &mut WirelessMedium, us: u64, step: Step) {
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

pub(crate) fn settings() -> MacConfig {
    MacConfig {
        timing: Timing::ERP_SHORT_SLOT,
        ampdu: Some(AmpduConfig { send: 8, receive: 8, ..AmpduConfig::MOST }),
        ..MacConfig::default()
    }
}

pub(crate) fn packet(to: u32) -> TxFrame {
    TxFrame::new(to, 1538, HT, 0).aggregated()
}

pub(crate) fn room(settings: [MacConfig; 3]) -> WirelessMedium {
    WirelessMedium::new(1, RadioLinks::uniform(3, -40.0), &[ReceiverConfig::default()], settings)
}

pub(crate) fn alike(settings: &MacConfig) -> WirelessMedium {
    room([settings.clone(), settings.clone(), settings.clone()])
}

pub(crate) fn run(room: &mut WirelessMedium, mut log: Log) -> String {
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

/// In a TXOP A-MPDUs follow each other after a SIFS, with one RTS before the first, as long as there is time for one
/// with its answer; then the station contends anew.
#[test]
fn a_station_keeps_the_medium_for_a_txop() {
    let ampdu = Some(AmpduConfig { send: 2, ..AmpduConfig::MOST });
    let settings = settings();
    let mut room =
        alike(&MacConfig { rts: true, rts_threshold: 2000, txop_ns: 1_800_000, ampdu, ..settings });
    let mut log = Log::default();
    (0..9).for_each(|_| log.at(&mut room, 1000, Step::Send(0, packet(1))));
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
