//! The packets that carry messages and acknowledge them: PUBLISH, its four answers, SUBSCRIBE,
//! SUBACK.

use super::bytes::{Reader, Writer};
use super::{MalformedPacket, NoRoom, RawPacket, Version, kind, property};

/// PUBLISH (3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent before, on this or an earlier connection of the session.
    pub dup: bool,
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// The broker keeps it for later subscribers, or had kept it.
    pub retain: bool,
    /// Topic name.
    pub topic: &'a str,
    /// Packet identifier; 0 (which the standard does not allow) with QoS 0, which has none.
    pub id: u16,
    /// The message. Properties of version 5 are checked and not kept.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// QoS 3, a topic with wildcards, or a field that is cut off.
    pub fn parse(version: Version, frame: &RawPacket<'a>) -> Result<Self, MalformedPacket> {
        let flags = frame.flags();
        let qos = flags >> 1 & 3;
        let mut body = Reader(frame.body);
        let topic = body.string()?;
        if qos == 3 {
            return Err(MalformedPacket("QoS 3"));
        }
        if topic.contains(['#', '+']) {
            return Err(MalformedPacket("a topic name with a wildcard"));
        }
        let id = if qos > 0 { body.packet_id()? } else { 0 };
        if version == Version::V5 {
            property::skip(&mut body)?;
        }
        let (dup, retain) = (flags & 8 != 0, flags & 1 != 0);
        Ok(Self { dup, qos, retain, topic, id, payload: body.0 })
    }

    /// Writes it, without properties, and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, version: Version, buf: &mut [u8]) -> Result<usize, NoRoom> {
        self.emit_with(version, buf, self.payload.len(), |to| to.copy_from_slice(self.payload))
    }

    /// Writes it with a payload of `len` bytes that `fill` makes in place; `self.payload` is not
    /// looked at.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit_with(
        &self,
        version: Version,
        buf: &mut [u8],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.binary(self.topic.as_bytes())?;
        if self.qos > 0 {
            writer.put(&self.id.to_be_bytes())?;
        }
        if version == Version::V5 {
            writer.put(&[0])?;
        }
        fill(writer.reserve(len)?);
        let flags = u8::from(self.dup) << 3 | (self.qos & 3) << 1 | u8::from(self.retain);
        writer.finish(kind::PUBLISH << 4 | flags)
    }
}

/// PUBACK, PUBREC, PUBREL and PUBCOMP (3.4 to 3.7), which have the same body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishAck {
    /// Packet identifier.
    pub id: u16,
    /// Reason code; 0 (success) in version 3.1.1, which has none.
    pub reason: u8,
}

impl PublishAck {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// A body that is cut off or too long.
    pub fn parse(version: Version, frame: &RawPacket<'_>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        // Reason code and properties may be left out (5: 3.4.2.1).
        if version == Version::V311 || body.0.is_empty() {
            return body.end().map(|()| Self { id, reason: 0 });
        }
        let reason = body.u8()?;
        if !body.0.is_empty() {
            property::skip(&mut body)?;
        }
        body.end().map(|()| Self { id, reason })
    }

    /// Writes it as the packet type `kind` and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, version: Version, kind: u8, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if version == Version::V5 && self.reason != 0 {
            writer.put(&[self.reason])?;
        }
        // PUBREL has reserved flags 0010 (3.6.1).
        writer.finish(kind << 4 | if kind == kind::PUBREL { 2 } else { 0 })
    }
}

/// SUBSCRIBE (3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Topic filters that are subscribed to.
    pub filters: Filters<'a>,
}

/// Topic filters with their options, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters<'a>(&'a [u8]);

impl<'a> Iterator for Filters<'a> {
    type Item = (&'a str, u8);

    /// Reads a filter and the QoS asked for.
    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = Reader(self.0);
        let filter = reader.string().ok()?;
        let options = reader.u8().ok()?;
        self.0 = reader.0;
        Some((filter, options & 3))
    }
}

impl<'a> Subscribe<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// No filter, QoS 3, or a field that is cut off.
    pub fn parse(version: Version, frame: &RawPacket<'a>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        if version == Version::V5 {
            property::skip(&mut body)?;
        }
        if body.0.is_empty() {
            return Err(MalformedPacket("a subscription without a topic filter"));
        }
        let filters = Filters(body.0);
        while !body.0.is_empty() {
            body.string()?;
            if body.u8()? & 3 == 3 {
                return Err(MalformedPacket("QoS 3"));
            }
        }
        Ok(Self { id, filters })
    }

    /// Writes a subscription to one filter and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(
        version: Version,
        id: u16,
        filter: &str,
        qos: u8,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&id.to_be_bytes())?;
        if version == Version::V5 {
            writer.put(&[0])?;
        }
        writer.binary(filter.as_bytes())?;
        writer.put(&[qos & 3])?;
        // Reserved flags 0010 (3.8.1).
        writer.finish(kind::SUBSCRIBE << 4 | 2)
    }
}

/// SUBACK (3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAck<'a> {
    /// Packet identifier.
    pub id: u16,
    /// One code a filter: the QoS granted, or a failure (0x80 and above).
    pub codes: &'a [u8],
}

impl<'a> SubAck<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// No code, or a field that is cut off.
    pub fn parse(version: Version, frame: &RawPacket<'a>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        if version == Version::V5 {
            property::skip(&mut body)?;
        }
        if body.0.is_empty() {
            return Err(MalformedPacket("a SUBACK without a code"));
        }
        Ok(Self { id, codes: body.0 })
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, version: Version, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if version == Version::V5 {
            writer.put(&[0])?;
        }
        writer.put(self.codes)?;
        writer.finish(kind::SUBACK << 4)
    }
}
