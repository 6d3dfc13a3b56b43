//! A client's connection to the broker: handshake, keep-alive, faults.

use super::payload::{self, PayloadHeader};
use super::topics::TopicName;
use super::{Foreign, MqttFault, MqttSettings, Side};
use crate::wire::mqtt::{
    ConnAck, Connect, ControlPacket, Disconnect, MalformedPacket, PublishAck, Splitter, Version,
    kind, topic,
};
use espbench_model::time::{Duration, Instant};

/// Keep-alive seconds by default.
pub const KEEP_ALIVE: u16 = 10;

/// A packet from the broker, as far as the publisher or the subscriber has to deal with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerPacket {
    /// CONNACK: the connection is open.
    ConnAck {
        /// The broker kept the session.
        session_present: bool,
    },
    /// SUBACK: the subscription was answered.
    SubAck {
        /// Packet identifier of the SUBSCRIBE that it answers.
        id: u16,
        /// QoS granted, or a failure.
        code: u8,
    },
    /// PUBLISH: a message.
    Publish {
        /// Quality of service of this delivery.
        qos: u8,
        /// Packet identifier; 0 with QoS 0.
        id: u16,
        /// Header of one of our own messages; `None` on a topic that was not subscribed to: the broker may
        /// have kept some of an earlier session.
        head: Option<PayloadHeader>,
        /// Number in the payload, where the connection [reads
        /// numbers](ClientConnection::reading_numbers).
        number: Option<u64>,
        /// Topic of a message with a number.
        topic: Option<TopicName>,
        /// Whether the broker had kept the message from before the subscription (3.3.1.3).
        retained: bool,
        /// Payload bytes.
        len: u32,
    },
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    Ack {
        /// Packet type, as [`kind`].
        kind: u8,
        /// Packet identifier and reason code.
        ack: PublishAck,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    /// No transport.
    Disconnected,
    /// Transport is there, CONNECT is to be sent.
    Connecting,
    /// CONNECT was sent.
    AwaitingConnAck,
    Connected,
    /// DISCONNECT is to be sent.
    Disconnecting,
    Closed,
}

/// A connection to the broker.
#[derive(Debug)]
pub struct ClientConnection<'a> {
    settings: MqttSettings<'a>,
    side: Side,
    splitter: Splitter<'a>,
    /// Largest packet taken, stated in version 5.
    room: u32,
    state: ConnectionState,
    limits: ConnAck<'static>,
    ping_after: Duration,
    last_received: Instant,
    last_sent: Instant,
    awaiting: Option<(&'static str, Instant)>,
    /// When the first PINGREQ went out that has no answer yet.
    unanswered_ping: Option<Instant>,
    last_ping: Instant,
    unwritten: Option<Instant>,
    /// Whether nothing came yet.
    fresh: bool,
    numbers: bool,
    accepted: Option<Instant>,
    fault: Option<MqttFault>,
}

impl<'a> ClientConnection<'a> {
    /// Creates a connection that is not open yet; packets of up to `buf` bytes may come.
    pub fn new(settings: MqttSettings<'a>, side: Side, buf: &'a mut [u8]) -> Self {
        Self {
            settings,
            side,
            room: u32::try_from(buf.len()).unwrap_or(u32::MAX),
            splitter: Splitter::new(buf),
            state: ConnectionState::Disconnected,
            limits: ConnAck::ACCEPTED,
            ping_after: match settings.keep_alive {
                0 => Duration::MAX,
                seconds => Duration::from_secs(seconds.into()) / 2,
            },
            last_received: Instant::ZERO,
            last_sent: Instant::ZERO,
            awaiting: None,
            unanswered_ping: None,
            last_ping: Instant::ZERO,
            unwritten: None,
            fresh: true,
            numbers: false,
            accepted: None,
            fault: None,
        }
    }

    /// Looks for a number in messages of whatever form.
    #[must_use]
    pub const fn reading_numbers(mut self) -> Self {
        self.numbers = true;
        self
    }

    /// Returns the limits that the broker stated in its CONNACK.
    #[must_use]
    pub const fn limits(&self) -> &ConnAck<'static> {
        &self.limits
    }

    /// Returns whether the broker had the state of an earlier session (3.2.2.2); `None` before its CONNACK.
    #[must_use]
    pub fn session_present(&self) -> Option<bool> {
        self.accepted.map(|_| self.limits.session_present)
    }

    /// Returns when the broker first accepted the connection (CONNACK).
    #[must_use]
    pub const fn accepted(&self) -> Option<Instant> {
        self.accepted
    }

    /// Tells whether a part of a packet has come.
    #[must_use]
    pub const fn is_receiving(&self) -> bool {
        self.splitter.is_partial()
    }

    /// Tells whether packets may be sent.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.state == ConnectionState::Connected
    }

    /// Tells whether only the DISCONNECT is still to be sent.
    #[must_use]
    pub fn is_disconnecting(&self) -> bool {
        self.state == ConnectionState::Disconnecting
    }

    /// Tells whether nothing more will be sent.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == ConnectionState::Closed
    }

    /// Returns the reason for which the connection ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<MqttFault> {
        self.fault
    }

    /// Notes that the transport is connected: CONNECT is sent next.
    pub fn connected(&mut self, now: Instant) {
        if self.state == ConnectionState::Disconnected {
            self.state = ConnectionState::Connecting;
            self.splitter.reset();
            self.fresh = true;
            (self.last_received, self.last_sent) = (now, now);
            self.unanswered_ping = None;
        }
    }

    /// Notes that the transport is closed.
    pub fn closed(&mut self) {
        self.unwritten = None;
        (self.awaiting, self.unanswered_ping) = (None, None);
        match self.state {
            ConnectionState::Closed => {}
            ConnectionState::Disconnecting => self.state = ConnectionState::Closed,
            _ if self.settings.resume && self.fault.is_none() => {
                self.state = ConnectionState::Disconnected
            }
            ConnectionState::Connecting | ConnectionState::AwaitingConnAck => {
                self.fail(MqttFault::NotAccepted)
            }
            _ => self.fail(MqttFault::ConnectionLost),
        }
    }

    /// Notes that the system took a part of the bytes given out.
    pub const fn writing(&mut self, now: Instant) {
        self.unwritten = Some(now);
    }

    /// Notes that the system took all bytes given out.
    pub const fn written(&mut self) {
        self.unwritten = None;
    }

    /// Ends the connection in good order, with a DISCONNECT.
    pub fn disconnect(&mut self) {
        self.state = match self.state {
            ConnectionState::Connected => ConnectionState::Disconnecting,
            ConnectionState::Disconnecting => ConnectionState::Disconnecting,
            _ => ConnectionState::Closed,
        };
    }

    /// Ends the connection, and remembers the first fault.
    pub fn fail(&mut self, fault: MqttFault) {
        self.state = ConnectionState::Closed;
        (self.awaiting, self.unanswered_ping) = (None, None);
        self.fault.get_or_insert(fault);
    }

    /// Notes that the broker owes an answer from now on.
    pub const fn expect(&mut self, now: Instant, answer: &'static str) {
        self.awaiting = Some((answer, now));
    }

    /// Notes that packets were given out for sending.
    pub fn note_sent(&mut self, now: Instant) {
        self.last_sent = now;
        self.unwritten.get_or_insert(now);
    }

    /// Takes bytes from the front of `chunk` until there is something for the side to do.
    pub fn next(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<BrokerPacket> {
        self.last_received = now;
        if let (true, Some(first)) = (self.fresh, chunk.first()) {
            self.fresh = false;
            // Anything else may look like the start of a long packet, and be waited for in vain.
            if let (Some(foreign), true) =
                (Foreign::of(*first), self.state != ConnectionState::Closed)
            {
                self.fail(MqttFault::Foreign(foreign));
                return None;
            }
            if first >> 4 != kind::CONNACK && self.state != ConnectionState::Closed {
                return self.reject("its first packet is no CONNACK");
            }
        }
        while self.state != ConnectionState::Closed {
            let packet = match self.splitter.next(chunk) {
                Ok(None) => return None,
                Ok(Some(frame)) => ControlPacket::parse(self.settings.version, &frame)
                    .and_then(|packet| strip(&packet, self.settings.topic, self.numbers)),
                Err(malformed) => Err(malformed),
            };
            match packet {
                Ok(packet) => {
                    if let Some(event) = self.handle_packet(packet) {
                        return Some(event);
                    }
                }
                Err(malformed) => self.fail(MqttFault::Malformed(malformed)),
            }
        }
        *chunk = &[];
        None
    }

    fn handle_packet(&mut self, packet: OwnedPacket) -> Option<BrokerPacket> {
        let opening = self.state == ConnectionState::AwaitingConnAck;
        match packet {
            OwnedPacket::ConnAck(ack) if opening => self.open(&ack),
            OwnedPacket::ConnAck(_) => self.reject("a second CONNACK"),
            OwnedPacket::Disconnect(code) => {
                self.fail(MqttFault::ServerDisconnect { code });
                None
            }
            _ if opening
                || !matches!(
                    self.state,
                    ConnectionState::Connected | ConnectionState::Disconnecting
                ) =>
            {
                self.reject("a packet before CONNACK")
            }
            OwnedPacket::PingResp => {
                self.unanswered_ping = None;
                None
            }
            OwnedPacket::ForSide(event) => {
                if matches!(event, BrokerPacket::SubAck { .. }) {
                    self.answered("SUBACK");
                }
                Some(event)
            }
        }
    }

    fn reject(&mut self, what: &'static str) -> Option<BrokerPacket> {
        // The owner of the chunk stops at `None`, so what is left of it is never read.
        self.fail(MqttFault::Malformed(MalformedPacket(what)));
        None
    }

    fn answered(&mut self, answer: &'static str) {
        if self.awaiting.is_some_and(|(awaited, _)| awaited == answer) {
            self.awaiting = None;
        }
    }

    fn open(&mut self, ack: &ConnAck<'static>) -> Option<BrokerPacket> {
        self.answered("CONNACK");
        if ack.code != 0 {
            // Codes 1 to 5 are those of 3.1.1, which is how a 3.1.1 broker refuses version 5.
            let version = if ack.code < 6 { Version::V311 } else { self.settings.version };
            self.fail(MqttFault::Refused { version, code: ack.code });
            return None;
        }
        self.limits = *ack;
        if let Some(seconds) = ack.server_keep_alive {
            // 5: 3.2.2.3.14: the broker's word counts.
            let half = Duration::from_secs(seconds.into()) / 2;
            if half > Duration::ZERO {
                self.ping_after = self.ping_after.min(half);
            }
        }
        self.state = ConnectionState::Connected;
        self.accepted.get_or_insert(self.last_received);
        Some(BrokerPacket::ConnAck { session_present: ack.session_present })
    }

    /// Fails the connection where the broker has been silent for too long.
    pub fn check(&mut self, now: Instant) {
        if let Some((awaiting, since)) = self.awaiting
            && now.since(since) >= self.settings.patience
        {
            self.fail(MqttFault::Silent { awaiting });
        }
        if self.ping_deadline().is_some_and(|at| now >= at) {
            self.fail(MqttFault::Silent { awaiting: "PINGRESP" });
        }
        if self.unwritten.is_some_and(|since| now.since(since) >= self.settings.patience) {
            self.fail(MqttFault::Stalled);
        }
    }

    /// Returns when to look again if nothing happens.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        if self.is_closed() {
            return Instant::NEVER;
        }
        let patience = self.settings.patience;
        let answer = self.awaiting.map_or(Instant::NEVER, |(_, since)| since + patience);
        let write = self.unwritten.map_or(Instant::NEVER, |since| since + patience);
        let pong = self.ping_deadline().unwrap_or(Instant::NEVER);
        answer.min(write).min(pong).min(self.ping_at())
    }

    /// Returns when the PINGRESP that the broker owes is given up. While bytes come, the broker is not
    /// silent: the answer waits behind a long message.
    fn ping_deadline(&self) -> Option<Instant> {
        self.unanswered_ping.map(|since| since.max(self.last_received) + self.settings.patience)
    }

    /// Returns when the next PINGREQ is due. The broker wants to hear from the client (3.1.2.10) even while
    /// it owes the last PINGRESP.
    fn ping_at(&self) -> Instant {
        let is_idle = self.awaiting.is_none() && self.is_connected();
        if self.ping_after == Duration::MAX || !is_idle {
            return Instant::NEVER;
        }
        self.last_sent.min(self.last_received).max(self.last_ping) + self.ping_after
    }

    /// Writes the packet that the connection itself has to send, and answers its length.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Option<usize> {
        let version = self.settings.version;
        let len = match self.state {
            ConnectionState::Connecting => {
                self.state = ConnectionState::AwaitingConnAck;
                self.expect(now, "CONNACK");
                self.connect().emit(buf)
            }
            ConnectionState::Disconnecting => {
                self.state = ConnectionState::Closed;
                Disconnect::default().emit(version, buf)
            }
            ConnectionState::Connected if now >= self.ping_at() => {
                self.unanswered_ping.get_or_insert(now);
                self.last_ping = now;
                ControlPacket::PingReq.emit(version, buf)
            }
            _ => return None,
        };
        if len.is_err() {
            self.fail(MqttFault::Stalled);
        }
        self.note_sent(now);
        len.ok()
    }

    fn connect(&self) -> Connect<'a> {
        let s = &self.settings;
        let client_id = s.client_ids[self.side as usize];
        Connect {
            clean: s.clean_start && !s.resume,
            keep_alive: s.keep_alive,
            username: s.username,
            password: s.password,
            session_expiry: s.session_expiry,
            maximum_packet_size: Some(self.room),
            ..Connect::new(s.version, client_id)
        }
    }
}

/// A packet without its borrowed parts.
enum OwnedPacket {
    ConnAck(ConnAck<'static>),
    Disconnect(u8),
    PingResp,
    ForSide(BrokerPacket),
}

fn strip(
    packet: &ControlPacket<'_>,
    filter: &str,
    numbers: bool,
) -> Result<OwnedPacket, MalformedPacket> {
    let answer =
        |kind, ack: &PublishAck| OwnedPacket::ForSide(BrokerPacket::Ack { kind, ack: *ack });
    Ok(match packet {
        ControlPacket::ConnAck(ack) => OwnedPacket::ConnAck(ack.without_client_id()),
        ControlPacket::Publish(p) => {
            let number = if numbers { payload::number(p.payload) } else { None };
            OwnedPacket::ForSide(BrokerPacket::Publish {
                qos: p.qos,
                id: p.id,
                head: payload::read(p.payload).filter(|_| topic::matches(filter, p.topic)),
                number,
                topic: number.map(|_| TopicName::of(p.topic)),
                retained: p.retain,
                len: p.payload.len() as u32,
            })
        }
        ControlPacket::PubAck(ack) => answer(kind::PUBACK, ack),
        ControlPacket::PubRec(ack) => answer(kind::PUBREC, ack),
        ControlPacket::PubRel(ack) => answer(kind::PUBREL, ack),
        ControlPacket::PubComp(ack) => answer(kind::PUBCOMP, ack),
        ControlPacket::SubAck(ack) => {
            OwnedPacket::ForSide(BrokerPacket::SubAck { id: ack.id, code: ack.codes[0] })
        }
        ControlPacket::PingResp => OwnedPacket::PingResp,
        ControlPacket::Disconnect(d) => OwnedPacket::Disconnect(d.reason),
        ControlPacket::Connect(_)
        | ControlPacket::Subscribe(_)
        | ControlPacket::Unsubscribe(_)
        | ControlPacket::UnsubAck(_)
        | ControlPacket::PingReq
        | ControlPacket::Other(_) => {
            return Err(MalformedPacket("a packet that a broker does not send"));
        }
    })
}
