//! What of a station only its own frames touch.

use super::settings::{Packet, Settings};
use crate::radio::Mode;
use crate::random::{Purpose, Random};
use alloc::collections::{BTreeMap, VecDeque};

/// What a station counts. Frames to all, and unicast to it, are counted as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames taken into the queue.
    pub queued: u64,
    /// Frames refused because no buffer was free.
    pub refused: u64,
    /// Data frames sent, repetitions included.
    pub sent: u64,
    /// Of these, repetitions.
    pub retries: u64,
    /// Unicast frames that were acknowledged.
    pub acknowledged: u64,
    /// Unicast frames given up after the last attempt.
    pub given_up: u64,
    /// ACKs sent.
    pub acks: u64,
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

#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub(crate) settings: Settings,
    pub(crate) queue: VecDeque<Packet>,
    /// The head of the queue is on the air, or its ACK is awaited.
    pub(crate) engaged: bool,
    /// Attempts of the head of the queue.
    pub(crate) attempt: u8,
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
            settings,
            engaged: false,
            attempt: 0,
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

    /// One attempt more of the head of the queue: its sequence number and its mode.
    pub(crate) fn attempt(&mut self, first: Mode) -> (u16, Mode) {
        if self.attempt == 0 {
            self.sequence = (self.sequence + 1) & 0xFFF;
        } else {
            self.counters.retries += 1;
        }
        self.counters.sent += 1;
        let again = usize::from(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        let fallback = &self.settings.fallback;
        let at = again.min(fallback.len());
        let mode = at.checked_sub(1).and_then(|at| fallback.get(at));
        (self.sequence, mode.copied().unwrap_or(first))
    }

    /// The head of the queue was acknowledged, or needs no ACK.
    pub(crate) const fn succeeded(&mut self) {
        self.window = self.settings.timing.cw_min;
    }

    /// No ACK came. Whether to try again (10.3.4.4); the window doubles, or is reset with the last
    /// attempt (10.3.3).
    pub(crate) fn failed(&mut self) -> bool {
        let octets = self.queue.front().map_or(0, |packet| packet.octets);
        let settings = &self.settings;
        let long = octets > settings.rts_threshold;
        let limit = if long { settings.long_retry_limit } else { settings.short_retry_limit };
        let again = self.attempt < limit && !self.off;
        self.window =
            if again { settings.timing.wider(self.window) } else { settings.timing.cw_min };
        again
    }

    /// Whether a frame was received before (10.3.2.14.3).
    pub(crate) fn is_duplicate(&mut self, from: u32, sequence: u16, retry: bool) -> bool {
        let before = self.seen.insert(from, sequence);
        retry && before == Some(sequence)
    }
}
