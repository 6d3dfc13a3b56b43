//! Counters that must balance with block-ack agreements, RTS, CTS-to-self, stations that doze, and
//! users without buffers.

use crate::air::{RadioLinks, ReceiverConfig};
use crate::mac::block_ack::ahead;
use crate::mac::{
    AmpduConfig, FrameKind, GROUP, MacConfig, MacCounters, MacUser, MissedReception, MpduFate,
    MpduInfo, Ppdu, Reception, TxFrame, TxStatus, WirelessMedium,
};
use crate::radio::error::ErrorTable;
use crate::radio::{
    ChannelWidth, ErrorModelDecoder, FrameCapture, GuardInterval, Hr, Mcs, Ofdm, Timing, WifiMode,
    airtime, receiver,
};
use crate::random::{Purpose, RngStream};
use core::time::Duration;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use std::collections::BTreeMap;
use std::vec::Vec;

const STATIONS: u32 = 8;
/// The time of the last packet; `END` is the time by which all must be over.
const UNTIL: u64 = 1_500_000_000;
const END: u64 = 20_000_000_000;

/// The fate of a packet.
#[derive(Debug)]
struct Story {
    from: u32,
    to: u32,
    aggregate: bool,
    heard: u32,
    done: Option<bool>,
}

struct Throng {
    random: RngStream,
    limits: Vec<Option<AmpduConfig>>,
    /// The packets, by tag.
    packets: Vec<Story>,
    /// The last tag that went up, by sender and receiver, under an agreement.
    last: BTreeMap<(u32, u32), u64>,
    until: BTreeMap<u32, u64>,
    /// The time that each station has sent, in nanoseconds, and the number of frames of each kind.
    sent_ns: BTreeMap<u32, u64>,
    kinds: [u64; 6],
    refused: u64,
    /// The end of the frame that the user was last asked about.
    asked: u64,
    largest: usize,
    trace: u64,
}

impl Throng {
    fn below(&mut self, most: u64) -> u64 {
        (self.random.bits() >> 20) % most
    }

    fn note(&mut self, what: u64) {
        self.trace = (self.trace ^ what).wrapping_mul(0x0100_0000_01B3).rotate_left(7);
    }

    fn sends(&mut self, medium: &mut WirelessMedium, from: u32) {
        let to = match self.below(10) {
            0 => GROUP,
            _ => self.below(u64::from(STATIONS)) as u32,
        };
        let ht = WifiMode::ht(
            Mcs::ALL[self.below(8) as usize],
            ChannelWidth::Mhz20,
            GuardInterval::Long,
        );
        let mode = match self.below(6) {
            0 => WifiMode::Hr(Hr::M11),
            1 => WifiMode::Ofdm(Ofdm::M24),
            _ => ht,
        };
        let (kind, count) = (self.below(8), 1 + self.below(24));
        for _ in 0..count {
            let packet =
                TxFrame::new(to, 40 + self.below(1500) as u32, mode, self.packets.len() as u64);
            let packet = match kind {
                0 => packet.at_once(),
                1 => packet,
                _ => packet.aggregated(),
            };
            if medium.send(from, packet).is_ok() {
                let both = [from, to].map(|it| self.limits.get(it as usize).copied().flatten());
                let aggregate = packet.aggregate && from != to && both.iter().all(Option::is_some);
                self.packets.push(Story { from, to, aggregate, heard: 0, done: None });
            }
        }
    }
}

impl MacUser for Throng {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        let station = self.below(u64::from(STATIONS)) as u32;
        if medium.now >= UNTIL {
            (0..STATIONS).for_each(|station| medium.wake_up(station));
            return;
        }
        match self.below(12) {
            0 => medium.doze(station),
            1 => medium.tune(station, 1 + self.below(2) as u8, Duration::from_micros(100)),
            2 => medium.tune(station, 1, Duration::ZERO),
            3..6 => medium.wake_up(station),
            _ => self.sends(medium, station),
        }
        let wait = self.below(3_000_000);
        medium.wake_in(Duration::from_nanos(wait), token);
    }

    fn accepts(&mut self, station: u32, frame: &Ppdu) -> bool {
        assert!(frame.to == station || frame.is_group());
        self.asked = frame.end;
        let accepts = self.below(40) > 0;
        self.refused += u64::from(!accepts);
        accepts
    }

    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.note(frame.tag ^ medium.now);
        assert!(!frame.repeated || heard.is_empty() && missed.is_empty());
        if missed.iter().any(|it| it.cause == Cause::ReceiveQueue) {
            assert_eq!(self.asked, medium.now, "asked for as it ends: {frame:?}");
        }
        for it in heard {
            // A dozing station gets no frame, except the rest of those received before.
            let dozes = medium.stations[it.station as usize].dozing;
            assert!(!dozes || frame.end < medium.now, "who dozes hears nothing: {frame:?}");
            self.note(u64::from(it.station));
        }
        if frame.is_group() {
            return;
        }
        let story = &mut self.packets[frame.tag as usize];
        assert_eq!((story.from, story.to), (frame.from, frame.to));
        story.heard += heard.len() as u32;
        assert!(story.heard <= 1, "once at most: {story:?}");
        if story.aggregate && !heard.is_empty() {
            let last = self.last.insert((frame.from, frame.to), frame.tag);
            assert!(last.is_none_or(|last| last < frame.tag), "in order: {last:?} {frame:?}");
        }
        // Some stations doze as soon as they have received a frame; the answer goes first.
        if !heard.is_empty() && medium.now < UNTIL && self.below(30) == 0 {
            medium.doze(frame.to);
        }
    }

    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.note(medium.now ^ done.tag << 20 ^ u64::from(done.attempts) << 50);
        let story = &mut self.packets[done.tag as usize];
        assert_eq!(story.from, station);
        assert!(story.done.replace(done.delivered).is_none(), "once: {done:?}");
        assert!(done.attempts <= 7);
        assert!(story.heard == 1 || !done.delivered || story.aggregate || story.to == GROUP);
        if self.below(4) == 0 && medium.now < UNTIL {
            self.sends(medium, station);
        }
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        let end = self.until.insert(frame.from, frame.end);
        assert!(end.is_none_or(|end| end <= frame.begin), "one at a time: {frame:?}");
        assert_eq!(frame.end - frame.begin, airtime(frame.mode, frame.octets));
        *self.sent_ns.entry(frame.from).or_default() += frame.end - frame.begin;
        self.kinds[frame.kind as usize] += 1;
        assert!(
            frame.mpdus == 1
                || frame.kind == FrameKind::Data && matches!(frame.mode, WifiMode::Ht(_))
        );
    }

    fn on_ampdu_end(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        let [Some(from), Some(to)] = [frame.from, frame.to].map(|it| self.limits[it as usize])
        else {
            panic!("no agreement: {frame:?}")
        };
        assert!(mpdus.len() == usize::from(frame.mpdus) && mpdus.len() > 1);
        assert!(mpdus.len() <= usize::from(from.send.min(to.receive)));
        assert!(frame.octets <= to.octets && frame.end - frame.begin <= from.longest_ns + 6000);
        let sum: u32 = mpdus.iter().map(|it| 4 + it.octets.next_multiple_of(4)).sum();
        assert!((sum - 3..=sum).contains(&frame.octets));
        for two in mpdus.windows(2) {
            assert!((1..0x800).contains(&ahead(two[1].sequence, two[0].sequence)));
        }
        for it in mpdus {
            assert!(ahead(it.sequence, mpdus[0].sequence) < u16::from(to.receive));
            self.note(it.fate as u64);
        }
        let taken = mpdus.iter().filter(|it| it.fate == MpduFate::Taken).count();
        self.largest = self.largest.max(taken);
    }
}

fn medium(seed: u64, random: &mut RngStream) -> (WirelessMedium, Vec<Option<AmpduConfig>>) {
    let mut power = || -48.0 - (random.bits() % 42) as f64;
    let links = RadioLinks::new(STATIONS, -100.0, |_, _| power());
    let limits: Vec<Option<AmpduConfig>> = (0..STATIONS)
        .map(|station| {
            let bits = random.bits();
            (station > 0).then_some(AmpduConfig {
                send: 1 + (bits % 64) as u8,
                receive: 1 + (bits >> 8 & 63) as u8,
                octets: [8191, 16_383, 65_535][(bits >> 16) as usize % 3],
                longest_ns: [1_500_000, 5_484_000][(bits >> 24) as usize % 2],
            })
        })
        .collect();
    let settings = limits.iter().enumerate().map(|(station, &ampdu)| MacConfig {
        timing: Timing::ERP_SHORT_SLOT,
        ampdu,
        rts: station % 3 == 1,
        rts_threshold: if station % 3 == 1 { 900 } else { u32::MAX },
        protect: (station % 4 == 2).then_some(WifiMode::Hr(Hr::M11)),
        fallback: if station % 2 == 0 { Vec::new() } else { [WifiMode::Ofdm(Ofdm::M6)].into() },
        buffers: 40,
        ..MacConfig::default()
    });
    let reader = ErrorModelDecoder::new(ErrorTable::shared(), receiver::Receiver::ideal(7.0));
    let receiver = ReceiverConfig::new(reader, -73.0, FrameCapture::any_time(10.0));
    let settings: Vec<MacConfig> = settings.collect();
    (WirelessMedium::new(seed, links, &[receiver], settings).with_meters(), limits)
}

fn throng(seed: u64) -> (u64, Vec<MacCounters>) {
    let mut random = RngStream::stream(seed, 1, Purpose::Board);
    let (mut medium, limits) = medium(seed, &mut random);
    let mut user = Throng {
        random,
        limits,
        packets: Vec::new(),
        last: BTreeMap::new(),
        until: BTreeMap::new(),
        sent_ns: BTreeMap::new(),
        kinds: [0; 6],
        refused: 0,
        asked: 0,
        largest: 0,
        trace: 0,
    };
    (0..4).for_each(|token| medium.wake_at(Instant::ZERO, token));
    medium.run(&mut user, Instant::from_nanos(UNTIL));
    // One more event, in case all stations have gone to sleep.
    medium.wake_at(Instant::from_nanos(END / 2), 0);
    medium.run(&mut user, Instant::from_nanos(END));
    nothing_is_left(&medium);
    let counters: Vec<MacCounters> =
        (0..STATIONS).map(|station| medium.counters(station)).collect();
    let sum = |of: fn(&MacCounters) -> u64| counters.iter().map(of).sum::<u64>();
    let stories = || user.packets.iter();
    assert!(stories().all(|it| it.done.is_some()), "each packet has an end");
    assert_eq!(stories().count() as u64, sum(|it| it.queued));
    let unicast = || stories().filter(|it| it.to != GROUP);
    let delivered = unicast().filter(|it| it.done == Some(true)).count() as u64;
    assert_eq!(delivered, sum(|it| it.acknowledged));
    assert_eq!(
        sum(|it| it.given_up),
        stories().count() as u64 - stories().filter(|it| it.done == Some(true)).count() as u64
    );
    let silent = unicast().filter(|it| it.done == Some(true) && it.heard == 0).count() as u64;
    assert!(silent <= sum(|it| it.late), "what was acknowledged went up: {silent}");
    assert_eq!(user.refused, sum(|it| it.unbuffered));
    for station in 0..STATIONS {
        let spent = medium.spent(station).unwrap();
        let Duration { .. } = spent.send;
        let all = spent.send + spent.receive + spent.listen + spent.doze + spent.off;
        assert_eq!(all, Duration::from_nanos(END));
        let sent_ns = user.sent_ns.get(&station).copied().unwrap_or_default();
        assert_eq!(spent.send, Duration::from_nanos(sent_ns));
        let modes = WifiMode::ALL.iter().filter_map(|&mode| medium.spent_sending(station, mode));
        assert_eq!(modes.sum::<Duration>(), spent.send);
    }
    assert!(user.kinds.iter().all(|&it| it > 0), "{:?}", user.kinds);
    user.note(user.largest as u64);
    (user.trace, counters)
}

fn nothing_is_left(medium: &WirelessMedium) {
    for (state, it) in medium.states.iter().zip(&medium.stations) {
        assert!(
            !state.receiver.busy()
                && !state.access.awaiting_response()
                && !state.access.contending(),
            "{:?}",
            (state, it)
        );
        assert!(it.queue.is_empty() && !it.engaged && it.requests == 0 && it.owed_responses == 0);
        assert!(!it.dozing && !it.doze_pending && !it.exchange.on_air);
    }
    assert!(medium.agreements.iter().all(|it| it.due().is_none()), "nothing waits for reordering");
    assert!(medium.transmissions.iter().all(|it| !it.on_air));
}

#[test]
fn books_balance_with_agreements_and_runs_repeat() {
    let mut all = MacCounters::default();
    for seed in 0..10 {
        let (trace, counters) = throng(seed);
        assert_eq!((trace, counters.clone()), throng(seed), "{seed}");
        for it in &counters {
            all.ampdus += it.ampdus;
            all.duplicates += it.duplicates;
            all.given_up += it.given_up;
            all.noise += it.noise;
            all.collided += it.collided;
            all.late += it.late;
            all.received += it.received;
        }
    }
    assert!(all.ampdus > 1000 && all.duplicates > 100 && all.given_up > 100);
    assert!(all.noise > 100 && all.collided > 100);
    assert!(all.late * 1000 < all.received, "{all:?}");
}
