//! Messages and acknowledgements from clients (3.3 to 3.7).

use super::Broker;
use super::connect::ALIASES;
use super::flight::PacketIdState;
use super::limits::BrokerCounter;
use super::message::Draft;
use super::tree::LEVELS;
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::mqtt::{Fault, Protocol, Publish, PublishAck, RawPacket, kind, reason};
use std::rc::Rc;

impl Broker {
    pub(super) fn publish(
        &mut self,
        now: Instant,
        id: u32,
        session: u32,
        frame: &RawPacket<'_>,
    ) -> Result<(), Fault> {
        let Some(connection) = self.connections.get(id) else { return Ok(()) };
        let protocol = connection.protocol;
        let message = Publish::of_client(protocol, frame)?;
        let known = match message.topic_alias() {
            Some(alias) => Some(self.alias(id, alias, message.topic)?),
            None => None,
        };
        let topic = known.as_deref().unwrap_or(message.topic);
        if topic.len() >= LEVELS && topic.split('/').count() > LEVELS {
            return Err(Fault { reason: reason::TOPIC, what: "a topic of more than 200 levels" });
        }
        self.counts.add(BrokerCounter::Received, 1);
        if message.qos == 2 {
            let Some(session) = self.sessions.get_mut(session) else { return Ok(()) };
            match session.set_unreleased(message.id, true) {
                Some(true) => {}
                // It came before, and is passed on already (4.3.3, method B).
                Some(false) => {
                    self.acknowledge_with(id, protocol, kind::PUBREC, message.id, reason::SUCCESS);
                    return Ok(());
                }
                None => {
                    self.broken.push(id);
                    return Ok(());
                }
            }
        }
        let mut properties = std::mem::take(&mut self.scratch);
        properties.clear();
        if protocol.is_5() {
            message.properties.forwarded().for_each(|piece| properties.extend_from_slice(piece));
        }
        let draft = Draft {
            topic,
            properties: &properties,
            payload: message.payload,
            qos: message.qos,
            retain: message.retain,
            expires: message
                .message_expiry()
                .map(|seconds| now + Duration::from_secs(seconds.into())),
        };
        let wanted = self.spread(now, draft, Some(session), Some(id));
        self.scratch = properties;
        let reason = if wanted { reason::SUCCESS } else { reason::NO_SUBSCRIBERS };
        match message.qos {
            0 => {}
            1 => self.acknowledge_with(id, protocol, kind::PUBACK, message.id, reason),
            _ => self.acknowledge_with(id, protocol, kind::PUBREC, message.id, reason),
        }
        Ok(())
    }

    /// Looks a topic alias up, or sets it (5: 3.3.2.3.4).
    fn alias(&mut self, id: u32, alias: u16, topic: &str) -> Result<Rc<str>, Fault> {
        const UNKNOWN: Fault =
            Fault { reason: reason::TOPIC_ALIAS, what: "a topic alias that was never set" };
        let Some(connection) = self.connections.get_mut(id) else { return Err(UNKNOWN) };
        if alias > ALIASES {
            let what = "a topic alias above the maximum";
            return Err(Fault { reason: reason::TOPIC_ALIAS, what });
        }
        if topic.is_empty() {
            return connection.aliases.get(&alias).cloned().ok_or(UNKNOWN);
        }
        if let Some(known) = connection.aliases.get(&alias).filter(|known| ***known == *topic) {
            return Ok(Rc::clone(known));
        }
        let old = connection.aliases.remove(&alias).map_or(0, |old| old.len() + 64);
        let bytes = connection.aliases_charge.bytes() - old + topic.len() + 64;
        if !connection.aliases_charge.resize(bytes) {
            connection.aliases_charge.resize(bytes - topic.len() - 64);
            return Err(Fault {
                reason: reason::QUOTA,
                what: "no memory is left for a topic alias",
            });
        }
        let topic: Rc<str> = topic.into();
        connection.aliases.insert(alias, Rc::clone(&topic));
        Ok(topic)
    }

    /// Passes a message on to those who want it, and keeps it where it is to be retained. Returns
    /// whether anybody wants it.
    pub(super) fn spread(
        &mut self,
        now: Instant,
        draft: Draft<'_>,
        from: Option<u32>,
        publisher: Option<u32>,
    ) -> bool {
        if draft.retain && !self.retained.put(now, &draft) {
            self.limit(BrokerCounter::RetainedRefused);
        }
        self.route(now, draft, from, publisher)
    }

    pub(super) fn acknowledge_with(
        &mut self,
        id: u32,
        protocol: Protocol,
        kind: u8,
        packet: u16,
        reason: u8,
    ) {
        let mut buf = [0; 8];
        if let Ok(len) = (PublishAck { id: packet, reason }).emit(protocol, kind, &mut buf) {
            self.answer(id, &buf[..len]);
        }
    }

    /// Takes an acknowledgement of a message that was sent, or the release of one that came.
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        id: u32,
        number: u32,
        frame: &RawPacket<'_>,
    ) -> Result<(), Fault> {
        let Some(connection) = self.connections.get(id) else { return Ok(()) };
        let protocol = connection.protocol;
        let PublishAck { id: packet, reason } = PublishAck::parse(protocol, frame)?;
        let Some(session) = self.sessions.get_mut(number) else { return Ok(()) };
        let flight = session.flights.get(packet);
        // A code that only version 5 has: the other side knows nothing of the identifier.
        let missing = if flight.is_some() { reason::SUCCESS } else { reason::NO_PACKET_ID };
        let next = match (frame.kind(), flight) {
            (kind::PUBREL, _) => {
                let known = session.set_unreleased(packet, false).unwrap_or(false);
                let reason = if known { reason::SUCCESS } else { reason::NO_PACKET_ID };
                self.acknowledge_with(id, protocol, kind::PUBCOMP, packet, reason);
                return Ok(());
            }
            (kind::PUBACK, Some(PacketIdState::Publish(1, _))) => PacketIdState::Free,
            (kind::PUBREC, Some(PacketIdState::Publish(2, _))) if reason >= 0x80 => {
                PacketIdState::Free
            }
            (kind::PUBREC, Some(PacketIdState::Publish(2, _) | PacketIdState::Release)) => {
                PacketIdState::Release
            }
            (kind::PUBCOMP, Some(PacketIdState::Release)) => PacketIdState::Free,
            (kind::PUBREC, None) => {
                self.acknowledge_with(id, protocol, kind::PUBREL, packet, missing);
                return Ok(());
            }
            // Of an earlier connection, or twice.
            (_, None) => return Ok(()),
            _ => {
                let what = "an acknowledgement of another kind than the message's";
                return Err(Fault { reason: reason::PROTOCOL_ERROR, what });
            }
        };
        let release = matches!(next, PacketIdState::Release);
        if let Some(PacketIdState::Publish(_, Some(delivery))) = session.flights.set(packet, next) {
            session.held_less(delivery.size());
        }
        if release {
            self.acknowledge_with(id, protocol, kind::PUBREL, packet, reason::SUCCESS);
        } else {
            self.pump(now, number);
        }
        Ok(())
    }
}
