//! The state of a station that only its own frames change.

use super::config::{MacConfig, TxFrame};
use super::exchange::{ALONE, FrameExchange};
use crate::radio::WifiMode;
use crate::random::{Purpose, RngStream};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_model::sample::Cause;

/// Counters of a station's MAC. Group frames and unicast frames to the station count as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Frames taken into the queue.
    pub queued: u64,
    /// Frames refused because no buffer was free.
    pub refused: u64,
    /// Data frames sent, repetitions included, each MPDU of an A-MPDU counted.
    pub sent: u64,
    /// Repetitions among the frames sent.
    pub retries: u64,
    /// Unicast frames that were acknowledged.
    pub acknowledged: u64,
    /// Unicast frames given up after the last attempt.
    pub given_up: u64,
    /// ACKs and block acknowledgements sent.
    pub acks: u64,
    /// A-MPDUs sent.
    pub ampdus: u64,
    /// RTS, CTS-to-self and CTS sent.
    pub clearances: u64,
    /// MPDUs acknowledged but not handed up, because the reorder buffer had given them up.
    pub late: u64,
    /// Frames handed up.
    pub received: u64,
    /// Frames received again because an ACK was lost.
    pub duplicates: u64,
    /// Frames spoiled by another frame, or that came while this station was sending.
    pub collided: u64,
    /// Frames too weak to be read.
    pub noise: u64,
    /// Frames that were read but refused, because the user had no buffer.
    pub unbuffered: u64,
}

impl MacCounters {
    /// Counts a frame for this station that was not handed up.
    #[inline]
    pub(crate) const fn missed(&mut self, cause: Cause) {
        match cause {
            Cause::Noise => self.noise += 1,
            Cause::ReceiveQueue => self.unbuffered += 1,
            _ => self.collided += 1,
        }
    }
}

/// A frame in the queue, or being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedFrame {
    pub(crate) packet: TxFrame,
    /// The sequence number, if `numbered`.
    pub(crate) sequence: u16,
    /// The number of attempts so far.
    pub(crate) attempts: u8,
    pub(crate) numbered: bool,
    /// Whether the frame is a block acknowledgement request, and not a packet of the user.
    pub(crate) request: bool,
}

impl QueuedFrame {
    pub(crate) const fn new(packet: TxFrame) -> Self {
        Self { packet, sequence: 0, attempts: 0, numbered: false, request: false }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StationMac {
    pub(crate) settings: MacConfig,
    pub(crate) queue: VecDeque<QueuedFrame>,
    /// The number of block acknowledgement requests in the queue.
    pub(crate) requests: usize,
    /// Whether the station sends only single frames, without RTS or CTS before them.
    pub(crate) simple: bool,
    /// The exchange in progress, if the station is not simple.
    pub(crate) exchange: FrameExchange,
    /// The end of its TXOP.
    pub(crate) txop_until: u64,
    /// Consecutive RTS that were not answered.
    pub(crate) failed_rts: u8,
    /// The time that the exchange goes on after the CTS that the station owes.
    pub(crate) reserved_ns: u64,
    /// The agreements of which the station is originator, by recipient.
    pub(crate) agreements: BTreeMap<u32, u32>,
    /// Whether the head of the queue is on the air or its ACK is awaited.
    pub(crate) engaged: bool,
    /// Whether the station is switched off.
    pub(crate) off: bool,
    /// Whether the receiver is off.
    pub(crate) dozing: bool,
    /// Whether the station will doze when its exchange is over.
    pub(crate) doze_pending: bool,
    /// The number of acknowledgements that the station is about to send.
    pub(crate) owed_responses: u16,
    /// The end of its last channel switch.
    pub(crate) tuned: u64,
    sequence: u16,
    /// The contention window, in slots.
    window: u16,
    random: RngStream,
    /// The last sequence number of each sender (the receiver cache, 10.3.2.14).
    seen: BTreeMap<u32, u16>,
    pub(crate) counters: MacCounters,
}

impl StationMac {
    pub(crate) fn new(seed: u64, number: u32, settings: MacConfig) -> Self {
        Self {
            window: settings.timing.cw_min,
            queue: VecDeque::with_capacity(settings.buffers.min(4)),
            requests: 0,
            simple: settings.ampdu.is_none()
                && settings.txop_ns == 0
                && !settings.rts
                && settings.protect.is_none(),
            exchange: FrameExchange::default(),
            txop_until: 0,
            failed_rts: 0,
            reserved_ns: 0,
            agreements: BTreeMap::new(),
            settings,
            engaged: false,
            off: false,
            dozing: false,
            doze_pending: false,
            owed_responses: 0,
            tuned: 0,
            sequence: 0,
            random: RngStream::stream(seed, number, Purpose::BackOff),
            seen: BTreeMap::new(),
            counters: MacCounters::default(),
        }
    }

    /// Draws the slots of a new back-off, uniformly from 0 to the window (10.3.3).
    pub(crate) const fn draw(&mut self) -> u16 {
        let range = self.window as u64 + 1;
        (((self.random.bits() >> 32) * range) >> 32) as u16
    }

    /// Draws whether a frame with this chance is received.
    pub(crate) fn draw_reception(&mut self, chance: f32) -> bool {
        // 2^-24, the resolution of an f32 below one.
        ((self.random.bits() >> 40) as f32) * 5.960_464_5e-8 < chance
    }

    /// Counts one more attempt of a frame of the queue, and numbers it the first time. Returns the
    /// frame and the number of earlier attempts.
    #[inline]
    pub(crate) fn attempt(&mut self, at: usize) -> Option<(&QueuedFrame, u8)> {
        let entry = self.queue.get_mut(at)?;
        if !entry.numbered {
            entry.numbered = true;
            self.sequence = (self.sequence + 1) & 0xFFF;
            entry.sequence = self.sequence;
        }
        let before = entry.attempts;
        self.counters.retries += u64::from(before > 0);
        self.counters.sent += 1;
        entry.attempts = before.saturating_add(1);
        Some((entry, before))
    }

    /// Returns the mode of an attempt after `before` others, where the first has the mode `first`.
    #[inline]
    pub(crate) fn mode(&self, first: WifiMode, before: u8) -> WifiMode {
        let fallback = &self.settings.fallback;
        let at = usize::from(before).min(fallback.len());
        let mode = at.checked_sub(1).and_then(|at| fallback.get(at));
        mode.copied().unwrap_or(first)
    }

    /// Returns the limit on the attempts of a frame.
    pub(crate) const fn limit(&self, octets: u32) -> u8 {
        let settings = &self.settings;
        let long = octets > settings.rts_threshold;
        if long { settings.long_retry_limit } else { settings.short_retry_limit }
    }

    /// Takes note that the head of the queue was acknowledged, or needs no ACK.
    pub(crate) const fn on_success(&mut self) {
        self.window = self.settings.timing.cw_min;
    }

    /// Takes note that no ACK came for the head of the queue. Returns whether to try again
    /// (10.3.4.4).
    pub(crate) fn on_failure(&mut self) -> bool {
        let again =
            self.queue.front().is_some_and(|head| head.attempts < self.limit(head.packet.octets));
        self.update_window(again && !self.off)
    }

    /// Takes note that an exchange has failed: the window doubles, or is reset after the last
    /// attempt (10.3.3).
    pub(crate) fn update_window(&mut self, again: bool) -> bool {
        let timing = self.settings.timing;
        self.window = if again { timing.wider(self.window) } else { timing.cw_min };
        again
    }

    /// Returns the number of packets in the queue.
    pub(crate) fn packets(&self) -> usize {
        self.queue.len() - self.requests
    }

    /// Empties the queue except for the frames being sent. Returns the tags of the removed packets.
    pub(crate) fn flush_queue(&mut self) -> Vec<u64> {
        if !self.engaged {
            // The places of the last exchange may be beyond the end of the queue by now.
            self.exchange.places.clear();
        }
        let kept = if self.engaged { self.exchange.places.len().max(1) } else { 0 };
        // Frames being sent move to the head of the queue.
        for at in 0..self.exchange.places.len() {
            self.queue.swap(at, self.exchange.places[at] as usize);
            self.exchange.places[at] = at as u32;
        }
        let gone = self.queue.drain(kept.min(self.queue.len())..);
        let gone = gone.filter(|it| !it.request).map(|it| it.packet.tag).collect();
        self.requests = self.queue.iter().filter(|it| it.request).count();
        gone
    }

    /// Puts a frame into the queue, by its priority.
    pub(crate) fn enqueue(&mut self, entry: QueuedFrame) {
        if entry.packet.ahead {
            // A single frame on the air stays at the head; an A-MPDU is found at any place.
            let from = usize::from(self.engaged && self.exchange.agreement == ALONE);
            let mut behind = self.queue.iter().skip(from);
            let at =
                behind.position(|it| !it.packet.ahead).map_or(self.queue.len(), |at| at + from);
            self.queue.insert(at, entry);
            if self.engaged {
                self.exchange
                    .places
                    .iter_mut()
                    .filter(|it| **it >= at as u32)
                    .for_each(|it| *it += 1);
            }
        } else {
            self.queue.push_back(entry);
        }
    }

    /// Returns whether a frame was received before (10.3.2.14.3).
    pub(crate) fn is_duplicate(&mut self, from: u32, sequence: u16, retry: bool) -> bool {
        let before = self.seen.insert(from, sequence);
        retry && before == Some(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{Hr, Ofdm};
    use std::vec;

    fn station(settings: MacConfig) -> StationMac {
        StationMac::new(7, 0, settings)
    }

    fn frame(tag: u64) -> QueuedFrame {
        QueuedFrame::new(TxFrame::new(1, 100, WifiMode::ESP_NOW, tag))
    }

    fn hurried(tag: u64) -> QueuedFrame {
        QueuedFrame::new(TxFrame::new(1, 100, WifiMode::ESP_NOW, tag).at_once())
    }

    fn tags(it: &StationMac) -> Vec<u64> {
        it.queue.iter().map(|entry| entry.packet.tag).collect()
    }

    /// Every number of slots of the window is as likely, and none beyond it comes.
    #[test]
    fn slots_are_drawn_from_the_whole_window() {
        let mut it = station(MacConfig::default());
        let mut drawn = [0_u32; 32];
        for _ in 0..64_000 {
            drawn[it.draw() as usize] += 1;
        }
        // 2000 of each; the standard deviation is 44.
        assert!(drawn.iter().all(|n| (1800..2200).contains(n)), "{drawn:?}");
        it.window = 0;
        assert!((0..100).all(|_| it.draw() == 0));
    }

    #[test]
    fn a_frame_is_read_with_its_chance() {
        let mut it = station(MacConfig::default());
        let mut read = |chance: f32| (0..20_000).filter(|_| it.draw_reception(chance)).count();
        assert_eq!([0.0, 1.0].map(&mut read), [0, 20_000]);
        // The standard deviation is 71 at most.
        for (chance, of) in [(0.5, 10_000), (0.125, 2500), (0.9, 18_000)] {
            let read = read(chance);
            assert!(read.abs_diff(of) < 300, "{chance}: {read}");
        }
    }

    /// Numbers have 12 bits (9.2.4.4.2); a repetition keeps its own.
    #[test]
    fn sequence_numbers_come_round() {
        let mut it = station(MacConfig::default());
        let mut numbers = Vec::new();
        for tag in 0..4098 {
            it.enqueue(frame(tag));
            let (first, before) = it.attempt(0).map(|(entry, before)| (*entry, before)).unwrap();
            assert_eq!((first.attempts, before), (1, 0));
            let (second, before) = it.attempt(0).map(|(entry, before)| (*entry, before)).unwrap();
            assert_eq!((second.attempts, before, second.sequence), (2, 1, first.sequence));
            numbers.push(second.sequence);
            it.queue.pop_front();
        }
        let expected: Vec<u16> = (1..=4098).map(|number| number % 4096).collect();
        assert_eq!(numbers, expected);
        assert_eq!((it.counters.sent, it.counters.retries), (8196, 4098));
        assert!(it.attempt(0).is_none(), "the queue is empty");
    }

    #[test]
    fn later_attempts_are_in_the_modes_of_the_list_and_the_last_one_stays() {
        let [fast, middle, slow] =
            [WifiMode::Hr(Hr::M11), WifiMode::Ofdm(Ofdm::M24), WifiMode::Ofdm(Ofdm::M6)];
        let modes = |it: &StationMac| [0, 1, 2, 3, 200].map(|before| it.mode(fast, before));
        let with = |fallback| station(MacConfig { fallback, ..MacConfig::default() });
        assert_eq!(modes(&with(Vec::new())), [fast; 5]);
        assert_eq!(modes(&with(vec![slow])), [fast, slow, slow, slow, slow]);
        assert_eq!(modes(&with(vec![middle, slow])), [fast, middle, slow, slow, slow]);
    }

    /// Seven attempts, or four of frames longer than the threshold; the window doubles meanwhile.
    #[test]
    fn attempts_and_windows_have_limits() {
        let settings = MacConfig { rts_threshold: 99, ..MacConfig::default() };
        for (threshold, windows) in
            [(100, vec![63, 127, 255, 511, 1023, 1023]), (99, vec![63, 127, 255])]
        {
            let mut it = station(MacConfig { rts_threshold: threshold, ..settings.clone() });
            it.enqueue(frame(0));
            let mut seen = Vec::new();
            loop {
                it.attempt(0);
                if !it.on_failure() {
                    break;
                }
                seen.push(it.window);
            }
            assert_eq!(seen, windows);
            assert_eq!(it.window, 31, "after the last attempt it is the first one");
            assert_eq!(it.queue[0].attempts as usize, windows.len() + 1);
        }
        let mut it = station(settings);
        it.enqueue(frame(0));
        it.attempt(0);
        assert!(it.on_failure() && it.window == 63);
        it.on_success();
        assert_eq!(it.window, 31);
        it.off = true;
        assert!(!it.on_failure(), "who is switched off tries no more");
        assert_eq!(it.window, 31);
    }

    #[test]
    fn without_a_frame_nothing_is_tried_again() {
        assert!(!station(MacConfig::default()).on_failure());
    }

    /// Frames in a hurry keep their order, and do not displace the one on the air.
    #[test]
    fn a_frame_in_a_hurry_goes_before_those_that_are_not() {
        let mut it = station(MacConfig::default());
        [frame(0), frame(1), hurried(2), frame(3), hurried(4)]
            .into_iter()
            .for_each(|entry| it.enqueue(entry));
        assert_eq!(tags(&it), [2, 4, 0, 1, 3]);
        it.queue.clear();
        [frame(0), frame(1)].into_iter().for_each(|entry| it.enqueue(entry));
        it.engaged = true;
        [hurried(2), hurried(3)].into_iter().for_each(|entry| it.enqueue(entry));
        assert_eq!(tags(&it), [0, 2, 3, 1]);
        // Those of an A-MPDU on the air are found at any place.
        it.queue.clear();
        it.engaged = false;
        [frame(0), frame(1), frame(2)].into_iter().for_each(|entry| it.enqueue(entry));
        it.engaged = true;
        it.exchange.clear(0, WifiMode::ESP_NOW);
        it.exchange.places.extend([0, 2]);
        it.enqueue(hurried(5));
        assert_eq!((tags(&it), &it.exchange.places[..]), (vec![5, 0, 1, 2], &[1, 3][..]));
        it.enqueue(frame(6));
        assert_eq!((tags(&it), &it.exchange.places[..]), (vec![5, 0, 1, 2, 6], &[1, 3][..]));
    }

    #[test]
    fn an_emptied_queue_keeps_what_is_on_the_air() {
        let filled = || {
            let mut it = station(MacConfig::default());
            (0..5).for_each(|tag| it.enqueue(frame(tag)));
            it.enqueue(QueuedFrame { request: true, ..frame(5) });
            it.requests = 1;
            assert_eq!(it.packets(), 5);
            it
        };
        let mut idle = filled();
        assert_eq!(idle.flush_queue(), [0, 1, 2, 3, 4], "a request is no packet of the user");
        assert_eq!((idle.packets(), idle.requests, idle.queue.len()), (0, 0, 0));
        let mut single = filled();
        single.engaged = true;
        assert_eq!(single.flush_queue(), [1, 2, 3, 4]);
        assert_eq!(tags(&single), [0]);
        let mut several = filled();
        several.engaged = true;
        several.exchange.places.extend([1, 3, 4]);
        assert_eq!(several.flush_queue(), [0, 2]);
        assert_eq!((tags(&several), &several.exchange.places[..]), (vec![1, 3, 4], &[0, 1, 2][..]));
        let mut request = filled();
        request.queue.rotate_right(1);
        request.engaged = true;
        assert_eq!(request.flush_queue(), [0, 1, 2, 3, 4]);
        assert_eq!((request.requests, request.packets()), (1, 0), "a request on the air");
        // The places of an exchange that is over say nothing.
        let mut over = filled();
        over.exchange.places.extend([0, 6, 9]);
        assert_eq!(over.flush_queue(), [0, 1, 2, 3, 4]);
        assert_eq!(over.flush_queue(), [0; 0]);
    }

    /// A repetition has the Retry bit and the number of the last frame from there (10.3.2.14.3).
    #[test]
    fn duplicates_are_known_by_sender_number_and_retry() {
        let mut it = station(MacConfig::default());
        for (from, number, retry, duplicate) in [
            (1, 5, true, false),
            (1, 5, true, true),
            (1, 5, false, false),
            (2, 5, true, false),
            (1, 6, true, false),
            (1, 5, true, false),
            (2, 5, true, true),
        ] {
            let is = it.is_duplicate(from, number, retry);
            assert_eq!(is, duplicate, "{number} from {from}, {retry}");
        }
    }

    #[test]
    fn losses_are_counted_by_their_cause() {
        let mut counters = MacCounters::default();
        let causes = [(Cause::Collision, 3), (Cause::Noise, 5), (Cause::ReceiveQueue, 2)];
        for (cause, n) in causes {
            (0..n).for_each(|_| counters.missed(cause));
        }
        assert_eq!((counters.collided, counters.noise, counters.unbuffered), (3, 5, 2));
    }

    #[test]
    fn a_station_with_ampdu_rts_or_protection_is_not_simple() {
        let plain = MacConfig::default();
        assert!(station(plain.clone()).simple);
        for settings in [
            MacConfig { rts: true, ..plain.clone() },
            MacConfig { protect: Some(WifiMode::Hr(Hr::M11)), ..plain.clone() },
            MacConfig { ampdu: Some(crate::mac::AmpduConfig::MOST), ..plain },
        ] {
            assert!(!station(settings).simple);
        }
    }
}
