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
            // By far the most frequent cause in a dense network.
            Cause::Collision => self.collided += 1,
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
            simple: settings.ampdu.is_none() && !settings.rts && settings.protect.is_none(),
            exchange: FrameExchange::default(),
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
    pub(crate) const fn draw(&mut self) -> u32 {
        let range = self.window as u64 + 1;
        (((self.random.bits() >> 32) * range) >> 32) as u32
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
            if self.engaged && from == 0 {
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
