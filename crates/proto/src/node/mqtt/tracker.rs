//! The stages of each message until its fate is known, in a ring that the driver lends.
//!
//! Messages leave in the order of their numbers. When the ring is full, the oldest is given up as
//! lost; should it come after all, it is a sample of its own with [`Fate::Late`].

use super::{gaps::SequenceOrder, known};
use espbench_model::sample::{Cause, Fate, Link, Probe};
use espbench_model::time::Instant;

/// Samples of duplicates and latecomers kept until they are taken; further ones are counted only.
const EXTRAS: usize = 256;

/// The stages of one message; [`Instant::NEVER`] is "not yet".
#[derive(Clone, Copy, Debug)]
pub struct MessageRecord {
    due: Instant,
    queued: Instant,
    sent: Instant,
    acked: Instant,
    received: Instant,
    status: MessageStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageStatus {
    /// On its way.
    Open,
    /// Never entered the queue.
    Dropped,
    /// Came with another content.
    Corrupt,
    /// The ring was full.
    GivenUp,
    /// The session that it belonged to is gone.
    Orphaned,
    /// Stopped before it was sent.
    Withdrawn,
}

impl MessageRecord {
    /// A place for a message.
    pub const EMPTY: Self = Self {
        due: Instant::NEVER,
        queued: Instant::NEVER,
        sent: Instant::NEVER,
        acked: Instant::NEVER,
        received: Instant::NEVER,
        status: MessageStatus::Open,
    };
}

/// The messages whose fate is not yet known.
#[derive(Debug)]
pub struct MessageTracker<'a> {
    entries: &'a mut [MessageRecord],
    /// Lowest number in the ring.
    first: u64,
    /// One more than the highest.
    next: u64,
    link: Link,
    bytes: u32,
    /// An acknowledgement belongs to a delivered message (QoS 1 and 2).
    acknowledged: bool,
    /// Whether nobody here sees what the subscriber gets.
    alone: bool,
    closing: Option<Cause>,
    extras: [Probe; EXTRAS],
    extra: usize,
    unrecorded: u64,
    lost: u64,
    withdrawn: u64,
    unknown: u64,
}

impl<'a> MessageTracker<'a> {
    /// Creates an empty tracker over `entries`, for messages of `bytes` on `link`.
    pub fn new(
        entries: &'a mut [MessageRecord],
        link: Link,
        bytes: u32,
        acknowledged: bool,
    ) -> Self {
        Self {
            entries,
            first: 0,
            next: 0,
            link,
            bytes,
            acknowledged,
            alone: false,
            closing: None,
            extras: [Probe::default(); EXTRAS],
            extra: 0,
            unrecorded: 0,
            lost: 0,
            withdrawn: 0,
            unknown: 0,
        }
    }

    /// Judges messages without a subscriber: one is delivered when the broker has it, as far as
    /// that is known (acknowledged, or with QoS 0 taken by the system).
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Returns how many messages came due.
    #[must_use]
    pub const fn due(&self) -> u64 {
        self.next
    }

    /// Returns how many of them count: all but those that a stop kept from being sent.
    #[must_use]
    pub const fn counted(&self) -> u64 {
        self.next - self.withdrawn
    }

    /// Returns how many messages were on their way when the test was stopped: whether they came is not known.
    #[must_use]
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Returns how many messages have a sample that says they were lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns how many duplicates and latecomers have no sample of their own.
    #[must_use]
    pub const fn unrecorded(&self) -> u64 {
        self.unrecorded
    }

    /// Returns how many further messages have a place.
    #[must_use]
    pub const fn free(&self) -> usize {
        self.entries.len() - (self.next - self.first) as usize
    }

    /// Tells whether there can be messages at all.
    #[must_use]
    pub const fn has_places(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Tells whether a further message has no place. The oldest is then given up, and its sample
    /// must be taken first.
    pub fn is_full(&mut self) -> bool {
        let full = self.next - self.first >= self.entries.len() as u64;
        if full {
            self.end(self.first, MessageStatus::GivenUp);
        }
        full
    }

    /// Tells whether every message's fate is known and its sample taken.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Enters a message that comes due; `queued` is when it entered the queue, `None` where that
    /// was full. There must be a place. Answers its number.
    pub fn enter(&mut self, due: Instant, queued: Option<Instant>) -> u64 {
        let status = if queued.is_some() { MessageStatus::Open } else { MessageStatus::Dropped };
        let seq = self.next;
        let at = (seq % self.entries.len().max(1) as u64) as usize;
        if let Some(entry) = self.entries.get_mut(at) {
            let queued = queued.unwrap_or(Instant::NEVER);
            *entry = MessageRecord { due, queued, status, ..MessageRecord::EMPTY };
            self.next += 1;
        }
        seq
    }

    /// Tells whether message `seq` is (still) to be sent.
    #[must_use]
    pub fn is_sendable(&mut self, seq: u64) -> bool {
        self.get(seq).is_some_and(|entry| entry.status == MessageStatus::Open)
    }

    /// Tells whether message `seq` entered the queue and has a place here.
    #[must_use]
    pub fn was_queued(&mut self, seq: u64) -> bool {
        self.get(seq).is_some_and(|entry| entry.queued != Instant::NEVER)
    }

    /// Returns the lowest number whose fate is not known.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Notes that the system took message `seq`. Answers whether it had not before.
    pub fn sent(&mut self, seq: u64, now: Instant) -> bool {
        let fresh = |e: &&mut MessageRecord| e.queued != Instant::NEVER && e.sent == Instant::NEVER;
        let Some(entry) = self.get(seq).filter(fresh) else { return false };
        entry.sent = now;
        true
    }

    /// Notes that message `seq` was acknowledged.
    pub fn acked(&mut self, seq: u64, now: Instant) {
        if let Some(entry) = self.get(seq) {
            entry.acked = now;
        }
    }

    /// Notes that the session of message `seq` is gone: no acknowledgement will come.
    pub fn orphan(&mut self, seq: u64) {
        self.end(seq, MessageStatus::Orphaned);
    }

    fn end(&mut self, seq: u64, status: MessageStatus) {
        if let Some(entry) = self.get(seq)
            && entry.status == MessageStatus::Open
        {
            entry.status = status;
        }
    }

    /// Notes that message `seq` reached the subscriber.
    pub fn received(&mut self, seq: u64, now: Instant, arrival: SequenceOrder, whole: bool) {
        let fate = match self.get(seq) {
            Some(entry) if arrival != SequenceOrder::Duplicate => {
                entry.received = now;
                if !whole {
                    entry.status = MessageStatus::Corrupt;
                }
                return;
            }
            _ if arrival == SequenceOrder::Duplicate => Fate::Duplicate,
            _ => Fate::Late,
        };
        let due = self.get(seq).map_or(now, |entry| entry.due);
        let (link, bytes) = (self.link, self.bytes);
        let probe = Probe { link, seq, bytes, due, received: Some(now), fate, ..Probe::default() };
        match self.extras.get_mut(self.extra) {
            Some(place) => {
                *place = probe;
                self.extra += 1;
            }
            None => self.unrecorded += 1,
        }
    }

    /// Gives up whatever is open: for `cause`, or (`Cause::Unknown`) for the cause that its stages
    /// tell. A message that a stop kept from being sent is none of the test: it has no sample.
    pub fn close(&mut self, cause: Cause) {
        if *self.closing.get_or_insert(cause) != Cause::Stopped {
            return;
        }
        for seq in self.first..self.next {
            let Some(entry) = self.get(seq) else { break };
            if entry.status == MessageStatus::Open
                && entry.sent.min(entry.received) == Instant::NEVER
            {
                entry.status = MessageStatus::Withdrawn;
                self.withdrawn += 1;
            }
        }
    }

    /// Returns the next sample.
    pub fn poll(&mut self) -> Option<Probe> {
        if let Some(last) = self.extra.checked_sub(1) {
            let probe = self.extras[0];
            self.extras.copy_within(1..self.extra, 0);
            self.extra = last;
            return Some(probe);
        }
        let (acknowledged, closing) = (self.acknowledged, self.closing);
        while self.get(self.first)?.status == MessageStatus::Withdrawn {
            self.first += 1;
        }
        let seq = self.first;
        let entry = *self.get(seq)?;
        let fate = match self.alone {
            true => fate_alone(&entry, acknowledged, closing)?,
            false => fate(&entry, acknowledged, closing)?,
        };
        if matches!(fate, Fate::Lost(_)) {
            self.lost += 1;
        }
        self.unknown += u64::from(fate == Fate::Lost(Cause::Stopped));
        self.first += 1;
        Some(Probe {
            link: self.link,
            seq,
            bytes: self.bytes,
            due: entry.due,
            queued: known(entry.queued),
            sent: known(entry.sent),
            acked: known(entry.acked),
            received: known(entry.received),
            stamped: None,
            fate,
        })
    }

    fn get(&mut self, seq: u64) -> Option<&mut MessageRecord> {
        if seq < self.first || seq >= self.next {
            return None;
        }
        let at = (seq % self.entries.len().max(1) as u64) as usize;
        self.entries.get_mut(at)
    }
}

/// Returns the fate of a message, once it is known.
fn fate(entry: &MessageRecord, acknowledged: bool, closing: Option<Cause>) -> Option<Fate> {
    let (acked, received) = (known(entry.acked).is_some(), known(entry.received).is_some());
    let owed = acknowledged && !acked && closing.is_none();
    match entry.status {
        MessageStatus::Dropped => Some(Fate::Lost(Cause::ApplicationQueue)),
        MessageStatus::Open | MessageStatus::Corrupt if received && owed => None,
        MessageStatus::Corrupt => Some(Fate::Corrupt),
        _ if received => Some(Fate::Delivered),
        MessageStatus::GivenUp => Some(Fate::Lost(lost(entry, acknowledged))),
        MessageStatus::Orphaned => Some(Fate::Lost(Cause::Disconnected)),
        MessageStatus::Withdrawn => None,
        MessageStatus::Open => match closing? {
            Cause::Unknown => Some(Fate::Lost(lost(entry, acknowledged))),
            cause => Some(Fate::Lost(cause)),
        },
    }
}

/// Returns the fate of a message, once it is known, where nobody sees the subscriber.
fn fate_alone(entry: &MessageRecord, acknowledged: bool, closing: Option<Cause>) -> Option<Fate> {
    let taken = known(if acknowledged { entry.acked } else { entry.sent }).is_some();
    match entry.status {
        MessageStatus::Dropped => Some(Fate::Lost(Cause::ApplicationQueue)),
        _ if taken => Some(Fate::Delivered),
        MessageStatus::Orphaned => Some(Fate::Lost(Cause::Disconnected)),
        MessageStatus::GivenUp => Some(Fate::Lost(Cause::Unknown)),
        MessageStatus::Withdrawn => None,
        MessageStatus::Open | MessageStatus::Corrupt => closing.map(Fate::Lost),
    }
}

/// Returns the cause of a loss. A message that the broker took, and acknowledged where it has to,
/// was lost in the broker. Of one that was never acknowledged, or never left, nothing is known.
fn lost(entry: &MessageRecord, acknowledged: bool) -> Cause {
    let taken = if acknowledged { entry.acked } else { entry.sent };
    if known(taken).is_some() { Cause::Broker } else { Cause::Unknown }
}
