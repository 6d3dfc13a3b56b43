//! What of a station only its own frames touch.

use super::burst::{ALONE, Burst};
use super::settings::{Packet, Settings};
use crate::radio::Mode;
use crate::random::{Purpose, Random};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_proto::sample::Cause;

/// What a station counts. Frames to all, and unicast to it, are counted as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames taken into the queue.
    pub queued: u64,
    /// Frames refused because no buffer was free.
    pub refused: u64,
    /// Data frames sent, repetitions included, each MPDU of an A-MPDU counted.
    pub sent: u64,
    /// Of these, repetitions.
    pub retries: u64,
    /// Unicast frames that were acknowledged.
    pub acknowledged: u64,
    /// Unicast frames given up after the last attempt.
    pub given_up: u64,
    /// ACKs and block acknowledgements sent.
    pub acks: u64,
    /// A-MPDUs sent.
    pub ampdus: u64,
    /// RTS and CTS to itself sent, and CTS sent.
    pub clearances: u64,
    /// MPDUs acknowledged and not handed up, because the reorder buffer had given them up.
    pub late: u64,
    /// Frames handed up.
    pub received: u64,
    /// Frames received once more, because an ACK was lost.
    pub duplicates: u64,
    /// Frames that another frame spoiled, or that came while this station was sending.
    pub collided: u64,
    /// Frames too weak to be read.
    pub noise: u64,
    /// Frames that were read and refused, because the host had no buffer.
    pub unbuffered: u64,
}

impl Counters {
    /// A frame that was for this station and did not go up.
    #[inline]
    pub(crate) const fn missed(&mut self, cause: Cause) {
        match cause {
            // By far the most, where there are many.
            Cause::Collision => self.collided += 1,
            Cause::Noise => self.noise += 1,
            Cause::ReceiveQueue => self.unbuffered += 1,
            _ => self.collided += 1,
        }
    }
}

/// A frame that waits, or is being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) packet: Packet,
    /// Its number, once it has one.
    pub(crate) sequence: u16,
    /// How often it was sent.
    pub(crate) attempts: u8,
    pub(crate) numbered: bool,
    /// It is no packet of the host, but a block acknowledgement request.
    pub(crate) request: bool,
}

impl Entry {
    pub(crate) const fn new(packet: Packet) -> Self {
        Self { packet, sequence: 0, attempts: 0, numbered: false, request: false }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub(crate) settings: Settings,
    pub(crate) queue: VecDeque<Entry>,
    /// Block acknowledgement requests in it.
    pub(crate) requests: usize,
    /// It sends nothing but frames on their own, without RTS or CTS before them.
    pub(crate) simple: bool,
    /// What it is sending, where it is not simple.
    pub(crate) burst: Burst,
    /// RTS in a row that were not answered.
    pub(crate) unanswered: u8,
    /// How long the exchange goes on after the CTS that it owes.
    pub(crate) reserved_ns: u64,
    /// Its agreements as originator, by receiver.
    pub(crate) agreements: BTreeMap<u32, u32>,
    /// The head of the queue is on the air, or its ACK is awaited.
    pub(crate) engaged: bool,
    /// It is switched off.
    pub(crate) off: bool,
    /// Its receiver is off.
    pub(crate) dozing: bool,
    /// It will doze when its exchange is over.
    pub(crate) drowsy: bool,
    /// Acknowledgements that it is about to send.
    pub(crate) owes: u16,
    /// When its last hop is over.
    pub(crate) tuned: u64,
    sequence: u16,
    /// The contention window, in slots.
    window: u16,
    random: Random,
    /// The last sequence number of each sender (10.3.2.14: the receiver cache).
    seen: BTreeMap<u32, u16>,
    pub(crate) counters: Counters,
}

impl Station {
    pub(crate) fn new(seed: u64, number: u32, settings: Settings) -> Self {
        Self {
            window: settings.timing.cw_min,
            queue: VecDeque::with_capacity(settings.buffers.min(4)),
            requests: 0,
            simple: settings.ampdu.is_none() && !settings.rts && settings.protect.is_none(),
            burst: Burst::default(),
            unanswered: 0,
            reserved_ns: 0,
            agreements: BTreeMap::new(),
            settings,
            engaged: false,
            off: false,
            dozing: false,
            drowsy: false,
            owes: 0,
            tuned: 0,
            sequence: 0,
            random: Random::stream(seed, number, Purpose::BackOff),
            seen: BTreeMap::new(),
            counters: Counters::default(),
        }
    }

    /// Slots of a new back-off: uniform from 0 to the window (10.3.3).
    pub(crate) const fn draw(&mut self) -> u32 {
        let range = self.window as u64 + 1;
        (((self.random.bits() >> 32) * range) >> 32) as u32
    }

    /// A chance that is not certain, for a frame at this station's receiver.
    pub(crate) fn lucky(&mut self, chance: f32) -> bool {
        // 2^-24: what an f32 below one can tell apart.
        ((self.random.bits() >> 40) as f32) * 5.960_464_5e-8 < chance
    }

    /// One attempt more of a frame of the queue, which is numbered the first time: the frame, and how
    /// often it was sent before.
    #[inline]
    pub(crate) fn attempt(&mut self, at: usize) -> Option<(&Entry, u8)> {
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

    /// The mode of an attempt after `before` others, where that of the first is `first`.
    #[inline]
    pub(crate) fn mode(&self, first: Mode, before: u8) -> Mode {
        let fallback = &self.settings.fallback;
        let at = usize::from(before).min(fallback.len());
        let mode = at.checked_sub(1).and_then(|at| fallback.get(at));
        mode.copied().unwrap_or(first)
    }

    /// How often a frame is sent in all.
    pub(crate) const fn limit(&self, octets: u32) -> u8 {
        let settings = &self.settings;
        let long = octets > settings.rts_threshold;
        if long { settings.long_retry_limit } else { settings.short_retry_limit }
    }

    /// The head of the queue was acknowledged, or needs no ACK.
    pub(crate) const fn succeeded(&mut self) {
        self.window = self.settings.timing.cw_min;
    }

    /// No ACK came for the head of the queue. Whether to try again (10.3.4.4).
    pub(crate) fn failed(&mut self) -> bool {
        let again =
            self.queue.front().is_some_and(|head| head.attempts < self.limit(head.packet.octets));
        self.widen(again && !self.off)
    }

    /// An exchange has failed: the window doubles, or is reset with the last attempt (10.3.3).
    pub(crate) fn widen(&mut self, again: bool) -> bool {
        let timing = self.settings.timing;
        self.window = if again { timing.wider(self.window) } else { timing.cw_min };
        again
    }

    /// Packets in the queue.
    pub(crate) fn packets(&self) -> usize {
        self.queue.len() - self.requests
    }

    /// Empties the queue but for what is being sent. The tags of what is gone.
    pub(crate) fn leave_queue(&mut self) -> Vec<u64> {
        let kept = if self.engaged { self.burst.places.len().max(1) } else { 0 };
        // What is being sent goes to the head of the queue.
        for at in 0..self.burst.places.len() {
            self.queue.swap(at, self.burst.places[at] as usize);
            self.burst.places[at] = at as u32;
        }
        let gone = self.queue.drain(kept.min(self.queue.len())..);
        let gone = gone.filter(|it| !it.request).map(|it| it.packet.tag).collect();
        self.requests = self.queue.iter().filter(|it| it.request).count();
        gone
    }

    /// Puts a frame into the queue, where it belongs.
    pub(crate) fn enqueue(&mut self, entry: Entry) {
        if entry.packet.ahead {
            // What is alone on the air stays at the head; an A-MPDU is found wherever it is.
            let from = usize::from(self.engaged && self.burst.agreement == ALONE);
            let mut behind = self.queue.iter().skip(from);
            let at =
                behind.position(|it| !it.packet.ahead).map_or(self.queue.len(), |at| at + from);
            self.queue.insert(at, entry);
            if self.engaged && from == 0 {
                self.burst.places.iter_mut().filter(|it| **it >= at as u32).for_each(|it| *it += 1);
            }
        } else {
            self.queue.push_back(entry);
        }
    }

    /// Whether a frame was received before (10.3.2.14.3).
    pub(crate) fn is_duplicate(&mut self, from: u32, sequence: u16, retry: bool) -> bool {
        let before = self.seen.insert(from, sequence);
        retry && before == Some(sequence)
    }
}
