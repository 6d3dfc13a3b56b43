//! What both sides share: handshake, keep-alive, faults.

use super::payload::{self, Head};
use super::{Fault, Foreign, Settings, Side};
use crate::time::{Duration, Instant};
use crate::wire::mqtt::{
    Ack, ConnAck, Connect, Disconnect, Malformed, Packet, Splitter, Version, kind,
};

/// Usual keep-alive seconds.
pub const KEEP_ALIVE: u16 = 10;

/// What a broker sent, as far as a side has to deal with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open.
    Opened {
        /// The broker kept the session.
        session_present: bool,
    },
    /// The subscription was answered.
    Subscribed {
        /// Packet identifier of the SUBSCRIBE that it answers.
        id: u16,
        /// QoS granted, or a failure.
        code: u8,
    },
    /// A message.
    Message {
        /// Quality of service of this delivery.
        qos: u8,
        /// Packet identifier; 0 with QoS 0.
        id: u16,
        /// What it says of itself.
        head: Option<Head>,
        /// The number in it, where the connection [reads numbers](Connection::reading_numbers).
        number: Option<u64>,
        /// It is from before the subscription: the broker had kept it (3.3.1.3).
        retained: bool,
        /// Payload bytes.
        len: u32,
    },
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    Answer {
        /// Which, as [`kind`].
        kind: u8,
        /// The rest.
        ack: Ack,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No transport.
    Down,
    /// Transport is there, CONNECT is to be sent.
    Hello,
    /// CONNECT was sent.
    Opening,
    Up,
    /// DISCONNECT is to be sent.
    Goodbye,
    Over,
}

/// One connection to the broker.
#[derive(Debug)]
pub struct Connection<'a> {
    settings: Settings<'a>,
    side: Side,
    splitter: Splitter<'a>,
    /// Largest packet taken, stated in version 5.
    room: u32,
    state: State,
    limits: ConnAck,
    ping_after: Duration,
    heard: Instant,
    said: Instant,
    awaiting: Option<(&'static str, Instant)>,
    unwritten: Option<Instant>,
    /// Nothing came yet.
    fresh: bool,
    numbers: bool,
    accepted: Option<Instant>,
    fault: Option<Fault>,
}

impl<'a> Connection<'a> {
    /// One that is not open yet; packets of up to `buf` bytes may come.
    pub fn new(settings: Settings<'a>, side: Side, buf: &'a mut [u8]) -> Self {
        Self {
            settings,
            side,
            room: u32::try_from(buf.len()).unwrap_or(u32::MAX),
            splitter: Splitter::new(buf),
            state: State::Down,
            limits: ConnAck::ACCEPTED,
            ping_after: match settings.keep_alive {
                0 => Duration::MAX,
                seconds => Duration::from_secs(seconds.into()) / 2,
            },
            heard: Instant::ZERO,
            said: Instant::ZERO,
            awaiting: None,
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

    /// What the broker allows.
    #[must_use]
    pub const fn limits(&self) -> &ConnAck {
        &self.limits
    }

    /// When the broker first accepted it (CONNACK).
    #[must_use]
    pub const fn accepted(&self) -> Option<Instant> {
        self.accepted
    }

    /// Whether a part of a packet has come.
    #[must_use]
    pub const fn is_receiving(&self) -> bool {
        self.splitter.is_partial()
    }

    /// Whether packets may be sent.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// Whether only its goodbye is still to be sent.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.state == State::Goodbye
    }

    /// Whether nothing more will be sent.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Why it ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The transport is there.
    pub fn connected(&mut self, now: Instant) {
        if self.state == State::Down {
            self.state = State::Hello;
            self.splitter.reset();
            self.fresh = true;
            (self.heard, self.said) = (now, now);
        }
    }

    /// The transport is gone.
    pub fn closed(&mut self) {
        self.unwritten = None;
        self.awaiting = None;
        match self.state {
            State::Over => {}
            State::Goodbye => self.state = State::Over,
            _ if self.settings.resume && self.fault.is_none() => self.state = State::Down,
            State::Hello | State::Opening => self.fail(Fault::NotAccepted),
            _ => self.fail(Fault::Disconnected),
        }
    }

    /// The system took a part.
    pub const fn writing(&mut self, now: Instant) {
        self.unwritten = Some(now);
    }

    /// The system took everything.
    pub const fn written(&mut self) {
        self.unwritten = None;
    }

    /// Ends it in good order.
    pub fn leave(&mut self) {
        self.state = match self.state {
            State::Up => State::Goodbye,
            State::Goodbye => State::Goodbye,
            _ => State::Over,
        };
    }

    /// Ends it, and remembers the first reason.
    pub fn fail(&mut self, fault: Fault) {
        self.state = State::Over;
        self.awaiting = None;
        self.fault.get_or_insert(fault);
    }

    /// Notes that the broker owes an answer from now on.
    pub const fn expect(&mut self, now: Instant, answer: &'static str) {
        self.awaiting = Some((answer, now));
    }

    /// Notes that packets were given out for sending.
    pub fn gave(&mut self, now: Instant) {
        self.said = now;
        self.unwritten.get_or_insert(now);
    }

    /// Takes bytes from the front of `chunk` until there is something for the side to do.
    pub fn next(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<Event> {
        self.heard = now;
        if let (true, Some(first)) = (self.fresh, chunk.first()) {
            self.fresh = false;
            // Anything else may look like the start of a long packet, and be waited for in vain.
            if let (Some(foreign), true) = (Foreign::of(*first), self.state != State::Over) {
                self.fail(Fault::Foreign(foreign));
                return None;
            }
            if first >> 4 != kind::CONNACK && self.state != State::Over {
                return self.reject("its first packet is no CONNACK");
            }
        }
        while self.state != State::Over {
            let packet = match self.splitter.next(chunk) {
                Ok(None) => return None,
                Ok(Some(frame)) => Packet::parse(self.settings.version, &frame)
                    .and_then(|packet| digest(&packet, self.numbers)),
                Err(malformed) => Err(malformed),
            };
            match packet {
                Ok(packet) => {
                    if let Some(event) = self.take(packet) {
                        return Some(event);
                    }
                }
                Err(malformed) => self.fail(Fault::Malformed(malformed)),
            }
        }
        *chunk = &[];
        None
    }

    fn take(&mut self, packet: Digest) -> Option<Event> {
        let opening = self.state == State::Opening;
        match packet {
            Digest::Opened(ack) if opening => self.open(&ack),
            Digest::Opened(_) => self.reject("a second CONNACK"),
            Digest::Dismissed(code) => {
                self.fail(Fault::Dismissed { code });
                None
            }
            _ if opening || !matches!(self.state, State::Up | State::Goodbye) => {
                self.reject("a packet before CONNACK")
            }
            Digest::Pong => {
                self.answered("PINGRESP");
                None
            }
            Digest::Event(event) => {
                if matches!(event, Event::Subscribed { .. }) {
                    self.answered("SUBACK");
                }
                Some(event)
            }
        }
    }

    fn reject(&mut self, what: &'static str) -> Option<Event> {
        // The owner of the chunk stops at `None`, so what is left of it is never read.
        self.fail(Fault::Malformed(Malformed(what)));
        None
    }

    fn answered(&mut self, answer: &'static str) {
        if self.awaiting.is_some_and(|(awaited, _)| awaited == answer) {
            self.awaiting = None;
        }
    }

    fn open(&mut self, ack: &ConnAck) -> Option<Event> {
        self.answered("CONNACK");
        if ack.code != 0 {
            // Codes 1 to 5 are those of 3.1.1, which is how a 3.1.1 broker refuses version 5.
            let version = if ack.code < 6 { Version::V311 } else { self.settings.version };
            self.fail(Fault::Refused { version, code: ack.code });
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
        self.state = State::Up;
        self.accepted.get_or_insert(self.heard);
        Some(Event::Opened { session_present: ack.session_present })
    }

    /// Looks whether the broker has been silent for too long.
    pub fn check(&mut self, now: Instant) {
        if let Some((awaiting, since)) = self.awaiting
            && now.since(since) >= self.settings.patience
        {
            self.fail(Fault::Silent { awaiting });
        }
        if self.unwritten.is_some_and(|since| now.since(since) >= self.settings.patience) {
            self.fail(Fault::Stalled);
        }
    }

    /// When to look again if nothing happens.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        if self.is_over() {
            return Instant::NEVER;
        }
        let patience = self.settings.patience;
        let answer = self.awaiting.map_or(Instant::NEVER, |(_, since)| since + patience);
        let write = self.unwritten.map_or(Instant::NEVER, |since| since + patience);
        let ping = if self.awaiting.is_none() && self.is_up() { self.ping_at() } else { answer };
        answer.min(write).min(ping)
    }

    fn ping_at(&self) -> Instant {
        if self.ping_after == Duration::MAX {
            return Instant::NEVER;
        }
        self.said.min(self.heard) + self.ping_after
    }

    /// Writes the packet that the connection itself wants sent, and answers its length.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Option<usize> {
        let version = self.settings.version;
        let len = match self.state {
            State::Hello => {
                self.state = State::Opening;
                self.expect(now, "CONNACK");
                self.connect().emit(buf)
            }
            State::Goodbye => {
                self.state = State::Over;
                Disconnect { reason: 0 }.emit(version, buf)
            }
            State::Up if self.awaiting.is_none() && now >= self.ping_at() => {
                self.expect(now, "PINGRESP");
                // So that the next one is due a whole interval after this one was answered.
                (self.heard, self.said) = (now, now);
                Packet::PingReq.emit(version, buf)
            }
            _ => return None,
        };
        if len.is_err() {
            self.fail(Fault::Stalled);
        }
        self.gave(now);
        len.ok()
    }

    fn connect(&self) -> Connect<'a> {
        let s = &self.settings;
        Connect {
            version: s.version,
            client_id: s.client_ids[self.side as usize],
            clean: !s.resume,
            keep_alive: s.keep_alive,
            username: s.username,
            password: s.password,
            receive_maximum: None,
            maximum_packet_size: Some(self.room),
        }
    }
}

/// A packet without its borrowed parts.
enum Digest {
    Opened(ConnAck),
    Dismissed(u8),
    Pong,
    Event(Event),
}

fn digest(packet: &Packet<'_>, numbers: bool) -> Result<Digest, Malformed> {
    let answer = |kind, ack: &Ack| Digest::Event(Event::Answer { kind, ack: *ack });
    Ok(match packet {
        Packet::ConnAck(ack) => Digest::Opened(*ack),
        Packet::Publish(p) => Digest::Event(Event::Message {
            qos: p.qos,
            id: p.id,
            head: payload::read(p.payload),
            number: if numbers { payload::number(p.payload) } else { None },
            retained: p.retain,
            len: p.payload.len() as u32,
        }),
        Packet::PubAck(ack) => answer(kind::PUBACK, ack),
        Packet::PubRec(ack) => answer(kind::PUBREC, ack),
        Packet::PubRel(ack) => answer(kind::PUBREL, ack),
        Packet::PubComp(ack) => answer(kind::PUBCOMP, ack),
        Packet::SubAck(ack) => Digest::Event(Event::Subscribed { id: ack.id, code: ack.codes[0] }),
        Packet::PingResp => Digest::Pong,
        Packet::Disconnect(d) => Digest::Dismissed(d.reason),
        Packet::Connect(_) | Packet::Subscribe(_) | Packet::PingReq | Packet::Other(_) => {
            return Err(Malformed("a packet that a broker does not send"));
        }
    })
}
