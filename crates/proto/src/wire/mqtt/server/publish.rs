//! PUBLISH as it comes from a client, and as it is passed on to another (3.3).

use super::super::bytes::{MAX_REMAINING, Reader, digits};
use super::super::property::PropertyValue;
use super::super::{NoRoom, RawPacket, kind, topic};
use super::property::{self, Properties, id};
use super::{Fault, Protocol, code};

/// Message from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// Sent before.
    pub dup: bool,
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// To be kept for later subscribers.
    pub retain: bool,
    /// Topic name; empty where the alias stands for it.
    pub topic: &'a str,
    /// Packet identifier; 0 with QoS 0, which has none.
    pub id: u16,
    /// Number that stands for the topic.
    pub alias: Option<u16>,
    /// Seconds for which it is worth delivering.
    pub expiry: Option<u32>,
    /// Properties.
    pub properties: Properties<'a>,
    /// Message.
    pub payload: &'a [u8],
}

impl<'a> Incoming<'a> {
    /// Parses a PUBLISH.
    ///
    /// # Errors
    /// QoS 3, a topic that is no topic name, a field that is cut off, a property that may not be.
    pub fn parse(protocol: Protocol, frame: &RawPacket<'a>) -> Result<Self, Fault> {
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
        let (mut alias, mut expiry, mut properties) = (None, None, Properties::default());
        if protocol.is_5() {
            properties = Properties::take(&mut body, property::PUBLISH)?;
            for property in properties {
                match (property.id, property.value) {
                    (id::TOPIC_ALIAS, PropertyValue::Number(n)) => alias = Some(n as u16),
                    (id::MESSAGE_EXPIRY, PropertyValue::Number(n)) => expiry = Some(n),
                    _ => {}
                }
            }
        }
        match (topic.is_empty(), alias) {
            (false, _) if !topic::is_name(topic) => {
                return Err(Fault { reason: code::TOPIC, what: "a topic name with a wildcard" });
            }
            (true, None) => return Err(Fault::protocol("a message without a topic")),
            _ => {}
        }
        let payload = body.0;
        Ok(Self { dup, qos, retain, topic, id, alias, expiry, properties, payload })
    }
}

/// Message to a client: all of its packet before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingPublish<'a> {
    /// Sent before, on an earlier connection of the session.
    pub dup: bool,
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// Whether the message was retained, or the subscription asked to keep the flag.
    pub retain: bool,
    /// Topic name.
    pub topic: &'a str,
    /// Packet identifier; not looked at with QoS 0.
    pub id: u16,
    /// Seconds for which it is still worth delivering.
    pub expiry: Option<u32>,
    /// Identifiers of the subscriptions that it is sent for.
    pub subscriptions: &'a [u32],
    /// Properties that are passed on as they came, one after the other.
    pub properties: &'a [u8],
    /// Length of the payload, in bytes.
    pub payload: usize,
}

impl OutgoingPublish<'_> {
    /// Returns the length of the list of properties, without that length itself.
    fn list(&self) -> usize {
        let ids: usize = self.subscriptions.iter().map(|&id| 1 + digits(id as usize).1).sum();
        self.expiry.map_or(0, |_| 5) + ids + self.properties.len()
    }

    /// Returns the length of what follows the remaining length.
    fn remaining(&self, protocol: Protocol) -> usize {
        let id = if self.qos > 0 { 2 } else { 0 };
        let list = if protocol.is_5() { digits(self.list()).1 + self.list() } else { 0 };
        2 + self.topic.len() + id + list + self.payload
    }

    /// Returns the length of the whole packet, in bytes.
    #[must_use]
    pub fn len(&self, protocol: Protocol) -> usize {
        let remaining = self.remaining(protocol);
        1 + digits(remaining).1 + remaining
    }

    /// Returns the length of what [`head`](Self::head) writes, in bytes.
    #[must_use]
    pub fn head_len(&self, protocol: Protocol) -> usize {
        self.len(protocol) - self.payload
    }

    /// Writes all that comes before the payload and returns its length in bytes.
    ///
    /// # Errors
    /// The buffer is shorter than [`head_len`](Self::head_len), or the packet beyond the standard's
    /// [`MAX_REMAINING`].
    pub fn head(&self, protocol: Protocol, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let remaining = self.remaining(protocol);
        let topic = u16::try_from(self.topic.len()).map_err(|_| NoRoom)?;
        if remaining > MAX_REMAINING {
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
        let flags = u8::from(self.dup) << 3 | (self.qos & 3) << 1 | u8::from(self.retain);
        put(&[kind::PUBLISH << 4 | flags])?;
        number(remaining, &mut put)?;
        put(&topic.to_be_bytes())?;
        put(self.topic.as_bytes())?;
        if self.qos > 0 {
            put(&self.id.to_be_bytes())?;
        }
        if protocol.is_5() {
            number(self.list(), &mut put)?;
            if let Some(seconds) = self.expiry {
                put(&[id::MESSAGE_EXPIRY])?;
                put(&seconds.to_be_bytes())?;
            }
            for &subscription in self.subscriptions {
                put(&[id::SUBSCRIPTION_ID])?;
                number(subscription as usize, &mut put)?;
            }
            put(self.properties)?;
        }
        Ok(at)
    }
}
