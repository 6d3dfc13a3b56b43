//! Connections become sessions (3.1, 3.2).

use super::connection::ConnectionPhase;
use super::leave::Leave;
use super::limits::BrokerCounter;
use super::message::{Draft, StoredMessage};
use super::session::{PendingWill, Session};
use super::{Broker, BrokerNotice, flight, keep_alive};
use espbench_model::time::Instant;
use espbench_proto::wire::mqtt::{ConnAck, Connect, Protocol, RawPacket, Refusal, reason};
use std::rc::Rc;

/// Topic aliases that a client may set.
pub(super) const ALIASES: u16 = 16;

impl Broker {
    /// Tells whether the first bytes of a connection may be those of a CONNECT; where not, it is
    /// closed.
    pub(super) fn looks_like_connect(&mut self, now: Instant, id: u32, bytes: &[u8]) -> bool {
        let Some(peer) = self.connections.get(id).map(|connection| connection.peer) else {
            return false;
        };
        let note = match bytes {
            // A record of type handshake and version 3.x (RFC 8446, 5.1).
            [0x16, 3, ..] => BrokerNotice::Tls(peer),
            [0x16] | [] => return true,
            [first, ..] if first >> 4 == 1 => return true,
            [b'A'..=b'Z', b'A'..=b'Z', ..] => BrokerNotice::Http(peer),
            [b'A'..=b'Z'] => return true,
            _ => BrokerNotice::NotMqtt(peer, "the first packet is not a CONNECT"),
        };
        self.counts.add(BrokerCounter::NotMqtt, 1);
        self.say(note);
        self.detach(now, id, Leave::Broken);
        self.leave_now(id);
        false
    }

    pub(super) fn connect(&mut self, now: Instant, id: u32, frame: &RawPacket<'_>) {
        match Connect::parse(frame) {
            Ok(connect) => self.accept(now, id, &connect),
            Err(refusal) => self.turn_away(now, id, refusal),
        }
    }

    fn turn_away(&mut self, now: Instant, id: u32, refusal: Refusal) {
        let Some(peer) = self.connections.get(id).map(|connection| connection.peer) else { return };
        match refusal {
            Refusal::NotMqtt(why) => {
                self.counts.add(BrokerCounter::NotMqtt, 1);
                self.say(BrokerNotice::NotMqtt(peer, why));
                self.leave_now(id);
            }
            Refusal::Level(above) => {
                self.counts.add(BrokerCounter::NotMqtt, 1);
                self.say(BrokerNotice::Level(peer));
                let protocol = if above { Protocol::V5 } else { Protocol::V311 };
                self.refuse(now, id, protocol, reason::UNSUPPORTED_VERSION);
            }
            Refusal::Fault(protocol, fault) => {
                self.counts.add(BrokerCounter::Faults, 1);
                self.say(BrokerNotice::Fault(peer, fault.what));
                // 3.1.1 has no return code for it (3.1.4).
                if protocol.is_5() {
                    self.refuse(now, id, protocol, fault.reason);
                } else {
                    self.leave_now(id);
                }
            }
        }
    }

    /// Answers a CONNECT that is not accepted, and closes.
    fn refuse(&mut self, now: Instant, id: u32, protocol: Protocol, reason: u8) {
        self.send_connack(
            id,
            protocol,
            &ConnAck { code: protocol.connack_code(reason), ..ConnAck::ACCEPTED },
        );
        self.leave(now, id);
    }

    fn send_connack(&mut self, id: u32, protocol: Protocol, ack: &ConnAck<'_>) {
        let mut buf = [0; ConnAck::MOST + 64];
        if let Ok(len) = ack.emit(protocol, &mut buf) {
            self.answer(id, &buf[..len]);
        }
    }

    fn accept(&mut self, now: Instant, id: u32, connect: &Connect<'_>) {
        let protocol = connect.protocol;
        if connect.authentication_method.is_some() {
            return self.refuse(now, id, protocol, reason::AUTHENTICATION);
        }
        let is_unnamed = connect.client_id.is_empty();
        // 3.1: 3.1; 3.1.1: 3.1.3.1.
        let must_name = match protocol {
            Protocol::V31 => true,
            Protocol::V311 => !connect.clean,
            Protocol::V5 => false,
        };
        if is_unnamed && must_name {
            return self.refuse(now, id, protocol, reason::CLIENT_ID);
        }
        let name: Rc<str> = if is_unnamed { self.invent() } else { connect.client_id.into() };
        self.free_session(now, &name, connect.clean);
        let will = match self.will_of(connect) {
            Ok(will) => will,
            Err(()) => return self.refuse(now, id, protocol, reason::QUOTA),
        };
        let known = self.names.get(&name).copied();
        let Some(session) = known.or_else(|| self.new_session(now, &name)) else {
            self.limit(BrokerCounter::SessionsRefused);
            return self.refuse(now, id, protocol, reason::QUOTA);
        };
        self.resume(now, id, session, connect, will);
        let ack = ConnAck {
            session_present: known.is_some(),
            assigned_client_id: is_unnamed.then_some(&*name),
            maximum_packet_size: u32::try_from(self.limits.packet).ok(),
            topic_alias_maximum: ALIASES,
            ..ConnAck::ACCEPTED
        };
        self.send_connack(id, protocol, &ack);
        self.pump(now, session);
    }

    /// Makes a client identifier that nobody uses.
    fn invent(&mut self) -> Rc<str> {
        loop {
            self.given += 1;
            let name = format!("espbench-{:08x}", self.given);
            if !self.names.contains_key(&*name) {
                return name.into();
            }
        }
    }

    /// Ends an older connection of the same client (3.1.4), and with `clean` its session.
    fn free_session(&mut self, now: Instant, name: &str, clean: bool) {
        let Some(&session) = self.names.get(name) else { return };
        if let Some(old) = self.sessions.get(session).and_then(|session| session.connection) {
            self.counts.add(BrokerCounter::TakenOver, 1);
            let is_5 = self.connections.get(old).is_some_and(|old| old.protocol.is_5());
            self.detach(now, old, Leave::TakenOver { clean });
            if is_5 {
                self.say_goodbye(old, reason::TAKEN_OVER);
                self.leave(now, old);
            } else {
                self.leave_now(old);
            }
        }
        if clean && let Some(&session) = self.names.get(name) {
            self.end_session(now, session);
        }
    }

    fn will_of(&self, connect: &Connect<'_>) -> Result<Option<PendingWill>, ()> {
        let Some(will) = connect.will else { return Ok(None) };
        let properties: Vec<u8> = will.properties.forwarded().flatten().copied().collect();
        let draft = Draft {
            topic: will.topic,
            properties: &properties,
            payload: will.payload,
            qos: will.qos,
            retain: will.retain,
            expires: None,
        };
        let message = StoredMessage::new(&draft, &self.accounts.state).ok_or(())?;
        Ok(Some(PendingWill { message, delay: will.delay(), expiry: will.message_expiry() }))
    }

    /// Makes a session; where there is no room, those that are away longest are given up for it.
    fn new_session(&mut self, now: Instant, name: &Rc<str>) -> Option<u32> {
        loop {
            let fits = self.sessions.len() < self.limits.sessions;
            let made =
                || Session::new(Rc::clone(name), &self.accounts.state, &self.accounts.queues);
            if let Some(session) = fits.then(made).flatten() {
                let number = self.sessions.insert(session);
                self.names.insert(Rc::clone(name), number);
                return Some(number);
            }
            let (_, &longest) = self.away.first_key_value()?;
            self.limit(BrokerCounter::SessionsDiscarded);
            self.end_session(now, longest);
        }
    }

    /// Joins a connection with its session.
    fn resume(
        &mut self,
        now: Instant,
        id: u32,
        number: u32,
        connect: &Connect<'_>,
        will: Option<PendingWill>,
    ) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.connection = Some(id);
        session.expiry = connect.session_expiry_interval();
        session.will = will;
        session.flights.restart();
        session.is_slow = false;
        if let Some(place) = session.away.take() {
            self.away.remove(&place);
        }
        self.stop_timers(number);
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.phase = ConnectionPhase::Open(number);
        connection.protocol = connect.protocol;
        connection.keep_alive = connect.keep_alive;
        connection.heard = now;
        connection.receive_maximum =
            usize::from(connect.receive_maximum.unwrap_or(u16::MAX)).min(flight::MOST);
        connection.maximum_packet_size =
            connect.maximum_packet_size.map_or(usize::MAX, |size| size as usize);
        let limit = keep_alive(connect.keep_alive);
        self.set_deadline(id, (!limit.is_zero()).then(|| now + limit));
    }
}
