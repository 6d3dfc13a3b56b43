//! Radios that captured: the channel that each is on, and what several of them heard alike.
//!
//! A radio hears one channel at a time. One that changes its channel hears each for a part of the time; one that leaves
//! a channel and is back within milliseconds is none: a lab hears all channels, and so do files that were put together.

use super::class::Fingerprint;
use crate::link::AirCapture80211;
use alloc::collections::{BTreeMap, VecDeque};

/// Radios that are told apart.
const MOST_RADIOS: u32 = 64;

/// Frames among which copies are looked for.
const RECENT: usize = 64;

/// Octets of the shortest frame with its FCS.
const WITH_FCS: usize = 14;

/// Clocks of radios at one computer differ by less, in nanoseconds.
const CLOCKS_NS: u64 = 5_000_000;

/// Between two attempts there is more than this and the time of the frame, in nanoseconds: a SIFS, a slot, and a DIFS.
const BETWEEN_NS: u64 = 60_000;

/// No radio leaves a channel and comes back within this, in nanoseconds.
const SHORTEST_AWAY_NS: u64 = 5_000_000;

/// A radio that captured: its place among those that are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RadioId(u8);

impl RadioId {
    /// Returns the radio of a frame.
    pub(super) const fn of(air: &AirCapture80211<'_>) -> Self {
        Self((air.interface % MOST_RADIOS) as u8)
    }
}

/// Channel of a radio.
#[derive(Clone, Copy, Debug, Default)]
struct Tuning {
    channel: u8,
    /// First frame of the stay on that channel, and last frame.
    since_ns: u64,
    last_ns: u64,
    /// Channel before, and its last frame.
    before: (u8, u64),
    changes: u64,
}

/// Frame that another radio may have heard, too.
#[derive(Clone, Copy, Debug)]
struct Heard {
    fingerprint: Fingerprint,
    at_ns: u64,
    /// Radios that have it, a bit each.
    radios: u64,
}

/// Radios that captured.
#[derive(Debug, Default)]
pub(crate) struct HeardRadios {
    tunings: BTreeMap<RadioId, Tuning>,
    recent: VecDeque<Heard>,
    /// Time for which each channel was heard, and until when it is counted.
    stays: BTreeMap<u8, (u64, u64)>,
    /// Whether channels are heard at once.
    pub(crate) at_once: bool,
    /// Radios so far, a bit each.
    radios: u64,
}

impl HeardRadios {
    /// Takes a frame, and returns whether another radio has captured it before. A frame with a number and without the
    /// retry bit is sent once; of all others the next attempt may have the same octets. One with a wrong FCS is no copy, and
    /// has none: the other radio may have read it.
    pub(super) fn is_copy(
        &mut self,
        at_ns: Option<u64>,
        air: &AirCapture80211<'_>,
        is_once: bool,
        air_ns: Option<u64>,
    ) -> bool {
        let within =
            if is_once { CLOCKS_NS } else { air_ns.unwrap_or_default().saturating_add(BETWEEN_NS) };
        let Some(at_ns) = at_ns else { return false };
        let bit = 1 << RadioId::of(air).0;
        if air.bad {
            return false;
        }
        // The shortest frames have no room for an FCS.
        let fingerprint = Fingerprint::of(air.frame, air.had_fcs || air.frame.len() < WITH_FCS);
        let same = |it: &&mut Heard| {
            it.fingerprint.is_same(fingerprint)
                && it.radios & bit == 0
                && it.at_ns.abs_diff(at_ns) <= within
        };
        self.radios |= bit;
        if self.radios != bit
            && let Some(it) = self.recent.iter_mut().find(same)
        {
            it.radios |= bit;
            return true;
        }
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Heard { fingerprint, at_ns, radios: bit });
        false
    }

    /// Takes the channel of a frame; 0 is unknown.
    pub(super) fn tune(&mut self, radio: RadioId, channel: u8, at_ns: Option<u64>) {
        let Some(at_ns) = at_ns.filter(|_| channel != 0) else { return };
        let it = self.tunings.entry(radio).or_insert(Tuning {
            channel,
            since_ns: at_ns,
            last_ns: at_ns,
            ..Tuning::default()
        });
        if it.channel == channel {
            let (heard, until) = self.stays.entry(channel).or_default();
            *heard += at_ns.saturating_sub(it.last_ns.max(*until));
            *until = at_ns.max(*until);
        } else {
            let (before, last_ns) = it.before;
            self.at_once |= before == channel && at_ns.abs_diff(last_ns) < SHORTEST_AWAY_NS;
            it.changes += 1;
            it.before = (it.channel, it.last_ns);
            (it.channel, it.since_ns) = (channel, at_ns);
        }
        it.last_ns = at_ns;
    }

    /// Returns how often radios changed their channels; 0 where they hear several at once.
    pub(crate) fn changes(&self) -> u64 {
        if self.at_once { 0 } else { self.tunings.values().map(|it| it.changes).sum() }
    }

    /// Returns the time for which a channel was heard; `None` where it is that of the capture.
    pub(crate) fn heard_ns(&self, channel: u8) -> Option<u64> {
        (self.changes() > 0).then(|| self.stays.get(&channel).map_or(0, |it| it.0))
    }

    /// Returns since when a radio that changes its channel is on this one.
    pub(super) fn stay_ns(&self, radio: RadioId) -> Option<u64> {
        let tuning = self.tunings.get(&radio).filter(|it| it.changes > 0 && !self.at_once);
        tuning.map(|it| it.since_ns)
    }
}
