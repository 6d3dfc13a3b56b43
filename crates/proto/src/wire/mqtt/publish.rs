//! PUBLISH (3.3), as a client sends it and as a server passes it on, and its four acknowledgements.

use super::bytes::{MAX_REMAINING, Reader, Writer, digits};
use super::property::{self, Properties, PropertySet, id};
use super::{Fault, NoRoom, Protocol, RawPacket, kind, reason, subscribe, topic};

/// PUBLISH (3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent before, on this or an earlier connection of the session.
    pub dup: bool,
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// The broker keeps it for later subscribers, or had kept it.
    pub retain: bool,
    /// Topic name; empty where a topic alias stands for it.
    pub topic: &'a str,
    /// Packet identifier; 0 (which the standard does not allow) with QoS 0, which has none.
    pub id: u16,
    /// Properties of version 5, emitted as they are.
    pub properties: Properties<'a>,
    /// The message.
    pub payload: &'a [u8],
}

/// Properties that a server adds to those that it passes on (5: 3.3.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddedProperties<'a> {
    /// Seconds for which the message is still worth delivering.
    pub message_expiry: Option<u32>,
    /// Identifiers of the subscriptions that it is sent for.
    pub subscription_ids: &'a [u32],
}

impl AddedProperties<'_> {
    fn len(&self) -> usize {
        let ids = self.subscription_ids.iter().map(|&id| 1 + digits(id as usize).1);
        self.message_expiry.map_or(0, |_| 5) + ids.sum::<usize>()
    }
}

impl<'a> Publish<'a> {
    /// Creates a message of QoS 0, not retained and without properties.
    #[must_use]
    pub fn new(topic: &'a str, payload: &'a [u8]) -> Self {
        let properties = Properties::default();
        Self { dup: false, qos: 0, retain: false, topic, id: 0, properties, payload }
    }

    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// QoS 3, a topic that is no topic name, a field that is cut off, a property that may not be.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        Self::take(protocol.into(), frame, property::PUBLISH)
    }

    /// Parses one that a client sent.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and a property that a server alone may send.
    pub fn of_client(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        Self::take(protocol.into(), frame, property::PUBLISH_OF_CLIENT)
    }

    fn take(
        protocol: Protocol,
        frame: &RawPacket<'a>,
        allowed: PropertySet,
    ) -> Result<Self, Fault> {
        let flags = frame.flags();
        let (dup, qos, retain) = (flags & 8 != 0, flags >> 1 & 3, flags & 1 != 0);
        if qos == 3 {
            return Err(Fault::malformed("QoS 3"));
        }
        // 3.3.1.1; 3.1 says nothing of it.
        if dup && qos == 0 && protocol != Protocol::V31 {
            return Err(Fault::malformed("a duplicate at QoS 0"));
        }
        let mut body = Reader(frame.body);
        let topic = body.string()?;
        let id = if qos > 0 { body.packet_id()? } else { 0 };
        let mut properties = Properties::default();
        if protocol.is_5() {
            properties = Properties::take(&mut body, allowed)?;
        }
        let message = Self { dup, qos, retain, topic, id, properties, payload: body.0 };
        if topic.is_empty() {
            if message.topic_alias().is_none() {
                return Err(Fault::protocol("a message without a topic"));
            }
        } else if !topic::is_name(topic) {
            return Err(Fault { reason: reason::TOPIC, what: "a topic name with a wildcard" });
        }
        Ok(message)
    }

    /// Returns the number that stands for the topic.
    #[must_use]
    pub fn topic_alias(&self) -> Option<u16> {
        self.properties.number(id::TOPIC_ALIAS).map(|alias| alias as u16)
    }

    /// Returns the seconds for which the message is worth delivering.
    #[must_use]
    pub fn message_expiry(&self) -> Option<u32> {
        self.properties.number(id::MESSAGE_EXPIRY)
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        self.emit_with(protocol, buf, self.payload.len(), |to| to.copy_from_slice(self.payload))
    }

    /// Writes it with a payload of `len` bytes that `fill` makes in place; `self.payload` is not
    /// looked at.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit_with(
        &self,
        protocol: impl Into<Protocol>,
        buf: &mut [u8],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<usize, NoRoom> {
        let shape = PublishShape::new(self, protocol.into(), &AddedProperties::default(), len);
        let head = shape.head(self, &AddedProperties::default(), buf)?;
        fill(buf.get_mut(head..head + len).ok_or(NoRoom)?);
        Ok(head + len)
    }

    /// Returns the length of the whole packet with these properties, in bytes.
    #[must_use]
    pub fn len(&self, protocol: impl Into<Protocol>, added: &AddedProperties<'_>) -> usize {
        PublishShape::new(self, protocol.into(), added, self.payload.len()).len()
    }

    /// Writes all that comes before the payload, with these properties, and answers its length.
    ///
    /// # Errors
    /// The buffer is too small, or the packet beyond the standard's [`MAX_REMAINING`].
    pub fn head(
        &self,
        protocol: impl Into<Protocol>,
        added: &AddedProperties<'_>,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        PublishShape::new(self, protocol.into(), added, self.payload.len()).head(self, added, buf)
    }
}

/// Lengths of a PUBLISH and of its parts, in bytes.
struct PublishShape {
    protocol: Protocol,
    /// Length of the list of properties, without that length itself.
    list: usize,
    /// Length of what follows the remaining length.
    remaining: usize,
}

impl PublishShape {
    fn new(
        publish: &Publish<'_>,
        protocol: Protocol,
        added: &AddedProperties<'_>,
        payload: usize,
    ) -> Self {
        let list = added.len() + publish.properties.as_bytes().len();
        let id = if publish.qos > 0 { 2 } else { 0 };
        let properties = if protocol.is_5() { digits(list).1 + list } else { 0 };
        let remaining = 2 + publish.topic.len() + id + properties + payload;
        Self { protocol, list, remaining }
    }

    const fn len(&self) -> usize {
        1 + digits(self.remaining).1 + self.remaining
    }

    /// Writes all that comes before the payload.
    fn head(
        &self,
        publish: &Publish<'_>,
        added: &AddedProperties<'_>,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let topic = u16::try_from(publish.topic.len()).map_err(|_| NoRoom)?;
        if self.remaining > MAX_REMAINING {
            return Err(NoRoom);
        }
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            let room = buf.get_mut(at..at + bytes.len()).ok_or(NoRoom)?;
            room.copy_from_slice(bytes);
            at += bytes.len();
            Ok(())
        };
        let number = |value: usize, put: &mut dyn FnMut(&[u8]) -> Result<(), NoRoom>| {
            let (bytes, len) = digits(value);
            put(&bytes[..len])
        };
        let Publish { dup, qos, retain, .. } = *publish;
        let flags = u8::from(dup) << 3 | (qos & 3) << 1 | u8::from(retain);
        put(&[kind::PUBLISH << 4 | flags])?;
        number(self.remaining, &mut put)?;
        put(&topic.to_be_bytes())?;
        put(publish.topic.as_bytes())?;
        if qos > 0 {
            put(&publish.id.to_be_bytes())?;
        }
        if self.protocol.is_5() {
            number(self.list, &mut put)?;
            if let Some(seconds) = added.message_expiry {
                put(&[id::MESSAGE_EXPIRY])?;
                put(&seconds.to_be_bytes())?;
            }
            for &subscription in added.subscription_ids {
                put(&[id::SUBSCRIPTION_ID])?;
                number(subscription as usize, &mut put)?;
            }
            put(publish.properties.as_bytes())?;
        }
        Ok(at)
    }
}

/// PUBACK, PUBREC, PUBREL and PUBCOMP (3.4 to 3.7), which have the same body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishAck {
    /// Packet identifier.
    pub id: u16,
    /// Reason code; 0 (success) in 3.1 and 3.1.1, which have none.
    pub reason: u8,
}

impl PublishAck {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Flags, properties that may not be, or a body that is cut off or too long.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'_>) -> Result<Self, Fault> {
        let protocol = protocol.into();
        if frame.kind() == kind::PUBREL {
            subscribe::flags_of_2(protocol, frame)?;
        } else if frame.flags() != 0 && protocol != Protocol::V31 {
            return Err(Fault::malformed("reserved flags are set"));
        }
        let mut body = Reader(frame.body);
        let mut ack = Self { id: body.packet_id()?, reason: 0 };
        // Reason code and properties may be left out (5: 3.4.2.1).
        if protocol.is_5() && !body.0.is_empty() {
            ack.reason = body.u8()?;
            if !body.0.is_empty() {
                Properties::take(&mut body, property::ACK)?;
            }
        }
        body.end()?;
        Ok(ack)
    }

    /// Writes it as the packet type `kind` and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(
        &self,
        protocol: impl Into<Protocol>,
        kind: u8,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if protocol.into().is_5() && self.reason != 0 {
            writer.put(&[self.reason])?;
        }
        // PUBREL has reserved flags 0010 (3.6.1).
        writer.finish(kind << 4 | if kind == kind::PUBREL { 2 } else { 0 })
    }
}
