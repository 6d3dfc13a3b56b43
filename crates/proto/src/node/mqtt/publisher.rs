//! The client's queue and its window of unacknowledged messages.

use super::connection::{BrokerPacket, ClientConnection};
use super::tracker::MessageTracker;
use super::{MqttFault, MqttSettings, payload};
use crate::wire::mqtt::{ControlPacket, MalformedPacket, Publish, PublishAck, kind, reason};
use espbench_model::time::Instant;

/// A packet identifier in use: the one at index i of the window is i + 1.
#[derive(Clone, Copy, Debug)]
pub struct InFlightSlot {
    seq: u64,
    state: InFlightState,
    /// Next identifier in the list that holds this one.
    next: u16,
}

impl InFlightSlot {
    /// A free place for a message.
    pub const EMPTY: Self = Self { seq: 0, state: InFlightState::Free, next: 0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InFlightState {
    Free,
    /// PUBLISH was sent; PUBACK or PUBREC is owed.
    Published,
    /// PUBREC came; PUBREL is to be sent.
    Releasing,
    /// PUBREL was sent; PUBCOMP is owed.
    Released,
}

/// Identifiers in the order in which they are to be used; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct PacketIdList {
    head: u16,
    tail: u16,
}

/// The sending side.
#[derive(Debug)]
pub struct Publisher<'a> {
    /// Connection to the broker.
    pub connection: ClientConnection<'a>,
    settings: MqttSettings<'a>,
    flights: &'a mut [InFlightSlot],
    free: PacketIdList,
    releases: PacketIdList,
    in_flight: usize,
    window: usize,
    /// Next message to be written.
    next_send: u64,
    /// First message that the system may not have taken yet.
    unwritten: u64,
    queued: u32,
    /// After a reconnection: messages below this number are sent again first.
    resend: Option<u64>,
    refused: u64,
    sent: u64,
    /// Whether the broker was told to drop the message that it keeps.
    cleared: bool,
}

impl<'a> Publisher<'a> {
    /// Creates a publisher that is not connected yet. The window is no larger than `flights`.
    pub fn new(
        settings: MqttSettings<'a>,
        connection: ClientConnection<'a>,
        flights: &'a mut [InFlightSlot],
    ) -> Self {
        let mut publisher = Self {
            connection,
            settings,
            flights,
            free: PacketIdList::default(),
            releases: PacketIdList::default(),
            in_flight: 0,
            window: 0,
            next_send: 0,
            unwritten: 0,
            queued: 0,
            resend: None,
            refused: 0,
            sent: 0,
            cleared: false,
        };
        for id in 1..=publisher.flights.len().min(usize::from(u16::MAX)) as u16 {
            publisher.flights[usize::from(id) - 1] = InFlightSlot::EMPTY;
            push(publisher.flights, &mut publisher.free, id);
        }
        publisher
    }

    /// Tells whether the queue has a place.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.queued < self.settings.queue
    }

    /// Returns how many messages the broker refused with a reason code (version 5).
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns how many messages the system took.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns how many messages have no acknowledgement yet.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Notes that a message entered the queue.
    pub const fn enqueue(&mut self) {
        self.queued += 1;
    }

    /// Returns how many messages could be sent at once: none while others are queued before them.
    #[must_use]
    pub fn openings(&self) -> usize {
        match self.settings.qos {
            _ if !self.connection.is_connected() || self.queued > 0 || self.resend.is_some() => 0,
            0 => usize::MAX,
            _ => self.window.saturating_sub(self.in_flight),
        }
    }

    /// Returns the bytes of a PUBLISH packet, at most.
    #[must_use]
    pub const fn packet_len(&self) -> usize {
        // First byte, remaining length, topic, packet identifier, no properties.
        1 + 4 + 2 + self.settings.topic.len() + 2 + 1 + self.settings.size as usize
    }

    /// Notes that the system took everything.
    pub fn written(&mut self, now: Instant, tracker: &mut MessageTracker<'_>) {
        self.connection.written();
        for seq in self.unwritten..self.next_send {
            self.sent += u64::from(tracker.sent(seq, now));
        }
        self.unwritten = self.next_send;
    }

    /// Handles bytes from the broker. Answers whether an acknowledgement was among them.
    pub fn received(
        &mut self,
        now: Instant,
        mut chunk: &[u8],
        tracker: &mut MessageTracker<'_>,
    ) -> bool {
        let mut progress = false;
        while let Some(event) = self.connection.next(now, &mut chunk) {
            match event {
                BrokerPacket::ConnAck { session_present } => self.opened(session_present, tracker),
                BrokerPacket::Ack { kind, ack } => {
                    progress = true;
                    self.answer(now, kind, ack, tracker);
                }
                BrokerPacket::SubAck { .. } | BrokerPacket::Publish { .. } => {
                    let odd =
                        MalformedPacket("a message or SUBACK to a client that did not subscribe");
                    self.connection.fail(MqttFault::Malformed(odd));
                }
            }
        }
        progress
    }

    fn opened(&mut self, session_present: bool, tracker: &mut MessageTracker<'_>) {
        let (settings, limits) = (self.settings, *self.connection.limits());
        let packet = self.packet_len() as u32;
        if limits.maximum_qos < settings.qos {
            let (asked, granted) = (settings.qos, limits.maximum_qos);
            self.connection.fail(MqttFault::QosLowered { asked, granted });
        }
        if let Some(limit) = limits.maximum_packet_size.filter(|&limit| limit < packet) {
            self.connection.fail(MqttFault::TooLarge { packet, limit });
        }
        // 5: 3.3.4: no more than the broker's receive maximum.
        let receive_maximum = limits.receive_maximum.unwrap_or(u16::MAX);
        let window = settings.in_flight.min(receive_maximum);
        self.window = usize::from(window).min(self.flights.len());
        if self.in_flight == 0 {
            return;
        }
        if session_present {
            self.resend = Some(0);
        } else {
            self.forget(tracker);
        }
    }

    /// Gives up what was in flight: the broker has no state of ours left, and will acknowledge none
    /// of it.
    fn forget(&mut self, tracker: &mut MessageTracker<'_>) {
        self.releases = PacketIdList::default();
        for id in 1..=self.flights.len() as u16 {
            if let Some(flight) = self.in_use(id) {
                let seq = flight.seq;
                tracker.orphan(seq);
                self.release_id(id);
            }
        }
    }

    fn answer(
        &mut self,
        now: Instant,
        what: u8,
        ack: PublishAck,
        tracker: &mut MessageTracker<'_>,
    ) {
        let qos = self.settings.qos;
        let Some(flight) = self.in_use(ack.id) else {
            // 4.3: an acknowledgement of something long done may come after a reconnection.
            return;
        };
        let (seq, failed) = (flight.seq, ack.reason >= reason::FAILURE);
        match (what, qos, flight.state) {
            (kind::PUBACK, 1, InFlightState::Published)
            | (kind::PUBCOMP, 2, InFlightState::Released) => {
                tracker.acked(seq, now);
                self.release_id(ack.id);
            }
            // 5: 4.3.3: a PUBREC with a failure ends it.
            (kind::PUBREC, 2, InFlightState::Published) if failed => self.release_id(ack.id),
            (kind::PUBREC, 2, InFlightState::Published | InFlightState::Released) => {
                flight.state = InFlightState::Releasing;
                push(self.flights, &mut self.releases, ack.id);
            }
            (kind::PUBREC, 2, InFlightState::Releasing) => {}
            _ => {
                let odd = MalformedPacket("an acknowledgement that does not fit the message");
                self.connection.fail(MqttFault::Malformed(odd));
            }
        }
        self.refused += u64::from(failed);
    }

    /// Writes as many packets as fit, releases before messages, and answers their length; 0 is
    /// none.
    pub fn poll(
        &mut self,
        now: Instant,
        buf: &mut [u8],
        tracker: &mut MessageTracker<'_>,
    ) -> usize {
        if self.settings.retain && self.connection.is_disconnecting() && !self.cleared {
            self.cleared = true;
            return self.clear(now, buf);
        }
        if let Some(len) = self.connection.poll(now, buf) {
            return len;
        }
        if !self.connection.is_connected() {
            return 0;
        }
        let mut at = self.poll_resend(now, buf);
        if self.resend.is_none() {
            at = self.poll_releases(buf, at);
            at = self.poll_messages(now, buf, at, tracker);
        }
        if at > 0 {
            self.connection.note_sent(now);
        }
        at
    }

    fn poll_releases(&mut self, buf: &mut [u8], mut at: usize) -> usize {
        while self.releases.head != 0 {
            let id = self.releases.head;
            let packet = ControlPacket::PubRel(PublishAck { id, reason: 0 });
            let Ok(len) = packet.emit(self.settings.version, &mut buf[at..]) else { break };
            at += len;
            pop(self.flights, &mut self.releases);
            self.flights[usize::from(id) - 1].state = InFlightState::Released;
        }
        at
    }

    fn poll_messages(
        &mut self,
        now: Instant,
        buf: &mut [u8],
        mut at: usize,
        tracker: &mut MessageTracker<'_>,
    ) -> usize {
        while self.queued > 0 && buf.len() - at >= self.packet_len() {
            if !tracker.is_sendable(self.next_send) {
                if self.next_send >= tracker.due() {
                    break;
                }
                // Never entered the queue; or given up while it waited there.
                self.skip(tracker);
                continue;
            }
            let Some(id) = self.take_id() else { break };
            let seq = self.next_send;
            at += self.message(now, seq, id, false, &mut buf[at..]);
            self.next_send += 1;
            self.queued -= 1;
        }
        at
    }

    /// Passes over message `seq`, which was given up, if it is the next to be written.
    pub fn pass_over(&mut self, seq: u64, tracker: &mut MessageTracker<'_>) {
        if seq == self.next_send {
            self.skip(tracker);
        }
    }

    fn skip(&mut self, tracker: &mut MessageTracker<'_>) {
        if tracker.was_queued(self.next_send) {
            self.queued -= 1;
        }
        self.next_send += 1;
    }

    /// Writes what a new connection of an old session begins with: the unacknowledged messages and
    /// releases, in their order (4.4, 4.6).
    fn poll_resend(&mut self, now: Instant, buf: &mut [u8]) -> usize {
        let mut at = 0;
        while let Some(from) = self.resend {
            let oldest = (1u16..)
                .zip(self.flights.iter())
                .filter(|(_, flight)| flight.state != InFlightState::Free && flight.seq >= from)
                .min_by_key(|(_, flight)| flight.seq)
                .map(|(id, _)| id);
            let Some(id) = oldest else {
                self.resend = None;
                break;
            };
            if buf.len() - at < self.packet_len() {
                break;
            }
            let flight = self.flights[usize::from(id) - 1];
            at += match flight.state {
                InFlightState::Published => self.message(now, flight.seq, id, true, &mut buf[at..]),
                InFlightState::Released => ControlPacket::PubRel(PublishAck { id, reason: 0 })
                    .emit(self.settings.version, &mut buf[at..])
                    .unwrap_or(0),
                InFlightState::Releasing | InFlightState::Free => 0,
            };
            self.resend = Some(flight.seq + 1);
        }
        at
    }

    /// Writes an empty message, with which the broker drops the one that it kept (3.3.1.3).
    fn clear(&mut self, now: Instant, buf: &mut [u8]) -> usize {
        let MqttSettings { version, topic, .. } = self.settings;
        let publish = Publish { retain: true, ..Publish::new(topic, &[]) };
        self.connection.note_sent(now);
        publish.emit(version, buf).unwrap_or(0)
    }

    fn message(&self, now: Instant, seq: u64, id: u16, dup: bool, buf: &mut [u8]) -> usize {
        let MqttSettings { version, qos, topic, size, retain, .. } = self.settings;
        let publish = Publish { dup, qos, retain, id, ..Publish::new(topic, &[]) };
        let number = payload::sent_as(self.settings.sender, seq);
        let fill = |to: &mut [u8]| payload::fill(to, number, now);
        publish.emit_with(version, buf, size as usize, fill).unwrap_or(0)
    }

    /// Takes a packet identifier for a message, 0 with QoS 0; `None` where the window is full.
    fn take_id(&mut self) -> Option<u16> {
        if self.settings.qos == 0 {
            return Some(0);
        }
        if self.in_flight >= self.window {
            return None;
        }
        let id = self.free.head;
        if id == 0 {
            return None;
        }
        pop(self.flights, &mut self.free);
        self.in_flight += 1;
        let seq = self.next_send;
        self.flights[usize::from(id) - 1] =
            InFlightSlot { seq, state: InFlightState::Published, next: 0 };
        Some(id)
    }

    fn release_id(&mut self, id: u16) {
        self.flights[usize::from(id) - 1].state = InFlightState::Free;
        self.in_flight -= 1;
        push(self.flights, &mut self.free, id);
    }

    fn in_use(&mut self, id: u16) -> Option<&mut InFlightSlot> {
        let flight = self.flights.get_mut(usize::from(id).checked_sub(1)?)?;
        if flight.state == InFlightState::Free { None } else { Some(flight) }
    }
}

fn push(flights: &mut [InFlightSlot], list: &mut PacketIdList, id: u16) {
    flights[usize::from(id) - 1].next = 0;
    if list.head == 0 {
        list.head = id;
    } else {
        flights[usize::from(list.tail) - 1].next = id;
    }
    list.tail = id;
}

fn pop(flights: &[InFlightSlot], list: &mut PacketIdList) {
    list.head = flights[usize::from(list.head) - 1].next;
}
