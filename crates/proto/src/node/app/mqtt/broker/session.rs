//! A client's session, as the broker knows it.

use crate::node::app::SocketId;
use crate::wire::mqtt::{ControlPacket, Publish, PublishAck, Version, kind, topic};
use espbench_model::time::{Duration, Instant};
use heapless::{String, Vec};

/// Subscriptions of a client, and bytes of a filter and of a client identifier.
const FILTERS: usize = 4;
const NAME: usize = 128;
/// Words of a set of packet identifiers.
const WORDS: usize = 1024;

/// A set of packet identifiers.
#[derive(Clone, Debug)]
pub(super) struct Ids([u64; WORDS]);

impl Ids {
    pub(super) fn has(&self, id: u16) -> bool {
        self.0[usize::from(id / 64)] >> (id % 64) & 1 == 1
    }

    /// Puts an identifier in, or takes it out; true where that changed something.
    pub(super) fn set(&mut self, id: u16, on: bool) -> bool {
        let before = self.has(id);
        self.0[usize::from(id / 64)] ^= u64::from(before != on) << (id % 64);
        before != on
    }
}

/// A connection, and the session that lives as long.
#[derive(Clone, Debug)]
pub(super) struct ClientSession<const OUT: usize> {
    pub(super) socket: SocketId,
    /// `None` until its CONNECT.
    pub(super) version: Option<Version>,
    pub(super) name: String<NAME>,
    pub(super) heard: Instant,
    /// Whether the connection is closed as soon as its outgoing bytes have left.
    pub(super) leaving: bool,
    keep_alive: Duration,
    filters: Vec<(String<NAME>, u8), FILTERS>,
    /// QoS 2 messages from it that are not released.
    pub(super) unreleased: Ids,
    /// Messages to it that are not acknowledged, and how many it takes.
    in_flight: Ids,
    flights: u16,
    most: u16,
    next_id: u16,
    out: [u8; OUT],
    /// Bytes of `out` that are to be sent: from, to.
    waiting: (usize, usize),
}

impl<const OUT: usize> ClientSession<OUT> {
    pub(super) const fn new(socket: SocketId, now: Instant) -> Self {
        Self {
            socket,
            version: None,
            name: String::new(),
            heard: now,
            leaving: false,
            keep_alive: Duration::ZERO,
            filters: Vec::new(),
            unreleased: Ids([0; WORDS]),
            in_flight: Ids([0; WORDS]),
            flights: 0,
            most: u16::MAX,
            next_id: 0,
            out: [0; OUT],
            waiting: (0, 0),
        }
    }

    /// Takes a CONNECT's terms.
    pub(super) fn open(
        &mut self,
        version: Version,
        name: &str,
        keep_alive: u16,
        most: Option<u16>,
    ) -> bool {
        self.version = Some(version);
        self.keep_alive = Duration::from_secs(keep_alive.into());
        self.most = most.unwrap_or(u16::MAX);
        String::try_from(name).map(|name| self.name = name).is_ok()
    }

    /// Returns when the client is taken for gone: after one and a half times its keep-alive without
    /// a packet (3.1.2.10).
    pub(super) fn deadline(&self) -> Instant {
        if self.keep_alive.is_zero() {
            Instant::NEVER
        } else {
            self.heard + self.keep_alive * 3 / 2
        }
    }

    /// Adds a subscription; the QoS granted, or the code of a failure.
    pub(super) fn subscribe(&mut self, filter: &str, qos: u8) -> u8 {
        const FAILURE: u8 = 0x80;
        if !topic::is_filter(filter) {
            return FAILURE;
        }
        if let Some((_, granted)) = self.filters.iter_mut().find(|(f, _)| f == filter) {
            *granted = qos;
            return qos;
        }
        let Ok(name) = String::try_from(filter) else { return FAILURE };
        if self.filters.push((name, qos)).is_ok() { qos } else { FAILURE }
    }

    /// Returns the highest QoS of the client's subscriptions to a topic.
    pub(super) fn wants(&self, topic: &str) -> Option<u8> {
        let meant = self.filters.iter().filter(|(filter, _)| topic::matches(filter, topic));
        meant.map(|&(_, qos)| qos).max()
    }

    /// Returns how many bytes the outgoing buffer has room for.
    pub(super) const fn room(&self) -> usize {
        OUT - (self.waiting.1 - self.waiting.0)
    }

    pub(super) fn waiting(&self) -> &[u8] {
        &self.out[self.waiting.0..self.waiting.1]
    }

    pub(super) const fn sent(&mut self, len: usize) {
        self.waiting.0 += len;
        if self.waiting.0 >= self.waiting.1 {
            self.waiting = (0, 0);
        }
    }

    fn free(&mut self) -> &mut [u8] {
        let (from, to) = self.waiting;
        if from > 0 {
            self.out.copy_within(from..to, 0);
            self.waiting = (0, to - from);
        }
        &mut self.out[self.waiting.1..]
    }

    /// Answers it; there is room, since no answer is longer than what it answers.
    pub(super) fn answer(&mut self, packet: &ControlPacket<'_>) -> bool {
        let version = self.version.unwrap_or_default();
        let len = packet.emit(version, self.free());
        self.waiting.1 += len.unwrap_or(0);
        len.is_ok()
    }

    /// Hands a message on, where there is room but for `spare` bytes; false where it was dropped.
    pub(super) fn deliver(&mut self, message: &Publish<'_>, qos: u8, spare: usize) -> bool {
        let Some(version) = self.version else { return false };
        if qos > 0 && self.flights >= self.most {
            return false;
        }
        let id = if qos > 0 { self.new_id() } else { 0 };
        // Properties are the connection's on which they came.
        let publish = Publish { qos, id, ..Publish::new(message.topic, message.payload) };
        let room = self.free();
        let Some(end) = room.len().checked_sub(spare) else { return false };
        let Ok(len) = publish.emit(version, &mut room[..end]) else { return false };
        self.waiting.1 += len;
        if qos > 0 {
            self.flights += u16::from(self.in_flight.set(id, true));
        }
        true
    }

    /// Returns an identifier that is not in use; there always is one, as there are never so many in
    /// flight.
    fn new_id(&mut self) -> u16 {
        loop {
            self.next_id = self.next_id.wrapping_add(1);
            if self.next_id != 0 && !self.in_flight.has(self.next_id) {
                return self.next_id;
            }
        }
    }

    /// Handles the client's PUBACK, PUBREC or PUBCOMP. False where no message fits it.
    pub(super) fn acknowledged(&mut self, what: u8, ack: PublishAck) -> bool {
        if !self.in_flight.has(ack.id) {
            // 4.3: of something long done.
            return what != kind::PUBREC
                || self.answer(&ControlPacket::PubRel(PublishAck { reason: 0, ..ack }));
        }
        if what == kind::PUBREC && ack.reason < crate::wire::mqtt::reason::FAILURE {
            return self.answer(&ControlPacket::PubRel(PublishAck { id: ack.id, reason: 0 }));
        }
        self.in_flight.set(ack.id, false);
        self.flights = self.flights.saturating_sub(1);
        true
    }
}
