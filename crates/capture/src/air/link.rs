//! Sender and receiver: messages by their sequence numbers, their attempts, what was acknowledged.
//!
//! A message is a sequence number; its attempts have the same. A message is delivered where an acknowledgement or a
//! block acknowledgement of one attempt was captured.

use super::esp_now::EspNowPair;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use espbench_ieee80211::mac::Mac;

/// Sequence numbers whose fate is open; two windows of a block ack.
const OPEN: usize = 128;

/// Different rates that are told apart.
const MOST_RATES: usize = 48;

/// Frame numbers that are kept as evidence.
pub const EVIDENCE: usize = 8;

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkKey {
    /// ESP-NOW, or all else.
    pub esp_now: bool,
    /// Sender.
    pub from: Mac,
    /// Receiver.
    pub to: Mac,
}

/// Strengths of frames, in dBm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RssiSpread {
    /// Frames whose strength is known.
    pub count: u64,
    sum: i64,
    /// Least and greatest.
    pub range: Option<(i8, i8)>,
}

impl RssiSpread {
    /// Takes a strength.
    pub fn add(&mut self, dbm: i8) {
        self.count += 1;
        self.sum += i64::from(dbm);
        let (low, high) = self.range.unwrap_or((dbm, dbm));
        self.range = Some((low.min(dbm), high.max(dbm)));
    }

    /// Returns the mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Number and first frame numbers of something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenFrames {
    /// How often.
    pub count: u64,
    /// First frames.
    pub first: Vec<u64>,
}

impl SeenFrames {
    /// Takes a frame.
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        if self.first.len() < EVIDENCE {
            self.first.push(number);
        }
    }
}

/// Frames at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateCount {
    /// Frames.
    pub frames: u64,
    /// Retries among them.
    pub retries: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    sequence: u16,
    fragment: u8,
    acked: bool,
    number: u64,
    kbit_s: u32,
}

/// Attempt of a message as it was heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u64,
    pub(crate) at_ns: Option<u64>,
    pub(crate) sequence: u16,
    pub(crate) fragment: u8,
    pub(crate) retry: bool,
    pub(crate) octets: u32,
    pub(crate) air_ns: u64,
    pub(crate) kbit_s: Option<u32>,
    pub(crate) rssi: Option<i8>,
}

/// Record of a link.
#[derive(Debug, Default)]
pub struct LinkRecord {
    /// Frames.
    pub frames: u64,
    /// Frames with the retry bit.
    pub retries: u64,
    /// Octets with FCS.
    pub octets: u64,
    /// Time on the air.
    pub air_ns: u64,
    /// Messages: different sequence numbers in a row.
    pub messages: u64,
    /// Messages of which an attempt was acknowledged.
    pub acked: u64,
    /// Messages without an acknowledgement.
    pub unacked: SeenFrames,
    /// Retries whose first attempt was not captured.
    pub first_unheard: u64,
    /// Attempts after an acknowledgement: it did not arrive.
    pub repeated: SeenFrames,
    /// Sequence numbers of the sender that were missing before a frame of this link.
    pub missing: SeenFrames,
    /// Retries that were slower than the attempt before.
    pub slower: SeenFrames,
    /// Strength at the capturing radio.
    pub rssi: RssiSpread,
    /// Frames by rate, in kbit/s.
    pub rates: BTreeMap<u32, RateCount>,
    /// A-MPDUs by their number of MPDUs.
    pub aggregates: BTreeMap<u8, u64>,
    /// First and last time.
    pub times: Option<(u64, u64)>,
    /// Facts about ESP-NOW.
    pub esp_now: Option<Box<EspNowPair>>,
    open: Vec<Option<Slot>>,
}

impl LinkRecord {
    /// Takes an attempt, and returns whether it is the first of its message.
    pub(crate) fn attempt(&mut self, it: &Attempt) -> bool {
        self.frames += 1;
        self.retries += u64::from(it.retry);
        self.octets += u64::from(it.octets);
        self.air_ns += it.air_ns;
        if let Some(at) = it.at_ns {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
        }
        if let Some(dbm) = it.rssi {
            self.rssi.add(dbm);
        }
        if let Some(rate) = it.kbit_s
            && (self.rates.len() < MOST_RATES || self.rates.contains_key(&rate))
        {
            let count = self.rates.entry(rate).or_default();
            count.frames += 1;
            count.retries += u64::from(it.retry);
        }
        self.message(it)
    }

    fn message(&mut self, it: &Attempt) -> bool {
        if self.open.is_empty() {
            self.open.resize(OPEN, None);
        }
        let kbit_s = it.kbit_s.unwrap_or_default();
        let Some(place) = self.open.get_mut(usize::from(it.sequence) % OPEN) else { return false };
        if let Some(slot) = place
            && (slot.sequence, slot.fragment) == (it.sequence, it.fragment)
            && (it.retry || !slot.acked)
        {
            if slot.acked {
                self.repeated.add(it.number);
            }
            if kbit_s < slot.kbit_s && kbit_s > 0 {
                self.slower.add(it.number);
            }
            slot.kbit_s = kbit_s;
            return false;
        }
        self.messages += 1;
        self.first_unheard += u64::from(it.retry);
        let slot = Slot {
            sequence: it.sequence,
            fragment: it.fragment,
            acked: false,
            number: it.number,
            kbit_s,
        };
        if let Some(before) = place.replace(slot).filter(|it| !it.acked) {
            self.unacked.add(before.number);
        }
        true
    }

    /// Takes the acknowledgement of a sequence number.
    pub(crate) fn acknowledge(&mut self, sequence: u16) {
        let place = self.open.get_mut(usize::from(sequence) % OPEN);
        if let Some(Some(slot)) = place
            && slot.sequence == sequence
            && !slot.acked
        {
            slot.acked = true;
            self.acked += 1;
        }
    }

    /// Takes an A-MPDU of so many MPDUs.
    pub(crate) fn aggregate(&mut self, mpdus: u8) {
        *self.aggregates.entry(mpdus).or_default() += 1;
    }

    /// Ends the record: what waits for an acknowledgement has none.
    pub(crate) fn finish(&mut self) {
        let mut left: Vec<u64> =
            self.open.drain(..).flatten().filter(|it| !it.acked).map(|it| it.number).collect();
        left.sort_unstable();
        left.into_iter().for_each(|number| self.unacked.add(number));
    }

    /// Returns the mean number of MPDUs of its A-MPDUs, and the greatest.
    #[must_use]
    pub fn aggregate_sizes(&self) -> Option<(f64, u8)> {
        let count: u64 = self.aggregates.values().sum();
        let mpdus: u64 = self.aggregates.iter().map(|(size, count)| u64::from(*size) * count).sum();
        let most = self.aggregates.keys().next_back()?;
        Some((mpdus as f64 / count as f64, *most))
    }

    /// Returns the rate that most frames have, in kbit/s.
    #[must_use]
    pub fn usual_rate(&self) -> Option<u32> {
        self.rates.iter().max_by_key(|it| it.1.frames).map(|it| *it.0)
    }
}
