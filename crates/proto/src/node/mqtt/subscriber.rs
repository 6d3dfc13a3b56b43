//! The receiving side: messages, and the acknowledgements that they are owed.

use super::connection::{BrokerPacket, ClientConnection};
use super::gaps::{Gaps, SequenceOrder};
use super::payload::PayloadHeader;
use super::topics::TopicName;
use super::tracker::MessageTracker;
use super::{MqttFault, MqttSettings};
use crate::wire::mqtt::{
    MalformedPacket, PublishAck, Subscribe, SubscriptionOptions, kind, reason,
};
use espbench_model::time::Instant;

/// An acknowledgement to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingAck {
    id: u16,
    kind: u8,
}

/// A message that came, without the fields that only the connection needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Header of one of our own messages.
    pub head: Option<PayloadHeader>,
    /// Number in the payload, where the connection reads numbers.
    pub number: Option<u64>,
    /// Topic of a message with a number.
    pub topic: Option<TopicName>,
    /// Whether the broker had kept the message from before the subscription.
    pub retained: bool,
    /// Payload bytes.
    pub len: u32,
}

/// Words of the set of QoS 2 identifiers that are received and not released: one bit each.
pub const SEEN: usize = 1024;

/// Packet identifier of the one subscription.
const SUBSCRIPTION: u16 = 1;

/// The receiving side.
#[derive(Debug)]
pub struct Subscriber<'a> {
    /// Connection to the broker.
    pub connection: ClientConnection<'a>,
    settings: MqttSettings<'a>,
    /// Acknowledgements in order, as a ring.
    answers: &'a mut [PendingAck],
    first: usize,
    waiting: usize,
    seen: &'a mut [u64; SEEN],
    subscribe: bool,
    ready: bool,
    gaps: Gaps,
    received: u64,
    foreign: u64,
    redelivered: u64,
}

impl<'a> Subscriber<'a> {
    /// Creates a subscriber that is not connected yet. It keeps as many acknowledgements as
    /// `answers` holds until they are sent.
    pub fn new(
        settings: MqttSettings<'a>,
        connection: ClientConnection<'a>,
        answers: &'a mut [PendingAck],
        seen: &'a mut [u64; SEEN],
    ) -> Self {
        seen.fill(0);
        Self {
            connection,
            settings,
            answers,
            first: 0,
            waiting: 0,
            seen,
            subscribe: false,
            ready: false,
            gaps: Gaps::new(0),
            received: 0,
            foreign: 0,
            redelivered: 0,
        }
    }

    /// Tells whether the broker has accepted the subscription.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.ready
    }

    /// Returns the record of missing, repeated and reordered numbers.
    #[must_use]
    pub const fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// Returns how many messages came for the first time.
    #[must_use]
    pub const fn received_count(&self) -> u64 {
        self.received
    }

    /// Returns how many messages on the topic are not ours.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Returns how many QoS 2 messages the broker sent again before they were released: they are
    /// not delivered twice.
    #[must_use]
    pub const fn redelivered(&self) -> u64 {
        self.redelivered
    }

    /// Handles bytes from the broker. Answers how many messages came for the first time.
    pub fn received(
        &mut self,
        now: Instant,
        mut chunk: &[u8],
        tracker: &mut MessageTracker<'_>,
    ) -> u64 {
        let before = self.received;
        while let Some(message) = self.next(now, &mut chunk) {
            match message.head.filter(|head| head.seq < tracker.due()) {
                Some(head) => {
                    let whole = head.whole && message.len == self.settings.size;
                    self.deliver(now, head.seq, whole, tracker);
                }
                // The one that clears what the broker kept.
                None if message.len == 0 && self.settings.retain => {}
                None => self.foreign += 1,
            }
        }
        self.received - before
    }

    /// Handles bytes from the front of `chunk` up to the next message; acknowledgements that are
    /// owed are kept for [`poll`](Self::poll).
    pub fn next(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<ReceivedMessage> {
        while let Some(event) = self.connection.next(now, chunk) {
            match event {
                BrokerPacket::ConnAck { session_present } => {
                    self.subscribe = !(session_present && self.ready)
                }
                BrokerPacket::SubAck { id: SUBSCRIPTION, code } => self.subscribed(code),
                // 3.8.4: it has the packet identifier of the SUBSCRIBE.
                BrokerPacket::SubAck { .. } => {
                    let odd = MalformedPacket("a SUBACK to a SUBSCRIBE that was not sent");
                    self.connection.fail(MqttFault::Malformed(odd));
                }
                BrokerPacket::Publish { qos: 2, id, .. } if self.is_seen(id) => {
                    self.redelivered += 1;
                    self.owe(id, kind::PUBREC);
                }
                BrokerPacket::Publish { qos, id, head, number, topic, retained, len } => {
                    match qos {
                        0 => {}
                        1 => self.owe(id, kind::PUBACK),
                        _ => {
                            self.mark(id, true);
                            self.owe(id, kind::PUBREC);
                        }
                    }
                    return Some(ReceivedMessage { head, number, topic, retained, len });
                }
                BrokerPacket::Ack { kind: kind::PUBREL, ack } => {
                    self.mark(ack.id, false);
                    self.owe(ack.id, kind::PUBCOMP);
                }
                BrokerPacket::Ack { .. } => {
                    let odd =
                        MalformedPacket("an acknowledgement to a client that did not publish");
                    self.connection.fail(MqttFault::Malformed(odd));
                }
            }
        }
        None
    }

    fn deliver(&mut self, now: Instant, seq: u64, whole: bool, tracker: &mut MessageTracker<'_>) {
        let arrival = self.gaps.arrive(now, seq);
        self.received += u64::from(arrival != SequenceOrder::Duplicate);
        tracker.received(seq, now, arrival, whole);
    }

    fn subscribed(&mut self, code: u8) {
        let asked = self.settings.qos;
        if code >= reason::FAILURE {
            self.connection.fail(MqttFault::SubscriptionRefused { code });
        } else if code < asked {
            self.connection.fail(MqttFault::QosLowered { asked, granted: code });
        } else {
            self.ready = true;
        }
    }

    /// Writes as many packets as fit, and answers their length; 0 is none.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> usize {
        // What is acknowledged before it says goodbye, the broker need not keep.
        let last_words = self.connection.is_disconnecting() && self.waiting > 0;
        if !last_words {
            if let Some(len) = self.connection.poll(now, buf) {
                return len;
            }
            if !self.connection.is_connected() {
                return 0;
            }
        }
        let MqttSettings { version, topic, qos, .. } = self.settings;
        let mut at = 0;
        if core::mem::take(&mut self.subscribe) {
            self.connection.expect(now, "SUBACK");
            let options = SubscriptionOptions::of_qos(qos);
            match Subscribe::emit_one(version, SUBSCRIPTION, topic, options, buf) {
                Ok(len) => at = len,
                Err(_) => self.connection.fail(MqttFault::Stalled),
            }
        }
        while self.waiting > 0 {
            let PendingAck { id, kind } = self.answers[self.first];
            let Ok(len) = (PublishAck { id, reason: 0 }).emit(version, kind, &mut buf[at..]) else {
                break;
            };
            at += len;
            self.first = (self.first + 1) % self.answers.len();
            self.waiting -= 1;
        }
        if at > 0 {
            self.connection.note_sent(now);
        }
        at
    }

    fn owe(&mut self, id: u16, kind: u8) {
        if self.waiting == self.answers.len() {
            let odd = MalformedPacket("more unacknowledged messages than this client has room for");
            self.connection.fail(MqttFault::Malformed(odd));
            return;
        }
        let at = (self.first + self.waiting) % self.answers.len();
        self.answers[at] = PendingAck { id, kind };
        self.waiting += 1;
    }

    fn is_seen(&self, id: u16) -> bool {
        self.seen[usize::from(id / 64)] >> (id % 64) & 1 == 1
    }

    fn mark(&mut self, id: u16, seen: bool) {
        let (word, bit) = (&mut self.seen[usize::from(id / 64)], 1 << (id % 64));
        if seen { *word |= bit } else { *word &= !bit }
    }
}
