//! Sender and receiver: messages by their sequence numbers, their attempts, what was acknowledged.
//!
//! Attempts of a message have one sequence number and one payload. Further ones have the retry bit and come before the
//! message's lifetime ends (IEEE Std 802.11-2020, 10.3.2.14 and 10.3.4.4): a sender that woke from deep sleep begins with
//! the same number again, and that is another message. A message is delivered where an acknowledgement or a block
//! acknowledgement of one attempt was captured.

use super::class::Fingerprint;
use super::esp_now::EspNowPair;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use espbench_ieee80211::mac::Mac;

/// Sequence numbers whose fate is open; two windows of a block ack.
const OPEN: usize = 128;

/// Counters of sequence numbers that are kept apart: one for all that is no QoS data, and one for each access category.
const SPACES: usize = 5;

/// Within this a message is sent again or given up, in nanoseconds: four times the standard's 512 TU, since an access
/// point keeps what a dozing station did not get.
const LIFETIME_NS: u64 = 2_000_000_000;

/// Within this no sender starts again, in nanoseconds: what has the same number and payload is the same message, though
/// its retry bit is clear.
const SAME_MESSAGE_NS: u64 = 100_000_000;

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

/// Number of a message: fragments and traffic identifiers have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageId {
    /// Traffic identifier; `None` for all but QoS data to one receiver.
    pub(crate) tid: Option<u8>,
    pub(crate) sequence: u16,
    pub(crate) fragment: u8,
}

impl MessageId {
    /// Returns the counter that the number is of: traffic identifiers of an access category share one place.
    const fn space(self) -> usize {
        match self.tid {
            None => 0,
            Some(0 | 3) => 1,
            Some(1 | 2) => 2,
            Some(4 | 5) => 3,
            Some(_) => 4,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    id: MessageId,
    payload: Option<Fingerprint>,
    octets: u32,
    at_ns: Option<u64>,
    asks: bool,
    acked: bool,
    number: u64,
    kbit_s: u32,
}

impl Slot {
    /// Returns whether it asks for an acknowledgement that was not captured.
    const fn is_unanswered(&self) -> bool {
        self.asks && !self.acked
    }

    /// Returns whether an attempt is one of this message.
    fn is_of(&self, it: &Attempt) -> bool {
        let other = match (self.payload, it.payload) {
            (Some(one), Some(other)) => !one.is_same(other),
            _ => self.octets != it.octets,
        };
        if self.id != it.id || other {
            return false;
        }
        let since = self.at_ns.zip(it.at_ns).map(|(before, now)| now.abs_diff(before));
        match since {
            _ if it.any_number && !it.retry => false,
            Some(ns) => ns <= if it.retry { LIFETIME_NS } else { SAME_MESSAGE_NS },
            None => it.retry || !self.acked,
        }
    }
}

/// Attempt of a message as it was heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u64,
    pub(crate) at_ns: Option<u64>,
    pub(crate) id: MessageId,
    /// Whether the standard lets its number be any: that of a QoS null frame.
    pub(crate) any_number: bool,
    /// Whether it asks for an acknowledgement.
    pub(crate) asks: bool,
    /// Fingerprint of its body; `None` where it was cut.
    pub(crate) payload: Option<Fingerprint>,
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
    /// Messages.
    pub messages: u64,
    /// Messages that ask for no acknowledgement.
    pub unasked: u64,
    /// Messages of which an attempt was acknowledged.
    pub acked: u64,
    /// Messages without an acknowledgement.
    pub unacked: SeenFrames,
    /// Retries whose first attempt was not captured.
    pub first_unheard: u64,
    /// Attempts behind the first without the retry bit: a sender that does not set it, or copies of a second radio.
    pub unmarked: u64,
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
    open: [Vec<Option<Slot>>; SPACES],
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
        let Some(open) = self.open.get_mut(it.id.space()) else { return false };
        if open.is_empty() {
            open.resize(OPEN, None);
        }
        let kbit_s = it.kbit_s.unwrap_or_default();
        let Some(place) = open.get_mut(usize::from(it.id.sequence) % OPEN) else { return false };
        if let Some(slot) = place
            && slot.is_of(it)
        {
            self.unmarked += u64::from(!it.retry);
            if slot.acked {
                self.repeated.add(it.number);
            }
            slot.at_ns = it.at_ns;
            if kbit_s < slot.kbit_s && kbit_s > 0 {
                self.slower.add(it.number);
            }
            slot.kbit_s = kbit_s;
            return false;
        }
        self.messages += 1;
        self.unasked += u64::from(!it.asks);
        self.first_unheard += u64::from(it.retry);
        let slot = Slot {
            id: it.id,
            payload: it.payload,
            octets: it.octets,
            at_ns: it.at_ns,
            asks: it.asks,
            acked: false,
            number: it.number,
            kbit_s,
        };
        if let Some(before) = place.replace(slot).filter(Slot::is_unanswered) {
            self.unacked.add(before.number);
        }
        true
    }

    /// Takes the acknowledgement of a message.
    pub(crate) fn acknowledge(&mut self, id: MessageId) {
        let open = self.open.get_mut(id.space());
        let place = open.and_then(|it| it.get_mut(usize::from(id.sequence) % OPEN));
        if let Some(Some(slot)) = place
            && (slot.id.tid, slot.id.sequence) == (id.tid, id.sequence)
            && slot.is_unanswered()
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
        let open = core::mem::take(&mut self.open);
        let left = open.into_iter().flatten().flatten().filter(Slot::is_unanswered);
        let mut left: Vec<u64> = left.map(|it| it.number).collect();
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

    /// Returns the share of messages that were acknowledged; `None` where none asks for it, and where none was captured
    /// and the sender is content: it would repeat what is not acknowledged.
    #[must_use]
    pub fn delivered(&self) -> Option<f64> {
        let asked = self.messages - self.unasked;
        let is_told = asked > 0 && (self.acked > 0 || self.retries > 0);
        is_told.then(|| self.acked as f64 / asked as f64)
    }

    /// Returns the rate that most frames have, in kbit/s.
    #[must_use]
    pub fn usual_rate(&self) -> Option<u32> {
        self.rates.iter().max_by_key(|it| it.1.frames).map(|it| *it.0)
    }
}
