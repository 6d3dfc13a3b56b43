//! Frames at the same time: collisions, and stations that do not hear each other.
//!
//! Only radiotap's TSFT tells when a frame was on the air. What drivers write there differs, so it is believed
//! only where acknowledgements begin within 60 us of their frames' ends in most cases. Of two frames at the same
//! time that began within 25 us of each other, the senders had chosen the same slot; where the second began later,
//! its sender did not hear the first.

use super::MOST_LINKS;
use super::link::SeenFrames;
use super::radios::RadioId;
use alloc::collections::BTreeMap;
use espbench_ieee80211::mac::Mac;

/// Frames that are looked back at.
const RECENT: usize = 16;

/// Frames of which less is at the same time follow each other, in nanoseconds: clocks count microseconds, and drivers
/// differ by what they take for a frame's begin.
const LEAST_NS: u64 = 20_000;

/// A slot and the time that a receiver takes to notice a frame, and clocks in microseconds.
const SLOT_NS: u64 = 25_000;

/// Within this an acknowledgement begins after its frame.
const RESPONSE_NS: i64 = 60_000;

/// A frame on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AirInterval {
    pub(crate) number: u64,
    pub(crate) from: Mac,
    /// Radio whose clock tells the times.
    pub(crate) radio: RadioId,
    /// Channel; 0 is unknown.
    pub(crate) channel: u8,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
}

/// Overlaps of two stations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlapRecord {
    /// Frames at the same time that had begun in the same slot, by the number of the second.
    pub same_slot: SeenFrames,
    /// Frames that began when the other was on the air already.
    pub unheard: SeenFrames,
}

/// Frames at the same time.
#[derive(Clone, Debug, Default)]
pub struct Overlaps {
    recent: [Option<AirInterval>; RECENT],
    at: usize,
    /// Frames whose time on the air is known.
    pub timed: u64,
    /// Acknowledgements that began when one expects it, and all.
    fitting: u64,
    exchanges: u64,
    /// Pairs of stations, in the order of their addresses.
    pub pairs: BTreeMap<(Mac, Mac), OverlapRecord>,
    /// Overlaps that found no room.
    pub dropped: u64,
}

impl Overlaps {
    /// Returns whether times of frames can be believed.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        self.exchanges > 0 && self.fitting * 2 > self.exchanges
    }

    /// Returns the frames at the same time: of one slot, and of stations that do not hear each other. `None` where the
    /// capture does not tell.
    #[must_use]
    pub fn counts(&self) -> Option<(u64, u64)> {
        let sum = |(same, unheard), it: &OverlapRecord| {
            (same + it.same_slot.count, unheard + it.unheard.count)
        };
        self.is_timed().then(|| self.pairs.values().fold((0, 0), sum))
    }

    /// Takes an acknowledgement and the end of the frame before it. Returns whether it may answer that frame: it comes in
    /// time, or times are not believed.
    pub(crate) const fn exchange(&mut self, frame_end_ns: u64, response_begin_ns: u64) -> bool {
        let after = response_begin_ns.wrapping_sub(frame_end_ns) as i64;
        let fits = after >= -5_000 && after <= RESPONSE_NS;
        self.exchanges += 1;
        self.fitting += fits as u64;
        fits || !self.is_timed()
    }

    /// Takes a frame, and looks for others at the same time.
    pub(crate) fn take(&mut self, frame: AirInterval) {
        self.timed += 1;
        for other in self.recent.iter().flatten() {
            let from = frame.begin_ns.max(other.begin_ns);
            let until = frame.end_ns.min(other.end_ns);
            let is_same = (other.radio, other.channel) == (frame.radio, frame.channel);
            if !is_same || other.from == frame.from || until.saturating_sub(from) < LEAST_NS {
                continue;
            }
            let pair = (frame.from.min(other.from), frame.from.max(other.from));
            if self.pairs.len() >= MOST_LINKS && !self.pairs.contains_key(&pair) {
                self.dropped += 1;
                continue;
            }
            let record = self.pairs.entry(pair).or_default();
            let in_slot = frame.begin_ns.abs_diff(other.begin_ns) <= SLOT_NS;
            let seen = if in_slot { &mut record.same_slot } else { &mut record.unheard };
            seen.add(frame.number);
        }
        if let Some(place) = self.recent.get_mut(self.at % RECENT) {
            *place = Some(frame);
        }
        self.at = (self.at + 1) % RECENT;
    }

    /// Takes more of the frame that was taken last: a further MPDU of its A-MPDU.
    pub(crate) fn extend(&mut self, end_ns: u64) {
        let last = (self.at + RECENT - 1) % RECENT;
        if let Some(Some(it)) = self.recent.get_mut(last) {
            it.end_ns = it.end_ns.max(end_ns);
        }
    }
}
