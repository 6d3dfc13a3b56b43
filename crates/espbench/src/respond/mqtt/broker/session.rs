//! The state that the broker keeps of a client, connected or away (3.1.2.4, 5: 4.1).

use super::account::{Account, Charge};
use super::flight::InFlightIds;
use super::limits::{BrokerCounter, BrokerCounts};
use super::message::{PendingDelivery, StoredMessage};
use super::retained::Cursor;
use super::tree::Grant;
use espbench_model::time::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Bytes charged for a session beside what it holds.
const AROUND: usize = 1024;
/// Bytes charged for a subscription beside its filter.
const SUBSCRIPTION: usize = 240;

/// Message that is published when the client is gone.
#[derive(Debug)]
pub(super) struct PendingWill {
    pub(super) message: Rc<StoredMessage>,
    /// Seconds to wait for the client before.
    pub(super) delay: u32,
    /// Seconds from then on for which it is worth delivering.
    pub(super) expiry: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) name: Rc<str>,
    pub(super) connection: Option<u32>,
    /// Seconds for which it outlives its connection; `u32::MAX` is for ever.
    pub(super) expiry: u32,
    pub(super) subscriptions: BTreeMap<Rc<str>, Grant>,
    /// QoS 0 messages that wait for the connection.
    pub(super) plain: VecDeque<PendingDelivery>,
    /// QoS 1 and 2 messages that wait to be sent.
    pub(super) held: VecDeque<PendingDelivery>,
    pub(super) flights: InFlightIds,
    /// Bytes of all these.
    pub(super) queued: usize,
    /// How many these are.
    count: usize,
    pub(super) entries: Charge,
    /// Packet identifiers of QoS 2 messages from the client that are not released: a bit each.
    pub(super) unreleased: Option<Box<[u64; 1024]>>,
    pub(super) will: Option<PendingWill>,
    /// When its will is published, and when it ends.
    pub(super) will_at: Option<Instant>,
    pub(super) ends_at: Option<Instant>,
    /// Number of its place among those away.
    pub(super) away: Option<u64>,
    /// Retained messages that are yet to be sent.
    pub(super) cursors: BTreeMap<Rc<str>, Cursor>,
    /// Whether the session waits for its next turn to send some.
    pub(super) is_again: bool,
    /// No publisher waits for it until it has caught up.
    pub(super) is_slow: bool,
    /// Publishers that wait for it.
    pub(super) waiters: Vec<u32>,
    charge: Charge,
}

impl Session {
    /// Makes one; `None` where there is no memory for it.
    pub(super) fn new(name: Rc<str>, all: &Rc<Account>, queues: &Rc<Account>) -> Option<Self> {
        Some(Self {
            charge: Charge::new(all, AROUND + 2 * name.len())?,
            name,
            connection: None,
            expiry: 0,
            subscriptions: BTreeMap::new(),
            plain: VecDeque::new(),
            held: VecDeque::new(),
            flights: InFlightIds::new(),
            queued: 0,
            count: 0,
            entries: Charge::empty(queues),
            unreleased: None,
            will: None,
            will_at: None,
            ends_at: None,
            away: None,
            cursors: BTreeMap::new(),
            is_again: false,
            is_slow: false,
            waiters: Vec::new(),
        })
    }

    /// Returns whether it outlives its connection.
    pub(super) const fn is_kept(&self) -> bool {
        self.expiry > 0
    }

    /// Takes note of a subscription; false where there is no memory for it.
    pub(super) fn subscribe(&mut self, filter: &Rc<str>, grant: Grant) -> bool {
        if let Some(old) = self.subscriptions.get_mut(filter) {
            *old = grant;
            return true;
        }
        if !self.charge.resize(self.charge.bytes() + SUBSCRIPTION + 2 * filter.len()) {
            return false;
        }
        self.subscriptions.insert(Rc::clone(filter), grant);
        true
    }

    /// Forgets a subscription; false where there was none.
    pub(super) fn unsubscribe(&mut self, filter: &str) -> bool {
        let known = self.subscriptions.remove(filter).is_some();
        if known {
            self.charge.resize(self.charge.bytes() - SUBSCRIPTION - 2 * filter.len());
        }
        known
    }

    /// Marks a QoS 2 message from the client as come, or as released. `Some` says whether that
    /// changed something, `None` that there is no memory for it.
    pub(super) fn set_unreleased(&mut self, id: u16, on: bool) -> Option<bool> {
        if self.unreleased.is_none() {
            if !on {
                return Some(false);
            }
            if !self.charge.resize(self.charge.bytes() + 8192) {
                return None;
            }
            self.unreleased = Some(Box::new([0; 1024]));
        }
        let bits = self.unreleased.as_mut()?;
        let (word, bit) = (&mut bits[usize::from(id / 64)], 1 << (id % 64));
        let was = *word & bit != 0;
        *word = if on { *word | bit } else { *word & !bit };
        Some(was != on)
    }

    /// Returns whether a message of so many bytes fits the queue.
    fn fits(&self, size: usize, limit: usize) -> bool {
        self.queued + size <= limit && self.entries.account().fits(PendingDelivery::ENTRY)
    }

    /// Lets a message wait. Where it does not fit, QoS 0 messages that wait are dropped for one of QoS 1
    /// or 2, the oldest first; then the message itself is. False where it was dropped.
    pub(super) fn push(
        &mut self,
        delivery: PendingDelivery,
        limit: usize,
        counts: &mut BrokerCounts,
    ) -> bool {
        let size = delivery.size();
        while !self.fits(size, limit) {
            if delivery.qos == 0 || !self.drop_plain() {
                let is_full = self.queued + size > limit;
                let what = if is_full {
                    BrokerCounter::DroppedQueue
                } else {
                    BrokerCounter::DroppedMemory
                };
                counts.add(what, 1);
                return false;
            }
            counts.add(BrokerCounter::DroppedQueue, 1);
        }
        self.held_more(size);
        if delivery.qos == 0 { &mut self.plain } else { &mut self.held }.push_back(delivery);
        true
    }

    /// Drops the oldest QoS 0 message that waits; false where there is none.
    pub(super) fn drop_plain(&mut self) -> bool {
        let Some(oldest) = self.plain.pop_front() else { return false };
        self.held_less(oldest.size());
        true
    }

    /// Takes note of a message that is kept from now on.
    pub(super) fn held_more(&mut self, size: usize) {
        self.queued += size;
        self.count += 1;
        // One that is in flight already is kept even where its place in the list cannot be charged.
        self.entries.resize(self.count * PendingDelivery::ENTRY);
    }

    /// Takes note of a message that is kept no more.
    pub(super) fn held_less(&mut self, size: usize) {
        self.queued -= size;
        self.count -= 1;
        self.entries.resize(self.count * PendingDelivery::ENTRY);
        if self.plain.is_empty() && self.plain.capacity() > 64 {
            self.plain = VecDeque::new();
        }
        if self.held.is_empty() && self.held.capacity() > 64 {
            self.held = VecDeque::new();
        }
    }
}
