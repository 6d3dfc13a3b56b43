//! Messages, as they come and as they are kept.

use super::account::{Account, Charge};
use espbench_model::time::Instant;
use std::rc::Rc;

/// Bytes charged for a message beside its text: the allocator's, the value's, and its place in the
/// tree of retained messages.
pub(super) const AROUND: usize = 160;

/// Message that is not kept yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'a> {
    pub(super) topic: &'a str,
    /// Properties that go on to subscribers, one after the other.
    pub(super) properties: &'a [u8],
    pub(super) payload: &'a [u8],
    pub(super) qos: u8,
    pub(super) retain: bool,
    pub(super) expires: Option<Instant>,
}

impl Draft<'_> {
    /// Returns the seconds for which it is still worth delivering: `Ok(None)` for ever.
    pub(super) fn expiry(&self, now: Instant) -> Result<Option<u32>, Expired> {
        let Some(at) = self.expires else { return Ok(None) };
        if at <= now {
            return Err(Expired);
        }
        let left = at.since(now).as_nanos().div_ceil(1_000_000_000);
        Ok(Some(u32::try_from(left).unwrap_or(u32::MAX)))
    }
}

/// The error for a message whose time has passed.
#[derive(Debug)]
pub(super) struct Expired;

/// Message that is kept: retained, waiting, or in flight; shared by all who need it.
#[derive(Debug)]
pub(super) struct StoredMessage {
    /// Topic, properties and payload.
    text: Box<[u8]>,
    topic: usize,
    properties: usize,
    pub(super) qos: u8,
    pub(super) retain: bool,
    pub(super) expires: Option<Instant>,
    _charge: Charge,
}

impl StoredMessage {
    /// Copies a message; `None` where the account has no room for it.
    pub(super) fn new(draft: &Draft<'_>, account: &Rc<Account>) -> Option<Rc<Self>> {
        let (topic, properties) = (draft.topic.len(), draft.properties.len());
        let charge = Charge::new(account, AROUND + topic + properties + draft.payload.len())?;
        let text = [draft.topic.as_bytes(), draft.properties, draft.payload].concat();
        Some(Rc::new(Self {
            text: text.into_boxed_slice(),
            topic,
            properties,
            qos: draft.qos,
            retain: draft.retain,
            expires: draft.expires,
            _charge: charge,
        }))
    }

    pub(super) fn topic(&self) -> &str {
        // It was copied from a string.
        std::str::from_utf8(&self.text[..self.topic]).unwrap_or_default()
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.text[self.topic + self.properties..]
    }

    pub(super) fn draft(&self) -> Draft<'_> {
        Draft {
            topic: self.topic(),
            properties: &self.text[self.topic..self.topic + self.properties],
            payload: self.payload(),
            qos: self.qos,
            retain: self.retain,
            expires: self.expires,
        }
    }

    /// Returns the bytes that it is charged with.
    pub(super) const fn size(&self) -> usize {
        AROUND + self.text.len()
    }
}

/// Message on its way to several: copied when the first one has to keep it.
pub(super) struct Copies<'a> {
    pub(super) draft: Draft<'a>,
    kept: Option<Rc<StoredMessage>>,
    account: &'a Rc<Account>,
}

impl<'a> Copies<'a> {
    pub(super) const fn new(draft: Draft<'a>, account: &'a Rc<Account>) -> Self {
        Self { draft, kept: None, account }
    }

    pub(super) fn of(message: &'a Rc<StoredMessage>, account: &'a Rc<Account>) -> Self {
        Self { draft: message.draft(), kept: Some(Rc::clone(message)), account }
    }

    /// Returns the copy; `None` where there is no room for it.
    pub(super) fn keep(&mut self) -> Option<Rc<StoredMessage>> {
        if self.kept.is_none() {
            self.kept = StoredMessage::new(&self.draft, self.account);
        }
        self.kept.clone()
    }
}

/// Message that waits for a session's client, or is in flight to it.
#[derive(Debug)]
pub(super) struct PendingDelivery {
    pub(super) message: Rc<StoredMessage>,
    /// QoS of the delivery: at most the subscription's.
    pub(super) qos: u8,
    pub(super) retain: bool,
    /// Identifiers of the subscriptions that it is for.
    pub(super) subscriptions: Box<[u32]>,
}

impl PendingDelivery {
    /// Bytes charged for one beside its message.
    pub(super) const ENTRY: usize = 96;

    /// Returns what it counts in its session's queue.
    pub(super) fn size(&self) -> usize {
        Self::ENTRY + self.message.size()
    }
}
